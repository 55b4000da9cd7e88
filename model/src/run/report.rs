//! What a controller asks of an agent, and what the agent says back.

use serde::{Deserialize, Serialize};

use crate::host::Granted;
use crate::id::{RunId, StepId};
use crate::plan::Step;
use crate::record::RepetitionRecord;

/// A step to be done now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The run it belongs to.
    pub run: RunId,
    /// From 0: how often it was tried before.
    pub attempt: u32,
    /// The step.
    pub step: Step,
}

impl Assignment {
    /// What tells this assignment from every other.
    pub fn key(&self) -> (RunId, StepId, u32) {
        (self.run.clone(), self.step.id, self.attempt)
    }
}

/// A step that could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct StepError {
    /// What failed and what would be right, in one line.
    pub reason: String,
    /// Whether another attempt may help.
    pub retryable: bool,
    /// Knobs, where the step was about knobs.
    pub granted: Vec<Granted>,
}

impl StepError {
    /// A failure that another attempt will not mend.
    pub fn lasting(reason: impl Into<String>) -> Self {
        StepError {
            reason: reason.into(),
            retryable: false,
            granted: Vec::new(),
        }
    }

    /// A failure that may not come again.
    pub fn passing(reason: impl Into<String>) -> Self {
        StepError {
            reason: reason.into(),
            retryable: true,
            granted: Vec::new(),
        }
    }
}

/// What became of an assignment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentReport {
    /// Work began.
    Started {
        /// The step.
        step: StepId,
        /// Its attempt.
        attempt: u32,
    },
    /// The step is done. A workload that failed is done as well: its repetition says so.
    Done {
        /// The step.
        step: StepId,
        /// Its attempt.
        attempt: u32,
        /// Of a run step.
        repetition: Option<Box<RepetitionRecord>>,
        /// Of a step that sets knobs.
        granted: Vec<Granted>,
    },
    /// The step could not be done.
    Failed {
        /// The step.
        step: StepId,
        /// Its attempt.
        attempt: u32,
        /// Why.
        error: StepError,
    },
}

/// A report on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbered {
    /// Ascending from 1 within one agent's life.
    pub seq: u64,
    /// The run it is about.
    pub run: RunId,
    /// What is said.
    pub report: AgentReport,
}
