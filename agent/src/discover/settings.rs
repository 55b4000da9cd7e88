//! Sysctls and knobs that two results should agree in.

use std::collections::BTreeMap;
use std::path::Path;

use super::facts::policies;
use super::roots::{Roots, line_of, names_in};

/// Sysctls by dotted name; the file is the name with slashes.
const SYSCTLS: &[&str] = &[
    "kernel.numa_balancing",
    "kernel.nmi_watchdog",
    "kernel.perf_event_paranoid",
    "kernel.pid_max",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_cfs_bandwidth_slice_us",
    "kernel.sched_child_runs_first",
    "kernel.sched_energy_aware",
    "kernel.sched_rt_period_us",
    "kernel.sched_rt_runtime_us",
    "kernel.sched_schedstats",
    "kernel.sched_util_clamp_min",
    "kernel.threads-max",
    "kernel.timer_migration",
    "kernel.watchdog",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
];

/// Files below /sys, and the name they are stored under.
const FILES: &[(&str, &str)] = &[
    ("smt", "devices/system/cpu/smt/control"),
    ("cpus.isolated", "devices/system/cpu/isolated"),
    ("cpus.nohz_full", "devices/system/cpu/nohz_full"),
    ("cpus.offline", "devices/system/cpu/offline"),
    ("intel_pstate", "devices/system/cpu/intel_pstate/status"),
    (
        "intel_pstate.no_turbo",
        "devices/system/cpu/intel_pstate/no_turbo",
    ),
    ("amd_pstate", "devices/system/cpu/amd_pstate/status"),
    ("cpufreq.boost", "devices/system/cpu/cpufreq/boost"),
    (
        "cpuidle.governor",
        "devices/system/cpu/cpuidle/current_governor",
    ),
    ("thp", "kernel/mm/transparent_hugepage/enabled"),
    ("thp.defrag", "kernel/mm/transparent_hugepage/defrag"),
    (
        "clocksource",
        "devices/system/clocksource/clocksource0/current_clocksource",
    ),
];

/// Files of each cpufreq policy.
const POLICY_FILES: &[&str] = &[
    "scaling_governor",
    "scaling_min_freq",
    "scaling_max_freq",
    "energy_performance_preference",
];

/// Reads every setting that this machine has.
pub(super) fn settings(roots: &Roots) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in SYSCTLS {
        let file = roots.proc.join("sys").join(name.replace('.', "/"));
        found.extend(line_of(&file).map(|v| ((*name).to_owned(), v)));
    }
    for (name, file) in FILES {
        found.extend(line_of(&roots.sys.join(file)).map(|v| ((*name).to_owned(), v)));
    }
    for file in POLICY_FILES {
        found.extend(of_policies(&roots.sys, file).map(|v| (format!("cpufreq.{file}"), v)));
    }
    let debug = roots.sys.join("kernel/debug/sched");
    let knobs = names_in(&debug);
    // The rest are folders, tables of many lines, or (features) a field of their own.
    let small = |n: &&String| {
        let ends = [
            "_ns",
            "_us",
            "_ms",
            "_period_min_ms",
            "preempt",
            "tunable_scaling",
            "nr_migrate",
        ];
        ends.iter().any(|e| n.ends_with(e))
    };
    for name in knobs.iter().filter(small) {
        found.extend(line_of(&debug.join(name)).map(|v| (format!("sched.{name}"), v)));
    }
    let flaws = roots.sys.join("devices/system/cpu/vulnerabilities");
    for name in names_in(&flaws) {
        found.extend(line_of(&flaws.join(&name)).map(|v| (format!("vulnerability.{name}"), v)));
    }
    found
}

/// One value where all policies agree, else each value with the policies that have it.
fn of_policies(sys: &Path, file: &str) -> Option<String> {
    let mut by_value: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for policy in policies(sys) {
        let path = sys
            .join("devices/system/cpu/cpufreq")
            .join(&policy)
            .join(file);
        if let Some(value) = line_of(&path) {
            by_value.entry(value).or_default().push(policy);
        }
    }
    match by_value.len() {
        0 => None,
        1 => by_value.into_keys().next(),
        _ => Some(
            by_value
                .iter()
                .map(|(v, p)| format!("{v} ({})", p.join(" ")))
                .collect::<Vec<_>>()
                .join(", "),
        ),
    }
}
