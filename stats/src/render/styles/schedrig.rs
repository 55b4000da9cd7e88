//! Our own: each thing in its column.

use super::cells::{
    MISSING, center, difference, has_notes, heading, metric, notes, shows_difference, verdict,
};
use crate::expected::{Expectation, Fit};
use crate::published::Convention;
use crate::render::{Column, Sheet, number};
use crate::table::{Entry, Expected, Row, Table};

const SIGN: Convention = Convention::BetterPositive;

pub(super) fn sheet(table: &Table) -> Sheet {
    let expected: Vec<bool> = (0..table.arms.len())
        .map(|arm| table.rows.iter().any(|r| r.entries[arm].expected.is_some()))
        .collect();
    let seeds = seeds(&all_expected(table));
    let noted = has_notes(table);
    let mut columns = vec![
        Column::left("", "cell"),
        Column::left("", "metric [unit, better]"),
    ];
    for (place, arm) in table.arms.iter().enumerate() {
        let name = heading(arm);
        columns.extend([
            Column::right(&name, table.criteria.assume.center_word()),
            Column::right(&name, "+-"),
            Column::right(&name, "n"),
        ]);
        if place > 0 {
            columns.extend([
                Column::right(&name, "diff"),
                Column::right(&name, "p"),
                Column::left(&name, "verdict"),
            ]);
        }
        if expected[place] {
            columns.push(Column::right(&name, "expected"));
            columns.push(Column::left(&name, "x"));
            if place > 0 {
                columns.push(Column::right(&name, "exp. diff"));
            }
        }
    }
    if noted {
        columns.push(Column::left("", "notes"));
    }
    let mut rows = Vec::new();
    for row in &table.rows {
        let mut cells = vec![row.label.clone(), metric(row)];
        for (place, entry) in row.entries.iter().enumerate() {
            cells.extend(measured_cells(row, entry, place > 0));
            if expected[place] {
                cells.extend(expected_cells(seeds, row, entry, place > 0));
            }
        }
        if noted {
            cells.push(notes(row));
        }
        rows.push(cells);
    }
    Sheet {
        columns,
        rows,
        legend: legend(table),
    }
}

/// How to read the expected columns, where there are any.
fn legend(table: &Table) -> Vec<String> {
    let expected = all_expected(table);
    if expected.is_empty() {
        return Vec::new();
    }
    let seeds = seeds(&expected).map_or("n in brackets".to_owned(), |n| format!("n={n}"));
    let band = expected.iter().find_map(|e| e.fit.as_ref());
    let band = band.map_or(String::new(), |f| {
        format!(
            "; x: measured / expected, ! where outside the model's band (x{})",
            1.0 + f.band.0
        )
    });
    vec![format!(
        "expected: simulated, {} over seeds +- spread, {seeds}{band}; \
         exp. diff: the expected difference, * where one is shown",
        table.criteria.assume.center_word()
    )]
}

fn all_expected(table: &Table) -> Vec<&Expected> {
    let entries = table.rows.iter().flat_map(|r| &r.entries);
    entries.filter_map(|e| e.expected.as_ref()).collect()
}

/// How many seeds, where it is the same everywhere.
fn seeds(expected: &[&Expected]) -> Option<usize> {
    let first = expected.first()?.summary.n;
    expected
        .iter()
        .all(|e| e.summary.n == first)
        .then_some(first)
}

fn measured_cells(row: &Row, entry: &Entry, compared: bool) -> Vec<String> {
    let mut cells = match entry.summary() {
        Some(s) => vec![center(row, s), number::spread(s.cv_pct), s.n.to_string()],
        None => vec![MISSING.to_owned(), "-".to_owned(), "0".to_owned()],
    };
    if compared {
        cells.extend(match entry.comparison() {
            Some(c) => [
                difference(c, SIGN),
                number::p_value(c.p_adjusted),
                verdict(c),
            ],
            None => ["-".to_owned(), "-".to_owned(), "-".to_owned()],
        });
    }
    cells
}

fn expected_cells(seeds: Option<usize>, row: &Row, entry: &Entry, compared: bool) -> Vec<String> {
    let Some(expected) = &entry.expected else {
        let dash = "-".to_owned();
        return vec![dash; if compared { 3 } else { 2 }];
    };
    let s = &expected.summary;
    let n = match seeds {
        Some(_) => String::new(),
        None => format!(" ({})", s.n),
    };
    let value = format!("{} +-{}{n}", center(row, s), number::spread(s.cv_pct));
    let mut cells = vec![value, expected.fit.as_ref().map_or("-".to_owned(), fit)];
    if compared {
        cells.push(match &expected.comparison {
            Some(c) => {
                let star = if shows_difference(c) { "*" } else { " " };
                format!("{}{star}", difference(c, SIGN))
            }
            None => "-".to_owned(),
        });
    }
    cells
}

/// `1.12`, `4.71!`.
fn fit(held: &Expectation) -> String {
    let mark = if held.fit == Fit::Agrees { "" } else { "!" };
    match held.ratio {
        Some(ratio) => format!("{}{mark}", number::fixed(ratio, 2)),
        None => format!("-{mark}"),
    }
}
