//! `/proc/stat`: time of each CPU by kind, in ticks of USER_HZ; steal time among them.

use std::collections::BTreeMap;

use super::line::LineError;
use crate::id::CpuId;

/// Ticks of a CPU by kind. Kinds that an old kernel does not print are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// User mode, nice 0 or below.
    pub user: u64,
    /// User mode, positive nice.
    pub nice: u64,
    /// Kernel.
    pub system: u64,
    /// Idle.
    pub idle: u64,
    /// Idle with input or output pending.
    pub iowait: Option<u64>,
    /// Hard interrupts.
    pub irq: Option<u64>,
    /// Soft interrupts.
    pub softirq: Option<u64>,
    /// The hypervisor ran something else.
    pub steal: Option<u64>,
}

impl CpuTimes {
    /// All ticks, steal included.
    pub fn total(&self) -> u64 {
        let optional = [self.iowait, self.irq, self.softirq, self.steal];
        let known = self.user + self.nice + self.system + self.idle;
        optional
            .iter()
            .flatten()
            .fold(known, |sum, v| sum.saturating_add(*v))
    }

    /// Ticks neither idle nor stolen.
    pub fn busy(&self) -> u64 {
        let irq = self
            .irq
            .unwrap_or(0)
            .saturating_add(self.softirq.unwrap_or(0));
        (self.user + self.nice + self.system).saturating_add(irq)
    }

    /// Ticks since `before`, kind by kind; iowait may go back, which counts as none.
    pub fn since(&self, before: &CpuTimes) -> CpuTimes {
        let sub = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_sub(b?));
        CpuTimes {
            user: self.user.saturating_sub(before.user),
            nice: self.nice.saturating_sub(before.nice),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            iowait: sub(self.iowait, before.iowait),
            irq: sub(self.irq, before.irq),
            softirq: sub(self.softirq, before.softirq),
            steal: sub(self.steal, before.steal),
        }
    }
}

/// What this program reads of `/proc/stat`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcStat {
    /// All CPUs together.
    pub all: CpuTimes,
    /// By CPU; offline ones are absent.
    pub cpus: BTreeMap<CpuId, CpuTimes>,
    /// Context switches since boot.
    pub context_switches: Option<u64>,
    /// Forks since boot.
    pub forks: Option<u64>,
    /// Runnable tasks, this reader included.
    pub running: Option<u64>,
}

/// Reads `/proc/stat`.
///
/// # Errors
/// A cpu line without its numbers; no line for all CPUs.
pub fn parse_proc_stat(text: &str) -> Result<ProcStat, LineError> {
    let mut stat = ProcStat::default();
    let mut seen_all = false;
    for (index, line) in text.lines().enumerate() {
        let Some((key, rest)) = line.split_once(' ') else {
            continue;
        };
        let number = || rest.trim().parse().ok();
        match key {
            "cpu" => {
                stat.all = times(index, line, rest)?;
                seen_all = true;
            }
            "ctxt" => stat.context_switches = number(),
            "processes" => stat.forks = number(),
            "procs_running" => stat.running = number(),
            _ => {
                if let Some(cpu) = key.strip_prefix("cpu").and_then(|n| n.parse().ok()) {
                    stat.cpus.insert(CpuId(cpu), times(index, line, rest)?);
                }
            }
        }
    }
    if seen_all {
        Ok(stat)
    } else {
        Err(LineError::new(
            0,
            text.lines().next().unwrap_or(""),
            "the `cpu` line of /proc/stat",
        ))
    }
}

fn times(index: usize, line: &str, rest: &str) -> Result<CpuTimes, LineError> {
    let bad = || LineError::new(index, line, "a CPU with at least four numbers of ticks");
    let words = rest.split_ascii_whitespace().map(str::parse);
    let values: Vec<u64> = words.collect::<Result<_, _>>().map_err(|_| bad())?;
    let [user, nice, system, idle, more @ ..] = values.as_slice() else {
        return Err(bad());
    };
    Ok(CpuTimes {
        user: *user,
        nice: *nice,
        system: *system,
        idle: *idle,
        iowait: more.first().copied(),
        irq: more.get(1).copied(),
        softirq: more.get(2).copied(),
        steal: more.get(3).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_kept_apart_and_cpus_are_keyed() {
        let text = "cpu  316 0 805 3875 0 0 68 12 0 0\ncpu0 66 0 153 437 0 0 16 5 0 0\ncpu7 62 0 26 457 0 0 5 7 0 0\nintr 10182 159\nctxt 5763\nprocesses 248\nprocs_running 1\n";
        let stat = parse_proc_stat(text).unwrap();
        assert_eq!(stat.all.steal, Some(12));
        assert_eq!(
            stat.cpus.keys().copied().collect::<Vec<_>>(),
            [CpuId(0), CpuId(7)]
        );
        assert_eq!((stat.context_switches, stat.forks), (Some(5763), Some(248)));
        assert_eq!(stat.all.total(), 316 + 805 + 3875 + 68 + 12);
        assert!(parse_proc_stat("cpu 1 2\n").is_err());
        assert!(parse_proc_stat("").is_err());
    }
}
