//! hackbench of rt-tests, and schedrig's own with the same flags and output.

use schedrig_stats::Direction;

use crate::topology::Topology;
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, Outcome, ParamDef,
    ParamError, ParamKind, Params, PreflightFinding, ToolDef, WorkloadDef,
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
    params: &[ParamDef {
        name: "groups",
        kind: ParamKind::Count {
            min: 1,
            max: 10_000,
        },
        default: Some("10"),
        unit: "",
        doc: "groups of fds senders and fds receivers",
    }],
    metrics: &[MetricDef {
        name: "time",
        unit: "s",
        direction: Direction::LowerIsBetter,
        aggregate: Aggregate::Max,
        resolution: Some(0.001),
        primary: true,
        doc: "from the start signal to the last receiver's end",
    }],
    simulated: "forks, messages, pipe and socket buffers, blocking and wake-ups",
};

pub(super) fn command(
    _params: &Params,
    _implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    Err(ParamError::Conflict {
        workload: "hackbench",
        text: "not wired yet".into(),
    })
}

pub(super) fn preflight(
    _params: &Params,
    _implementation: Implementation,
    _instances: u32,
    _machine: &Topology,
    _limits: &Limits,
) -> Vec<PreflightFinding> {
    Vec::new()
}

pub(super) fn parse(_params: &Params, _output: &Captured<'_>) -> Outcome {
    Outcome::Failed(Failure::Partial {
        message: "not wired yet".into(),
    })
}

pub(super) fn duration_ms(_params: &Params) -> Option<u64> {
    None
}
