//! One variant per workload; the compiler lists what a new one needs.

use crate::topology::Topology;
use crate::workload::{
    Captured, Command, Implementation, Limits, Outcome, ParamError, Params, PreflightFinding,
    WorkloadDef, hackbench,
};

/// A workload of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
    /// Groups of senders and receivers over pipes or sockets.
    Hackbench,
}

/// Every workload, in the order of the documentation.
pub const ALL: &[Workload] = &[Workload::Hackbench];

impl Workload {
    /// The workload a playbook calls `name`.
    pub fn by_name(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|w| w.def().name == name)
    }

    /// What the catalogue states about it.
    pub fn def(self) -> &'static WorkloadDef {
        match self {
            Workload::Hackbench => &hackbench::DEF,
        }
    }

    /// The command for these parameters on this machine. Parameters that were left out are
    /// filled in and returned, so that the record has what was really asked.
    ///
    /// # Errors
    /// Unknown, missing, conflicting parameters; values out of range.
    pub fn command(
        self,
        params: &Params,
        implementation: Implementation,
        machine: &Topology,
    ) -> Result<(Command, Params), ParamError> {
        match self {
            Workload::Hackbench => hackbench::command(params, implementation, machine),
        }
    }

    /// What `instances` concurrent copies with these (resolved) parameters need of the machine.
    pub fn preflight(
        self,
        params: &Params,
        implementation: Implementation,
        instances: u32,
        machine: &Topology,
        limits: &Limits,
    ) -> Vec<PreflightFinding> {
        match self {
            Workload::Hackbench => {
                hackbench::preflight(params, implementation, instances, machine, limits)
            }
        }
    }

    /// What an output means. `params` are the resolved ones where known: saved outputs are read
    /// with empty ones.
    pub fn parse(self, params: &Params, output: &Captured<'_>) -> Outcome {
        match self {
            Workload::Hackbench => hackbench::parse(params, output),
        }
    }

    /// How long the command will take, in milliseconds, where the parameters say it (`seconds:`);
    /// `None` where only experience can tell.
    pub fn duration_ms(self, params: &Params) -> Option<u64> {
        match self {
            Workload::Hackbench => hackbench::duration_ms(params),
        }
    }
}
