//! What happened between the two edges of a repetition, from the raw snapshots of its record.

use std::collections::BTreeMap;

use super::cgroup::{CpuStat, parse_cpu_stat};
use super::schedstat::{self, SchedstatDiff, SchedstatState, Validity, validity};
use super::task::{ContextSwitches, TaskRunTimes};
use crate::plan::Collector;
use crate::record::{Snapshot, SnapshotEdge};

/// Where `kernel.sched_schedstats` is kept among the snapshots of the schedstat collector.
pub const SCHEDSTATS_SYSCTL: &str = "proc/sys/kernel/sched_schedstats";
/// Where the counters are.
pub const SCHEDSTAT_FILE: &str = "proc/schedstat";

fn text<'a>(
    snapshots: &'a [Snapshot],
    collector: Collector,
    edge: SnapshotEdge,
    source: &str,
) -> Option<&'a str> {
    let fits = |s: &&Snapshot| s.collector == collector && s.edge == edge && s.source == source;
    snapshots.iter().find(fits).map(|s| s.text.as_str())
}

/// The difference of the two readings of `/proc/schedstat`, and which part of it counts.
///
/// # Errors
/// There are no two readings; one cannot be read; they are not of one boot: in words.
pub fn schedstat_between(snapshots: &[Snapshot]) -> Result<(SchedstatDiff, Validity), String> {
    let at = |edge| text(snapshots, Collector::Schedstat, edge, SCHEDSTAT_FILE);
    let state = |edge| {
        let sysctl = text(snapshots, Collector::Schedstat, edge, SCHEDSTATS_SYSCTL);
        SchedstatState::of(at(edge).is_some(), sysctl)
    };
    let worth = validity(state(SnapshotEdge::Start), state(SnapshotEdge::End));
    if let Validity::Nothing(why) = worth {
        return Err(why.to_owned());
    }
    let read = |edge| schedstat::parse(at(edge).unwrap_or_default()).map_err(|e| e.to_string());
    let (before, after) = (read(SnapshotEdge::Start)?, read(SnapshotEdge::End)?);
    let diff = schedstat::subtract(&before, &after).map_err(|e| e.to_string())?;
    Ok((diff, worth))
}

/// What each group used and how it was throttled, by group. Groups that are not at both edges, or
/// whose text is none, are left out.
pub fn cpu_stat_between(snapshots: &[Snapshot]) -> BTreeMap<String, CpuStat> {
    let of = |edge: SnapshotEdge| -> BTreeMap<&str, CpuStat> {
        let fits = |s: &&Snapshot| s.collector == Collector::CpuStat && s.edge == edge;
        let read = |s: &'_ Snapshot| -> Option<CpuStat> { parse_cpu_stat(&s.text).ok() };
        snapshots
            .iter()
            .filter(fits)
            .filter_map(|s| Some((s.source.strip_suffix("/cpu.stat")?, read(s)?)))
            .collect()
    };
    let (before, after) = (of(SnapshotEdge::Start), of(SnapshotEdge::End));
    let pairs = after
        .iter()
        .filter_map(|(group, now)| Some((group, now.since(before.get(group)?))));
    pairs
        .map(|(group, stat)| ((*group).to_owned(), stat))
        .collect()
}

/// The threads of a workload at one edge: their sums, and how many had ended before they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadSums {
    /// Threads read.
    pub threads: u64,
    /// Threads that were gone when they should have been read.
    pub vanished: u64,
    /// Sums of `/proc/PID/task/TID/schedstat`.
    pub times: TaskRunTimes,
    /// Sums of the context switches of `status`.
    pub switches: ContextSwitches,
}

impl ThreadSums {
    /// The text of a snapshot.
    pub fn to_text(&self) -> String {
        format!(
            "threads {}\nvanished {}\nrun_ns {}\nwait_ns {}\ntimeslices {}\nvoluntary {}\ninvoluntary {}\n",
            self.threads,
            self.vanished,
            self.times.run_ns,
            self.times.wait_ns,
            self.times.timeslices,
            self.switches.voluntary,
            self.switches.involuntary
        )
    }

