//! hackbench of rt-tests, and schedrig's own with the same flags and output.

mod command;
mod parse;

pub use command::HackbenchParams;

use crate::workload::catalogue::Entry;
use crate::workload::{
    Aggregate, Implementation, MetricDef, ParamDef, ParamKind, ToolDef, WorkloadDef,
};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command: command::command,
    preflight: command::preflight,
    parse: parse::parse,
    duration_ms: |_| None,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "hackbench",
    summary: "groups of senders and receivers over pipes or sockets",
    tool: Some(ToolDef {
        program: "hackbench",
        package: Some("rt-tests"),
        version_args: &["--help"],
    }),
    implementations: &[Implementation::Tool, Implementation::Builtin],
    params: PARAMS,
    metrics: &[MetricDef::lower(
        "time",
        "s",
        "from the start signal to the last receiver's end",
    )
    .over(Aggregate::Max)
    .step(0.001)
    .primary()],
    simulated: "forks, messages, pipe and socket buffers, blocking and wake-ups",
};

const PARAMS: &[ParamDef] = &[
    ParamDef::new(
        "mode",
        ParamKind::Choice(&["process", "thread"]),
        Some("process"),
        "whether senders and receivers are processes or threads of one process",
    ),
    ParamDef::new(
        "ipc",
        ParamKind::Choice(&["pipe", "socket", "inet"]),
        Some("socket"),
        "pipe, UNIX socket pair, or TCP over the loopback",
    ),
    ParamDef::count(
        "groups",
        1,
        Some("10"),
        "groups of `fds` senders and `fds` receivers",
    ),
    ParamDef::count(
        "fds",
        1,
        Some("20"),
        "senders, and receivers, in a group: 20 makes 40 tasks",
    ),
    ParamDef::count(
        "loops",
        1,
        Some("100"),
        "messages from each sender to each receiver of its group; aim at a second or more, the \
         printed time has steps of 1 ms",
    ),
    ParamDef::count("size", 1, Some("100"), "bytes in a message").in_unit("B"),
];
