//! The simulator as a backend: the same plan, the same kind of record.

use std::sync::Arc;

use schedrig_model::host::HostFacts;
use schedrig_model::plan::{Plan, StepAction};
use schedrig_model::record::{Backend, RepetitionRecord, RunRecord, RunState};
use schedrig_model::topology::Topology;
use schedrig_model::{RunId, record};
use schedrig_sim::machine::{CostProfile, Machine};

use crate::error::chain;

/// Costs of a machine that was never calibrated: those of the shipped small virtual machine.
const BORROWED_COSTS: &str = "vm-2";

/// The simulator's record of a plan. Cells that the model does not cover are notes, never numbers.
pub fn expect(run: &RunId, plan: &Plan, playbook: &str, machine: &SimMachine) -> RunRecord {
    let id = RunId(format!("{run}-expected"));
    let mut head = crate::session::head(&id, Backend::Expected, plan, playbook);
    head.notes.extend(machine.notes.clone());
    let seeds = plan.simulate_seeds;
    for cell in &plan.cells {
        let mut part = plan.clone();
        part.cells.retain(|c| c.id == cell.id);
        part.steps
            .retain(|s| matches!(&s.action, StepAction::Run(r) if r.cell == cell.id));
        match schedrig_sim::run::run_plan(
            &part,
            &machine.machine,
            machine.release.as_deref(),
            seeds,
        ) {
            Ok(records) => head
                .repetitions
                .extend(records.into_iter().map(|r| interpreted(plan, r))),
            Err(error) => head
                .notes
                .push(format!("{}: not simulated: {}", cell.id, chain(&error))),
        }
    }
    head.state = RunState::Complete;
    head.finished_at = Some(crate::clock::utc_now());
    head
}

fn interpreted(plan: &Plan, mut repetition: RepetitionRecord) -> RepetitionRecord {
    if repetition.metrics.is_empty() {
        record::interpret(plan, &mut repetition);
    }
    repetition
}

/// A machine as the simulator knows it.
pub struct SimMachine {
    machine: Arc<Machine>,
    release: Option<String>,
    notes: Vec<String>,
}

impl SimMachine {
    /// A machine that an agent has discovered.
    ///
    /// # Errors
    /// Its topology is none that can be modelled.
    pub fn discovered(facts: &HostFacts) -> Result<Self, schedrig_sim::machine::MachineError> {
        let mut sim = Self::of_topology(&facts.hostname, &facts.topology)?;
        sim.release = Some(facts.kernel_release.clone());
        Ok(sim)
    }

    /// A machine of which only the shape is known.
    ///
    /// # Errors
    /// Its topology is none that can be modelled.
    pub fn of_topology(
        name: &str,
        topology: &Topology,
    ) -> Result<Self, schedrig_sim::machine::MachineError> {
        let costs = CostProfile::shipped(BORROWED_COSTS)?;
        let machine = Machine::from_topology(name, topology, &costs)?;
        let notes = vec![format!("expected: {}", costs.note)];
        Ok(SimMachine {
            machine: Arc::new(machine),
            release: None,
            notes,
        })
    }

    /// A machine the simulator ships.
    ///
    /// # Errors
    /// None of that name.
    pub fn shipped(name: &str) -> Result<Self, schedrig_sim::machine::MachineError> {
        Ok(SimMachine {
            machine: Arc::new(Machine::shipped(name)?),
            release: None,
            notes: Vec::new(),
        })
    }
}
