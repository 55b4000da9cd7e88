//! Which of the counters mean something: `/proc/schedstat` has three states.

use serde::{Deserialize, Serialize};

/// How a machine stands with schedstat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedstatState {
    /// No file: the kernel was built without CONFIG_SCHEDSTATS.
    Absent,
    /// `kernel.sched_schedstats` is 0: only run time, run delay and timeslices are counted.
    Off,
    /// Everything is counted.
    On,
}

impl SchedstatState {
    /// From whether the file is there and what the sysctl says. Kernels before 4.6 have no sysctl and
    /// always count.
    pub fn of(file_exists: bool, sysctl: Option<&str>) -> Self {
        match (file_exists, sysctl.map(str::trim)) {
            (false, _) => SchedstatState::Absent,
            (true, Some("0")) => SchedstatState::Off,
            (true, _) => SchedstatState::On,
        }
    }

    /// `absent`, `off`, `on`: as host facts state it.
    pub fn word(self) -> &'static str {
        match self {
            SchedstatState::Absent => "absent",
            SchedstatState::Off => "off",
            SchedstatState::On => "on",
        }
    }

    /// One line for the reader.
    pub fn describe(self) -> &'static str {
        match self {
            SchedstatState::Absent => "no /proc/schedstat (CONFIG_SCHEDSTATS=n)",
            SchedstatState::Off => {
                "kernel.sched_schedstats is 0: only run time, run delay and timeslices are valid"
            }
            SchedstatState::On => "on",
        }
    }
}

/// Which part of a difference counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// All of it.
    All,
    /// Run time, run delay and timeslices.
    TimesOnly,
    /// None of it, and why.
    Nothing(&'static str),
}

/// What a difference between two snapshots taken in these states is worth.
pub fn validity(before: SchedstatState, after: SchedstatState) -> Validity {
    match (before, after) {
        (SchedstatState::On, SchedstatState::On) => Validity::All,
        (SchedstatState::Off, SchedstatState::Off) => Validity::TimesOnly,
        (SchedstatState::Absent, _) | (_, SchedstatState::Absent) => {
            Validity::Nothing("no /proc/schedstat (CONFIG_SCHEDSTATS=n)")
        }
        (SchedstatState::Off, SchedstatState::On) => {
            Validity::Nothing("kernel.sched_schedstats was switched on between the snapshots")
        }
        (SchedstatState::On, SchedstatState::Off) => {
            Validity::Nothing("kernel.sched_schedstats was switched off between the snapshots")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_states_and_a_switch_in_between() {
        assert_eq!(SchedstatState::of(false, None), SchedstatState::Absent);
        assert_eq!(SchedstatState::of(true, Some("0\n")), SchedstatState::Off);
        assert_eq!(SchedstatState::of(true, Some("1\n")), SchedstatState::On);
        assert_eq!(SchedstatState::of(true, None), SchedstatState::On);
        let off = SchedstatState::Off;
        assert_eq!(validity(off, off), Validity::TimesOnly);
        assert!(matches!(
            validity(off, SchedstatState::On),
            Validity::Nothing(_)
        ));
    }
}
