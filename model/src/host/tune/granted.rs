//! From what the writes of a knob gave to what the record says of it.

use super::explain::explain_errno;
use super::write::{KnobPlan, Write};
use crate::host::{Granted, KnobOutcome};

/// What one write gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// Written and read back: the text of the file; `None` where it could not be read again.
    Written(Option<String>),
    /// The write failed, or the old value could not be kept first.
    Failed {
        /// The error number.
        errno: i32,
        /// Said instead of the number's usual meaning.
        reason: Option<String>,
    },
}

/// The knobs that the playbook requires and that do not hold.
pub fn required_gaps(granted: &[Granted]) -> Vec<&Granted> {
    granted
        .iter()
        .filter(|g| g.knob.required && !g.outcome.holds())
        .collect()
}

/// The outcome of a knob from the results of its writes, one each, in order.
pub fn granted(plan: &KnobPlan, results: &[(Write, WriteResult)]) -> Granted {
    let outcome = outcome(plan, results);
    Granted {
        knob: plan.knob.clone(),
        place: plan.place.clone(),
        before: plan.before.clone(),
        outcome,
    }
}

fn outcome(plan: &KnobPlan, results: &[(Write, WriteResult)]) -> KnobOutcome {
    let mut refused = 0;
    let mut first_failure = None;
    for (write, result) in results {
        match result {
            WriteResult::Failed { errno, reason } => {
                let why = reason.clone();
                let why = why.unwrap_or_else(|| explain_errno(&plan.knob.target, *errno));
                let failure = KnobOutcome::NotApplied {
                    errno: *errno,
                    reason: format!("{}: {why}", write.path),
                };
                first_failure.get_or_insert(failure.clone());
                if !write.may_refuse {
                    return failure;
                }
                refused += 1;
            }
            WriteResult::Written(None) => {
                let found = format!("{}: cannot be read back", write.path);
                return KnobOutcome::ReadsBackDifferently { found };
            }
            WriteResult::Written(Some(text)) => {
                if !write.read_back.holds(text, &write.value) {
                    let found = format!("{}: {}", write.path, text.trim());
                    return KnobOutcome::ReadsBackDifferently { found };
                }
            }
        }
    }
    match (first_failure, results.last()) {
        (Some(failure), _) if refused == results.len() => failure,
        (_, Some((write, _))) if refused > 0 => KnobOutcome::Applied {
            value: format!(
                "{} ({refused} of {} refused to move)",
                write.value,
                results.len()
            ),
        },
        (_, Some((write, _))) => KnobOutcome::Applied {
            value: write.value.clone(),
        },
        (_, None) => KnobOutcome::Applied {
            value: String::new(),
        },
    }
}
