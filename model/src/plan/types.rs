//! The values a plan is made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::host::Knob;
use crate::id::{ArmId, CellId, HostId, StepId};
use crate::workload::{Command, Implementation, Params};

/// A plan. Immutable; equal inputs give equal bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of this shape.
    pub format: u32,
    /// The playbook's title.
    pub title: String,
    /// The seed the order was drawn from.
    pub seed: u64,
    /// Which machine plays which role.
    pub hosts: Vec<PlannedHost>,
    /// What is compared; the first is the base.
    pub arms: Vec<Arm>,
    /// The workloads at their points of the matrix.
    pub cells: Vec<Cell>,
    /// What is held while measuring.
    pub prepare: Vec<Knob>,
    /// The cgroup tree, where there is one.
    pub cgroups: Option<CgroupTree>,
    /// How often, until when, in which order.
    pub repeat: Repeat,
    /// What is read at the edges of each repetition.
    pub collect: Vec<Collector>,
    /// How verdicts are reached.
    pub judge: Judge,
    /// Seeds of the simulator; 0: not simulated.
    pub simulate_seeds: u32,
    /// Go on with other cells after one failed.
    pub continue_on_failure: bool,
    /// What becomes of the machine's state afterwards.
    pub restore: Restore,
    /// What a reader of the plan should know: what was derived from the machine, left out, assumed.
    #[serde(default)]
    pub notes: Vec<String>,
    /// In order of execution.
    pub steps: Vec<Step>,
}

/// What becomes of the machine's state afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restore {
    /// Put back, whatever happened.
    #[default]
    Always,
    /// Put back where the run succeeded; left as it is for a look after a failure.
    OnSuccess,
    /// Left as it is.
    Never,
}

/// A machine in its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedHost {
    /// `sut`, `client`, ...
    pub role: String,
    /// The machine.
    pub host: HostId,
}

/// One of the configurations compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its name.
    pub id: ArmId,
    /// In which ways it differs, in the order they are set.
    pub changes: Vec<ArmChange>,
    /// What the simulator is to take for it.
    pub model: ModelSpec,
}

/// A way in which an arm differs from the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmChange {
    /// The running kernel's release has to match this pattern (`6.17.*`); the agent boots it where
    /// it knows how.
    Kernel(String),
    /// Words of the kernel command line.
    Boot(String),
    /// A knob: scheduler features, sysctls, cpufreq.
    Knob(Knob),
    /// The CPUs the workload may use.
    Affinity(CpuSet),
}

/// The kernel the simulator takes for an arm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpec {
    /// A profile (`v6.12`); `None`: the profile that fits the measured machine's kernel.
    pub profile: Option<String>,
    /// Patches on it, in order.
    pub patches: Vec<String>,
}

/// A workload at one point of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name.
    pub id: CellId,
    /// The playbook's name of the workload entry.
    pub entry: String,
    /// The catalogue's name of the workload.
    pub workload: String,
    /// Tool or builtin: decided here, never by the agent.
    pub implementation: Implementation,
    /// Every parameter, defaults filled in.
    pub params: Params,
    /// What differs from the other cells of the same entry: for table rows.
    pub point: BTreeMap<String, String>,
}

/// A cgroup tree below the agent's own group, parents before children.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupTree {
    /// Controllers that every inner group hands down.
    pub controllers: Vec<String>,
    /// The groups; paths are relative to the agent's group (`g0/g1`).
    pub groups: Vec<CgroupNode>,
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupNode {
    /// Relative to the agent's group, no leading slash.
    pub path: String,
    /// `cpu.max`.
    pub cpu_max: Option<CpuMax>,
    /// `cpu.weight`, 1 to 10000.
    pub cpu_weight: Option<u32>,
    /// `cpuset.cpus`.
    pub cpuset: Option<CpuSet>,
    /// `cpuset.cpus.partition`: `root`, `isolated`.
    pub partition: Option<String>,
    /// Other files to write, in order (`cpu.uclamp.min`).
    pub other: Vec<(String, String)>,
}

