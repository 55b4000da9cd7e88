//! Comma-separated values: one line a row and arm, every number in full.

use crate::assume::Assumption;
use crate::compare::Comparison;
use crate::summary::Summary;
use crate::table::{Source, Table, Value};
use crate::verdict::Verdict;

/// The heading. Columns are only ever added, at the end.
const HEADING: &str = "group,cell,metric,unit,better,arm,source,n,center,statistic,cv_pct,ci_low,\
ci_high,ci_level,min,max,delta_pct,improvement_pct,p,p_adjusted,verdict,needs_n,missing,warnings";

/// The table as comma-separated values (RFC 4180), the heading once. Values are in the unit of
/// their own column `unit`; an unknown is an empty field, never a zero.
pub fn csv(table: &Table) -> String {
    let mut out = format!("{HEADING}\n");
    for row in &table.rows {
        let key = [row.group.as_str(), &row.label, &row.metric];
        for (arm, entry) in table.arms.iter().zip(&row.entries) {
            let place = (arm.name.as_str(), source_word(arm.source));
            match &entry.value {
                Value::Present {
                    summary,
                    comparison,
                } => push(&mut out, key, place, summary, comparison.as_deref()),
                Value::Missing { reason } => {
                    let mut fields: Vec<String> = key.iter().map(|k| quote(k)).collect();
                    let known = row.entries.iter().find_map(|e| e.summary());
                    fields.push(quote(known.map_or(&row.unit, |s| &s.unit).symbol()));
                    fields.push(row.direction.word().to_owned());
                    fields.push(quote(place.0));
                    fields.push(place.1.to_owned());
                    fields.resize(22, String::new());
                    fields.push(quote(reason));
                    fields.push(String::new());
                    out.push_str(&fields.join(","));
                    out.push('\n');
                }
            }
            if let Some(expected) = &entry.expected {
                let place = (arm.name.as_str(), source_word(Source::Expected));
                let comparison = expected.comparison.as_deref();
                push(&mut out, key, place, &expected.summary, comparison);
            }
        }
    }
    out
}

fn source_word(source: Source) -> &'static str {
    match source {
        Source::Measured => "measured",
        Source::Expected => "expected",
    }
}

fn push(
    out: &mut String,
    key: [&str; 3],
    place: (&str, &str),
    summary: &Summary,
    comparison: Option<&Comparison>,
) {
    let mut fields: Vec<String> = key.iter().map(|k| quote(k)).collect();
    let interval = summary.interval;
    fields.extend([
        quote(summary.unit.symbol()),
        summary.direction.word().to_owned(),
        quote(place.0),
        place.1.to_owned(),
        summary.n.to_string(),
        summary.center.to_string(),
        statistic(summary.assume).to_owned(),
        number(summary.cv_pct),
        number(interval.map(|i| i.0)),
        number(interval.map(|i| i.1)),
        number(summary.level),
        summary.min.to_string(),
        summary.max.to_string(),
    ]);
    let found = |get: fn(&Comparison) -> Option<f64>| number(comparison.and_then(get));
    fields.extend([
        found(|c| c.delta_pct),
        found(|c| c.improvement_pct),
        found(|c| c.p),
        found(|c| c.p_adjusted),
    ]);
    let needs = comparison.and_then(|c| match c.verdict {
        Verdict::CannotTell { needs_n, .. } => needs_n,
        _ => None,
    });
    fields.push(quote(
        &comparison.map_or(String::new(), |c| c.verdict.to_string()),
    ));
    fields.push(needs.map_or(String::new(), |n| n.to_string()));
    fields.push(String::new());
    let warnings = comparison.map_or(&summary.warnings, |c| &c.warnings);
    let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    fields.push(quote(&texts.join("; ")));
    out.push_str(&fields.join(","));
    out.push('\n');
}

fn statistic(assume: Assumption) -> &'static str {
    assume.center_word()
}

fn number(value: Option<f64>) -> String {
    // Adding zero turns minus zero into zero.
    value.map_or(String::new(), |v| (v + 0.0).to_string())
}

fn quote(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_where_needed() {
        assert_eq!(quote("a,b"), "\"a,b\"");
        assert_eq!(quote("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quote("plain"), "plain");
        assert_eq!(number(Some(-0.0)), "0");
        assert_eq!(HEADING.split(',').count(), 24);
    }
}
