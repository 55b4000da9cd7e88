//! Aligned text for a mail or a terminal.

use super::number;
use super::sheet::{Align, Sheet, one_line};
use super::style::Style;
use super::styles::sheet;
use crate::assume::Assumption;
use crate::table::{Footnote, Source, Table};

/// Between columns of one group; labels never touch.
const GAP: &str = "  ";
/// Between groups.
const BAR: &str = " | ";

/// The table as lines of text.
pub fn text(table: &Table, style: Style) -> String {
    let sheet = sheet(table, style);
    let mut lines = context_lines(table, style);
    lines.extend(sheet.legend.iter().cloned());
    lines.push(String::new());
    lines.extend(grid(&sheet));
    let below: Vec<String> = geomean_lines(table)
        .into_iter()
        .chain(table.footnotes.iter().map(footnote_line))
        .collect();
    if !below.is_empty() {
        lines.push(String::new());
        lines.extend(below);
    }
    let mut out = String::new();
    for line in lines {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The lines above a table: title, circumstances, and how to read it.
pub fn context_lines(table: &Table, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if !table.title.is_empty() {
        lines.push(one_line(&table.title));
    }
    lines.extend(table.header.iter().map(|l| one_line(l)));
    let criteria = &table.criteria;
    lines.push(format!(
        "center: {}; spread: standard deviation in % of the mean; n: repetitions",
        criteria.assume.center_word()
    ));
    if table.arms.len() > 1 {
        lines.push(format!(
            "difference from {}: {}; {}",
            one_line(&table.arms[0].name),
            style.convention().words(),
            test_words(table)
        ));
    }
    if table.arms.iter().all(|a| a.source == Source::Expected) {
        lines.push("every value is expected (simulated), none is measured".to_owned());
    }
    lines
}

fn test_words(table: &Table) -> String {
    let criteria = &table.criteria;
    let least = format!(
        "below {}% is no change",
        number::fixed(criteria.min_effect * 100.0, 2)
            .trim_end_matches('0')
            .trim_end_matches('.')
    );
    if criteria.assume == Assumption::Exact {
        return format!("exact values, no test; {least}");
    }
    let correction = match (criteria.correction.word(), table.family) {
        ("none", _) => "not corrected for the number of rows".to_owned(),
        (word, 0) => format!("{word}, nothing to compare"),
        (word, 1) => format!("{word}, 1 comparison"),
        (word, n) => format!("{word} over {n} comparisons"),
    };
    format!(
        "{}, alpha {} ({correction}); {least}",
        criteria.assume.test_word(),
        criteria.alpha
    )
}

/// One line a group of rows, metric and arm.
pub fn geomean_lines(table: &Table) -> Vec<String> {
    let base = table.arms.first().map_or("", |a| a.name.as_str());
    let line = |g: &crate::table::GeomeanLine| {
        let mut text = format!(
            "geomean {} {} ({} is better), {}/{}: {} over {} rows, {} to {}, {} within 1%",
            one_line(&g.group),
            one_line(&g.metric),
            g.direction.word(),
            one_line(&g.arm),
            one_line(base),
            number::value(g.geomean.ratio, 4),
            g.geomean.count,
            number::value(g.geomean.min, 4),
            number::value(g.geomean.max, 4),
            g.geomean.within_1_pct,
        );
        if g.geomean.left_out > 0 {
            text.push_str(&format!(", {} without a ratio", g.geomean.left_out));
        }
        text
    };
    table.geomeans.iter().map(line).collect()
}

pub(crate) fn footnote_line(note: &Footnote) -> String {
    match note.number {
        Some(number) => format!("[{number}] {}", one_line(&note.text)),
        None => format!("all rows: {}", one_line(&note.text)),
    }
}

/// The lines of the grid: groups, titles, a rule, rows.
fn grid(sheet: &Sheet) -> Vec<String> {
    let widths: Vec<usize> = widths(sheet);
    let mut lines = Vec::new();
    if sheet.columns.iter().any(|c| !c.group.is_empty()) {
        lines.push(group_line(sheet, &widths));
    }
    let titles: Vec<String> = sheet.columns.iter().map(|c| one_line(&c.title)).collect();
    lines.push(row_line(sheet, &widths, &titles));
    lines.push("-".repeat(total_width(sheet, &widths)));
    lines.extend(sheet.rows.iter().map(|row| row_line(sheet, &widths, row)));
    lines
}

/// The width of each column, in characters; the last of a group is widened where the group's name
/// would not fit.
fn widths(sheet: &Sheet) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for (place, column) in sheet.columns.iter().enumerate() {
        let cells = sheet.rows.iter().filter_map(|r| r.get(place));
        let longest = cells.map(|c| c.chars().count()).max().unwrap_or(0);
        widths.push(longest.max(column.title.chars().count()));
    }
    for (start, end) in spans(sheet) {
        let name = sheet.columns[start].group.chars().count();
        let has: usize = widths[start..end].iter().sum::<usize>() + GAP.len() * (end - start - 1);
        widths[end - 1] += name.saturating_sub(has);
    }
    widths
}

/// First column and one past the last of each run of columns of one group.
fn spans(sheet: &Sheet) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for place in 0..sheet.columns.len() {
        match spans.last_mut() {
            Some((start, end)) if sheet.columns[*start].group == sheet.columns[place].group => {
                *end = place + 1;
            }
            _ => spans.push((place, place + 1)),
        }
    }
    spans
}

fn group_line(sheet: &Sheet, widths: &[usize]) -> String {
    let mut parts = Vec::new();
    for (start, end) in spans(sheet) {
        let width = widths[start..end].iter().sum::<usize>() + GAP.len() * (end - start - 1);
        let name = one_line(&sheet.columns[start].group);
        parts.push(format!("{name:^width$}"));
    }
    parts.join(BAR)
}

fn row_line(sheet: &Sheet, widths: &[usize], cells: &[String]) -> String {
    let mut parts = Vec::new();
    for (start, end) in spans(sheet) {
        let mut texts = Vec::new();
        for (place, width) in widths.iter().copied().enumerate().take(end).skip(start) {
            let text = one_line(cells.get(place).map_or("", String::as_str));
            texts.push(match sheet.columns[place].align {
                Align::Left => format!("{text:<width$}"),
                Align::Right => format!("{text:>width$}"),
            });
        }
        parts.push(texts.join(GAP));
    }
    parts.join(BAR)
}

fn total_width(sheet: &Sheet, widths: &[usize]) -> usize {
    let spans = spans(sheet);
    let gaps: usize = spans.iter().map(|(s, e)| e - s - 1).sum();
    widths.iter().sum::<usize>() + gaps * GAP.len() + spans.len().saturating_sub(1) * BAR.len()
}
