//! A step of a plan, played on a modelled machine; a whole plan, as the records an agent would
//! leave.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedrig_model::cpuset::CpuSet;
use schedrig_model::host::KnobTarget;
use schedrig_model::id::HostId;
use schedrig_model::plan::{
    Arm, ArmChange, Cell, CgroupTree, Collector, Plan, RunStep, StepAction,
};
use schedrig_model::record::{
    InstanceRecord, RepetitionRecord, RepetitionState, Snapshot, SnapshotEdge, Taint,
};
use schedrig_model::workload::{Captured, ExitState, Outcome, Params, Workload, aggregate};

use crate::kernel::{LookupError, Patch, PatchError, Profile};
use crate::machine::Machine;
use crate::mask::CpuMask;
use crate::sched::bandwidth::CfsBandwidth;
use crate::sched::group::shares_of_weight;
use crate::setup::ROOT;
use crate::sim::{Effort, Sim};
use crate::table::GroupIx;
use crate::time::{MS, Ns, SEC, US};
use crate::workload::{NotModelled, Played, Printed, play, print};
use crate::workload_costs::{WorkloadCosts, WorkloadCostsError};

/// Why nothing can be expected of a step.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The workload, or a parameter of it, is not played.
    #[error("the model cannot play this cell")]
    NotModelled(#[from] NotModelled),
    /// No kernel profile.
    #[error("the model has no kernel for arm `{arm}`")]
    Kernel {
        /// The arm.
        arm: String,
        /// Why.
        #[source]
        source: Box<LookupError>,
    },
    /// A patch that cannot be applied.
    #[error("the model cannot change the kernel of arm `{arm}`")]
    Patch {
        /// The arm.
        arm: String,
        /// Why.
        #[source]
        source: PatchError,
    },
    /// The plan names no profile and the machine's kernel is not known.
    #[error("arm `{arm}` names no kernel profile, and the machine's kernel is not known")]
    NoKernel {
        /// The arm.
        arm: String,
    },
    /// The shipped workload costs cannot be read.
    #[error("the workload costs cannot be used")]
    Costs(#[from] WorkloadCostsError),
    /// A step of a cell or an arm the plan has not.
    #[error("the plan has a step of `{0}`, which it does not describe")]
    Unknown(String),
    /// None of a copy's CPUs exists on the machine.
    #[error("the machine has none of the CPUs {0}")]
    NoCpus(CpuSet),
}

/// How much of a step is simulated at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Simulated time.
    pub time_ns: Ns,
    /// Events.
    pub events: u64,
}

impl Default for Budget {
    /// Two simulated seconds, thirty million events: under a minute on one core.
    fn default() -> Self {
        Budget {
            time_ns: 2 * SEC,
            events: 30_000_000,
        }
    }
}

/// What a step is made of.
#[derive(Clone, Copy, Debug)]
pub struct RunStepInput<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// The repetition.
    pub run: &'a RunStep,
    /// The groups, where there are any.
    pub cgroups: Option<&'a CgroupTree>,
    /// CPUs of copies that name none; `None`: all.
    pub affinity: Option<&'a CpuSet>,
}

/// What a step came to.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// Each copy, as an agent would record it.
    pub instances: Vec<InstanceRecord>,
    /// Counters at both edges.
    pub snapshots: Vec<Snapshot>,
    /// From the first to the last event.
    pub elapsed_ns: Ns,
    /// What was shortened, in words.
    pub notes: Vec<String>,
    /// How much was simulated.
    pub effort: Effort,
}

/// Plays one repetition.
///
/// # Errors
/// A workload that is not modelled; CPUs the machine has not.
pub fn simulate(
    input: RunStepInput<'_>,
    machine: &Arc<Machine>,
    profile: &Profile,
    work: &WorkloadCosts,
    seed: u64,
    budget: Budget,
) -> Result<StepOutcome, SimError> {
    let mut sim = Sim::new(Arc::clone(machine), profile.clone(), work.clone(), seed);
    let groups = make_groups(&mut sim, input.cgroups);
    let mut snapshots = Vec::new();
    take_snapshots(
        &sim,
        &groups,
        &input.run.collect,
        SnapshotEdge::Start,
        &mut snapshots,
    );
    let mut played = Vec::new();
    for instance in &input.run.instances {
        let cpus = instance.cpus.as_ref().or(input.affinity);
        let allowed = allowed_cpus(machine, cpus)?;
        let path = instance.cgroup.as_deref().unwrap_or("");
        let group = groups.get(path).copied().unwrap_or(ROOT);
        let (workload, params) = (&input.cell.workload, &input.cell.params);
        played.push(play(
            &mut sim,
            workload,
            params,
            group,
            &allowed,
            budget.time_ns,
        )?);
    }
    let halves = advance(&mut sim, &played, budget);
    take_snapshots(
        &sim,
        &groups,
        &input.run.collect,
        SnapshotEdge::End,
        &mut snapshots,
    );
    let mut notes = Vec::new();
    let instances = (input.run.instances.iter().zip(&played).zip(halves))
        .map(|((instance, played), half)| {
            let printed = print(&sim, &input.cell.workload, &input.cell.params, played, half);
            notes.extend(printed.prolonged.clone());
            instance_record(input.cell, instance.cgroup.clone(), instance, printed)
        })
        .collect();
    notes.dedup();
    Ok(StepOutcome {
        instances,
        snapshots,
        elapsed_ns: sim.now,
        notes,
        effort: sim.effort(),
    })
}

