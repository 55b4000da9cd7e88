//! Samples in, a table out.

use super::footnotes::number_notes;
use super::types::{Arm, Entry, Expected, GeomeanLine, Row, TABLE_FORMAT, Table, Value};
use crate::compare::{CompareError, Comparison, Criteria, compare_all};
use crate::direction::Direction;
use crate::expected::{ErrorBand, hold_against, hold_effect_against};
use crate::geomean::geomean;
use crate::sample::Sample;
use crate::summary::summarise;
use crate::unit::Unit;
use crate::warning::Warning;

/// What a table is built from.
#[derive(Clone, Debug)]
pub struct TableInput {
    /// What was done.
    pub title: String,
    /// The circumstances.
    pub header: Vec<String>,
    /// How verdicts are reached.
    pub criteria: Criteria,
    /// How far the model may be off in absolute values.
    pub band: ErrorBand,
    /// The arms; the first is the base.
    pub arms: Vec<Arm>,
    /// The rows.
    pub rows: Vec<RowInput>,
    /// Notes on the whole table.
    pub notes: Vec<String>,
}

/// A metric of a cell.
#[derive(Clone, Debug)]
pub struct RowInput {
    /// The workload.
    pub group: String,
    /// The cell.
    pub label: String,
    /// The metric.
    pub metric: String,
    /// One an arm, in the order of the arms: the sample, or why there is none.
    pub samples: Vec<Result<Sample, String>>,
    /// One an arm: why its sample, although there is one, does not compare with the base (another
    /// version of the tool). May be shorter than the arms.
    pub barred: Vec<Option<String>>,
    /// One an arm: what the simulator says, where it says anything. May be empty.
    pub expected: Vec<Option<Sample>>,
    /// Notes on this row.
    pub notes: Vec<String>,
}

type Compared = Option<Result<Comparison, CompareError>>;

/// Builds a table: compares every arm with the first in each row, corrects for all of them
/// together, and numbers the footnotes.
pub fn build(input: TableInput) -> Table {
    let measured = compare_arms(&input, |row, arm| {
        let sample = row.samples.get(arm).and_then(|s| s.as_ref().ok());
        sample.filter(|_| barred(row, arm).is_none())
    });
    let expected = compare_arms(&input, expected_sample);
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for (place, row) in input.rows.iter().enumerate() {
        let (built, row_notes) = build_row(&input, row, &measured[place], &expected[place]);
        rows.push(built);
        notes.push(row_notes);
    }
    let footnotes = number_notes(&mut rows, notes, &input.notes);
    let family = rows
        .iter()
        .flat_map(|r| &r.entries)
        .find_map(|e| e.comparison().map(|c| c.family));
    Table {
        format: TABLE_FORMAT,
        title: input.title,
        header: input.header,
        criteria: input.criteria,
        family: family.unwrap_or(0),
        geomeans: geomeans(&input.arms, &rows),
        arms: input.arms,
        rows,
        footnotes,
    }
}

fn barred(row: &RowInput, arm: usize) -> Option<&str> {
    row.barred.get(arm).and_then(Option::as_deref)
}

fn expected_sample(row: &RowInput, arm: usize) -> Option<&Sample> {
    row.expected.get(arm).and_then(Option::as_ref)
}

/// Compares every arm but the first with the first, in one family. One entry a row and arm.
fn compare_arms<'a>(
    input: &'a TableInput,
    sample: impl Fn(&'a RowInput, usize) -> Option<&'a Sample>,
) -> Vec<Vec<Compared>> {
    let mut pairs = Vec::new();
    let mut places = Vec::new();
    for (place, row) in input.rows.iter().enumerate() {
        for arm in 1..input.arms.len() {
            if let (Some(base), Some(new)) = (sample(row, 0), sample(row, arm)) {
                pairs.push((base, new));
                places.push((place, arm));
            }
        }
    }
    let mut table: Vec<Vec<Compared>> = Vec::new();
    table.resize_with(input.rows.len(), || {
        let mut row = Vec::new();
        row.resize_with(input.arms.len(), || None);
        row
    });
    for ((place, arm), compared) in places.into_iter().zip(compare_all(&pairs, &input.criteria)) {
        table[place][arm] = Some(compared);
    }
    table
}

