//! STREAM: sustainable memory bandwidth. The original takes its array size when it is compiled, so
//! that the builtin is the norm; results of either are never compared with the other's.

mod command;
mod parse;

pub use command::{StreamParams, required_elements};

use crate::workload::catalogue::Entry;
use crate::workload::{Implementation, MetricDef, ParamDef, ToolDef, WorkloadDef};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command: command::command,
    preflight: command::preflight,
    parse: parse::parse,
    duration_ms: |_| None,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "stream",
    summary: "memory bandwidth of four kernels over arrays larger than the caches",
    tool: Some(ToolDef {
        program: "stream",
        package: None,
        version_args: &[],
    }),
    implementations: &[Implementation::Builtin, Implementation::Tool],
    params: &[
        ParamDef::count(
            "elements",
            1,
            None,
            "elements of 8 bytes in each of the three arrays; left out: 4 x the sum of the last-level \
             caches of the CPUs that may be used, at least 10000000",
        ),
        ParamDef::count(
            "ntimes",
            2,
            Some("10"),
            "how often each kernel runs; the first does not count",
        ),
        ParamDef::count(
            "threads",
            1,
            None,
            "threads; left out: the CPUs that may be used",
        ),
    ],
    metrics: &[
        MetricDef::higher("copy", "MB/s", "best rate of c = a"),
        MetricDef::higher("scale", "MB/s", "best rate of b = s * c"),
        MetricDef::higher("add", "MB/s", "best rate of c = a + b"),
        MetricDef::higher("triad", "MB/s", "best rate of a = b + s * c").primary(),
    ],
    simulated: "threads that move memory at the node's bandwidth, shared by epoch; placement decides",
};
