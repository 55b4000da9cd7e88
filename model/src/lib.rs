//! Every decision of schedrig and no IO: playbooks, plans, topology, the workload catalogue, kernel
//! text formats, host facts, records, the state machines of a run.
//!
//! Text and values in, values out. No file, no clock, no environment, no entropy.

pub mod cpuset;
pub mod host;
pub mod id;
pub mod plan;
pub mod playbook;
pub mod procfmt;
pub mod record;
pub mod reference;
pub mod run;
pub mod time;
pub mod topology;
pub mod workload;

pub use cpuset::CpuSet;
pub use id::{ArmId, CellId, CpuId, HostId, NodeId, RunId, StepId};
