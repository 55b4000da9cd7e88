//! Pinning of message threads and workers.

use schedrig_model::cpuset::CpuSet;
use schedrig_model::id::CpuId;

use super::args::{Config, Pin};

/// The CPUs of each thread; `None`: not pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pins {
    message: Vec<CpuId>,
    worker: Vec<CpuId>,
}

impl Pins {
    /// Decides from the CPUs this process may use.
    pub(super) fn choose(config: &Config, allowed: &CpuSet) -> Self {
        let cpus: Vec<CpuId> = allowed.iter().collect();
        let first = config.message_threads.min(cpus.len());
        // Workers share with the message threads where no CPU is left.
        let rest = if first < cpus.len() { first } else { 0 };
        Self {
            message: list(&config.message_cpus, &cpus[..first]),
            worker: list(&config.worker_cpus, &cpus[rest..]),
        }
    }

    /// The CPU of the nth message thread.
    pub(super) fn message(&self, index: usize) -> Option<CpuId> {
        nth(&self.message, index)
    }

    /// The CPU of the nth worker of all.
    pub(super) fn worker(&self, index: usize) -> Option<CpuId> {
        nth(&self.worker, index)
    }
}

fn list(pin: &Pin, auto: &[CpuId]) -> Vec<CpuId> {
    match pin {
        Pin::No => Vec::new(),
        Pin::Auto => auto.to_vec(),
        Pin::List(cpus) => cpus.iter().collect(),
    }
}

fn nth(cpus: &[CpuId], index: usize) -> Option<CpuId> {
    (!cpus.is_empty()).then(|| cpus[index % cpus.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(pins: &Pins, threads: usize) -> Vec<Option<u32>> {
        (0..threads)
            .map(|n| pins.worker(n).map(|cpu| cpu.0))
            .collect()
    }

    #[test]
    fn auto_keeps_message_threads_apart_while_it_can() {
        let config = Config {
            message_cpus: Pin::Auto,
            worker_cpus: Pin::Auto,
            ..Config::default()
        };
        let pins = Pins::choose(&config, &CpuSet::range(4, 6));
        assert_eq!(pins.message(0), Some(CpuId(4)));
        assert_eq!(cpus(&pins, 3), [Some(5), Some(6), Some(5)]);
        let one = Pins::choose(&config, &CpuSet::range(4, 4));
        assert_eq!(cpus(&one, 2), [Some(4), Some(4)]);
    }

    #[test]
    fn lists_are_taken_in_turn_and_nothing_is_pinned_unasked() {
        let config = Config {
            worker_cpus: Pin::List(CpuSet::range(0, 1)),
            ..Config::default()
        };
        let pins = Pins::choose(&config, &CpuSet::range(0, 7));
        assert_eq!(cpus(&pins, 3), [Some(0), Some(1), Some(0)]);
        assert_eq!(pins.message(0), None);
    }
}
