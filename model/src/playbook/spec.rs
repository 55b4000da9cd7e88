//! A playbook that has been checked: what the planner works from. Nothing in it depends on a
//! machine.

use std::collections::BTreeMap;

use crate::cpuset::CpuSet;
use crate::host::Knob;
use crate::plan::{Collector, Judge, ModelSpec, Order, Restore};
use crate::workload::Workload;

use super::amount::Amount;
use super::cpu_max::Bandwidth;
use super::source::Pos;
use super::words::{Affinity, Place};
use super::workload_values::Wanted;

/// A checked playbook.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// One line.
    pub title: String,
    /// Id of the published results it repeats.
    pub reference: Option<String>,
    /// Parameters with their values.
    pub params: BTreeMap<String, String>,
    /// The machines by role, at least one.
    pub roles: Vec<RoleSpec>,
    /// What is compared, at least one.
    pub arms: Vec<ArmSpec>,
    /// What is held while measuring.
    pub prepare: Vec<Knob>,
    /// The groups, parents before children; empty: no tree.
    pub groups: Vec<GroupSpec>,
    /// Controllers named by the reader.
    pub controllers: Vec<String>,
    /// What is run.
    pub entries: Vec<EntrySpec>,
    /// How often.
    pub repeat: RepeatSpec,
    /// What is read.
    pub collect: Vec<Collector>,
    /// How verdicts are reached.
    pub judge: Judge,
    /// Seeds of the simulator.
    pub simulate_seeds: u32,
    /// Go on after a failure.
    pub continue_on_failure: bool,
    /// What becomes of the settings.
    pub restore: Restore,
    /// Limit of the whole run, microseconds.
    pub timeout_us: Option<u64>,
}

/// A role.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleSpec {
    /// Its name; with a count, each machine has a name of its own (`client-2`).
    pub name: String,
    /// The role as the playbook names it.
    pub group: String,
    /// Where it stands.
    pub pos: Pos,
    /// What the machine must have.
    pub require: Vec<Requirement>,
}

/// Something a machine must have.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The key.
    pub key: String,
    /// As it is written.
    pub text: Vec<String>,
    /// Where it stands.
    pub pos: Pos,
}

/// An arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmSpec {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub pos: Pos,
    /// Pattern of the kernel's release.
    pub kernel: Option<String>,
    /// Words of the command line.
    pub boot: Option<String>,
    /// Settings.
    pub knobs: Vec<Knob>,
    /// CPUs.
    pub affinity: Option<(Affinity, Pos)>,
    /// The simulator's kernel.
    pub model: ModelSpec,
    /// Roles it applies to; empty: all.
    pub on: Vec<String>,
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupSpec {
    /// Below the agent's group.
    pub path: String,
    /// Where it stands.
    pub pos: Pos,
    /// `cpu.max`.
    pub bandwidth: Option<(Bandwidth, Pos)>,
    /// `cpu.weight`.
    pub weight: Option<u32>,
    /// `cpuset.cpus`.
    pub cpuset: Option<(CpuSet, Pos)>,
    /// `cpuset.cpus.partition`.
    pub partition: Option<String>,
    /// Other files and what is written.
    pub other: Vec<(String, String)>,
    /// Whether no group is below it.
    pub leaf: bool,
}

/// Which implementation is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImplWish {
    /// The installed program.
    #[default]
    Tool,
    /// schedrig's own.
    Builtin,
    /// The program where it is installed.
    Auto,
}

/// An entry of `workloads`.
#[derive(Clone, Debug, PartialEq)]
pub struct EntrySpec {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub pos: Pos,
    /// The workload.
    pub workload: Workload,
    /// Where the workload's key stands.
    pub workload_pos: Pos,
    /// Parameters.
    pub params: Vec<(String, Wanted, Pos)>,
    /// The matrix; without dimensions: one cell.
    pub matrix: MatrixSpec,
    /// Where copies run.
    pub place: (Place, Pos),
    /// Roles that run it.
    pub on: Vec<(String, Pos)>,
    /// Role of the server.
    pub server: Option<(String, Pos)>,
    /// The machines of `on` start at one moment.
    pub together: bool,
    /// Copies in each place.
    pub instances: (Amount, Pos),
    /// Which implementation.
    pub implementation: ImplWish,
    /// Limit of a repetition, microseconds.
    pub timeout_us: Option<(u64, Pos)>,
}

/// A matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatrixSpec {
    /// Where it stands.
    pub pos: Pos,
    /// Every combination of these.
    pub product: Vec<DimensionSpec>,
    /// These go side by side.
    pub zip: Vec<DimensionSpec>,
    /// Combinations left out.
    pub exclude: Vec<ExcludeSpec>,
    /// The most cells.
    pub cap: u64,
}

/// A dimension of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct DimensionSpec {
    /// The parameter.
    pub key: String,
    /// Where it stands.
    pub pos: Pos,
    /// Its values.
    pub values: Vec<(Wanted, Pos)>,
}

/// A combination that is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ExcludeSpec {
    /// Where it stands.
    pub pos: Pos,
    /// Parameter and values as they are printed.
    pub point: Vec<(String, Vec<String>)>,
}

/// Repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatSpec {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Precision.
    pub until_ci: Option<f64>,
    /// Blocks with a reboot between them.
    pub boots: u32,
    /// Order of arms.
    pub order: Order,
    /// Unrecorded repetitions.
    pub warmup: u32,
    /// Limit of a repetition, microseconds.
    pub timeout_us: Option<(u64, Pos)>,
}
