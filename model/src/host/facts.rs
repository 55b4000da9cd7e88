//! The circumstances a result was measured under.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::topology::Topology;
use crate::workload::Limits;

/// What an agent says of its machine. `None` is "unknown", never a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Host name.
    pub hostname: String,
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`: build number and date.
    pub kernel_version: String,
    /// `uname -m`.
    pub architecture: String,
    /// `/proc/cmdline`.
    pub kernel_cmdline: Option<String>,
    /// Random per boot.
    pub boot_id: Option<String>,
    /// Hexadecimal, as the first CPU states it.
    pub microcode: Option<String>,
    /// BIOS vendor, version, date.
    pub bios: Option<String>,
    /// Distribution, as /etc/os-release names it.
    pub os: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// `kvm`, `qemu`, ... where the machine is virtual.
    pub hypervisor: Option<String>,
    /// cpufreq driver of the first policy; `None`: no driver.
    pub cpufreq_driver: Option<String>,
    /// cpuidle driver; `None`: no driver.
    pub cpuidle_driver: Option<String>,
    /// `unified`, `hybrid`, `v1`, `none`.
    pub cgroup_mode: Option<String>,
    /// Controllers usable in cgroup v2.
    pub cgroup_controllers: Vec<String>,
    /// `absent`, `off`, `on`.
    pub schedstat: Option<String>,
    /// Scheduler features as the kernel lists them.
    pub sched_features: Option<Vec<String>>,
    /// Sysctls and knobs worth comparing, by name.
    pub settings: BTreeMap<String, String>,
    /// Programs found.
    pub tools: Vec<ToolFact>,
    /// What the machine allows; `None`: an agent that does not say.
    pub limits: Option<Limits>,
    /// What cannot be controlled or collected here: name and reason.
    pub gaps: Vec<(String, String)>,
    /// The shape of the machine.
    pub topology: Topology,
    /// Version and build of the agent.
    pub agent_build: String,
    /// Whether the agent runs as root.
    pub root: bool,
}

/// A program an agent found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFact {
    /// The name in `PATH`.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// What it says of itself.
    pub version: Option<String>,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: Option<String>,
}
