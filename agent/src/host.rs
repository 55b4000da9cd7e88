//! The seam between the agent's decisions and the machine: knobs, groups, counters.

use camino::Utf8PathBuf;

use schedrig_model::RunId;
use schedrig_model::host::Granted;
use schedrig_model::plan::{Collector, RunStep, StepAction};
use schedrig_model::record::{SnapshotEdge, Taint};
use schedrig_model::run::StepError;

use crate::collect::EdgeReading;

/// What the driver asks of the machine it runs on. Implemented by the real machine and by fakes.
pub trait Host: Send + 'static {
    /// Sets knobs, makes or removes groups, restores. Blocking.
    ///
    /// # Errors
    /// What was required could not be had.
    fn perform(&mut self, run: &RunId, action: &StepAction) -> Result<Vec<Granted>, StepError>;

    /// Reads the counters of one edge of a repetition. Blocking, as short as can be.
    fn snapshot(&mut self, collectors: &[Collector], edge: SnapshotEdge) -> EdgeReading;

    /// `cgroup.procs` of a group of the current tree.
    ///
    /// # Errors
    /// There is no such group.
    fn cgroup_procs(&self, group: &str) -> Result<Utf8PathBuf, StepError>;

    /// Reasons to distrust the repetition that lies between the last two snapshots.
    fn taints(&mut self, step: &RunStep) -> Vec<Taint>;
}
