//! Which columns a table of several runs has.

use schedrig_model::id::ArmId;
use schedrig_model::record::{RunRecord, RunState};

use super::differences::differences;
use super::options::{Columns, ReportError};

/// A column: an arm of one run, or of several taken together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its heading.
    pub(super) name: String,
    /// The arm's own name: expected values are found by it.
    pub(super) arm: ArmId,
    /// Places of the records its values come from.
    pub(super) records: Vec<usize>,
}

/// The columns for these records, the base first.
pub(super) fn columns(
    records: &[&RunRecord],
    choice: Columns,
    base: Option<&str>,
) -> Result<Vec<Column>, ReportError> {
    let pooled = match choice {
        Columns::Arms => true,
        Columns::Runs => false,
        Columns::Auto => records.len() == 1 || are_repetitions(records),
    };
    let mut columns: Vec<Column> = Vec::new();
    for (place, record) in records.iter().enumerate() {
        for arm in &record.plan.arms {
            let known = columns.iter_mut().find(|c| pooled && c.arm == arm.id);
            match known {
                Some(column) => column.records.push(place),
                None => columns.push(Column {
                    name: arm.id.to_string(),
                    arm: arm.id.clone(),
                    records: vec![place],
                }),
            }
        }
    }
    name_apart(&mut columns, records);
    if let Some(name) = base {
        let place = columns
            .iter()
            .position(|c| c.name == name)
            .or_else(|| columns.iter().position(|c| c.arm.as_str() == name))
            .ok_or_else(|| ReportError::NoSuchArm {
                name: name.to_owned(),
                known: names(&columns),
            })?;
        let chosen = columns.remove(place);
        columns.insert(0, chosen);
    }
    Ok(columns)
}

/// Where one arm name stands in several columns, the run tells them apart.
fn name_apart(columns: &mut [Column], records: &[&RunRecord]) {
    let arms: Vec<ArmId> = columns.iter().map(|c| c.arm.clone()).collect();
    for column in columns {
        let twice = arms.iter().filter(|a| **a == column.arm).count() > 1;
        if let (true, Some(record)) = (twice, column.records.first()) {
            column.name = format!("{}@{}", column.arm, records[*record].id);
        }
    }
}

fn names(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    names.join(", ")
}

/// Whether the runs are repetitions of one experiment: the same arms, two or more, and nothing
/// about the machines that differs.
fn are_repetitions(records: &[&RunRecord]) -> bool {
    let arms = |r: &RunRecord| r.plan.arms.clone();
    let Some(first) = records.first() else {
        return false;
    };
    first.plan.arms.len() >= 2
        && records.iter().all(|r| arms(r) == first.plan.arms)
        && records.iter().all(|r| r.state != RunState::Withdrawn)
        && differences(records).is_empty()
}
