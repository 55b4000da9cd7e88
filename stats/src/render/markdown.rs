//! A Markdown table, for an issue or a page.

use super::sheet::{Align, one_line};
use super::style::Style;
use super::styles::sheet;
use super::text::{context_lines, footnote_line, geomean_lines};
use crate::table::Table;

/// The table in Markdown.
pub fn markdown(table: &Table, style: Style) -> String {
    let sheet = sheet(table, style);
    let mut out = String::new();
    for (place, line) in context_lines(table, style)
        .iter()
        .chain(&sheet.legend)
        .enumerate()
    {
        let bold = place == 0 && !table.title.is_empty();
        let mark = if bold { "**" } else { "" };
        out.push_str(&format!("{mark}{}{mark}\\\n", escape(line)));
    }
    // The last line of a paragraph takes no break.
    if out.ends_with("\\\n") {
        out.truncate(out.len() - 2);
        out.push('\n');
    }
    out.push('\n');
    let titles = sheet.columns.iter().map(|c| {
        let both = format!("{} {}", escape(&c.group), escape(&c.title));
        both.trim().to_owned()
    });
    push_row(&mut out, titles);
    let rules = sheet.columns.iter().map(|c| match c.align {
        Align::Left => "---".to_owned(),
        Align::Right => "--:".to_owned(),
    });
    push_row(&mut out, rules);
    for row in &sheet.rows {
        push_row(&mut out, row.iter().map(|c| escape(c)));
    }
    let below = geomean_lines(table)
        .into_iter()
        .chain(table.footnotes.iter().map(footnote_line));
    for line in below {
        out.push_str(&format!("\n{}\n", escape(&line)));
    }
    out
}

fn push_row(out: &mut String, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Text without a meaning in Markdown.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        if matches!(
            c,
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '~' | '#'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lose_their_meaning() {
        assert_eq!(escape("a|b *c* <d>\n"), "a\\|b \\*c\\* \\<d\\> ");
    }
}
