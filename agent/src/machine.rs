//! The machine this agent runs on, as the driver sees it.

use camino::{Utf8Path, Utf8PathBuf};

use schedrig_model::RunId;
use schedrig_model::host::{Granted, HostFacts};
use schedrig_model::plan::{Collector, RunStep, StepAction};
use schedrig_model::record::{Snapshot, SnapshotEdge, Taint};
use schedrig_model::run::StepError;

use crate::host::Host;

/// What keeps a machine from being measured on.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// hwloc cannot read it.
    #[error("failed to read the topology")]
    Topology(#[source] crate::discover::hwloc::HwlocError),
}

/// The real machine.
#[derive(Debug)]
pub struct Machine {}

impl Machine {
    /// Takes the host lock and puts back what an earlier life left changed.
    ///
    /// # Errors
    /// Another agent holds the lock; something could not be put back.
    pub fn open(_state: &Utf8Path) -> Result<Self, MachineError> {
        Ok(Machine {})
    }
}

impl Host for Machine {
    fn perform(&mut self, _run: &RunId, _action: &StepAction) -> Result<Vec<Granted>, StepError> {
        Ok(Vec::new())
    }

    fn snapshot(&mut self, _collectors: &[Collector], _edge: SnapshotEdge) -> Vec<Snapshot> {
        Vec::new()
    }

    fn cgroup_procs(&self, group: &str) -> Result<Utf8PathBuf, StepError> {
        Err(StepError::lasting(format!("no cgroup `{group}` was made")))
    }

    fn taints(&mut self, _step: &RunStep) -> Vec<Taint> {
        Vec::new()
    }
}

/// What is known of this machine.
///
/// # Errors
/// Its topology cannot be read.
pub fn facts(_search_path: &str) -> Result<HostFacts, MachineError> {
    let topology = crate::discover::hwloc::of_this_machine().map_err(MachineError::Topology)?;
    let names = nix::sys::utsname::uname().ok();
    let name = |f: fn(&nix::sys::utsname::UtsName) -> &std::ffi::OsStr| {
        names
            .as_ref()
            .map(|n| f(n).to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    Ok(HostFacts {
        hostname: name(|n| n.nodename()),
        kernel_release: name(|n| n.release()),
        kernel_version: name(|n| n.version()),
        architecture: name(|n| n.machine()),
        kernel_cmdline: None,
        boot_id: None,
        microcode: None,
        bios: None,
        os: None,
        memory_bytes: None,
        hypervisor: None,
        cpufreq_driver: None,
        cpuidle_driver: None,
        cgroup_mode: None,
        cgroup_controllers: Vec::new(),
        schedstat: None,
        sched_features: None,
        settings: Default::default(),
        tools: Vec::new(),
        limits: None,
        gaps: Vec::new(),
        topology,
        agent_build: env!("CARGO_PKG_VERSION").into(),
        root: nix::unistd::geteuid().is_root(),
    })
}
