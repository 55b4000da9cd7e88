//! Assignments and reports.

use schedrig_model::run::{AgentReport, Assignment, Numbered, StepError};
use schedrig_model::{RunId, StepId};

use super::document::{ConvertError, from_document, to_document};
use crate::v1;

/// An assignment as a message.
///
/// # Errors
/// The step cannot be serialised.
pub fn assignment_to(assignment: &Assignment) -> Result<v1::Assign, ConvertError> {
    let Assignment { run, attempt, step } = assignment;
    Ok(v1::Assign {
        run: run.0.clone(),
        attempt: *attempt,
        step: Some(to_document("step", step)?),
    })
}

/// The assignment of a message.
///
/// # Errors
/// The message lacks its step, or the step cannot be read.
pub fn assignment_from(message: &v1::Assign) -> Result<Assignment, ConvertError> {
    let step = from_document("step", message.step.as_ref())?;
    Ok(Assignment {
        run: RunId(message.run.clone()),
        attempt: message.attempt,
        step,
    })
}

/// A report as a message.
///
/// # Errors
/// The report cannot be serialised.
pub fn event_to(numbered: &Numbered) -> Result<v1::Event, ConvertError> {
    let Numbered { seq, run, report } = numbered;
    let body = match report {
        AgentReport::Started { step, attempt } => v1::event::Body::Started(v1::StepStarted {
            step: step.0,
            attempt: *attempt,
        }),
        AgentReport::Done {
            step,
            attempt,
            repetition,
            granted,
        } => {
            let repetition = repetition
                .as_deref()
                .map(|r| to_document("repetition", r))
                .transpose()?;
            let granted = Some(to_document("granted", granted)?);
            v1::event::Body::Done(v1::StepDone {
                step: step.0,
                attempt: *attempt,
                repetition,
                granted,
            })
        }
        AgentReport::Failed {
            step,
            attempt,
            error,
        } => {
            let StepError {
                reason,
                retryable,
                granted,
            } = error;
            v1::event::Body::Failed(v1::StepFailed {
                step: step.0,
                attempt: *attempt,
                reason: reason.clone(),
                retryable: *retryable,
                granted: Some(to_document("granted", granted)?),
            })
        }
    };
    Ok(v1::Event {
        seq: *seq,
        run: run.0.clone(),
        body: Some(body),
    })
}

/// The report of a message.
///
/// # Errors
/// The message lacks its body, or a part cannot be read.
pub fn event_from(message: &v1::Event) -> Result<Numbered, ConvertError> {
    let report = match message
        .body
        .as_ref()
        .ok_or(ConvertError::Missing("event body"))?
    {
        v1::event::Body::Started(m) => AgentReport::Started {
            step: StepId(m.step),
            attempt: m.attempt,
        },
        v1::event::Body::Done(m) => {
            let repetition = m
                .repetition
                .as_ref()
                .map(|d| from_document("repetition", Some(d)))
                .transpose()?;
            let granted = from_document("granted", m.granted.as_ref())?;
            AgentReport::Done {
                step: StepId(m.step),
                attempt: m.attempt,
                repetition,
                granted,
            }
        }
        v1::event::Body::Failed(m) => {
            let granted = from_document("granted", m.granted.as_ref())?;
            let error = StepError {
                reason: m.reason.clone(),
                retryable: m.retryable,
                granted,
            };
            AgentReport::Failed {
                step: StepId(m.step),
                attempt: m.attempt,
                error,
            }
        }
    };
    Ok(Numbered {
        seq: message.seq,
        run: RunId(message.run.clone()),
        report,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedrig_model::plan::{Step, StepAction};

    use super::*;

    proptest! {
        #[test]
        fn reports_and_assignments_survive_the_wire(seq in 1_u64.., step in 0_u32.., attempt in 0_u32..9, reason in ".{0,40}", retryable: bool) {
            let error = StepError { reason, retryable, granted: Vec::new() };
            let failed = Numbered { seq, run: "r".into(), report: AgentReport::Failed { step: StepId(step), attempt, error } };
            prop_assert_eq!(event_from(&event_to(&failed).unwrap()).unwrap(), failed);

            let step = Step { id: StepId(step), host: "h".into(), action: StepAction::Reboot, deadline_ms: seq, estimate_ms: 1 };
            let assignment = Assignment { run: "r".into(), attempt, step };
            prop_assert_eq!(assignment_from(&assignment_to(&assignment).unwrap()).unwrap(), assignment);
        }
    }

    #[test]
    fn a_document_of_a_newer_version_is_refused_with_advice() {
        let mut message = assignment_to(&Assignment {
            run: "r".into(),
            attempt: 0,
            step: Step {
                id: StepId(0),
                host: "h".into(),
                action: StepAction::Reboot,
                deadline_ms: 1,
                estimate_ms: 1,
            },
        })
        .unwrap();
        message.step.as_mut().unwrap().major = 99;
        let error = assignment_from(&message).unwrap_err().to_string();
        assert!(error.contains("upgrade schedrig"), "{error}");
    }
}
