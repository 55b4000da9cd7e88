//! A playbook from its text to a stored run: parse, plan, check the machines, measure, simulate.
//! The command line and the service do it the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use schedrig_model::plan::{self, Inventory, Machine, Overrides, Plan};
use schedrig_model::playbook::{self, Playbook};
use schedrig_model::record::{Backend, RECORD_FORMAT, RunRecord, RunState};
use schedrig_model::workload::{PreflightFinding, Workload};
use schedrig_model::{HostId, RunId};

use crate::drive::{Drive, DriveError, drive, in_store};
use crate::error::CommandError;
use crate::fleet::{Fleet, HostView};
use crate::progress::Progress;
use crate::store::Store;

/// What somebody wants run.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The playbook's name, for diagnostics.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What it includes, by path.
    pub files: BTreeMap<String, String>,
    /// Roles bound to machines; empty: the only machine there is plays every role.
    pub on: BTreeMap<String, String>,
    /// Parameters, seed, selection.
    pub overrides: Overrides,
}

impl Wanted {
    /// Reads the playbook.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(&self) -> Result<Playbook, CommandError> {
        let loader = |path: &str| {
            self.files
                .get(path)
                .cloned()
                .ok_or_else(|| format!("`{path}` is not among the files that were sent"))
        };
        playbook::parse(&self.name, &self.text, &loader)
            .map_err(|d| CommandError::usage(d.to_text()))
    }
}

/// A plan and the machines it is for.
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Its machines, as their agents described them.
    pub machines: Vec<HostView>,
    /// What a reader of the table should know.
    pub notes: Vec<String>,
}

/// Plans a playbook for machines that are connected.
///
/// # Errors
/// The playbook is wrong, or cannot run on these machines.
pub fn plan_for(wanted: &Wanted, hosts: &[HostView]) -> Result<Planned, CommandError> {
    let playbook = wanted.parse()?;
    let spec = playbook
        .with_params(&wanted.overrides.params)
        .map_err(|d| CommandError::usage(d.to_text()))?;
    let roles: Vec<&str> = spec.roles.iter().map(|r| r.name.as_str()).collect();
    let mut inventory = Inventory::default();
    for role in roles {
        let host = bound_host(role, &wanted.on, hosts)?;
        let machine = Machine::from_facts(host.host.as_str(), host.facts.clone());
        inventory.machines.insert(role.to_owned(), machine);
    }
    let plan = plan::build(&playbook, &inventory, &wanted.overrides)
        .map_err(|d| CommandError::usage(d.to_text()))?;
    let used: BTreeSet<&HostId> = plan.steps.iter().map(|s| &s.host).collect();
    let machines: Vec<HostView> = hosts
        .iter()
        .filter(|h| used.contains(&h.host))
        .cloned()
        .collect();
    let notes = preflight(&plan, &machines)?;
    Ok(Planned {
        plan,
        machines,
        notes,
    })
}

fn bound_host<'a>(
    role: &str,
    on: &BTreeMap<String, String>,
    hosts: &'a [HostView],
) -> Result<&'a HostView, CommandError> {
    let names: Vec<&str> = hosts.iter().map(|h| h.host.as_str()).collect();
    let known = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    match (on.get(role), hosts) {
        (Some(name), _) => hosts
            .iter()
            .find(|h| h.host.as_str() == name)
            .ok_or_else(|| {
                CommandError::failed_text(format!(
                    "no machine `{name}` is connected (connected: {known})"
                ))
            }),
        (None, [only]) => Ok(only),
        (None, _) => Err(CommandError::usage(format!(
            "role `{role}` is bound to no machine: give --on {role}=HOST (connected: {known})"
        ))),
    }
}

/// Whether every cell can work within its machine's limits, before anything is started.
fn preflight(plan: &Plan, machines: &[HostView]) -> Result<Vec<String>, CommandError> {
    let mut notes = BTreeSet::new();
    let mut refused = BTreeSet::new();
    for cell in &plan.cells {
        let Some(workload) = Workload::by_name(&cell.workload) else {
            continue;
        };
        let runs = plan.steps.iter().filter_map(|s| match &s.action {
            plan::StepAction::Run(run) if run.cell == cell.id => {
                Some((&s.host, run.instances.len() as u32))
            }
            _ => None,
        });
        let places: BTreeSet<(&HostId, u32)> = runs.collect();
        for (host, instances) in places {
            let Some(machine) = machines.iter().find(|m| m.host == *host) else {
                continue;
            };
            let Some(limits) = &machine.facts.limits else {
                continue;
            };
            let topology = &machine.facts.topology;
            for finding in workload.preflight(
                &cell.params,
                cell.implementation,
                instances,
                topology,
                limits,
            ) {
                match finding {
                    PreflightFinding::Refuse(text) => {
                        refused.insert(format!("{}: {text}", cell.id));
                    }
                    PreflightFinding::Warn(text) => {
                        notes.insert(format!("{}: {text}", cell.id));
                    }
                    PreflightFinding::RaiseNofile(n) => {
                        notes.insert(format!(
                            "{}: the limit of open files is raised to {n}",
                            cell.id
                        ));
                    }
                }
            }
        }
    }
    if refused.is_empty() {
        return Ok(notes.into_iter().collect());
    }
    let list: Vec<String> = refused.into_iter().collect();
    Err(CommandError::failed_text(format!(
        "this cannot run here:\n  {}",
        list.join("\n  ")
    )))
}

/// What a measurement came to.
pub struct Measured {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub state: RunState,
}

/// Measures a plan on its machines. The head of the run is stored before the first step; `named` is
/// called with the run's name then.
///
/// # Errors
/// A machine is busy; the store fails.
pub async fn measure(
    wanted: &Wanted,
    planned: Planned,
    fleet: &Fleet,
    store: &Arc<dyn Store>,
    progress: mpsc::Sender<Progress>,
    cancelled: watch::Receiver<bool>,
    named: impl FnOnce(&RunId),
) -> Result<Measured, CommandError> {
    let Planned {
        plan,
        machines,
        notes,
    } = planned;
    let run = crate::clock::new_run_id();
    let hosts: Vec<HostId> = machines.iter().map(|m| m.host.clone()).collect();
    let lease = fleet
        .lease(&run, &hosts)
        .map_err(|e| CommandError::failed(&e))?;
    let facts = machines.into_iter().map(|m| (m.host, m.facts)).collect();
    let head = RunRecord {
        notes,
        hosts: facts,
        ..head(&run, Backend::Measured, &plan, &wanted.text)
    };
    let kept = Arc::clone(store);
    in_store(move || kept.create(&head))
        .await
        .map_err(|e| CommandError::failed(&e))?;
    named(&run);
    let store = Arc::clone(store);
    let drive_it = Drive {
        run: run.clone(),
        plan,
        lease,
        fleet: fleet.clone(),
        store,
        progress,
        cancelled,
    };
    match drive(drive_it).await {
        Ok(state) => Ok(Measured { run, state }),
        Err(error @ DriveError::Store(_)) => Err(CommandError::failed(&error)),
    }
}

/// A record that begins now.
pub fn head(run: &RunId, backend: Backend, plan: &Plan, playbook: &str) -> RunRecord {
    RunRecord {
        format: RECORD_FORMAT,
        id: run.clone(),
        started_at: crate::clock::utc_now(),
        finished_at: None,
        state: RunState::Running,
        backend,
        plan: plan.clone(),
        playbook: playbook.to_owned(),
        hosts: BTreeMap::new(),
        granted: BTreeMap::new(),
        notes: Vec::new(),
        repetitions: Vec::new(),
    }
}
