//! `schedrig compare` without its I/O.

use schedrig_model::record::{Backend, RunRecord, RunState};
use schedrig_stats::render::{csv, markdown, text};
use schedrig_stats::table::{Arm, Source, Table, TableInput, build};
use schedrig_stats::{Assumption, Correction, Criteria};

use super::circumstances::circumstances;
use super::columns::columns;
use super::html::html;
use super::judged::{Judged, judge};
use super::junit::junit;
use super::options::{CompareOptions, Format, ReportError};
use super::rows::Sources;
use super::samples::ByCell;

/// A comparison of runs.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The table.
    pub table: Table,
    /// The table in one word. An exit status where the caller judges.
    pub judged: Judged,
    /// The table in the format and style asked for.
    pub text: String,
}

/// Compares the arms of one run, or of several, and writes the table. Records of the simulator go
/// beside measured ones; alone they are the table.
///
/// # Errors
/// No record, a base that is no arm, a `judge` that this build does not know.
pub fn compare_records(
    records: &[RunRecord],
    options: &CompareOptions,
) -> Result<Compared, ReportError> {
    let table = table_of(records, options)?;
    let complete = records
        .iter()
        .filter(|r| r.state != RunState::Withdrawn)
        .all(|r| r.state == RunState::Complete);
    let judged = judge(&table, complete);
    let text = render(&table, judged, options)?;
    Ok(Compared {
        table,
        judged,
        text,
    })
}

/// The table of these records.
///
/// # Errors
/// See [`compare_records`].
pub fn table_of(records: &[RunRecord], options: &CompareOptions) -> Result<Table, ReportError> {
    let first = records.first().ok_or(ReportError::NoRuns)?;
    let of = |backend| records.iter().filter(move |r| r.backend == backend);
    let measured: Vec<&RunRecord> = of(Backend::Measured).collect();
    let expected: Vec<&RunRecord> = of(Backend::Expected).collect();
    let (records_of_columns, beside, source) = if measured.is_empty() {
        (expected, Vec::new(), Source::Expected)
    } else {
        (measured, expected, Source::Measured)
    };
    let criteria = match options.criteria {
        Some(criteria) => criteria,
        None => criteria_of(first)?,
    };
    let columns = columns(
        &records_of_columns,
        options.columns,
        options.base.as_deref(),
    )?;
    let all: Vec<&RunRecord> = records.iter().collect();
    let arms = columns.iter().map(|c| Arm {
        name: c.name.clone(),
        source,
    });
    let arms: Vec<Arm> = arms.collect();
    let sources = Sources {
        found: records_of_columns.iter().map(|r| ByCell::new(r)).collect(),
        records: records_of_columns,
        expected: beside.into_iter().map(ByCell::new).collect(),
        columns,
        all_metrics: options.all_metrics,
        criteria,
    };
    Ok(build(TableInput {
        title: first.plan.title.clone(),
        header: circumstances(&all),
        criteria,
        band: options.band,
        arms,
        rows: sources.rows(),
        notes: Vec::new(),
    }))
}

/// A table in the format and style asked for.
///
/// # Errors
/// Only JSON can fail.
pub fn render(
    table: &Table,
    judged: Judged,
    options: &CompareOptions,
) -> Result<String, ReportError> {
    Ok(match options.format {
        Format::Text => text(table, options.style),
        Format::Markdown => markdown(table, options.style),
        Format::Csv => csv(table),
        Format::Json => {
            serde_json::to_string_pretty(table).map_err(|e| ReportError::Json {
                reason: e.to_string(),
            })? + "\n"
        }
        Format::Junit => junit(table),
        Format::Html => html(table, judged, options.style),
    })
}

/// How the playbook of a run says verdicts are reached.
fn criteria_of(record: &RunRecord) -> Result<Criteria, ReportError> {
    let judge = &record.plan.judge;
    let assume = Assumption::from_word(&judge.assume).ok_or_else(|| ReportError::Assumption {
        run: record.id.to_string(),
        word: judge.assume.clone(),
    })?;
    let correction = match judge.correct.as_str() {
        "holm" => Correction::Holm,
        "none" => Correction::None,
        other => {
            return Err(ReportError::Correction {
                run: record.id.to_string(),
                word: other.to_owned(),
            });
        }
    };
    Ok(Criteria {
        assume,
        alpha: judge.alpha,
        min_effect: judge.min_effect,
        correction,
    })
}
