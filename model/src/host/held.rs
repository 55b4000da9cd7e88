//! Whether the machine stayed as it was set while a repetition ran. A difference taints the repetition
//! with a reason; it is not thrown away.

use crate::procfmt::CpuTimes;
use crate::record::Taint;

/// What is read at both edges of a repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldReading {
    /// Settings that were set, as they read now.
    pub knobs: Vec<KnobReading>,
    /// Ticks of all CPUs (`/proc/stat`).
    pub cpu_times: Option<CpuTimes>,
    /// Thermal throttle events by counter (`cpu0/thermal_throttle/core_throttle_count`).
    pub throttle_counts: Vec<(String, u64)>,
    /// CPU time of the run's own groups and of the agent, in microseconds; `None`: not known.
    pub own_usage_us: Option<u64>,
    /// Lines of the kernel's log that matter, oldest first; each with its sequence number.
    pub kernel_log: Vec<(u64, String)>,
    /// The number of the last line of the log, whether it matters or not; `None`: the log is empty or
    /// cannot be read.
    pub last_log_number: Option<u64>,
    /// Processes of the workload that are not in their group: pid, group wanted, group found.
    pub moved: Vec<(u32, String, String)>,
    /// Controllers that the run's group hands down.
    pub controllers: Option<String>,
}

/// A setting as it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobReading {
    /// The file.
    pub place: String,
    /// What was granted.
    pub wanted: String,
    /// What it reads; `None`: it cannot be read.
    pub found: Option<String>,
}

/// How much is too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldRules {
    /// Steal time as a share of all CPU time.
    pub most_steal: f64,
    /// CPU time of others as a share of all CPU time.
    pub most_foreign: f64,
    /// Ticks of `/proc/stat` in a second (USER_HZ).
    pub ticks_per_s: u64,
}

impl Default for HeldRules {
    /// 1 % of steal moves a benchmark by about as much, which is the least effect judged by default;
    /// foreign load of 2 % of a machine is a busy CPU on one of 50.
    fn default() -> Self {
        HeldRules {
            most_steal: 0.01,
            most_foreign: 0.02,
            ticks_per_s: 100,
        }
    }
}

/// Reasons to distrust what was measured between the two readings.
pub fn held_state(before: &HeldReading, after: &HeldReading, rules: &HeldRules) -> Vec<Taint> {
    let mut taints = Vec::new();
    let mut taint = |kind: &str, detail: String| {
        taints.push(Taint {
            kind: kind.to_owned(),
            detail,
        });
    };
    for knob in &after.knobs {
        if knob.found.as_deref() != Some(knob.wanted.as_str()) {
            let found = knob.found.as_deref().unwrap_or("cannot be read");
            taint(
                "knob",
                format!("{} reads {found}, was set to {}", knob.place, knob.wanted),
            );
        }
    }
    if let Some(detail) = steal(before, after, rules) {
        taint("steal", detail);
    }
    if let Some(detail) = foreign_load(before, after, rules) {
        taint("load", detail);
    }
    for (counter, now) in &after.throttle_counts {
        let then = before
            .throttle_counts
            .iter()
            .find(|(name, _)| name == counter);
        if let Some(grown) = then
            .and_then(|(_, then)| now.checked_sub(*then))
            .filter(|g| *g > 0)
        {
            taint("throttle", format!("{counter} grew by {grown}"));
        }
    }
    let last = before.last_log_number;
    let new = after
        .kernel_log
        .iter()
        .filter(|(number, _)| last.is_none_or(|l| *number > l));
    for (_, line) in new {
        taint("dmesg", line.clone());
    }
    for (pid, wanted, found) in &after.moved {
        taint(
            "moved",
            format!("pid {pid} is in {found}, not in {wanted}: moved by another manager"),
        );
    }
    if let (Some(then), Some(now)) = (&before.controllers, &after.controllers)
        && then != now
    {
        taint(
            "moved",
            format!("controllers were `{then}`, are `{now}`: reset by another manager"),
        );
    }
    taints
}