/// `cpu.max` and `cpu.max.burst` of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuMax {
    /// Microseconds of CPU time a period; `None`: no limit.
    pub quota_us: Option<u64>,
    /// Length of a period in microseconds.
    pub period_us: u64,
    /// Unused quota that may be kept, in microseconds.
    pub burst_us: Option<u64>,
}

/// In which order the repetitions of the arms run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A B B A A B B A ...: a drift hits both arms alike.
    #[default]
    Interleaved,
    /// Random order within each block of one repetition an arm.
    RandomBlocks,
    /// All of one arm, then all of the next.
    Sequential,
}

/// How often and until when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    /// At least this often an arm and cell.
    pub min: u32,
    /// At most this often; the plan has steps for all of them.
    pub max: u32,
    /// Stop a cell when the confidence interval of the primary metric's centre is within this share
    /// of it, in every arm (0.02: 2 %).
    pub until_ci: Option<f64>,
    /// Blocks of repetitions with a reboot between them.
    pub boots: u32,
    /// Order of the arms.
    pub order: Order,
    /// Unrecorded repetitions first.
    pub warmup: u32,
}

/// Something that is read at the edges of each repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collector {
    /// `/proc/schedstat`.
    Schedstat,
    /// `cpu.stat` of every group.
    CpuStat,
    /// `cpu.pressure` of every group, `/proc/pressure/cpu`.
    Psi,
    /// `/proc/PID/schedstat` and context switches of the workload's processes, summed.
    ProcSched,
    /// `/proc/stat`.
    Stat,
    /// `/proc/interrupts`.
    Interrupts,
    /// `perf stat` around the repetition.
    PerfStat,
    /// `perf record`, share of cycles by symbol.
    PerfProfile,
    /// turbostat, where it exists.
    Turbostat,
}

/// How verdicts are reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// `nothing`: medians and rank tests; `normal`: means and t.
    pub assume: String,
    /// Level of significance.
    pub alpha: f64,
    /// Differences below this share are no change (0.01: 1 %).
    pub min_effect: f64,
    /// Correction for many comparisons: `holm`, `none`.
    pub correct: String,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its number: the place in the plan.
    pub id: StepId,
    /// Which machine.
    pub host: HostId,
    /// What is done.
    pub action: StepAction,
    /// The agent ends it after this time, in milliseconds.
    pub deadline_ms: u64,
    /// How long it is expected to take, in milliseconds.
    pub estimate_ms: u64,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepAction {
    /// Set these knobs; old values go to the journal first.
    Prepare(Vec<Knob>),
    /// Make the cgroup tree.
    MakeCgroups(CgroupTree),
    /// Make the machine run this arm: set its knobs, boot its kernel.
    EnterArm {
        /// Its name.
        arm: ArmId,
        /// What the machine has to be under it, beyond `Prepare`.
        changes: Vec<ArmChange>,
    },
    /// One repetition.
    Run(RunStep),
    /// Boot the machine anew.
    Reboot,
    /// Remove the cgroup tree.
    RemoveCgroups,
    /// Put every knob back.
    Restore,
}

/// One repetition of a cell under an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStep {
    /// The cell.
    pub cell: CellId,
    /// The arm.
    pub arm: ArmId,
    /// From 0 within cell and arm; warm-ups count apart.
    pub repetition: u32,
    /// Not recorded as a sample.
    pub warmup: bool,
    /// Which boot of the machine, from 0.
    pub boot: u32,
    /// Copies of the workload, started at one barrier.
    pub instances: Vec<Instance>,
    /// What is read at the edges.
    pub collect: Vec<Collector>,
    /// Steps of different hosts with the same number start at one moment.
    #[serde(default)]
    pub barrier: Option<u32>,
}

/// One copy of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// What is started.
    pub command: Command,
    /// The CPUs it may use; `None`: all that the agent may.
    pub cpus: Option<CpuSet>,
    /// The group it is started in, relative to the agent's group.
    pub cgroup: Option<String>,
    /// Where the command's server runs; `None`: beside the command.
    #[serde(default)]
    pub server_host: Option<HostId>,
}
