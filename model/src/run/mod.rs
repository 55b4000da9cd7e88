//! State machines of a run: `step(Input) -> Vec<Effect>`, no IO.

mod agent_fsm;
mod outbox;
mod report;
mod run_fsm;

pub use agent_fsm::{AgentEffect, AgentFsm, AgentInput, AgentTimes, RepetitionEnd};
pub use outbox::{Outbox, OutboxFull};
pub use report::{AgentReport, Assignment, Numbered, StepError};
pub use run_fsm::{RelativeCi, RunEffect, RunFsm, RunInput, RunLimits, StepState};