/// Runs until every instance has ended or the budget is used. What each had done half way.
fn advance(sim: &mut Sim, played: &[Played], budget: Budget) -> Vec<(Ns, u64)> {
    let counts = |sim: &Sim| -> Vec<(Ns, u64)> {
        played
            .iter()
            .map(|p| (sim.now, sim.meters[p.meter].ops))
            .collect()
    };
    let mut history = vec![counts(sim)];
    let step = 10 * MS;
    // Instances that end by time have their own end; what they are given to begin is on top.
    let margin = if played.iter().any(|p| p.run_ns.is_some()) {
        SEC / 2
    } else {
        0
    };
    while sim.now < budget.time_ns + margin && sim.effort().events < budget.events {
        let until = sim.now + step;
        let alive = sim.run_until(until);
        history.push(counts(sim));
        if !alive
            || played
                .iter()
                .all(|p| sim.meters[p.meter].finished.is_some())
        {
            break;
        }
    }
    history.swap_remove(history.len() / 2)
}

fn allowed_cpus(machine: &Machine, cpus: Option<&CpuSet>) -> Result<Arc<CpuMask>, SimError> {
    let count = machine.nr_cpus();
    let Some(cpus) = cpus else {
        return Ok(Arc::new(CpuMask::all(count)));
    };
    let mask = CpuMask::of(count, cpus.iter().filter_map(|id| machine.by_os(id)));
    if mask.is_empty() {
        return Err(SimError::NoCpus(cpus.clone()));
    }
    Ok(Arc::new(mask))
}

fn make_groups(sim: &mut Sim, tree: Option<&CgroupTree>) -> BTreeMap<String, GroupIx> {
    let mut groups = BTreeMap::new();
    for node in tree.into_iter().flat_map(|t| &t.groups) {
        let parent = node.path.rsplit_once('/').map_or("", |(above, _)| above);
        let parent = groups.get(parent).copied().unwrap_or(ROOT);
        let bandwidth = node.cpu_max.and_then(|max| {
            let quota = max.quota_us?;
            Some(CfsBandwidth::new(
                quota * US,
                max.period_us * US,
                max.burst_us.unwrap_or(0) * US,
            ))
        });
        let shares = shares_of_weight(node.cpu_weight.unwrap_or(100));
        let group = sim.sched_create_group(&node.path, Some(parent), shares, bandwidth);
        groups.insert(node.path.clone(), group);
    }
    groups
}

fn take_snapshots(
    sim: &Sim,
    groups: &BTreeMap<String, GroupIx>,
    collect: &[Collector],
    edge: SnapshotEdge,
    into: &mut Vec<Snapshot>,
) {
    for &collector in collect {
        let mut push = |source: &str, text: String| {
            let (source, at_ns) = (source.to_owned(), sim.now);
            into.push(Snapshot {
                collector,
                edge,
                source,
                at_ns,
                text,
            });
        };
        match collector {
            Collector::Schedstat => push("/proc/schedstat", sim.schedstat().render()),
            Collector::CpuStat => {
                for (path, &group) in groups {
                    push(path, sim.cpu_stat(group));
                }
            }
            // The model has nothing to say of the others.
            _ => {}
        }
    }
}

fn instance_record(
    cell: &Cell,
    cgroup: Option<String>,
    instance: &schedrig_model::plan::Instance,
    printed: Printed,
) -> InstanceRecord {
    let outcome = read_output(&cell.workload, &cell.params, &printed);
    InstanceRecord {
        argv: instance.command.args.clone(),
        tool_path: "simulator".to_owned(),
        tool_version: None,
        tool_sha256: None,
        cgroup,
        exit: ExitState::Code(0),
        stdout: printed.stdout,
        stderr: printed.stderr,
        files: BTreeMap::new(),
        truncated: false,
        outcome: Some(outcome),
        elapsed_ns: None,
        left_over: 0,
        schedstat: None,
        user_us: None,
        system_us: None,
        voluntary_switches: None,
        involuntary_switches: None,
    }
}

fn read_output(workload: &str, params: &Params, printed: &Printed) -> Outcome {
    let captured = Captured {
        stdout: &printed.stdout,
        stderr: &printed.stderr,
        files: BTreeMap::new(),
        exit: ExitState::Code(0),
        truncated: false,
    };
    match Workload::by_name(workload) {
        Some(known) => known.parse(params, &captured),
        None => Outcome::Failed(schedrig_model::workload::Failure::Partial {
            message: format!("workload `{workload}` is not in the catalogue"),
        }),
    }
}

