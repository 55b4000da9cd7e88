//! The agent's side of one step. The driver performs effects in order and feeds inputs.
//!
//! ```text
//! Idle --assigned--> Working --performed--> Idle          knobs, groups, restore
//!   \---assigned--> Launching --launched--> Running --all exited--> Assembling --assembled--> Idle
//!                        |                     |deadline, cancel        ^
//!                        '-failed-> Idle       '--> Draining --exited---'
//! ```
//! Losing the controller changes nothing while a step runs: the measurement goes on and its report
//! waits. An agent that is left alone with a changed machine puts it back after a while.

use std::collections::VecDeque;

use crate::host::Granted;
use crate::id::{RunId, StepId};
use crate::plan::{RunStep, StepAction};
use crate::record::{RepetitionRecord, SnapshotEdge};
use crate::run::report::{AgentReport, Assignment, StepError};

/// Finished assignments that are remembered, to recognise one that is sent again.
const REMEMBERED: usize = 64;

/// Delays, all in nanoseconds of the agent's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct AgentTimes {
    /// Between SIGTERM and SIGKILL.
    pub grace_ns: u64,
    /// How long a changed machine waits for a lost controller before it is put back.
    pub orphan_ns: u64,
}

impl Default for AgentTimes {
    fn default() -> Self {
        AgentTimes {
            grace_ns: 2_000_000_000,
            orphan_ns: 120_000_000_000,
        }
    }
}

/// Why a repetition ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepetitionEnd {
    /// Every instance ended by itself.
    Completed,
    /// The deadline passed and the instances were ended.
    DeadlinePassed,
    /// The run was cancelled and the instances were ended.
    Cancelled,
}

/// What happened.
#[derive(Debug)]
pub enum AgentInput {
    /// The controller wants this done.
    Assigned(Box<Assignment>),
    /// A `Perform` effect ended.
    Performed(Result<Vec<Granted>, StepError>),
    /// A `Launch` effect ended: every instance waits at the barrier, or none is left.
    Launched(Result<(), StepError>),
    /// One instance ended, with everything it started.
    InstanceExited,
    /// An `Assemble` effect ended.
    Assembled(Box<RepetitionRecord>),
    /// The run is not wanted any more.
    Cancel(RunId),
    /// The stream to the controller broke.
    LinkDown,
    /// The stream is there again.
    LinkUp,
    /// Time passed.
    Tick,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum AgentEffect {
    /// Set knobs, make or remove groups, restore; answer with `Performed`.
    Perform(StepAction),
    /// Start every instance up to the barrier; answer with `Launched`.
    Launch(Box<RunStep>),
    /// Read the counters at this edge.
    Snapshot(SnapshotEdge),
    /// Let the instances go.
    Release,
    /// Ask the instances to end.
    Terminate,
    /// End the instances and everything they started.
    Kill,
    /// Put the record together; answer with `Assembled`.
    Assemble(RepetitionEnd),
    /// Tell the controller, and keep it until it is acknowledged.
    Report(RunId, AgentReport),
}

#[derive(Debug)]
enum State {
    Idle,
    Working,
    Launching {
        cancelled: bool,
    },
    Running {
        left: usize,
        deadline_ns: u64,
    },
    Draining {
        left: usize,
        kill_at_ns: u64,
        killed: bool,
        end: RepetitionEnd,
    },
    Assembling,
    /// Putting the machine back, without anybody having asked.
    CleaningUp {
        actions: VecDeque<StepAction>,
    },
}

/// The agent's decisions.
#[derive(Debug)]
pub struct AgentFsm {
    times: AgentTimes,
    state: State,
    current: Option<Box<Assignment>>,
    finished: VecDeque<(RunId, StepId, u32)>,
    /// Whether knobs or groups may differ from what was found.
    touched: bool,
    /// The run that touched them, so that its cancellation puts them back.
    owner: Option<RunId>,
    alone_since_ns: Option<u64>,
}

impl AgentFsm {
    /// An idle agent.
    pub fn new(times: AgentTimes) -> Self {
        AgentFsm {
            times,
            state: State::Idle,
            current: None,
            finished: VecDeque::new(),
            touched: false,
            owner: None,
            alone_since_ns: None,
        }
    }

