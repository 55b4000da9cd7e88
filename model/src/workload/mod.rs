//! The catalogue: what each workload takes, how it is started, what its output means.

mod catalogue;
mod command;
mod def;
mod document;
pub mod hackbench;
mod identity;
mod instances;
pub mod netperf;
mod outcome;
mod params;
mod preflight;
mod resolve;
mod runs;
mod saved;
pub mod schbench;
pub mod stream;
pub mod stress_ng;
pub mod tbench;
#[cfg(test)]
mod test_machine;
mod text;
mod verdict;

pub mod aim7;
pub mod cyclictest;
pub mod exec;
pub mod futex;
pub mod iperf3;
pub mod perf_bench;
pub mod phases;
pub mod sysbench;
pub mod unixbench;
pub use catalogue::{ALL, Workload};
pub use command::{Command, Limits, PreflightFinding, Program, ServerCommand};
pub use def::{Aggregate, Implementation, MetricDef, ParamDef, ParamKind, ToolDef, WorkloadDef};
pub use document::document;
pub use identity::{CellIdentity, comparable};
pub use instances::aggregate;
pub use outcome::{Captured, ExitState, Failure, Measurement, Outcome, Parsed};
pub use params::{ParamError, ParamValue, Params};
pub use resolve::size_bytes;
pub use saved::{outcome_json, read_saved};
