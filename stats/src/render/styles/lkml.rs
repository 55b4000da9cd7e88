//! Scheduler series on the kernel's list: base 1.00 with its deviation, others as differences.

use super::cells::{MISSING, counts, has_notes, heading, metric, notes, shows_difference};
use crate::published::Convention;
use crate::render::{Column, Sheet, number};
use crate::summary::Summary;
use crate::table::{Entry, Table};

pub(super) fn sheet(table: &Table) -> Sheet {
    let noted = has_notes(table);
    let mut columns = vec![
        Column::left("", "case"),
        Column::left("", "metric [unit, better]"),
        Column::right("", "n"),
    ];
    for (place, arm) in table.arms.iter().enumerate() {
        let title = if place == 0 { "(std%)" } else { "%( std%)" };
        columns.push(Column::right("", &format!("{}{title}", heading(arm))));
    }
    if noted {
        columns.push(Column::left("", "notes"));
    }
    let mut rows = Vec::new();
    for row in &table.rows {
        let mut cells = vec![row.label.clone(), metric(row), counts(row)];
        for (place, entry) in row.entries.iter().enumerate() {
            cells.push(cell(entry, place));
        }
        if noted {
            cells.push(notes(row));
        }
        rows.push(cells);
    }
    Sheet {
        columns,
        rows,
        legend: vec![
            "base is normalised to 1.00 (std%), the others are differences in % (std%); \
             *: a difference is shown"
                .to_owned(),
        ],
    }
}

fn cell(entry: &Entry, place: usize) -> String {
    let Some(summary) = entry.summary() else {
        return MISSING.to_owned();
    };
    let std = deviation(summary);
    if place == 0 {
        return format!("1.00 ({std})");
    }
    let Some(comparison) = entry.comparison() else {
        return format!("- ({std})");
    };
    let star = if shows_difference(comparison) {
        "*"
    } else {
        " "
    };
    let shown = match (comparison.delta_pct, comparison.ratio()) {
        (Some(_), Some(r)) if r >= crate::warning::FACTOR_FROM => format!("x{r:.0}"),
        (Some(delta), _) => {
            let signed = Convention::BetterPositive.sign(delta, comparison.direction());
            let text = number::signed(signed, 2);
            if text.starts_with(['+', '-']) {
                text
            } else {
                format!("+{text}")
            }
        }
        (None, _) => "-".to_owned(),
    };
    format!("{shown} ({std}){star}")
}

fn deviation(summary: &Summary) -> String {
    match summary.cv_pct {
        Some(pct) => format!("{:>6}", number::fixed(pct, 2)),
        None => format!("{:>6}", "?"),
    }
}