    /// Whether nothing is being done.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// Whether nothing is being done and nothing is to be put back.
    pub fn is_settled(&self) -> bool {
        self.is_idle() && !self.touched
    }

    /// When the next `Tick` can matter, on the clock of `step`; `None`: never, until something else
    /// happens. The driver sleeps until then: no timer runs beside a measurement.
    pub fn next_tick_ns(&self) -> Option<u64> {
        match self.state {
            State::Running { deadline_ns, .. } => Some(deadline_ns),
            State::Draining {
                kill_at_ns,
                killed: false,
                ..
            } => Some(kill_at_ns),
            State::Idle if self.touched => self.alone_since_ns.map(|since| {
                if since == 0 {
                    0
                } else {
                    since.saturating_add(self.times.orphan_ns)
                }
            }),
            _ => None,
        }
    }

    /// Effects in the order they must be performed. Total: every input is legal in every state.
    pub fn step(&mut self, now_ns: u64, input: AgentInput) -> Vec<AgentEffect> {
        match input {
            AgentInput::Assigned(assignment) => self.assigned(assignment),
            AgentInput::Performed(result) => self.performed(result),
            AgentInput::Launched(result) => self.launched(now_ns, result),
            AgentInput::InstanceExited => self.exited(),
            AgentInput::Assembled(record) => self.assembled(record),
            AgentInput::Cancel(run) => self.cancel(now_ns, &run),
            AgentInput::LinkDown => {
                self.alone_since_ns.get_or_insert(now_ns);
                Vec::new()
            }
            AgentInput::LinkUp => {
                self.alone_since_ns = None;
                Vec::new()
            }
            AgentInput::Tick => self.tick(now_ns),
        }
    }

    fn assigned(&mut self, assignment: Box<Assignment>) -> Vec<AgentEffect> {
        let key = assignment.key();
        let known = |a: &Assignment| a.key() == key;
        if self.finished.contains(&key) || self.current.as_deref().is_some_and(known) {
            return Vec::new();
        }
        let (run, step, attempt) = key;
        if !self.is_idle() {
            let error = StepError::passing("the agent is busy with another step");
            return vec![AgentEffect::Report(
                run,
                AgentReport::Failed {
                    step,
                    attempt,
                    error,
                },
            )];
        }
        let started = AgentEffect::Report(run.clone(), AgentReport::Started { step, attempt });
        let action = assignment.step.action.clone();
        if matches!(&action, StepAction::Run(r) if r.instances.is_empty()) {
            let error = StepError::lasting("the step starts nothing: its instances are empty");
            return vec![AgentEffect::Report(
                run,
                AgentReport::Failed {
                    step,
                    attempt,
                    error,
                },
            )];
        }
        self.current = Some(assignment);
        match action {
            StepAction::Run(run_step) => {
                self.state = State::Launching { cancelled: false };
                vec![started, AgentEffect::Launch(Box::new(run_step))]
            }
            action => {
                match action {
                    StepAction::Restore => self.touched = false,
                    StepAction::RemoveCgroups => {}
                    _ => {
                        self.touched = true;
                        self.owner = Some(run);
                    }
                }
                self.state = State::Working;
                vec![started, AgentEffect::Perform(action)]
            }
        }
    }

    fn performed(&mut self, result: Result<Vec<Granted>, StepError>) -> Vec<AgentEffect> {
        if let State::CleaningUp { actions } = &mut self.state {
            return match actions.pop_front() {
                Some(action) => vec![AgentEffect::Perform(action)],
                None => {
                    self.state = State::Idle;
                    Vec::new()
                }
            };
        }
        let Some(assignment) = self.finish() else {
            return Vec::new();
        };
        let (run, step, attempt) = assignment.key();
        let report = match result {
            Ok(granted) => AgentReport::Done {
                step,
                attempt,
                repetition: None,
                granted,
            },
            Err(error) => AgentReport::Failed {
                step,
                attempt,
                error,
            },
        };
        vec![AgentEffect::Report(run, report)]
    }

