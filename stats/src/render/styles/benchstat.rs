//! Go's benchstat: value with its interval, difference or `~`, p and n.

use super::cells::{
    MISSING, center, difference, has_notes, heading, metric, notes, shows_difference,
};
use crate::compare::Comparison;
use crate::published::Convention;
use crate::render::{Column, Sheet, number};
use crate::summary::Summary;
use crate::table::{Entry, Row, Table};

pub(super) fn sheet(table: &Table) -> Sheet {
    let noted = has_notes(table);
    let mut columns = vec![
        Column::left("", "cell"),
        Column::left("", "metric [unit, better]"),
    ];
    for (place, arm) in table.arms.iter().enumerate() {
        let name = heading(arm);
        columns.push(Column::right(&name, table.criteria.assume.center_word()));
        if place == 0 {
            columns.push(Column::right(&name, "n"));
        } else {
            columns.push(Column::right(&name, "vs base"));
            columns.push(Column::left(&name, ""));
        }
    }
    if noted {
        columns.push(Column::left("", "notes"));
    }
    let mut rows = Vec::new();
    for row in &table.rows {
        let mut cells = vec![row.label.clone(), metric(row)];
        for (place, entry) in row.entries.iter().enumerate() {
            cells.extend(arm_cells(row, entry, place));
        }
        if noted {
            cells.push(notes(row));
        }
        rows.push(cells);
    }
    let mut legend = vec![
        "+-: half of the 95% interval, inf: too few values for one; ~: no difference shown"
            .to_owned(),
    ];
    if rows.is_empty() {
        legend.clear();
    }
    Sheet {
        columns,
        rows,
        legend,
    }
}

fn arm_cells(row: &Row, entry: &Entry, place: usize) -> Vec<String> {
    let Some(summary) = entry.summary() else {
        let width = if place == 0 { 2 } else { 3 };
        let mut cells = vec![MISSING.to_owned()];
        cells.resize(width, String::new());
        return cells;
    };
    let value = format!("{} +- {}", center(row, summary), half_interval(summary));
    if place == 0 {
        return vec![value, summary.n.to_string()];
    }
    match entry.comparison() {
        None => vec![value, "-".to_owned(), format!("(n={})", summary.n)],
        Some(comparison) => {
            let shown = if shows_difference(comparison) {
                difference(comparison, Convention::Value)
            } else {
                "~".to_owned()
            };
            vec![value, shown, evidence(comparison)]
        }
    }
}

fn half_interval(summary: &Summary) -> String {
    match summary.half_interval_pct() {
        Some(pct) => format!("{:>3}%", number::fixed(pct, 0)),
        None => " inf".to_owned(),
    }
}

fn evidence(comparison: &Comparison) -> String {
    let n = if comparison.n1 == comparison.n2 {
        comparison.n1.to_string()
    } else {
        format!("{}+{}", comparison.n1, comparison.n2)
    };
    format!("(p={} n={n})", number::p_value(comparison.p_adjusted))
}
