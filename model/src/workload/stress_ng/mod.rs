//! stress-ng: any of its stressors, futex first. Bogo operations compare only within one version.

mod command;
mod log;
mod miscellaneous;
mod parse;
mod yaml;

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

/// The catalogue entry. Where an output has several stressors, `STRESSOR/` stands before the metric;
/// what a stressor measures beside its operations becomes a metric named by its own words.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "stress-ng",
    summary: "one of stress-ng's stressors, its operations per second",
    tool: Some(ToolDef {
        program: "stress-ng",
        package: Some("stress-ng"),
        version_args: &["--version"],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::new(
            "stressor",
            ParamKind::Text,
            Some("futex"),
            "the stressor, as after `--`",
        ),
        ParamDef::count(
            "instances",
            1,
            None,
            "copies of the stressor; left out: the CPUs that may be used",
        ),
        ParamDef::count("seconds", 1, Some("30"), "how long to run (--timeout)").in_unit("s"),
        ParamDef::count(
            "ops",
            1,
            None,
            "stop after so many operations of all copies (--STRESSOR-ops)",
        ),
        ParamDef::new(
            "options",
            ParamKind::Words,
            None,
            "further arguments, as they stand",
        ),
    ],
    metrics: &[
        MetricDef::higher(
            "bogo-ops-rate",
            "ops/s",
            "operations per second of real time",
        )
        .primary(),
        MetricDef::higher(
            "bogo-ops-rate-cpu",
            "ops/s",
            "operations per second of user and system time",
        )
        .over(Aggregate::Mean),
        MetricDef::higher("bogo-ops", "ops", "operations"),
        MetricDef::counted("real-time", "s", "from start to end").over(Aggregate::Mean),
        MetricDef::counted("user-time", "s", "user time of all copies"),
        MetricDef::counted("system-time", "s", "system time of all copies"),
        MetricDef::counted("cpu-per-instance", "%", "CPU use of a copy").over(Aggregate::Mean),
        MetricDef::counted("rss-max", "KiB", "largest resident set").over(Aggregate::Max),
    ],
    simulated: "the futex stressor: pairs that wait and wake; no other stressor",
};
