//! The catalogue: what each workload takes, how it is started, what its output means.

mod catalogue;
mod command;
mod def;
pub mod hackbench;
mod outcome;
mod params;

pub use catalogue::{ALL, Workload};
pub use command::{Command, Limits, PreflightFinding, Program, ServerCommand};
pub use def::{Aggregate, Implementation, MetricDef, ParamDef, ParamKind, ToolDef, WorkloadDef};
pub use outcome::{Captured, ExitState, Failure, Measurement, Outcome, Parsed};
pub use params::{ParamError, ParamValue, Params};
