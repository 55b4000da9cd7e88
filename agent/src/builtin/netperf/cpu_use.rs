//! CPU use of the machine between two moments, from `/proc/stat`.

use std::fs;

use super::keys::CpuUse;

/// Ticks of all CPUs since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    idle: u64,
    total: u64,
    cpus: u32,
}

impl Ticks {
    /// Now; `None` where `/proc/stat` cannot be read.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let (mut all, mut cpus) = (None, 0);
        for line in stat.lines() {
            let mut fields = line.split_whitespace();
            match fields.next() {
                Some("cpu") => {
                    // user nice system idle iowait irq softirq steal; guest time is in user.
                    let ticks: Vec<u64> = fields
                        .take(8)
                        .map(str::parse)
                        .collect::<Result<_, _>>()
                        .ok()?;
                    let idle = ticks.get(3)? + ticks.get(4)?;
                    all = Some((idle, ticks.iter().sum()));
                }
                Some(name) if name.starts_with("cpu") => cpus += 1,
                _ => {}
            }
        }
        let (idle, total) = all?;
        Some(Self { idle, total, cpus })
    }

    /// Use from `before` until this moment; `None` when no tick has passed.
    pub(super) fn since(&self, before: &Self) -> Option<CpuUse> {
        let total = self.total.checked_sub(before.total).filter(|t| *t > 0)?;
        let idle = self.idle.saturating_sub(before.idle).min(total);
        Some(CpuUse {
            percent: 100.0 * (total - idle) as f64 / total as f64,
            cpus: self.cpus,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 50 0 25 400 25 0 0 0 0 0\n\
                          cpu1 50 0 25 400 25 0 0 0 0 0\nintr 5\n";

    #[test]
    fn use_is_what_was_not_idle() {
        let before = Ticks::parse(BEFORE).unwrap();
        let after =
            Ticks::parse(&BEFORE.replacen("100 0 50 800 50", "150 0 60 840 50", 1)).unwrap();
        let used = after.since(&before).unwrap();
        assert_eq!((used.percent, used.cpus), (60.0, 2));
        assert_eq!(before.since(&before), None);
    }

    #[test]
    fn other_text_is_no_reading() {
        assert_eq!(Ticks::parse("intr 1 2 3\n"), None);
        assert_eq!(Ticks::parse("cpu  1 2 x 4 5 6 7 8\n"), None);
    }
}
