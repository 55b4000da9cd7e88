//! `perf bench`: the benchmarks of the kernel's own tree.

mod command;
mod parse;

pub(super) use parse::averaged;

use crate::workload::catalogue::Entry;
use crate::workload::{
    Aggregate, Implementation, MetricDef, ParamDef, ParamKind, ToolDef, WorkloadDef,
};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command: command::command,
    preflight: command::preflight,
    parse: parse::parse,
    duration_ms: command::duration_ms,
};

/// The catalogue entry. Where an output has several functions or benchmarks, they stand before a `/`;
/// `numa mem` has metrics named by its own words.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "perf-bench",
    summary: "the kernel tree's own: messaging, pipe, futex, epoll, system calls, memory",
    tool: Some(ToolDef {
        program: "perf",
        package: Some("linux-perf"),
        version_args: &["--version"],
    }),
    implementations: &[Implementation::Tool],
    params: PARAMS,
    metrics: &[
        MetricDef::higher(
            "ops-rate",
            "ops/s",
            "operations per second; of one thread for futex and epoll",
        )
        .primary(),
        MetricDef::lower("time-per-op", "us/op", "time of one operation"),
        MetricDef::lower("total-time", "s", "from start to end")
            .over(Aggregate::Max)
            .primary(),
        MetricDef::lower(
            "latency",
            "ms",
            "futex wake, requeue: time for all threads; mean of the runs",
        ),
        MetricDef::higher(
            "bandwidth",
            "GiB/s",
            "mem: what a function moved, 2^30 bytes per second",
        ),
    ],
    simulated: "sched-messaging as hackbench, sched-pipe, futex wake; no hash tables, no epoll, no memory",
};

const PARAMS: &[ParamDef] = &[
    ParamDef::new(
        "bench",
        ParamKind::Choice(&[
            "sched-messaging",
            "sched-pipe",
            "syscall-basic",
            "futex-hash",
            "futex-wake",
            "futex-wake-parallel",
            "futex-requeue",
            "futex-lock-pi",
            "epoll-wait",
            "epoll-ctl",
            "mem-memcpy",
            "mem-memset",
        ]),
        Some("sched-pipe"),
        "collection and benchmark",
    ),
    ParamDef::count("groups", 1, None, "messaging: groups of 40 tasks (-g)"),
    ParamDef::count(
        "loops",
        1,
        None,
        "messaging, pipe, syscall, mem: how often (-l)",
    ),
    ParamDef::new(
        "mode",
        ParamKind::Choice(&["process", "thread"]),
        None,
        "messaging (-t), pipe (-T): processes or threads",
    ),
    ParamDef::new(
        "ipc",
        ParamKind::Choice(&["pipe", "socket"]),
        None,
        "messaging: pipe (-p) or socket pair",
    ),
    ParamDef::count(
        "threads",
        1,
        None,
        "futex, epoll: threads (-t); left out: the tool's choice",
    ),
    ParamDef::count(
        "seconds",
        1,
        None,
        "futex hash and lock-pi, epoll: how long (-r)",
    )
    .in_unit("s"),
    ParamDef::new(
        "size",
        ParamKind::Size,
        None,
        "mem: what is moved at a time (-s)",
    ),
];
