//! What this machine allows a workload.

use std::path::Path;

use schedrig_model::procfmt;
use schedrig_model::workload::Limits;

use super::facts::memory_bytes;
use super::roots::{Roots, line_of};

/// Limits of this process, by call rather than by file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessLimits {
    /// Soft limit of open files; `None`: unlimited.
    pub nofile_soft: Option<u64>,
    /// Hard limit of open files; `None`: unlimited.
    pub nofile_hard: Option<u64>,
    /// Soft limit of processes; `None`: unlimited.
    pub nproc_soft: Option<u64>,
}

impl ProcessLimits {
    /// Asks the system.
    pub fn of_this_process() -> Self {
        use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
        let finite = |n| (n != RLIM_INFINITY).then_some(n);
        let files = getrlimit(Resource::RLIMIT_NOFILE).ok();
        ProcessLimits {
            nofile_soft: files.and_then(|f| finite(f.0)),
            nofile_hard: files.and_then(|f| finite(f.1)),
            nproc_soft: getrlimit(Resource::RLIMIT_NPROC)
                .ok()
                .and_then(|p| finite(p.0)),
        }
    }
}

/// Free bytes of the file system that holds `dir`, for this user.
pub fn disk_free_bytes(dir: &Path) -> Option<u64> {
    let stat = nix::sys::statvfs::statvfs(dir).ok()?;
    stat.blocks_available().checked_mul(stat.fragment_size())
}

/// Reads the limits; `disk_free_bytes` is of the place where results are kept.
pub fn limits(roots: &Roots, process: ProcessLimits, disk_free_bytes: Option<u64>) -> Limits {
    let proc = |file: &str| line_of(&roots.proc.join(file));
    let number = |file: &str| proc(file).and_then(|t| t.parse().ok());
    let loadavg = proc("loadavg").unwrap_or_default();
    let tasks = loadavg
        .split_ascii_whitespace()
        .nth(3)
        .and_then(|t| t.split_once('/'));
    let ports = proc("sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ends = ports.split_ascii_whitespace().map(str::parse::<u64>);
    let ephemeral_ports = match (ends.next(), ends.next()) {
        (Some(Ok(low)), Some(Ok(high))) => high.checked_sub(low).map(|n| n + 1),
        _ => None,
    };
    Limits {
        nofile_soft: process.nofile_soft,
        nofile_hard: process.nofile_hard,
        pid_max: number("sys/kernel/pid_max"),
        threads_max: number("sys/kernel/threads-max"),
        nproc_soft: process.nproc_soft,
        pids_max: pids_max(roots),
        tasks_now: tasks.and_then(|(_, all)| all.parse().ok()),
        memory_available_bytes: memory_bytes(&proc("meminfo").unwrap_or_default(), "MemAvailable"),
        disk_free_bytes,
        ephemeral_ports,
    }
}

/// The least `pids.max` of this process's cgroup and those above it.
fn pids_max(roots: &Roots) -> Option<u64> {
    let own = line_of(&roots.proc.join("self/cgroup"))?;
    let path = procfmt::parse_proc_cgroup(&own)?
        .trim_matches('/')
        .to_owned();
    let mut group = roots.sys.join("fs/cgroup").join(&path);
    let mut least: Option<u64> = None;
    // One step for the group itself, one for each folder above it.
    for _ in 0..=path.split('/').count() {
        // The text `max` is no number: that group sets no limit.
        let here = line_of(&group.join("pids.max")).and_then(|t| t.parse().ok());
        least = least.into_iter().chain(here).min();
        if !group.pop() {
            break;
        }
    }
    least
}