/// The kernel the model takes for an arm: its profile or the one that fits `release`, the patches
/// it names, and what its knobs change.
///
/// # Errors
/// No profile, or a patch that has no meaning on it.
pub fn profile_of(arm: &Arm, release: Option<&str>) -> Result<Profile, SimError> {
    let name = arm.id.as_str().to_owned();
    let kernel = |source| SimError::Kernel {
        arm: name.clone(),
        source: Box::new(source),
    };
    let patch = |source| SimError::Patch {
        arm: name.clone(),
        source,
    };
    let mut profile = match (&arm.model.profile, release) {
        (Some(profile), _) => Profile::shipped(profile).map_err(kernel)?,
        (None, Some(release)) => Profile::for_release(release).map_err(kernel)?.profile,
        (None, None) => return Err(SimError::NoKernel { arm: name }),
    };
    profile = profile.with_all(&arm.model.patches).map_err(patch)?;
    for change in &arm.changes {
        let text = match change {
            ArmChange::Knob(knob) => match &knob.target {
                KnobTarget::SchedFeature(token) => token.clone(),
                KnobTarget::SchedDebug { file, value } if file == "base_slice_ns" => {
                    format!("base-slice={value}")
                }
                _ => continue,
            },
            ArmChange::Boot(words) => {
                match words
                    .split_whitespace()
                    .find(|w| w.starts_with("relax_domain_level="))
                {
                    Some(word) => word.to_owned(),
                    None => continue,
                }
            }
            _ => continue,
        };
        // A feature the model does not act on changes nothing there.
        if let Ok(known) = Patch::parse(&text) {
            profile = profile.with(&known).map_err(patch)?;
        }
    }
    Ok(profile)
}

/// Plays every recorded repetition of a plan, at most `seeds` of each cell and arm; each has its own
/// seed, drawn from the plan's and the same for every arm. `release`: the machine's own kernel.
///
/// # Errors
/// See [`simulate`] and [`profile_of`].
pub fn run_plan(
    plan: &Plan,
    machine: &Arc<Machine>,
    release: Option<&str>,
    seeds: u32,
) -> Result<Vec<RepetitionRecord>, SimError> {
    let work = WorkloadCosts::shipped()?;
    let mut records = Vec::new();
    for step in &plan.steps {
        let StepAction::Run(run) = &step.action else {
            continue;
        };
        if run.warmup || run.repetition >= seeds {
            continue;
        }
        let arm = (plan.arms.iter().find(|a| a.id == run.arm))
            .ok_or_else(|| SimError::Unknown(run.arm.to_string()))?;
        let cell = (plan.cells.iter().find(|c| c.id == run.cell))
            .ok_or_else(|| SimError::Unknown(run.cell.to_string()))?;
        let profile = profile_of(arm, release)?;
        let affinity = arm.changes.iter().find_map(|change| match change {
            ArmChange::Affinity(cpus) => Some(cpus),
            _ => None,
        });
        let input = RunStepInput {
            cell,
            run,
            cgroups: plan.cgroups.as_ref(),
            affinity,
        };
        // Equal for every arm, so that a change that touches nothing differs by nothing.
        let seed = plan
            .seed
            .wrapping_mul(0x9e37_79b9)
            .wrapping_add(u64::from(run.repetition));
        let outcome = simulate(input, machine, &profile, &work, seed, Budget::default())?;
        records.push(record(step.id, &step.host, run, cell, outcome));
    }
    Ok(records)
}

fn record(
    step: schedrig_model::id::StepId,
    host: &HostId,
    run: &RunStep,
    cell: &Cell,
    outcome: StepOutcome,
) -> RepetitionRecord {
    let parsed: Vec<_> = (outcome.instances.iter())
        .filter_map(|i| match &i.outcome {
            Some(Outcome::Ok(parsed)) => Some(parsed.clone()),
            _ => None,
        })
        .collect();
    let failed = (outcome.instances.iter()).find_map(|i| match &i.outcome {
        Some(Outcome::Failed(failure)) => Some(failure.to_string()),
        _ => None,
    });
    let (metrics, spread) = match (Workload::by_name(&cell.workload), &failed) {
        (Some(known), None) => aggregate(&parsed, known.def()),
        _ => (Vec::new(), BTreeMap::new()),
    };
    RepetitionRecord {
        step,
        host: host.clone(),
        cell: run.cell.clone(),
        arm: run.arm.clone(),
        repetition: run.repetition,
        warmup: false,
        boot: run.boot,
        attempt: 0,
        // The model has no calendar.
        started_at: "1970-01-01T00:00:00Z".to_owned(),
        elapsed_ns: outcome.elapsed_ns,
        state: failed.map_or(RepetitionState::Valid, RepetitionState::Invalid),
        metrics,
        spread,
        instances: outcome.instances,
        snapshots: outcome.snapshots,
        taints: (outcome.notes.into_iter())
            .map(|detail| Taint {
                kind: "prolonged".to_owned(),
                detail,
            })
            .collect(),
        gaps: Vec::new(),
    }
}
