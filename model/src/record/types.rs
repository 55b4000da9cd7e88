//! The values a record is made of.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::{Granted, HostFacts};
use crate::id::{ArmId, CellId, HostId, RunId, StepId};
use crate::plan::{Collector, Plan};
use crate::workload::{ExitState, Measurement, Outcome};

/// Version of a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordFormat {
    /// A reader refuses a newer one.
    pub major: u16,
    /// A reader takes any.
    pub minor: u16,
}

/// What this build writes. Changelog:
/// - 1.0: first.
pub const RECORD_FORMAT: RecordFormat = RecordFormat { major: 1, minor: 0 };

impl fmt::Display for RecordFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Who produced a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Agents on machines.
    Measured,
    /// The simulator.
    Expected,
}

/// One execution of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this shape.
    pub format: RecordFormat,
    /// Its name.
    pub id: RunId,
    /// RFC 3339, UTC, with `Z`.
    pub started_at: String,
    /// RFC 3339, UTC; `None` while it runs, or where the end was not seen.
    pub finished_at: Option<String>,
    /// How it ended.
    pub state: RunState,
    /// Who produced it.
    pub backend: Backend,
    /// What was asked.
    pub plan: Plan,
    /// The playbook's text.
    pub playbook: String,
    /// The circumstances, by machine.
    pub hosts: BTreeMap<HostId, HostFacts>,
    /// What was granted, by machine.
    pub granted: BTreeMap<HostId, Vec<Granted>>,
    /// What a reader of the table should know.
    pub notes: Vec<String>,
    /// In the order they finished.
    pub repetitions: Vec<RepetitionRecord>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It goes on, or its end was not seen.
    Running,
    /// Every step was done.
    Complete,
    /// It ended early; what was measured stays.
    Incomplete,
    /// Someone said that it does not count.
    Withdrawn,
}

/// One repetition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepetitionRecord {
    /// The step it is of.
    pub step: StepId,
    /// The machine.
    pub host: HostId,
    /// The cell.
    pub cell: CellId,
    /// The arm.
    pub arm: ArmId,
    /// From 0 within cell and arm.
    pub repetition: u32,
    /// Not a sample.
    pub warmup: bool,
    /// Which boot of the machine.
    pub boot: u32,
    /// From 0: how often it was tried before.
    pub attempt: u32,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Between the two snapshots, by the monotonic clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// How it ended.
    pub state: RepetitionState,
    /// One value a metric, instances put together.
    pub metrics: Vec<Measurement>,
    /// Spread of each metric across instances, where there were several.
    pub spread: BTreeMap<String, Spread>,
    /// Each copy of the workload.
    pub instances: Vec<InstanceRecord>,
    /// Counters at both edges, raw.
    pub snapshots: Vec<Snapshot>,
    /// Reasons to distrust it.
    pub taints: Vec<Taint>,
    /// Counters that were asked for and could not be had, each with its reason.
    #[serde(default)]
    pub gaps: Vec<String>,
}

/// How a repetition ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepetitionState {
    /// It counts.
    Valid,
    /// It does not count, and why.
    Invalid(String),
}

/// Values of one metric across the instances of a repetition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Jain's index of fairness, 1/n to 1.
    pub fairness: f64,
}

/// One copy of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// What was executed, with what was allotted filled in.
    pub argv: Vec<String>,
    /// Where the program is; `builtin` for the agent's own.
    pub tool_path: String,
    /// Version the program states.
    pub tool_version: Option<String>,
    /// SHA-256 of the program.
    pub tool_sha256: Option<String>,
    /// The group it ran in, as `/proc/PID/cgroup` says.
    pub cgroup: Option<String>,
    /// How it ended.
    pub exit: ExitState,
    /// Head and tail of its standard output.
    pub stdout: String,
    /// Head and tail of its standard error.
    pub stderr: String,
    /// Result files, by name.
    pub files: BTreeMap<String, String>,
    /// Whether output was dropped in the middle.
    pub truncated: bool,
    /// What it means: derived from the rest by [`crate::record::interpret`]; `None` before that.
    pub outcome: Option<Outcome>,
    /// From the program's start to its end, nanoseconds.
    pub elapsed_ns: Option<u64>,
    /// Processes that were still alive when the program ended, and were ended.
    pub left_over: u32,
    /// `/proc/PID/schedstat` of the program's first process at its end: ns on a CPU, ns waiting,
    /// times it was put on one.
    pub schedstat: Option<String>,
    /// User and system time of it and its children, in microseconds.
    pub user_us: Option<u64>,
    /// See `user_us`.
    pub system_us: Option<u64>,
    /// Voluntary context switches of it and its children.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches of it and its children.
    pub involuntary_switches: Option<u64>,
}

/// Which edge of a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnapshotEdge {
    /// Before the start signal.
    Start,
    /// After the last instance ended.
    End,
}

/// Counters as the kernel printed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What was read.
    pub collector: Collector,
    /// Which edge.
    pub edge: SnapshotEdge,
    /// The file, or the group.
    pub source: String,
    /// Monotonic clock of the machine, nanoseconds.
    pub at_ns: u64,
    /// The text.
    pub text: String,
}

/// A reason to distrust a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    /// `steal`, `throttle`, `knob`, `load`, `dmesg`, `moved`.
    pub kind: String,
    /// What was seen.
    pub detail: String,
}
