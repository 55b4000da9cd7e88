//! What is wrong with a playbook, where, and what would be right.

use std::fmt::Write as _;

use serde::Serialize;

use super::source::{Pos, Sources};

/// At most this many problems of a playbook are listed; the rest is counted.
const MAX_LISTED: usize = 50;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth a look; the playbook runs.
    Warning,
    /// The playbook cannot run.
    Error,
}

/// One problem before its source line is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub pos: Pos,
    /// What is wrong, what was found included.
    pub message: String,
    /// What stands there, where it is a value.
    pub found: Option<String>,
    /// What would be right.
    pub expected: Option<String>,
    /// A near miss: what was probably meant.
    pub suggestion: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(pos: Pos, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            pos,
            message: message.into(),
            found: None,
            expected: None,
            suggestion: None,
        }
    }

    /// A warning.
    pub fn warning(pos: Pos, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(pos, message)
        }
    }

    /// Adds what stands there.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// Adds what would be right.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Adds what was probably meant, where something was.
    #[must_use]
    pub fn suggest(mut self, suggestion: Option<&str>) -> Self {
        self.suggestion = suggestion.map(str::to_owned);
        self
    }
}

/// The allowed word nearest to `word`, where one is near enough to have been meant.
pub(super) fn near_miss<'a>(
    word: &str,
    allowed: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    allowed
        .into_iter()
        .map(|a| {
            (
                strsim::damerau_levenshtein(&word.to_lowercase(), &a.to_lowercase()),
                a,
            )
        })
        .filter(|(distance, a)| *distance <= (a.chars().count().max(3) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, a)| a)
}

/// Problems found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    found: Vec<Diagnostic>,
    /// Problems past the limit.
    unlisted: usize,
}

impl Report {
    /// Adds a problem; the same problem at the same place counts once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.found.contains(&diagnostic) {
            return;
        }
        if self.found.len() >= MAX_LISTED {
            self.unlisted += 1;
            return;
        }
        self.found.push(diagnostic);
    }

    /// Whether the playbook cannot run.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.severity == Severity::Error)
    }

    /// With the source lines; sorted by place.
    pub fn finish(mut self, sources: &Sources) -> Diagnostics {
        self.found.sort_by_key(|d| d.pos);
        let items = self
            .found
            .into_iter()
            .map(|d| Located::new(d, sources))
            .collect();
        Diagnostics {
            items,
            unlisted: self.unlisted,
        }
    }
}

/// A problem with its source line. This is also its JSON form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// How bad it is.
    pub severity: Severity,
    /// The file's name; empty: not of a file (a command line).
    pub file: String,
    /// From 1; 0: the file as a whole.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// Characters that are meant.
    pub width: u32,
    /// What is wrong.
    pub message: String,
    /// What stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The source line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_line: Option<String>,
}

impl Located {
    fn new(d: Diagnostic, sources: &Sources) -> Self {
        Located {
            severity: d.severity,
            file: sources.name_of(d.pos).to_owned(),
            line: d.pos.line,
            column: d.pos.column,
            width: d.pos.width,
            message: d.message,
            found: d.found,
            expected: d.expected,
            suggestion: d.suggestion,
            source_line: sources.line_of(d.pos).map(str::to_owned),
        }
    }

    fn render(&self, out: &mut String) {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(out, "{word}: {}", self.message);
        if self.line > 0 {
            let _ = writeln!(out, "  --> {}:{}:{}", self.file, self.line, self.column);
        } else if !self.file.is_empty() {
            let _ = writeln!(out, "  --> {}", self.file);
        }
        if let Some(line) = &self.source_line {
            self.render_source(line, out);
        }
        for (label, text) in [("found", &self.found), ("expected", &self.expected)] {
            if let Some(text) = text {
                let _ = writeln!(out, "   = {label}: {text}");
            }
        }
        if let Some(meant) = &self.suggestion {
            let _ = writeln!(out, "   = did you mean `{meant}`?");
        }
    }

    /// The line and a caret under the place. Long lines are cut around it.
    fn render_source(&self, line: &str, out: &mut String) {
        const SHOWN: usize = 110;
        let column = usize::try_from(self.column).unwrap_or(1).max(1) - 1;
        let from = match line.chars().count() {
            n if n <= SHOWN => 0,
            _ => column.saturating_sub(SHOWN / 2),
        };
        // A tab is one column wide here, as is what a terminal would act on, so that the caret
        // stands right.
        let shown: Vec<char> = line.chars().skip(from).take(SHOWN).map(printable).collect();
        let at = (column - from).min(shown.len());
        let (before, meant) = shown.split_at(at);
        let meant = &meant[..meant.len().min(usize::try_from(self.width).unwrap_or(1))];
        let columns = |chars: &[char]| chars.iter().map(|c| columns_of(*c)).sum::<usize>();
        let shown: String = shown.iter().collect();
        let gutter = self.line.to_string();
        let blank = " ".repeat(gutter.len());
        let _ = writeln!(out, "{blank} |");
        let _ = writeln!(out, "{gutter} | {}", shown.trim_end());
        let _ = writeln!(
            out,
            "{blank} | {}{}",
            " ".repeat(columns(before)),
            "^".repeat(columns(meant).max(1))
        );
    }
}

/// What is shown for a character: control characters would move the cursor.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Columns a terminal gives a character: two for those of East Asian Width W and F (Unicode
/// TR 11, the large blocks) and for emoji, none for combining marks.
fn columns_of(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0xfeff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Every problem of a playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnostics {
    /// By file, line, column.
    pub items: Vec<Located>,
    /// Further problems that are not listed.
    pub unlisted: usize,
}

impl Diagnostics {
    /// A file that could not be read at all.
    pub fn unreadable(file: &str, why: &str) -> Self {
        let whole = Diagnostic::error(Pos::default(), why);
        let mut item = Located::new(whole, &Sources::default());
        file.clone_into(&mut item.file);
        Diagnostics {
            items: vec![item],
            unlisted: 0,
        }
    }

    /// Whether the playbook cannot run.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|d| d.severity == Severity::Error)
    }

    /// For people: each problem with its source line and a caret.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for item in &self.items {
            item.render(&mut out);
            out.push('\n');
        }
        let errors = self
            .items
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count()
            + self.unlisted;
        let warnings = self.items.len() + self.unlisted - errors;
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        let _ = match (errors, warnings) {
            (0, w) => writeln!(out, "{}", plural(w, "warning")),
            (e, 0) => writeln!(out, "{}", plural(e, "error")),
            (e, w) => writeln!(out, "{}, {}", plural(e, "error"), plural(w, "warning")),
        };
        if self.unlisted > 0 {
            let _ = writeln!(out, "{} of them not listed", self.unlisted);
        }
        out
    }

    /// For editors and pipelines.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "format": 1,
            "errors": self.items.iter().filter(|d| d.severity == Severity::Error).count() + self.unlisted,
            "diagnostics": self.items,
            "unlisted": self.unlisted,
        })
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl std::error::Error for Diagnostics {}
