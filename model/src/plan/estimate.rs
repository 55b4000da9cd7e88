//! How long steps take, and when they are ended.

use crate::playbook::{Diagnostic, EntrySpec, RepeatSpec, Report};
use crate::workload::{ParamValue, Params, Workload};

/// Starting, stopping and reading counters around a repetition.
const AROUND_RUN_MS: u64 = 300;
/// A repetition of which nobody says how long it takes.
const UNKNOWN_RUN_MS: u64 = 10_000;
/// Its deadline.
const UNKNOWN_DEADLINE_MS: u64 = 600_000;
/// A deadline is never shorter than this beyond three times the estimate.
const SLACK_MS: u64 = 60_000;

/// Estimate and deadline of a step, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) estimate_ms: u64,
    pub(super) deadline_ms: u64,
}

/// Settings.
pub(super) const PREPARE: Times = Times {
    estimate_ms: 1_000,
    deadline_ms: 60_000,
};
/// An arm that needs no reboot.
pub(super) const ENTER: Times = Times {
    estimate_ms: 100,
    deadline_ms: 60_000,
};
/// Server machines take minutes in their firmware.
pub(super) const REBOOT: Times = Times {
    estimate_ms: 180_000,
    deadline_ms: 1_800_000,
};
/// Restoring has a time of its own: it runs whatever became of the time of the run.
pub(super) const RESTORE: Times = Times {
    estimate_ms: 1_000,
    deadline_ms: 120_000,
};

/// Making or removing a tree.
pub(super) fn tree(groups: usize) -> Times {
    let groups = groups as u64;
    Times {
        estimate_ms: 100 + 2 * groups,
        deadline_ms: 30_000 + 50 * groups,
    }
}

/// A repetition of an entry.
pub(super) fn run(
    entry: &EntrySpec,
    repeat: &RepeatSpec,
    params: &Params,
    (copies, cpus): (u32, usize),
    notes: &mut Vec<String>,
    report: &mut Report,
) -> Times {
    let known = entry.workload.duration_ms(params);
    if known.is_none() {
        let text = format!(
            "`{}`: how long a repetition takes is a guess: its parameters do not say it",
            entry.name
        );
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
    let estimate_ms = known
        .unwrap_or_else(|| guess(entry.workload, params, copies, cpus))
        .saturating_add(AROUND_RUN_MS);
    let deadline_ms = match entry.timeout_us.or(repeat.timeout_us) {
        Some((us, pos)) => {
            let limit = us / 1_000;
            if known.is_some_and(|ms| ms > limit) {
                report.push(
                    Diagnostic::error(
                        pos,
                        format!(
                            "`{}` takes {} s, its timeout is {} s",
                            entry.name,
                            estimate_ms / 1_000,
                            limit / 1_000
                        ),
                    )
                    .expected("a timeout longer than the repetition"),
                );
            }
            limit
        }
        None if known.is_some() => estimate_ms.saturating_mul(3).saturating_add(SLACK_MS),
        None => UNKNOWN_DEADLINE_MS,
    };
    Times {
        estimate_ms,
        deadline_ms,
    }
}

/// Microseconds of CPU time that a message of hackbench costs: 1 to 3 on machines of the last ten
/// years, measured with rt-tests.
const HACKBENCH_MESSAGE_US: f64 = 1.5;
/// Bytes a second that a machine moves at least, and bytes that one pass of STREAM's four kernels
/// moves for an element.
const STREAM_BYTES_A_SECOND: f64 = 1e10;
const STREAM_BYTES_AN_ELEMENT: f64 = 80.0;

/// About how long a repetition takes whose parameters do not say it, in milliseconds. For totals
/// and progress bars; deadlines do not follow from it.
fn guess(workload: Workload, params: &Params, copies: u32, cpus: usize) -> u64 {
    let number = |name: &str| match params.get(name) {
        Some(ParamValue::Int(n)) => Some(*n as f64),
        Some(ParamValue::Float(x)) => Some(*x),
        _ => None,
    };
    let us = match workload.def().name {
        "hackbench" => number("groups")
            .zip(number("fds"))
            .zip(number("loops"))
            .map(|((groups, fds), loops)| {
                let messages = groups * fds * fds * loops * f64::from(copies.max(1));
                messages * HACKBENCH_MESSAGE_US / cpus.max(1) as f64
            }),
        "stream" => number("elements")
            .zip(number("ntimes"))
            .map(|(elements, ntimes)| {
                // One more pass for filling the arrays.
                elements * STREAM_BYTES_AN_ELEMENT * (ntimes + 1.0) / STREAM_BYTES_A_SECOND * 1e6
            }),
        _ => None,
    };
    us.map_or(UNKNOWN_RUN_MS, |us| {
        (us / 1e3).clamp(1.0, 1e9).round() as u64
    })
}
