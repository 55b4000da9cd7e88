//! The machine this agent runs on, as the driver sees it: knobs, groups, counters, held state.

use camino::{Utf8Path, Utf8PathBuf};

use schedrig_model::RunId;
use schedrig_model::host::tune::required_gaps;
use schedrig_model::host::{Granted, HeldReading, HeldRules, HostFacts, Knob, held_state};
use schedrig_model::plan::{ArmChange, CgroupTree, Collector, RunStep, StepAction};
use schedrig_model::record::{SnapshotEdge, Taint};
use schedrig_model::run::StepError;
use schedrig_model::workload::ALL;

use crate::collect::{EdgeReading, Snapshotter, read_held};
use crate::discover::{self, Identity, ProcessLimits, Roots, ToolProbe, hwloc};
use crate::error::chain;
use crate::host::Host;
use crate::kernel::{CgroupError, CgroupFs, CgroupMount, HostFiles, RealFiles};
use crate::tune::{HostLock, LockError, NotRestored, TuneError, Tuner, restore};

/// What keeps a machine from being measured on.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Another agent works here.
    #[error("this machine is in use")]
    Lock(#[source] LockError),
    /// The journal of an earlier run cannot be read or closed.
    #[error("what an earlier run changed cannot be put back")]
    Journal(#[source] TuneError),
    /// Settings that an earlier run changed and that do not go back.
    #[error(
        "settings of an earlier run do not go back: {0}; mend them by hand, then `schedrig-agent restore`"
    )]
    Left(String),
    /// Groups of an earlier run that do not go away.
    #[error("groups of an earlier run are still there: {0}")]
    Groups(String),
    /// The system does not say what it is.
    #[error("failed to ask the system for its name")]
    Uname(#[source] std::io::Error),
    /// hwloc cannot read it.
    #[error("failed to read the topology")]
    Topology(#[source] crate::discover::hwloc::HwlocError),
}

/// The real machine.
pub struct Machine {
    files: RealFiles,
    /// The agent's state, relative to the root.
    state: String,
    tuner: Option<Tuner<RealFiles>>,
    groups: Option<(CgroupFs<RealFiles>, Vec<String>)>,
    before: HeldReading,
    taints: Vec<Taint>,
    _lock: HostLock,
}

/// A path as [`HostFiles`] has it: relative to the root.
fn relative(path: &Utf8Path) -> String {
    path.as_str().trim_start_matches('/').to_owned()
}

/// Puts back what the journal in `state` says.
///
/// # Errors
/// The journal cannot be read; something does not go back.
pub fn put_back(files: &RealFiles, state: &Utf8Path) -> Result<Vec<String>, MachineError> {
    let report = restore(files, &relative(state)).map_err(MachineError::Journal)?;
    if !report.is_clean() {
        return Err(MachineError::Left(left_text(&report.failed)));
    }
    let mut done = report.notes;
    if report.settings > 0 {
        done.insert(
            0,
            format!(
                "{} settings looked at, {} put back",
                report.settings, report.written
            ),
        );
    }
    Ok(done)
}

fn left_text(failed: &[NotRestored]) -> String {
    let each: Vec<String> = failed
        .iter()
        .map(|f| format!("`{}` {}", f.path, f.reason))
        .collect();
    each.join("; ")
}

impl Machine {
    /// Takes the host lock and puts back what an earlier life left changed.
    ///
    /// # Errors
    /// Another agent holds the lock; something could not be put back.
    pub fn open(state: &Utf8Path) -> Result<Self, MachineError> {
        let lock = HostLock::take(state).map_err(MachineError::Lock)?;
        let files = RealFiles::new(Utf8Path::new("/"));
        for line in put_back(&files, state)? {
            tracing::warn!("an earlier run was put back: {line}");
        }
        remove_left_groups(&files)?;
        Ok(Machine {
            files,
            state: relative(state),
            tuner: None,
            groups: None,
            before: HeldReading::default(),
            taints: Vec::new(),
            _lock: lock,
        })
    }

    fn tuner(&mut self, run: &RunId) -> Result<&mut Tuner<RealFiles>, StepError> {
        if self.tuner.is_none() {
            let opened = Tuner::open(self.files.clone(), &self.state, run.as_str());
            self.tuner = Some(opened.map_err(|e| StepError::lasting(chain(&e)))?);
        }
        self.tuner
            .as_mut()
            .ok_or_else(|| StepError::lasting("no journal is open"))
    }

    fn enter_arm(&mut self, run: &RunId, changes: &[ArmChange]) -> Result<Vec<Granted>, StepError> {
        let mut knobs: Vec<Knob> = Vec::new();
        for change in changes {
            match change {
                ArmChange::Kernel(pattern) => self.check_kernel(pattern)?,
                ArmChange::Boot(words) => self.check_boot(words)?,
                ArmChange::Knob(knob) => knobs.push(knob.clone()),
                // Each instance states its CPUs.
                ArmChange::Affinity(_) => {}
            }
        }
        if knobs.is_empty() && self.tuner.is_none() {
            return Ok(Vec::new());
        }
        let granted = self
            .tuner(run)?
            .enter_arm(&knobs)
            .map_err(|e| StepError::lasting(chain(&e)))?;
        with_required(granted)
    }

    fn check_kernel(&self, pattern: &str) -> Result<(), StepError> {
        let release = self
            .files
            .read("proc/sys/kernel/osrelease")
            .unwrap_or_default();
        let release = release.trim();
        if schedrig_model::plan::matches_pattern(release, pattern) {
            return Ok(());
        }
        let text = format!(
            "the arm needs a kernel `{pattern}`, this machine runs {release}: boot the other kernel and run again"
        );
        Err(StepError::lasting(text))
    }

    fn check_boot(&self, words: &str) -> Result<(), StepError> {
        let line = self.files.read("proc/cmdline").unwrap_or_default();
        let has = |word: &str| line.split_whitespace().any(|w| w == word);
        match words.split_whitespace().find(|w| !has(w)) {
            None => Ok(()),
            Some(word) => Err(StepError::lasting(format!(
                "the arm needs `{word}` on the kernel's command line: boot with it and run again"
            ))),
        }
    }

    fn make_groups(&mut self, run: &RunId, tree: &CgroupTree) -> Result<Vec<Granted>, StepError> {
        let failed = |e: CgroupError| StepError::lasting(chain(&e));
        let mount = CgroupMount::detect(&self.files).map_err(failed)?;
        let base = mount.base(&self.files).map_err(failed)?;
        let point = mount.point.as_deref().unwrap_or("sys/fs/cgroup");
        let groups = CgroupFs::new(self.files.clone(), point, &base, run);
        let report = groups.create(tree).map_err(failed)?;
        for partition in report.partitions.iter().filter(|p| !p.holds()) {
            tracing::warn!(?partition, "a partition was not granted");
        }
        self.groups = Some((groups, tree.groups.iter().map(|g| g.path.clone()).collect()));
        Ok(Vec::new())
    }

    fn remove_groups(&mut self) -> Result<Vec<Granted>, StepError> {
        let Some((groups, _)) = self.groups.take() else {
            return Ok(Vec::new());
        };
        let removal = groups.remove();
        if removal.left.is_empty() {
            return Ok(Vec::new());
        }
        let each: Vec<String> = removal
            .left
            .iter()
            .map(|l| format!("`{}` (pids {:?})", l.path, l.pids))
            .collect();
        Err(StepError::lasting(format!(
            "groups are still there: {}",
            each.join(", ")
        )))
    }

    fn restore(&mut self) -> Result<Vec<Granted>, StepError> {
        let Some(mut tuner) = self.tuner.take() else {
            return Ok(Vec::new());
        };
        let report = tuner.restore().map_err(|e| StepError::lasting(chain(&e)))?;
        if report.is_clean() {
            return Ok(Vec::new());
        }
        Err(StepError::lasting(format!(
            "settings do not go back: {}",
            left_text(&report.failed)
        )))
    }

    fn held(&self) -> HeldReading {
        let knobs = self.tuner.as_ref().map(Tuner::reread).unwrap_or_default();
        read_held(
            &self.files,
            self.groups.as_ref().map(|(g, _)| g),
            knobs,
            &[],
        )
    }
}

/// Knobs that were required and do not hold fail the step; the others are in the answer.
fn with_required(granted: Vec<Granted>) -> Result<Vec<Granted>, StepError> {
    let gaps = required_gaps(&granted);
    if gaps.is_empty() {
        return Ok(granted);
    }
    let each: Vec<String> = gaps
        .iter()
        .map(|g| format!("`{}`: {}", g.place, g.outcome))
        .collect();
    let reason = format!("required settings do not hold: {}", each.join("; "));
    Err(StepError {
        reason,
        retryable: false,
        granted,
    })
}

/// Ends and removes the groups of runs that an agent was killed in.
fn remove_left_groups(files: &RealFiles) -> Result<(), MachineError> {
    // Without usable v2 groups there can be none of ours.
    let Ok(mount) = CgroupMount::detect(files) else {
        return Ok(());
    };
    let Ok(base) = mount.base(files) else {
        return Ok(());
    };
    let point = mount.point.as_deref().unwrap_or("sys/fs/cgroup");
    let of = |run: &str| CgroupFs::new(files.clone(), point, &base, &RunId::from(run));
    for run in of("none").left_over_runs() {
        let removal = of(&run).remove();
        if let Some(left) = removal.left.first() {
            return Err(MachineError::Groups(format!(
                "`{}` (pids {:?})",
                left.path, left.pids
            )));
        }
        tracing::warn!(run, "groups of an earlier run were removed");
    }
    Ok(())
}

impl Host for Machine {
    fn perform(&mut self, run: &RunId, action: &StepAction) -> Result<Vec<Granted>, StepError> {
        match action {
            StepAction::Prepare(knobs) => {
                let granted = self
                    .tuner(run)?
                    .prepare(knobs)
                    .map_err(|e| StepError::lasting(chain(&e)))?;
                with_required(granted)
            }
            StepAction::EnterArm { changes, .. } => self.enter_arm(run, changes),
            StepAction::MakeCgroups(tree) => self.make_groups(run, tree),
            StepAction::RemoveCgroups => self.remove_groups(),
            StepAction::Restore => self.restore(),
            StepAction::Reboot => Err(StepError::lasting(
                "this agent cannot boot its machine: run the blocks of `boots` one by one",
            )),
            StepAction::Run(_) => Err(StepError::lasting(
                "a run step is not for the machine's hands",
            )),
        }
    }

    fn snapshot(&mut self, collectors: &[Collector], edge: SnapshotEdge) -> EdgeReading {
        if edge == SnapshotEdge::Start {
            self.before = self.held();
        }
        let groups = self.groups.as_ref().map(|(fs, paths)| (fs, paths.clone()));
        let mut reader = Snapshotter::new(&self.files, groups, collectors);
        let reading = reader.read(edge, &[], &crate::clock::monotonic_ns);
        if edge == SnapshotEdge::End {
            self.taints = held_state(&self.before, &self.held(), &HeldRules::default());
        }
        reading
    }

    fn cgroup_procs(&self, group: &str) -> Result<Utf8PathBuf, StepError> {
        match &self.groups {
            Some((fs, paths)) if group.is_empty() || paths.iter().any(|p| p == group) => {
                Ok(self.files.absolute(&fs.procs_file(group)))
            }
            _ => Err(StepError::lasting(format!("no cgroup `{group}` was made"))),
        }
    }

    fn taints(&mut self, _step: &RunStep) -> Vec<Taint> {
        std::mem::take(&mut self.taints)
    }
}
/// What is known of this machine. Programs of the catalogue are looked up in `search_path` and asked
/// for their versions.
///
/// # Errors
/// Its topology cannot be read.
pub fn facts(search_path: &str) -> Result<HostFacts, MachineError> {
    let topology = hwloc::of_this_machine().map_err(MachineError::Topology)?;
    let roots = Roots::machine(search_path);
    let identity =
        Identity::of_this_system(env!("CARGO_PKG_VERSION")).map_err(MachineError::Uname)?;
    let free = discover::disk_free_bytes(std::path::Path::new("/"));
    let limits = discover::limits(&roots, ProcessLimits::of_this_process(), free);
    let mut probes = discover::collectors();
    probes.extend(
        ALL.iter()
            .filter_map(|workload| workload.def().tool)
            .map(|tool| ToolProbe {
                program: tool.program.to_owned(),
                version_args: tool.version_args.iter().map(|a| (*a).to_owned()).collect(),
            }),
    );
    probes.sort_by(|a, b| a.program.cmp(&b.program));
    probes.dedup_by(|a, b| a.program == b.program);
    Ok(discover::facts(
        &roots,
        identity,
        topology,
        limits,
        &probes,
        &discover::run_for_version,
    ))
}
