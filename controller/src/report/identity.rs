//! What an arm's values are of: the tool, its version, its parameters.

use schedrig_model::plan::Cell;
use schedrig_model::record::RepetitionRecord;
use schedrig_model::workload::{CellIdentity, Outcome, comparable};

/// The identity of a cell as this repetition ran it.
pub(super) fn identity(cell: &Cell, repetition: &RepetitionRecord) -> CellIdentity {
    let instance = repetition.instances.first();
    let resolved = instance.and_then(|i| match &i.outcome {
        Some(Outcome::Ok(parsed)) => Some(parsed.resolved.clone()),
        _ => None,
    });
    CellIdentity {
        workload: cell.workload.clone(),
        implementation: cell.implementation,
        tool_version: instance.and_then(|i| i.tool_version.clone()),
        tool_sha256: instance.and_then(|i| i.tool_sha256.clone()),
        params: cell.params.clone(),
        resolved: resolved.unwrap_or_default(),
    }
}

/// Why the second does not compare with the first, in one text.
pub(super) fn bar(base: Option<&CellIdentity>, new: Option<&CellIdentity>) -> Option<String> {
    let reasons = comparable(base?, new?).err()?;
    Some(reasons.join("; "))
}
