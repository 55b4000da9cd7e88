//! Reads what the held-state check compares. Done outside the snapshots, as it costs more.

use schedrig_model::host::{HeldReading, KnobReading};
use schedrig_model::procfmt::{parse_cpu_stat, parse_kmsg, parse_proc_stat};

use crate::kernel::{CgroupError, CgroupFs, HostFiles, expand};

const THROTTLE: [&str; 2] = [
    "sys/devices/system/cpu/cpu#/thermal_throttle/core_throttle_count",
    "sys/devices/system/cpu/cpu#/thermal_throttle/package_throttle_count",
];

/// Lines of the log that are kept.
const LOG_LINES: usize = 200;

/// Reads one edge. `knobs` are the settings as [`crate::tune::Tuner::reread`] gives them; `placed` are
/// the workload's processes with the groups they belong in.
pub fn read_held<F: HostFiles, G: HostFiles>(
    files: &F,
    cgroups: Option<&CgroupFs<G>>,
    knobs: Vec<KnobReading>,
    placed: &[(u32, String)],
) -> HeldReading {
    let stat = files.read("proc/stat").ok();
    let counts = THROTTLE.iter().flat_map(|p| expand(files, p));
    let count = |path: String| {
        let value = files.read(&path).ok()?.trim().parse().ok()?;
        let name = path
            .trim_start_matches("sys/devices/system/cpu/")
            .to_owned();
        Some((name, value))
    };
    let usage = |cgroups: &CgroupFs<G>| {
        let text = cgroups.read("", "cpu.stat").ok()?;
        parse_cpu_stat(&text).ok()?.usage_us
    };
    let moved = |cgroups: &CgroupFs<G>| {
        let elsewhere =
            placed
                .iter()
                .filter_map(|(pid, group)| match cgroups.verify_member(group, *pid) {
                    Err(CgroupError::Member { pid, wanted, found }) => Some((pid, wanted, found)),
                    _ => None,
                });
        elsewhere.collect()
    };
    let controllers = |cgroups: &CgroupFs<G>| {
        let text = cgroups.read("", "cgroup.subtree_control").ok()?;
        Some(text.trim().to_owned())
    };
    let (kernel_log, last_log_number) = kernel_log(files);
    HeldReading {
        knobs,
        cpu_times: stat
            .and_then(|text| parse_proc_stat(&text).ok())
            .map(|stat| stat.all),
        throttle_counts: counts.filter_map(count).collect(),
        own_usage_us: cgroups.and_then(usage),
        kernel_log,
        last_log_number,
        moved: cgroups.map(moved).unwrap_or_default(),
        controllers: cgroups.and_then(controllers),
    }
}

/// The lines that matter, and the number of the last line of all.
fn kernel_log(files: &impl HostFiles) -> (Vec<(u64, String)>, Option<u64>) {
    let lines = parse_kmsg(&files.read_log().unwrap_or_default());
    let last = lines.last().map(|l| l.number);
    let mut kept: Vec<(u64, String)> = lines
        .into_iter()
        .filter(|l| l.matters())
        .map(|l| (l.number, l.text))
        .collect();
    let from = kept.len().saturating_sub(LOG_LINES);
    (kept.split_off(from), last)
}
