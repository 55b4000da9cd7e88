//! A page that needs nothing else: for a lab's web server or an attachment.

use schedrig_stats::render::{Align, Sheet, Style, context_lines, geomean_lines, sheet};
use schedrig_stats::table::Table;

use super::judged::Judged;
use super::junit::escape;

/// Wide tables scroll; the verdict's word carries the meaning, colour only repeats it.
const LOOK: &str = "body{font:14px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.2em .6em;text-align:left;white-space:nowrap}\
thead th{border-bottom:1px solid #888}td.r,th.r{text-align:right}\
tr:nth-child(even) td{background:#f5f5f5}div.t{overflow-x:auto}\
.regressed{color:#a00000;font-weight:bold}.improved{color:#006000;font-weight:bold}";

/// The table as one HTML page without scripts.
pub(super) fn html(table: &Table, judged: Judged, style: Style) -> String {
    let sheet = sheet(table, style);
    let mut lines = String::new();
    // The title has its own place.
    let skip = usize::from(!table.title.is_empty());
    for line in context_lines(table, style)
        .iter()
        .skip(skip)
        .chain(&sheet.legend)
    {
        lines.push_str(&format!("<li>{}</li>\n", escape(line)));
    }
    let mut below = String::new();
    for line in geomean_lines(table) {
        below.push_str(&format!("<p>{}</p>\n", escape(&line)));
    }
    for note in &table.footnotes {
        let mark = note
            .number
            .map_or("all rows:".to_owned(), |n| format!("[{n}]"));
        below.push_str(&format!("<p>{mark} {}</p>\n", escape(&note.text)));
    }
    let title = escape(&table.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{LOOK}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{}</p>\n<ul>\n{lines}</ul>\n\
         <div class=\"t\">\n{}</div>\n{below}</body>\n</html>\n",
        judged.words(),
        grid(&sheet)
    )
}

fn grid(sheet: &Sheet) -> String {
    let class = |align: Align| match align {
        Align::Left => "",
        Align::Right => " class=\"r\"",
    };
    let mut out = String::from("<table>\n<thead>\n<tr>");
    let mut place = 0;
    while place < sheet.columns.len() {
        let group = &sheet.columns[place].group;
        let span = sheet.columns[place..]
            .iter()
            .take_while(|c| c.group == *group)
            .count();
        out.push_str(&format!("<th colspan=\"{span}\">{}</th>", escape(group)));
        place += span;
    }
    out.push_str("</tr>\n<tr>");
    for column in &sheet.columns {
        out.push_str(&format!(
            "<th scope=\"col\"{}>{}</th>",
            class(column.align),
            escape(&column.title)
        ));
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &sheet.rows {
        out.push_str("<tr>");
        for (column, cell) in sheet.columns.iter().zip(row) {
            let class = match cell.as_str() {
                "regressed" | "improved" => format!(" class=\"{cell}\""),
                _ => class(column.align).to_owned(),
            };
            out.push_str(&format!("<td{class}>{}</td>", escape(cell)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
    out
}
