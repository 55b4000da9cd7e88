//! What is wrong with a line of kernel text, and the `key value` form that many files share.

use std::collections::BTreeMap;

/// A line that is not what its file should hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is not {expected}")]
pub struct LineError {
    /// From 1.
    pub line: u32,
    /// The line, its first 120 characters.
    pub text: String,
    /// What should have been there.
    pub expected: String,
}

impl LineError {
    /// The line of this index (from 0) should have been `expected`.
    pub fn new(index: usize, text: &str, expected: impl Into<String>) -> Self {
        LineError {
            line: index as u32 + 1,
            text: text.chars().take(120).collect(),
            expected: expected.into(),
        }
    }
}

/// `key value` lines with whole numbers. Unknown keys are kept: kernels add some.
///
/// # Errors
/// A line that is not a word and a number.
pub(super) fn parse_key_numbers(text: &str) -> Result<BTreeMap<&str, u64>, LineError> {
    let mut values = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let pair = line.trim().split_once(' ');
        let entry = pair.and_then(|(key, value)| Some((key, value.trim().parse().ok()?)));
        let (key, value) =
            entry.ok_or_else(|| LineError::new(index, line, "a key and a whole number"))?;
        values.insert(key, value);
    }
    Ok(values)
}