    /// Reads such a text; `None` where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let keys = super::line::parse_key_numbers(text).ok()?;
        let get = |key| keys.get(key).copied();
        Some(ThreadSums {
            threads: get("threads")?,
            vanished: get("vanished")?,
            times: TaskRunTimes {
                run_ns: get("run_ns")?,
                wait_ns: get("wait_ns")?,
                timeslices: get("timeslices")?,
            },
            switches: ContextSwitches {
                voluntary: get("voluntary")?,
                involuntary: get("involuntary")?,
            },
        })
    }

    /// Adds a thread.
    pub fn add(&mut self, times: TaskRunTimes, switches: ContextSwitches) {
        self.threads += 1;
        self.times.run_ns = self.times.run_ns.saturating_add(times.run_ns);
        self.times.wait_ns = self.times.wait_ns.saturating_add(times.wait_ns);
        self.times.timeslices = self.times.timeslices.saturating_add(times.timeslices);
        self.switches.voluntary = self.switches.voluntary.saturating_add(switches.voluntary);
        self.switches.involuntary = self
            .switches
            .involuntary
            .saturating_add(switches.involuntary);
    }

    /// `3 threads exited before sampling`; `None` where none did.
    pub fn note(&self) -> Option<String> {
        (self.vanished > 0).then(|| format!("{} threads exited before sampling", self.vanished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(collector: Collector, edge: SnapshotEdge, source: &str, text: &str) -> Snapshot {
        let (source, text) = (source.to_owned(), text.to_owned());
        Snapshot {
            collector,
            edge,
            source,
            at_ns: 0,
            text,
        }
    }

    fn schedstat(edge: SnapshotEdge, pcount: u64, sysctl: &str) -> [Snapshot; 2] {
        let text = format!("version 15\ntimestamp {pcount}\ncpu0 0 0 0 0 0 0 0 0 {pcount}\n");
        [
            snapshot(Collector::Schedstat, edge, SCHEDSTATS_SYSCTL, sysctl),
            snapshot(Collector::Schedstat, edge, SCHEDSTAT_FILE, &text),
        ]
    }

    #[test]
    fn a_switch_in_between_spoils_the_difference() {
        let both = |a: &str, b: &str| {
            let mut all = schedstat(SnapshotEdge::Start, 10, a).to_vec();
            all.extend(schedstat(SnapshotEdge::End, 30, b));
            schedstat_between(&all)
        };
        let (diff, worth) = both("0\n", "0\n").unwrap();
        assert_eq!((diff.elapsed_jiffies, worth), (20, Validity::TimesOnly));
        assert_eq!(both("1\n", "1\n").unwrap().1, Validity::All);
        assert!(
            both("0\n", "1\n")
                .unwrap_err()
                .contains("switched on between")
        );
        assert!(
            schedstat_between(&[])
                .unwrap_err()
                .contains("CONFIG_SCHEDSTATS=n")
        );
    }

    #[test]
    fn groups_at_both_edges_are_subtracted() {
        let stat = |edge, group: &str, n: u64| {
            let text = format!("usage_usec {n}\nnr_throttled {n}\n");
            snapshot(
                Collector::CpuStat,
                edge,
                &format!("{group}/cpu.stat"),
                &text,
            )
        };
        let all = [
            stat(SnapshotEdge::Start, "g0", 5),
            stat(SnapshotEdge::End, "g0", 9),
            stat(SnapshotEdge::End, "g1", 9),
        ];
        let found = cpu_stat_between(&all);
        assert_eq!(found.len(), 1);
        assert_eq!(found["g0"].nr_throttled, Some(4));
    }

    #[test]
    fn sums_of_threads_round_trip_and_tell_of_the_gone() {
        let mut sums = ThreadSums {
            vanished: 3,
            ..ThreadSums::default()
        };
        sums.add(
            TaskRunTimes {
                run_ns: 5,
                wait_ns: 6,
                timeslices: 7,
            },
            ContextSwitches::default(),
        );
        assert_eq!(ThreadSums::parse(&sums.to_text()), Some(sums));
        assert_eq!(sums.note().unwrap(), "3 threads exited before sampling");
    }
}
