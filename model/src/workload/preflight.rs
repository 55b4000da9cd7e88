//! What a workload needs of a machine against what the machine allows, before anything starts.

use crate::workload::{Limits, PreflightFinding};

/// What all instances of a workload need together, and one process needs at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// What the message calls it: `hackbench -T, 150 groups`.
    pub(super) who: String,
    /// Threads and processes at one time, all instances.
    pub(super) tasks: u64,
    /// Open files of the process that has most of them.
    pub(super) files: u64,
    /// Memory in bytes, all instances; 0: not worth a check.
    pub(super) memory_bytes: u64,
    /// Disk space in bytes, all instances; 0: none.
    pub(super) disk_bytes: u64,
    /// Local ports for outgoing connections at one time, all instances.
    pub(super) ports: u64,
}

/// Every limit that is too small, and what the agent can raise.
pub(super) fn check(need: &Need, limits: &Limits) -> Vec<PreflightFinding> {
    let mut findings = Vec::new();
    tasks(need, limits, &mut findings);
    files(need, limits, &mut findings);
    for (what, needed, available) in [
        (
            "bytes of memory",
            need.memory_bytes,
            limits.memory_available_bytes,
        ),
        (
            "bytes of disk space",
            need.disk_bytes,
            limits.disk_free_bytes,
        ),
        ("local ports", need.ports, limits.ephemeral_ports),
    ] {
        if let Some(available) = available.filter(|a| *a < needed) {
            findings.push(PreflightFinding::Refuse(format!(
                "{} needs {needed} {what}, {available} are available",
                need.who
            )));
        }
    }
    findings
}

/// `pid_max` and `threads-max` count every task of the machine; the tasks that exist now take their
/// share. The other two count the tasks of a user or a group, of which we know no number now.
fn tasks(need: &Need, limits: &Limits, findings: &mut Vec<PreflightFinding>) {
    let now = limits.tasks_now.unwrap_or(0);
    for (name, limit, taken) in [
        ("kernel.pid_max", limits.pid_max, now),
        ("kernel.threads-max", limits.threads_max, now),
        ("RLIMIT_NPROC", limits.nproc_soft, 0),
        ("pids.max", limits.pids_max, 0),
    ] {
        let Some(limit) = limit else { continue };
        if need.tasks > limit.saturating_sub(taken) {
            let beside = if taken > 0 {
                format!(" beside {taken} that exist")
            } else {
                String::new()
            };
            findings.push(PreflightFinding::Refuse(format!(
                "{} needs {} threads, {name} {limit} allows {}{beside}",
                need.who,
                need.tasks,
                limit.saturating_sub(taken)
            )));
        }
    }
}

fn files(need: &Need, limits: &Limits, findings: &mut Vec<PreflightFinding>) {
    let Some(soft) = limits.nofile_soft.filter(|soft| *soft < need.files) else {
        return;
    };
    match limits.nofile_hard {
        Some(hard) if hard < need.files => findings.push(PreflightFinding::Refuse(format!(
            "{} needs about {} open files, RLIMIT_NOFILE is {soft} and can be raised to {hard}",
            need.who, need.files
        ))),
        _ => findings.push(PreflightFinding::RaiseNofile(need.files)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(tasks: u64, files: u64) -> Need {
        Need {
            who: "x".into(),
            tasks,
            files,
            ..Need::default()
        }
    }

    #[test]
    fn a_soft_limit_is_raised_where_the_hard_one_allows_it() {
        let limits = Limits {
            nofile_soft: Some(1024),
            nofile_hard: Some(8192),
            ..Limits::default()
        };
        assert_eq!(
            check(&need(1, 6010), &limits),
            [PreflightFinding::RaiseNofile(6010)]
        );
        assert!(check(&need(1, 1024), &limits).is_empty());
        assert!(matches!(
            check(&need(1, 9000), &limits).as_slice(),
            [PreflightFinding::Refuse(text)] if text.contains("8192")
        ));
    }

    #[test]
    fn tasks_that_exist_count_against_pid_max_but_not_against_pids_max() {
        let limits = Limits {
            pid_max: Some(32_768),
            pids_max: Some(32_768),
            tasks_now: Some(384),
            ..Limits::default()
        };
        assert!(check(&need(32_384, 0), &limits).is_empty());
        assert_eq!(
            check(&need(32_385, 0), &limits),
            [PreflightFinding::Refuse(
                "x needs 32385 threads, kernel.pid_max 32768 allows 32384 beside 384 that exist"
                    .into()
            )]
        );
    }

    #[test]
    fn unknown_limits_refuse_nothing() {
        assert!(check(&need(u64::MAX, u64::MAX), &Limits::default()).is_empty());
    }
}
