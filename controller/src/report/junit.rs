//! Test results for a continuous integration: a row and arm is a test case.

use schedrig_stats::published::Convention;
use schedrig_stats::render::number;
use schedrig_stats::table::{Entry, Row, Table, Value};
use schedrig_stats::verdict::Verdict;

/// The table as JUnit XML. A regression is a failure; what does not tell, or is missing, is skipped,
/// with the reason: it did not pass.
pub(super) fn junit(table: &Table) -> String {
    let mut cases = String::new();
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for row in &table.rows {
        for (arm, entry) in table.arms.iter().zip(&row.entries).skip(1) {
            tests += 1;
            let class = escape(&row.group);
            let name = escape(&format!("{} {} {}", row.label, row.metric, arm.name));
            let inner = match outcome(row, entry) {
                CaseOutcome::Passed => String::new(),
                CaseOutcome::Failed(words) => {
                    failures += 1;
                    format!("<failure message=\"{}\"/>", escape(&words))
                }
                CaseOutcome::Skipped(words) => {
                    skipped += 1;
                    format!("<skipped message=\"{}\"/>", escape(&words))
                }
            };
            cases.push_str(&format!(
                "    <testcase classname=\"{class}\" name=\"{name}\">{inner}</testcase>\n"
            ));
        }
    }
    let header = escape(&table.header.join("\n"));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" \
         tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\" errors=\"0\">\n{cases}    \
         <system-out>{header}</system-out>\n  </testsuite>\n</testsuites>\n",
        escape(&table.title)
    )
}

enum CaseOutcome {
    Passed,
    Failed(String),
    Skipped(String),
}

fn outcome(row: &Row, entry: &Entry) -> CaseOutcome {
    let Some(comparison) = entry.comparison() else {
        return CaseOutcome::Skipped(match &entry.value {
            Value::Missing { reason } => format!("missing: {reason}"),
            Value::Present { .. } => "not compared".to_owned(),
        });
    };
    let shown = comparison.delta_pct.map_or("-".to_owned(), |delta| {
        let signed = Convention::BetterPositive.sign(delta, row.direction);
        number::difference(signed, comparison.ratio())
    });
    let words = format!(
        "{}: {shown} (positive is better), p={}, n={}+{}, {} [{}]",
        comparison.verdict,
        number::p_value(comparison.p_adjusted),
        comparison.n1,
        comparison.n2,
        row.metric,
        row.unit
    );
    match comparison.verdict {
        Verdict::Improved | Verdict::NoChange => CaseOutcome::Passed,
        Verdict::Regressed => CaseOutcome::Failed(words),
        Verdict::Differs | Verdict::CannotTell { .. } => CaseOutcome::Skipped(words),
    }
}

/// Text that means nothing in XML. Characters that XML does not allow become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_tool_stays_text() {
        assert_eq!(
            escape("<a href=\"x\">&'\u{1b}"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39; "
        );
    }
}
