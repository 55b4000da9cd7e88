//! mmtests' comparison: value and difference in brackets, in stars where it is significant.

use super::cells::{
    MISSING, center, counts, difference, has_notes, heading, metric, notes, shows_difference,
};
use crate::assume::Assumption;
use crate::published::Convention;
use crate::render::{Column, Sheet, number};
use crate::table::{Entry, Row, Table};

pub(super) fn sheet(table: &Table) -> Sheet {
    let noted = has_notes(table);
    let mut columns = vec![
        Column::left("", ""),
        Column::left("", "cell"),
        Column::left("", "metric [unit, better]"),
        Column::right("", "n"),
    ];
    for arm in &table.arms {
        let name = heading(arm);
        columns.push(Column::right("", &name));
        columns.push(Column::right("", "CoeffVar"));
    }
    if noted {
        columns.push(Column::left("", "notes"));
    }
    let statistic = match table.criteria.assume {
        Assumption::Nothing => "Median",
        Assumption::Normal => "Amean",
        Assumption::Exact => "Value",
    };
    let mut rows = Vec::new();
    for row in &table.rows {
        let mut cells = vec![
            statistic.to_owned(),
            row.label.clone(),
            metric(row),
            counts(row),
        ];
        for (place, entry) in row.entries.iter().enumerate() {
            cells.push(value(row, entry, place));
            let cv = entry.summary().and_then(|s| s.cv_pct);
            cells.push(number::spread(cv));
        }
        if noted {
            cells.push(notes(row));
        }
        rows.push(cells);
    }
    Sheet {
        columns,
        rows,
        legend: vec!["*: a difference is shown".to_owned()],
    }
}

fn value(row: &Row, entry: &Entry, place: usize) -> String {
    let Some(summary) = entry.summary() else {
        return MISSING.to_owned();
    };
    let center = center(row, summary);
    if place == 0 {
        return format!("{center} (   0.00%)");
    }
    match entry.comparison() {
        None => format!("{center} (       -)"),
        Some(comparison) => {
            let pct = difference(comparison, Convention::BetterPositive);
            let pct = pct.trim_start_matches('+');
            if shows_difference(comparison) {
                format!("{center} *{pct:>8}*")
            } else {
                format!("{center} ({pct:>8})")
            }
        }
    }
}
