//! Reading what programs print: lines of both streams, numbers, the words of an error.

use crate::workload::{Captured, Failure};

/// The longest excerpt of an output that goes into a message, in characters.
const EXCERPT_CHARS: usize = 120;

/// One line of an output, control sequences removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1, counted within its stream.
    pub(super) number: u32,
    /// Without line end and trailing blanks.
    pub(super) text: String,
    /// The stream ends here without a line end: the rest may be cut off.
    pub(super) cut: bool,
}

/// The lines of both streams, standard output first, blank ones left out. Tools move results from
/// one stream to the other between versions, and saved files often hold both in one.
pub(super) fn lines(output: &Captured<'_>) -> Vec<Line> {
    let mut all = lines_of(output.stdout);
    all.extend(lines_of(output.stderr));
    all
}

/// The lines of one text, blank ones left out.
pub(super) fn lines_of(text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for (i, raw) in text.split('\n').enumerate() {
        // A progress display overwrites its line: each piece counts as a line of its own.
        for piece in raw.split('\r') {
            let text = plain(piece);
            let text = text.trim_end();
            if !text.trim_start().is_empty() {
                found.push(Line {
                    number: u32::try_from(i + 1).unwrap_or(u32::MAX),
                    text: text.to_owned(),
                    cut: false,
                });
            }
        }
    }
    if let Some(last) = found.last_mut() {
        last.cut = !text.ends_with(['\n', '\r']);
    }
    found
}

/// `text` without terminal control sequences.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.peek() == Some(&'[') {
                chars.next();
                // A sequence ends with a byte from `@` to `~`.
                while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
            }
        } else if !c.is_control() || c == '\t' {
            out.push(c);
        }
    }
    out
}

/// At most 120 characters of a line.
pub(super) fn excerpt(text: &str) -> String {
    text.trim().chars().take(EXCERPT_CHARS).collect()
}

/// A finite number, or the failure that names what stands there instead.
pub(super) fn finite(metric: &str, text: &str, line: &Line) -> Result<f64, Failure> {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(Failure::NotFinite {
            metric: metric.to_owned(),
            value: excerpt(text),
        }),
        Err(_) => Err(unreadable(
            line,
            &if text.contains(',') {
                format!("a value of {metric} with a decimal point (decimal comma?)")
            } else {
                format!("a value of {metric}")
            },
        )),
    }
}

/// A finite number that the tool prints with `decimals` decimals at the end of its line: fewer of
/// them at the end of an output without a line end mean that the number is cut.
pub(super) fn fixed(
    metric: &str,
    text: &str,
    decimals: usize,
    line: &Line,
) -> Result<f64, Failure> {
    let value = finite(metric, text, line)?;
    let found = text.trim().split_once('.').map_or(0, |(_, d)| d.len());
    if line.cut && found < decimals && line.text.ends_with(text.trim()) {
        return Err(Failure::Partial {
            message: format!("the output ends within the value of {metric}"),
        });
    }
    Ok(value)
}

/// A line that is not what stands here in this format.
pub(super) fn unreadable(line: &Line, expected: &str) -> Failure {
    Failure::Unreadable {
        line: line.number,
        excerpt: excerpt(&line.text),
        expected: expected.to_owned(),
    }
}

/// What follows `key` on the line that has it.
pub(super) fn after<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.find(key).map(|at| &line[at + key.len()..])
}

/// The first word after `key`.
pub(super) fn word_after<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    after(line, key)?.split_whitespace().next()
}

/// Every JSON object in `text`, one after the other, which may stand between other lines.
pub(super) fn json_objects(text: &str) -> Vec<serde_json::Value> {
    // Braces that open no JSON are rare in these outputs: the number of tries is bounded all the same.
    const MOST_TRIES: usize = 256;
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MOST_TRIES {
        let Some(at) = text
            .get(from..)
            .and_then(|t| t.find('{'))
            .map(|at| from + at)
        else {
            break;
        };
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter();
        match values.next() {
            Some(Ok(value @ serde_json::Value::Object(_))) => {
                found.push(value);
                from = at + values.byte_offset();
            }
            _ => from = at + 1,
        }
    }
    found
}