/// A row and what is to be said of it: text and the arms it is about.
fn build_row(
    input: &TableInput,
    row: &RowInput,
    measured: &[Compared],
    expected: &[Compared],
) -> (Row, Vec<(String, Vec<String>)>) {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    let mut note = |text: String, arm: &str| match notes.iter_mut().find(|(t, _)| *t == text) {
        Some((_, arms)) => arms.push(arm.to_owned()),
        None => notes.push((text, vec![arm.to_owned()])),
    };
    let mut entries = Vec::new();
    for (place, arm) in input.arms.iter().enumerate() {
        let value = match row.samples.get(place) {
            Some(Ok(sample)) => Value::Present {
                summary: summarise(sample, input.criteria.assume),
                comparison: match &measured[place] {
                    Some(Ok(comparison)) => Some(Box::new(comparison.clone())),
                    Some(Err(error)) => {
                        note(error.to_string(), &arm.name);
                        None
                    }
                    None => None,
                },
            },
            Some(Err(reason)) => {
                note(format!("missing: {reason}"), &arm.name);
                Value::Missing {
                    reason: reason.clone(),
                }
            }
            None => Value::Missing {
                reason: "not in this run".to_owned(),
            },
        };
        let entry = Entry {
            expected: expected_entry(input, row, place, measured, expected),
            value,
        };
        if let Some(reason) = barred(row, place) {
            note(reason.to_owned(), &arm.name);
        }
        for (text, of_comparison) in warning_texts(&entry, row, place) {
            // With two arms there is one comparison: it needs no name.
            let unnamed = of_comparison && input.arms.len() == 2;
            note(text, if unnamed { "" } else { &arm.name });
        }
        entries.push(entry);
    }
    for text in &row.notes {
        note(text.clone(), "");
    }
    let (unit, direction) = unit_of(&entries);
    let built = Row {
        group: row.group.clone(),
        label: row.label.clone(),
        metric: row.metric.clone(),
        unit,
        direction,
        entries,
        notes: Vec::new(),
    };
    (built, notes)
}

/// Warnings of an entry that belong below the table, and whether each is of the comparison rather
/// than of the sample. Those of the base are taken from the base's own entry.
fn warning_texts(entry: &Entry, row: &RowInput, place: usize) -> Vec<(String, bool)> {
    let Some(summary) = entry.summary() else {
        return Vec::new();
    };
    let alone = row.samples.iter().filter(|s| s.is_ok()).count() < 2;
    let mut texts: Vec<(String, bool)> = Vec::new();
    for warning in &summary.warnings {
        // No interval is printed beside a comparison: the verdict says how many are needed.
        if alone || !matches!(warning, Warning::TooFewForInterval { .. }) {
            texts.push((warning.to_string(), false));
        }
    }
    if let (Some(comparison), true) = (entry.comparison(), place > 0) {
        let of_samples = |w: &&Warning| {
            comparison.base.warnings.contains(w) || comparison.new.warnings.contains(w)
        };
        let own = comparison.warnings.iter().filter(|w| !of_samples(w));
        texts.extend(own.map(|w| (w.to_string(), true)));
    }
    texts
}

fn expected_entry(
    input: &TableInput,
    row: &RowInput,
    place: usize,
    measured: &[Compared],
    expected: &[Compared],
) -> Option<Expected> {
    let sample = expected_sample(row, place)?;
    let assume = input.criteria.assume;
    let seen = row.samples.get(place).and_then(|s| s.as_ref().ok());
    let fit = seen.and_then(|m| hold_against(m, sample, input.band, assume).ok());
    let comparison = match &expected[place] {
        Some(Ok(comparison)) => Some(Box::new(comparison.clone())),
        _ => None,
    };
    let effect = match (&measured[place], &comparison) {
        (Some(Ok(m)), Some(e)) => Some(hold_effect_against(m, e)),
        _ => None,
    };
    Some(Expected {
        summary: summarise(sample, assume),
        comparison,
        fit,
        effect,
    })
}

/// The unit a row is printed in, from its least value other than zero.
fn unit_of(entries: &[Entry]) -> (Unit, Direction) {
    let all = entries.iter().flat_map(|e| {
        e.summary()
            .into_iter()
            .chain(e.expected.as_ref().map(|x| &x.summary))
    });
    let summaries: Vec<_> = all.collect();
    let Some(first) = summaries.first() else {
        return (Unit::new("?"), Direction::Unknown);
    };
    let least = summaries
        .iter()
        .filter_map(|s| s.unit.convert(s.center.abs(), &first.unit))
        .filter(|v| *v > 0.0)
        .fold(f64::INFINITY, f64::min);
    let unit = if least.is_finite() {
        first.unit.for_row(least)
    } else {
        first.unit.clone()
    };
    (unit, first.direction)
}

/// One line a group, metric and arm of two rows or more.
fn geomeans(arms: &[Arm], rows: &[Row]) -> Vec<GeomeanLine> {
    let mut keys: Vec<(&str, &str, Direction)> = Vec::new();
    for row in rows {
        let key = (row.group.as_str(), row.metric.as_str(), row.direction);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut lines = Vec::new();
    for (group, metric, direction) in keys {
        let of_key = |r: &&Row| r.group == group && r.metric == metric && r.direction == direction;
        for (place, arm) in arms.iter().enumerate().skip(1) {
            let members = rows.iter().filter(of_key);
            let ratios: Vec<Option<f64>> = members
                .map(|r| r.entries[place].comparison().and_then(Comparison::ratio))
                .collect();
            if let Some(geomean) = geomean(&ratios).filter(|g| g.count >= 2) {
                lines.push(GeomeanLine {
                    group: group.to_owned(),
                    metric: metric.to_owned(),
                    direction,
                    arm: arm.name.clone(),
                    geomean,
                });
            }
        }
    }
    lines
}
