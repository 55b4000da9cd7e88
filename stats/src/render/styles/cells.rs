//! What every style writes the same way.

use crate::compare::Comparison;
use crate::published::Convention;
use crate::render::number;
use crate::summary::Summary;
use crate::table::{Arm, Entry, Row, Source, Table};
use crate::verdict::Verdict;
use crate::warning::Warning;

/// What stands where there is no value.
pub(super) const MISSING: &str = "missing";

/// The centre in the row's unit, with the row's decimals.
pub(super) fn center(row: &Row, summary: &Summary) -> String {
    let shown = summary.unit.convert(summary.center, &row.unit);
    number::value(shown.unwrap_or(summary.center), decimals(row))
}

/// Decimals that show four digits of the least value of a row.
fn decimals(row: &Row) -> usize {
    let expected = row.entries.iter().filter_map(|e| e.expected.as_ref());
    let summaries = row.entries.iter().filter_map(Entry::summary);
    let least = summaries
        .chain(expected.map(|x| &x.summary))
        .filter_map(|s| s.unit.convert(s.center.abs(), &row.unit))
        .filter(|v| *v > 0.0)
        .fold(f64::INFINITY, f64::min);
    number::decimals_for(least)
}

/// The difference in a convention; `-` where there is none.
pub(super) fn difference(comparison: &Comparison, convention: Convention) -> String {
    match comparison.delta_pct {
        None => "-".to_owned(),
        Some(delta) => {
            let shown = convention.sign(delta, comparison.direction());
            number::difference(shown, comparison.ratio())
        }
    }
}

/// Whether a comparison shows a difference.
pub(super) fn shows_difference(comparison: &Comparison) -> bool {
    matches!(
        comparison.verdict,
        Verdict::Improved | Verdict::Regressed | Verdict::Differs
    )
}

/// The verdict; a gain too large to be likely says so beside it.
pub(super) fn verdict(comparison: &Comparison) -> String {
    let large = |w: &Warning| matches!(w, Warning::ImplausiblyLarge { .. });
    if comparison.warnings.iter().any(large) {
        format!("{} (implausibly large)", comparison.verdict)
    } else {
        comparison.verdict.to_string()
    }
}

/// The heading of an arm.
pub(super) fn heading(arm: &Arm) -> String {
    match arm.source {
        Source::Measured => arm.name.clone(),
        Source::Expected => format!("{} (expected)", arm.name),
    }
}

/// Metric, unit and direction in one text: `time [s, lower]`.
pub(super) fn metric(row: &Row) -> String {
    format!("{} [{}, {}]", row.metric, row.unit, row.direction.word())
}

/// References to footnotes: `[1][3]`.
pub(super) fn notes(row: &Row) -> String {
    row.notes.iter().map(|n| format!("[{n}]")).collect()
}

/// Whether any row refers to a footnote.
pub(super) fn has_notes(table: &Table) -> bool {
    table.rows.iter().any(|r| !r.notes.is_empty())
}

/// `5`, or `5+4` where the arms differ, over the values of a row.
pub(super) fn counts(row: &Row) -> String {
    let n: Vec<usize> = row
        .entries
        .iter()
        .map(|e| e.summary().map_or(0, |s| s.n))
        .collect();
    if n.windows(2).all(|w| w[0] == w[1]) {
        n.first().map_or(String::new(), ToString::to_string)
    } else {
        n.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("+")
    }
}