    fn launched(&mut self, now_ns: u64, result: Result<(), StepError>) -> Vec<AgentEffect> {
        let State::Launching { cancelled } = self.state else {
            return Vec::new();
        };
        if let Err(error) = result {
            let Some(assignment) = self.finish() else {
                return Vec::new();
            };
            let (run, step, attempt) = assignment.key();
            return vec![AgentEffect::Report(
                run,
                AgentReport::Failed {
                    step,
                    attempt,
                    error,
                },
            )];
        }
        let Some(assignment) = &self.current else {
            return Vec::new();
        };
        let StepAction::Run(run_step) = &assignment.step.action else {
            return Vec::new();
        };
        let left = run_step.instances.len();
        if cancelled {
            let end = RepetitionEnd::Cancelled;
            self.state = State::Draining {
                left,
                kill_at_ns: now_ns,
                killed: true,
                end,
            };
            return vec![AgentEffect::Kill];
        }
        let deadline_ns =
            now_ns.saturating_add(assignment.step.deadline_ms.saturating_mul(1_000_000));
        self.state = State::Running { left, deadline_ns };
        vec![
            AgentEffect::Snapshot(SnapshotEdge::Start),
            AgentEffect::Release,
        ]
    }

    fn exited(&mut self) -> Vec<AgentEffect> {
        let (left, end) = match &mut self.state {
            State::Running { left, .. } => (left, RepetitionEnd::Completed),
            State::Draining { left, end, .. } => (left, *end),
            _ => return Vec::new(),
        };
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Vec::new();
        }
        self.state = State::Assembling;
        vec![
            AgentEffect::Snapshot(SnapshotEdge::End),
            AgentEffect::Assemble(end),
        ]
    }

    fn assembled(&mut self, record: Box<RepetitionRecord>) -> Vec<AgentEffect> {
        let Some(assignment) = self.finish() else {
            return Vec::new();
        };
        let (run, step, attempt) = assignment.key();
        let report = AgentReport::Done {
            step,
            attempt,
            repetition: Some(record),
            granted: Vec::new(),
        };
        vec![AgentEffect::Report(run, report)]
    }

    fn cancel(&mut self, now_ns: u64, run: &RunId) -> Vec<AgentEffect> {
        if self.owner.as_ref() == Some(run) {
            // Once the current step has ended, nobody will ask for the restore.
            self.alone_since_ns = Some(0);
        }
        if self.current.as_deref().is_none_or(|a| a.run != *run) {
            return self.tick(now_ns);
        }
        self.drain(now_ns, RepetitionEnd::Cancelled)
    }

    fn drain(&mut self, now_ns: u64, end: RepetitionEnd) -> Vec<AgentEffect> {
        match &mut self.state {
            State::Running { left, .. } => {
                let kill_at_ns = now_ns.saturating_add(self.times.grace_ns);
                self.state = State::Draining {
                    left: *left,
                    kill_at_ns,
                    killed: false,
                    end,
                };
                vec![AgentEffect::Terminate]
            }
            State::Launching { cancelled } => {
                *cancelled = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn tick(&mut self, now_ns: u64) -> Vec<AgentEffect> {
        let left_alone = self.left_alone(now_ns);
        match &mut self.state {
            State::Running { deadline_ns, .. } if now_ns >= *deadline_ns => {
                self.drain(now_ns, RepetitionEnd::DeadlinePassed)
            }
            State::Draining {
                kill_at_ns, killed, ..
            } if !*killed && now_ns >= *kill_at_ns => {
                *killed = true;
                vec![AgentEffect::Kill]
            }
            State::Idle if self.touched && left_alone => {
                self.touched = false;
                self.owner = None;
                self.alone_since_ns = None;
                self.state = State::CleaningUp {
                    actions: VecDeque::from([StepAction::Restore]),
                };
                vec![AgentEffect::Perform(StepAction::RemoveCgroups)]
            }
            _ => Vec::new(),
        }
    }

    fn left_alone(&self, now_ns: u64) -> bool {
        self.alone_since_ns
            .is_some_and(|since| now_ns.saturating_sub(since) >= self.times.orphan_ns || since == 0)
    }

    fn finish(&mut self) -> Option<Box<Assignment>> {
        let assignment = self.current.take()?;
        self.state = State::Idle;
        if self.finished.len() == REMEMBERED {
            self.finished.pop_front();
        }
        self.finished.push_back(assignment.key());
        Some(assignment)
    }
}

#[cfg(test)]
#[path = "agent_fsm_tests.rs"]
mod tests;
