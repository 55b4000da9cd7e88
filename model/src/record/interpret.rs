//! From raw output to metrics: derived, so that an old record can be read anew.

use crate::plan::Plan;
use crate::record::{RepetitionRecord, RepetitionState};
use crate::workload::{Captured, Outcome, Workload};

/// Reads the outputs of a repetition: each instance's outcome, the repetition's metrics, and whether
/// it counts. A repetition that is invalid already (deadline, cancellation) stays so.
pub fn interpret(plan: &Plan, record: &mut RepetitionRecord) {
    let Some(cell) = plan.cells.iter().find(|c| c.id == record.cell) else {
        record.state =
            RepetitionState::Invalid(format!("its cell `{}` is not in the plan", record.cell));
        return;
    };
    let Some(workload) = Workload::by_name(&cell.workload) else {
        record.state = RepetitionState::Invalid(format!(
            "its workload `{}` is not in the catalogue",
            cell.workload
        ));
        return;
    };
    let mut parsed = Vec::new();
    let mut failure = None;
    for (index, instance) in record.instances.iter_mut().enumerate() {
        let captured = Captured {
            stdout: &instance.stdout,
            stderr: &instance.stderr,
            files: instance.files.clone(),
            exit: instance.exit,
            truncated: instance.truncated,
        };
        let outcome = workload.parse(&cell.params, &captured);
        match &outcome {
            Outcome::Ok(values) => parsed.push(values.clone()),
            Outcome::Failed(reason) => {
                failure.get_or_insert_with(|| format!("instance {index}: {reason}"));
            }
        }
        instance.outcome = Some(outcome);
    }
    if let Some(failure) = failure {
        if record.state == RepetitionState::Valid {
            record.state = RepetitionState::Invalid(failure);
        }
        return;
    }
    if parsed.is_empty() && record.state == RepetitionState::Valid {
        record.state = RepetitionState::Invalid("nothing was started".into());
        return;
    }
    let (metrics, spread) = crate::workload::aggregate(&parsed, workload.def());
    record.metrics = metrics;
    record.spread = spread;
}
