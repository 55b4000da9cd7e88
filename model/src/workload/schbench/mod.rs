//! schbench (masoncl/schbench): message threads hand work to worker threads. Two generations of
//! options and output: `current` (2023 on: wake-up and request latencies, RPS) and `old` (a single
//! latency, sleep and CPU time as options).

mod command;
mod parse;

pub use command::SchbenchParams;

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

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "schbench",
    summary: "wake-up and request latencies of message and worker threads",
    tool: Some(ToolDef {
        program: "schbench",
        package: None,
        version_args: &[],
    }),
    implementations: &[Implementation::Tool, Implementation::Builtin],
    params: PARAMS,
    metrics: METRICS,
    simulated: "both generations: wake-ups, think time, the matrix work as CPU time with a working \
                set, the per-CPU lock as spinning; not the pipe mode",
};

const PARAMS: &[ParamDef] = &[
    ParamDef::new(
        "options",
        ParamKind::Choice(&["current", "old"]),
        Some("current"),
        "which generation of the program: `old` has `sleep` and `cpu_time` instead of the work loop",
    ),
    ParamDef::count("message_threads", 1, Some("1"), "message threads (-m)"),
    ParamDef::count(
        "workers",
        1,
        None,
        "workers of each message thread (-t); left out: the CPUs that may be used, divided by the \
         message threads, rounded up",
    ),
    ParamDef::count("seconds", 1, Some("30"), "how long to run (-r)").in_unit("s"),
    ParamDef::count(
        "rps",
        0,
        None,
        "fixed requests per second over all workers (-R)",
    )
    .in_unit("req/s"),
    ParamDef::new(
        "auto_rps",
        ParamKind::Count { min: 1, max: 100 },
        None,
        "raise the rate until the CPUs are this busy (-A)",
    )
    .in_unit("%"),
    ParamDef::new(
        "locking",
        ParamKind::Switch,
        Some("on"),
        "a per-CPU spinlock around the work; `off` is -L",
    ),
    ParamDef::count(
        "operations",
        0,
        None,
        "matrix multiplications of a request (-n)",
    ),
    ParamDef::count("cache_footprint", 1, None, "working set of a worker (-F)").in_unit("KiB"),
    ParamDef::new(
        "split",
        ParamKind::Count { min: 0, max: 100 },
        None,
        "percent of the working set that is private to a worker (--split)",
    )
    .in_unit("%"),
    ParamDef::count("pipe", 1, None, "pipe mode: bytes to transfer (-p)").in_unit("B"),
    ParamDef::count(
        "sleep",
        0,
        None,
        "current: think time of a request (-s); old: latency of the message thread (-s), 10000",
    )
    .in_unit("us"),
    ParamDef::count("cpu_time", 1, None, "old only: time to think (-c), 10000").in_unit("us"),
    ParamDef::new(
        "auto",
        ParamKind::Switch,
        Some("off"),
        "old only: add threads until latencies suffer (-a)",
    ),
    ParamDef::count(
        "warmup",
        1,
        None,
        "current only: statistics start after it (-w)",
    )
    .in_unit("s"),
    ParamDef::new(
        "message_cpus",
        ParamKind::Text,
        None,
        "current only: pin message threads to these CPUs, or `auto` (-M)",
    ),
    ParamDef::new(
        "worker_cpus",
        ParamKind::Text,
        None,
        "current only: pin workers to these CPUs, or `auto` (-W)",
    ),
    ParamDef::new(
        "json",
        ParamKind::Switch,
        Some("off"),
        "current only: also print JSON (-j -), which older programs refuse",
    ),
];

macro_rules! latency {
    ($name:literal, $what:literal) => {
        MetricDef::lower($name, "us", $what)
    };
}

const METRICS: &[MetricDef] = &[
    latency!(
        "wakeup-latency-p20",
        "20th percentile from wake-up to running"
    ),
    latency!("wakeup-latency-p50", "median from wake-up to running").primary(),
    latency!("wakeup-latency-p75", "75th percentile; old format only"),
    latency!("wakeup-latency-p90", "90th percentile"),
    latency!("wakeup-latency-p95", "95th percentile; old format only"),
    latency!("wakeup-latency-p99", "99th percentile").primary(),
    latency!("wakeup-latency-p99.5", "99.5th percentile; old format only"),
    latency!("wakeup-latency-p99.9", "99.9th percentile"),
    latency!("wakeup-latency-min", "the least seen"),
    latency!("wakeup-latency-max", "the most seen").over(Aggregate::Max),
    latency!("request-latency-p20", "20th percentile of a request's time"),
    latency!("request-latency-p50", "median of a request's time"),
    latency!("request-latency-p90", "90th percentile"),
    latency!("request-latency-p99", "99th percentile").primary(),
    latency!("request-latency-p99.9", "99.9th percentile"),
    latency!("request-latency-min", "the least seen"),
    latency!("request-latency-max", "the most seen").over(Aggregate::Max),
    MetricDef::higher("rps", "req/s", "requests per second over the whole run").primary(),
    MetricDef::higher("rps-p20", "req/s", "20th percentile of the rate by second"),
    MetricDef::higher("rps-p50", "req/s", "median of the rate by second"),
    MetricDef::higher("rps-p90", "req/s", "90th percentile of the rate by second"),
    MetricDef::higher("rps-min", "req/s", "the least of the rate by second"),
    MetricDef::higher("rps-max", "req/s", "the most of the rate by second"),
    MetricDef::higher(
        "worker-transfer-rate",
        "ops/s",
        "pipe mode: transfers of a worker",
    )
    .over(Aggregate::Mean),
    MetricDef::higher(
        "worker-transfer-bandwidth",
        "KiB/s",
        "pipe mode: bytes of a worker",
    )
    .over(Aggregate::Mean),
    latency!(
        "sched-delay-message",
        "run delay of message threads, last interval"
    ),
    latency!("sched-delay-worker", "run delay of workers, last interval"),
];
