//! The controller's side of one run: which step next, on which machine, and when it is over.
//! The driver performs effects in order and feeds inputs.
//!
//! Each machine works through its steps in the plan's order. A lost machine fails the step it was
//! at, which is tried again when the machine is back; the others go on. Whatever ends a run early,
//! the steps that put machines back are still asked for.

use std::collections::BTreeMap;

use crate::id::{ArmId, CellId, HostId, RunId, StepId};
use crate::plan::{Plan, Step, StepAction};
use crate::record::{RepetitionRecord, RepetitionState, RunState};
use crate::run::report::{AgentReport, Assignment};

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// How often a step is tried in all.
    pub attempts_max: u32,
    /// How long a machine may be gone before its part of the run is given up, nanoseconds.
    pub lost_ns: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        RunLimits {
            attempts_max: 2,
            lost_ns: 60_000_000_000,
        }
    }
}

/// How a step stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepState {
    /// Not yet.
    Waiting,
    /// Given to its machine.
    Assigned,
    /// Done.
    Done,
    /// Tried as often as allowed.
    Failed(String),
    /// Not needed, and why.
    Skipped(&'static str),
}

/// What happened.
#[derive(Debug)]
pub enum RunInput<'a> {
    /// A machine of the plan is connected.
    HostUp(HostId),
    /// A machine of the plan is gone.
    HostDown(HostId),
    /// A machine's report, which the store already has.
    Report(HostId, &'a AgentReport),
    /// Nobody wants the run any more.
    Cancel,
    /// Time passed.
    Tick,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum RunEffect {
    /// Give this to its machine.
    Assign(HostId, Box<Assignment>),
    /// Tell the machine that the run is over.
    Cancel(HostId),
    /// Something a reader of the table should know.
    Note(String),
    /// The run is over.
    Finished(RunState),
}

/// The relative half width of a confidence interval of these values' centre, where it can be told.
pub type RelativeCi = fn(&[f64]) -> Option<f64>;

#[derive(Debug)]
struct HostState {
    up: bool,
    down_since_ns: Option<u64>,
    given_up: bool,
    /// The place in the plan of the step it is at.
    at: Option<usize>,
}

/// The controller's decisions in one run.
#[derive(Debug)]
pub struct RunFsm {
    run: RunId,
    plan: Plan,
    limits: RunLimits,
    relative_ci: RelativeCi,
    states: Vec<StepState>,
    attempts: Vec<u32>,
    hosts: BTreeMap<HostId, HostState>,
    samples: BTreeMap<(CellId, ArmId), Vec<f64>>,
    /// Why the remaining measuring steps are not done.
    ending: Option<&'static str>,
    incomplete: bool,
    over: bool,
}

impl RunFsm {
    /// A run that has not begun. `relative_ci` judges the precision stop rule.
    pub fn new(run: RunId, plan: Plan, limits: RunLimits, relative_ci: RelativeCi) -> Self {
        let host_state = |_| HostState {
            up: false,
            down_since_ns: Some(0),
            given_up: false,
            at: None,
        };
        let hosts = plan
            .steps
            .iter()
            .map(|s| (s.host.clone(), host_state(())))
            .collect();
        RunFsm {
            run,
            limits,
            relative_ci,
            states: vec![StepState::Waiting; plan.steps.len()],
            attempts: vec![0; plan.steps.len()],
            hosts,
            samples: BTreeMap::new(),
            ending: None,
            incomplete: false,
            over: false,
            plan,
        }
    }

    /// How each step stands, in the plan's order.
    pub fn states(&self) -> &[StepState] {
        &self.states
    }

    /// Milliseconds that the steps which are still to come are expected to take, on the machine that
    /// needs the longest.
    pub fn remaining_ms(&self) -> u64 {
        let mut by_host: BTreeMap<&HostId, u64> = BTreeMap::new();
        for (step, state) in self.plan.steps.iter().zip(&self.states) {
            if matches!(state, StepState::Waiting | StepState::Assigned) {
                *by_host.entry(&step.host).or_default() += step.estimate_ms;
            }
        }
        by_host.into_values().max().unwrap_or(0)
    }

    /// Effects in the order they must be performed. Total: every input is legal in every state.
    pub fn step(&mut self, now_ns: u64, input: RunInput<'_>) -> Vec<RunEffect> {
        if self.over {
            return Vec::new();
        }
        let mut effects = Vec::new();
        match input {
            RunInput::HostUp(host) => self.host_up(&host, &mut effects),
            RunInput::HostDown(host) => {
                if let Some(state) = self.hosts.get_mut(&host) {
                    state.up = false;
                    state.down_since_ns = Some(now_ns);
                }
            }
            RunInput::Report(host, report) => self.report(&host, report, &mut effects),
            RunInput::Cancel => {
                self.end_early("cancelled");
                effects.extend(self.hosts.keys().cloned().map(RunEffect::Cancel));
                self.over = true;
                effects.push(RunEffect::Finished(RunState::Incomplete));
                return effects;
            }
            RunInput::Tick => self.give_up_lost(now_ns, &mut effects),
        }
        self.assign_next(&mut effects);
        self.finish_if_done(&mut effects);
        effects
    }

    fn host_up(&mut self, host: &HostId, effects: &mut Vec<RunEffect>) {
        let Some(state) = self.hosts.get_mut(host).filter(|s| !s.given_up) else {
            return;
        };
        state.up = true;
        state.down_since_ns = None;
        // The agent recognises an assignment it already has, or has finished.
        if let Some(at) = state.at {
            effects.push(self.assignment(at));
        }
    }

    fn report(&mut self, host: &HostId, report: &AgentReport, effects: &mut Vec<RunEffect>) {
        let (step, attempt) = match report {
            AgentReport::Started { .. } => return,
            AgentReport::Done { step, attempt, .. } | AgentReport::Failed { step, attempt, .. } => {
                (*step, *attempt)
            }
        };
        let at = step.0 as usize;
        let is_current = self.hosts.get(host).is_some_and(|h| h.at == Some(at));
        if !is_current || self.attempts.get(at) != Some(&attempt) {
            return;
        }
        match report {
            AgentReport::Done { repetition, .. } => {
                self.states[at] = StepState::Done;
                if let Some(record) = repetition {
                    self.take_sample(record, effects);
                }
            }
            AgentReport::Failed { error, .. } => {
                self.step_failed(at, &error.reason, error.retryable, effects)
            }
            AgentReport::Started { .. } => {}
        }
        if let Some(state) = self.hosts.get_mut(host) {
            state.at = None;
        }
    }

    fn take_sample(&mut self, record: &RepetitionRecord, effects: &mut Vec<RunEffect>) {
        if let RepetitionState::Invalid(reason) = &record.state {
            effects.push(RunEffect::Note(format!(
                "{} under {}, repetition {}: {reason}",
                record.cell, record.arm, record.repetition
            )));
            if !self.plan.continue_on_failure {
                self.end_early("a repetition failed and `on_failure` is `stop`");
            }
            return;
        }
        if record.warmup {
            return;
        }
        // The first metric of a cell is its primary one.
        let Some(value) = record.metrics.first().map(|m| m.value) else {
            return;
        };
        self.samples
            .entry((record.cell.clone(), record.arm.clone()))
            .or_default()
            .push(value);
        if self.precise_enough(&record.cell) {
            let reason = "precise enough";
            self.skip(
                |step| matches!(&step.action, StepAction::Run(r) if r.cell == record.cell),
                reason,
            );
        }
    }

    fn precise_enough(&self, cell: &CellId) -> bool {
        let Some(until) = self.plan.repeat.until_ci else {
            return false;
        };
        self.plan.arms.iter().all(|arm| {
            let values = self.samples.get(&(cell.clone(), arm.id.clone()));
            values.is_some_and(|v| {
                v.len() >= self.plan.repeat.min as usize
                    && (self.relative_ci)(v).is_some_and(|ci| ci <= until)
            })
        })
    }

    fn step_failed(
        &mut self,
        at: usize,
        reason: &str,
        retryable: bool,
        effects: &mut Vec<RunEffect>,
    ) {
        let step = &self.plan.steps[at];
        if retryable && self.attempts[at] + 1 < self.limits.attempts_max {
            self.attempts[at] += 1;
            self.states[at] = StepState::Waiting;
            return;
        }
        effects.push(RunEffect::Note(format!(
            "step {} on {}: {reason}",
            step.id, step.host
        )));
        self.incomplete = true;
        let measures = matches!(step.action, StepAction::Run(_));
        self.states[at] = StepState::Failed(reason.to_owned());
        if !measures {
            self.end_early("the machine could not be prepared");
        } else if !self.plan.continue_on_failure {
            self.end_early("a step failed and `on_failure` is `stop`");
        }
    }

    /// Leaves out everything that is not needed to put the machines back.
    fn end_early(&mut self, reason: &'static str) {
        self.incomplete = true;
        self.ending.get_or_insert(reason);
        let cleans = |s: &Step| matches!(s.action, StepAction::Restore | StepAction::RemoveCgroups);
        self.skip(|step| !cleans(step), reason);
    }

    fn skip(&mut self, which: impl Fn(&Step) -> bool, reason: &'static str) {
        for (step, state) in self.plan.steps.iter().zip(&mut self.states) {
            if *state == StepState::Waiting && which(step) {
                *state = StepState::Skipped(reason);
            }
        }
    }

    fn give_up_lost(&mut self, now_ns: u64, effects: &mut Vec<RunEffect>) {
        let lost_ns = self.limits.lost_ns;
        let is_lost = |s: &HostState| {
            !s.given_up
                && !s.up
                && s.down_since_ns
                    .is_some_and(|since| now_ns.saturating_sub(since) >= lost_ns)
        };
        let lost: Vec<HostId> = self
            .hosts
            .iter()
            .filter(|(_, s)| is_lost(s))
            .map(|(h, _)| h.clone())
            .collect();
        for host in lost {
            effects.push(RunEffect::Note(format!(
                "{host} is gone: its remaining steps are not done"
            )));
            self.incomplete = true;
            self.skip(|step| step.host == host, "the machine is gone");
            if let Some(state) = self.hosts.get_mut(&host) {
                state.given_up = true;
                if let Some(at) = state.at.take() {
                    self.states[at] = StepState::Failed("the machine is gone".into());
                }
            }
        }
    }

    fn assign_next(&mut self, effects: &mut Vec<RunEffect>) {
        let free: Vec<HostId> = self
            .hosts
            .iter()
            .filter(|(_, s)| s.up && s.at.is_none())
            .map(|(h, _)| h.clone())
            .collect();
        for host in free {
            let is_next = |(at, step): &(usize, &Step)| {
                step.host == host && self.states[*at] == StepState::Waiting
            };
            let next = self
                .plan
                .steps
                .iter()
                .enumerate()
                .find(is_next)
                .map(|(at, _)| at);
            let Some(at) = next else { continue };
            self.states[at] = StepState::Assigned;
            effects.push(self.assignment(at));
            if let Some(state) = self.hosts.get_mut(&host) {
                state.at = Some(at);
            }
        }
    }

    fn assignment(&self, at: usize) -> RunEffect {
        let step = self.plan.steps[at].clone();
        let assignment = Assignment {
            run: self.run.clone(),
            attempt: self.attempts[at],
            step,
        };
        RunEffect::Assign(assignment.step.host.clone(), Box::new(assignment))
    }

    fn finish_if_done(&mut self, effects: &mut Vec<RunEffect>) {
        let open = |s: &StepState| matches!(s, StepState::Waiting | StepState::Assigned);
        if self.states.iter().any(open) {
            return;
        }
        self.over = true;
        if let Some(reason) = self.ending {
            effects.push(RunEffect::Note(format!("the run ended early: {reason}")));
        }
        let state = if self.incomplete {
            RunState::Incomplete
        } else {
            RunState::Complete
        };
        effects.push(RunEffect::Finished(state));
    }

    /// The step a name stands for; for tests and progress lines.
    pub fn step_of(&self, id: StepId) -> Option<&Step> {
        self.plan.steps.get(id.0 as usize)
    }
}

#[cfg(test)]
#[path = "run_fsm_tests.rs"]
mod tests;
