//! A workload described as threads that run, sleep, lock, signal and wait for one another, as rt-app
//! describes them. schedrig's own program executes it, and the simulator models all of it.

mod command;
mod parse;
mod read;
mod rt_app;
mod tree;

pub use read::{PhaseError, read_program};
pub use rt_app::import_rt_app;
pub use tree::{Action, PhaseThread, Program};

use crate::workload::catalogue::Entry;
use crate::workload::{Aggregate, Implementation, MetricDef, ParamDef, ParamKind, WorkloadDef};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command: command::command,
    preflight: command::preflight,
    parse: parse::parse,
    duration_ms: command::duration_ms,
};

/// The catalogue entry. Each thread's own values have `THREAD/` before the metric.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "phases",
    summary: "threads that run, sleep, lock, signal and wait for one another",
    tool: None,
    implementations: &[Implementation::Builtin],
    params: &[
        ParamDef::new(
            "threads",
            ParamKind::Tree,
            None,
            "by name: `copies` (1), `nice` (0), `loops` (until the end), `do`: a list of `run: 2 ms`, \
             `sleep: 8 ms`, `timer: 20 ms`, `lock: NAME`, `unlock: NAME`, `signal: NAME`, `wait: NAME`, \
             `barrier: NAME`, `yield: on`, `repeat: {times, do}`",
        ),
        ParamDef::new(
            "rt_app",
            ParamKind::Text,
            None,
            "the text of an rt-app JSON file instead of `threads`",
        ),
        ParamDef::count("seconds", 1, Some("10"), "how long to run").in_unit("s"),
    ],
    metrics: &[
        MetricDef::higher(
            "loops-rate",
            "loops/s",
            "turns through `do` per second, all threads",
        )
        .primary(),
        MetricDef::lower(
            "wakeup-latency-p50",
            "us",
            "median from the time to wake to running",
        ),
        MetricDef::lower("wakeup-latency-p99", "us", "99th percentile").primary(),
        MetricDef::lower("wakeup-latency-max", "us", "the most seen").over(Aggregate::Max),
        MetricDef::lower(
            "timer-misses",
            "count",
            "timer periods that were over before the work was",
        )
        .over(Aggregate::Sum),
    ],
    simulated: "all of it",
};
