//! The reports of the 0-day robot: value, change, value, metric.

use super::cells::{MISSING, center, counts, difference, has_notes, heading, notes, verdict};
use crate::published::Convention;
use crate::render::{Column, Sheet, number};
use crate::table::{Entry, Row, Table};

pub(super) fn sheet(table: &Table) -> Sheet {
    let noted = has_notes(table);
    let mut columns = Vec::new();
    for (place, arm) in table.arms.iter().enumerate() {
        let name = heading(arm);
        if place > 0 {
            columns.push(Column::right(&name, "%change"));
            columns.push(Column::left(&name, "verdict"));
        }
        let center = format!("{} %stddev", table.criteria.assume.center_word());
        columns.push(Column::right(&name, &center));
    }
    columns.extend([
        Column::left("", "metric"),
        Column::left("", "unit"),
        Column::left("", "better"),
        Column::right("", "n"),
    ]);
    if noted {
        columns.push(Column::left("", "notes"));
    }
    let mut rows = Vec::new();
    for row in &table.rows {
        let mut cells = Vec::new();
        for (place, entry) in row.entries.iter().enumerate() {
            if place > 0 {
                let compared = entry.comparison();
                let dash = || "-".to_owned();
                cells.push(compared.map_or_else(dash, |c| difference(c, Convention::Value)));
                cells.push(compared.map_or_else(dash, verdict));
            }
            cells.push(value(row, entry));
        }
        cells.extend([
            format!("{}.{}", row.label, row.metric),
            row.unit.to_string(),
            row.direction.word().to_owned(),
            counts(row),
        ]);
        if noted {
            cells.push(notes(row));
        }
        rows.push(cells);
    }
    Sheet {
        columns,
        rows,
        legend: Vec::new(),
    }
}

/// `308887 +-  5%`; lkp prints a deviation in whole percent, and none below 2 %: here it is always
/// printed.
fn value(row: &Row, entry: &Entry) -> String {
    match entry.summary() {
        None => MISSING.to_owned(),
        Some(s) => {
            let std = s.cv_pct.map_or("?".to_owned(), |pct| number::fixed(pct, 0));
            format!("{} +- {std:>2}%", center(row, s))
        }
    }
}