fn grown(before: &HeldReading, after: &HeldReading) -> Option<CpuTimes> {
    let grown = after.cpu_times?.since(&before.cpu_times?);
    (grown.total() > 0).then_some(grown)
}

fn steal(before: &HeldReading, after: &HeldReading, rules: &HeldRules) -> Option<String> {
    let grown = grown(before, after)?;
    let share = grown.steal? as f64 / grown.total() as f64;
    (share > rules.most_steal).then(|| {
        format!(
            "{:.1} % steal time: the hypervisor ran something else",
            share * 100.0
        )
    })
}

fn foreign_load(before: &HeldReading, after: &HeldReading, rules: &HeldRules) -> Option<String> {
    let grown = grown(before, after)?;
    let own_us = after.own_usage_us?.checked_sub(before.own_usage_us?)?;
    let own_ticks = own_us as f64 / 1e6 * rules.ticks_per_s as f64;
    let foreign = grown.busy() as f64 - own_ticks;
    let share = foreign / grown.total() as f64;
    (share > rules.most_foreign).then(|| {
        format!(
            "{:.1} % of all CPU time went to others than the workload",
            share * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(user: u64, idle: u64, steal: u64) -> Option<CpuTimes> {
        Some(CpuTimes {
            user,
            idle,
            steal: Some(steal),
            ..CpuTimes::default()
        })
    }

    fn kinds(before: &HeldReading, after: &HeldReading) -> Vec<String> {
        held_state(before, after, &HeldRules::default())
            .into_iter()
            .map(|t| t.kind)
            .collect()
    }

    #[test]
    fn a_quiet_repetition_has_no_taint() {
        let before = HeldReading {
            cpu_times: times(0, 0, 0),
            own_usage_us: Some(0),
            ..HeldReading::default()
        };
        let after = HeldReading {
            cpu_times: times(500, 500, 1),
            own_usage_us: Some(5_000_000),
            ..HeldReading::default()
        };
        assert_eq!(kinds(&before, &after), Vec::<String>::new());
        assert_eq!(
            kinds(&after, &after),
            Vec::<String>::new(),
            "no time passed: no share"
        );
    }

    #[test]
    fn steal_and_foreign_load_are_shares() {
        let before = HeldReading {
            cpu_times: times(0, 0, 0),
            own_usage_us: Some(0),
            ..HeldReading::default()
        };
        let after = HeldReading {
            cpu_times: times(500, 460, 40),
            own_usage_us: Some(4_000_000),
            ..HeldReading::default()
        };
        let taints = held_state(&before, &after, &HeldRules::default());
        assert!(taints[0].detail.starts_with("4.0 % steal"), "{taints:?}");
        assert!(
            taints[1].detail.starts_with("10.0 % of all CPU time"),
            "{taints:?}"
        );
        let unknown = HeldReading {
            own_usage_us: None,
            ..after
        };
        assert_eq!(
            kinds(&before, &unknown),
            ["steal"],
            "unknown use is no foreign load"
        );
    }

    #[test]
    fn knobs_throttling_log_and_membership() {
        let count = |n| vec![("cpu0 core_throttle_count".to_owned(), n)];
        let before = HeldReading {
            throttle_counts: count(3),
            kernel_log: vec![(10, "old".into())],
            last_log_number: Some(10),
            controllers: Some("cpu cpuset".into()),
            ..HeldReading::default()
        };
        let knob = |found: &str| KnobReading {
            place: "policy0/scaling_governor".into(),
            wanted: "performance".into(),
            found: Some(found.into()),
        };
        let after = HeldReading {
            knobs: vec![knob("performance"), knob("schedutil")],
            throttle_counts: count(5),
            kernel_log: vec![(10, "old".into()), (11, "workqueue: hogged CPU".into())],
            moved: vec![(7, "/a/b".into(), "/user.slice".into())],
            controllers: Some("cpu".into()),
            ..HeldReading::default()
        };
        assert_eq!(
            kinds(&before, &after),
            ["knob", "throttle", "dmesg", "moved", "moved"]
        );
    }
}
