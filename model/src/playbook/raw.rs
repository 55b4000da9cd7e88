//! YAML text to [`Node`]. The only file that knows the YAML library.
//!
//! Limits: they bound what a hostile file can cost, far above what any playbook needs.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Location, Options, Spanned};

use super::diagnostic::{Diagnostic, Report};
use super::node::{Entry, Node, Value};
use super::source::Pos;

/// The largest file that is read, in bytes: a playbook of ten thousand lines has about a half.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Values in a file, aliases written out.
const MAX_NODES: usize = 100_000;
/// Nesting of maps and lists.
const MAX_DEPTH: usize = 40;

/// Reads one document. Problems go to `report`; `None` where there is no tree at all.
pub(super) fn read(file: u16, text: &str, report: &mut Report) -> Option<Node> {
    let whole = Pos {
        file,
        ..Pos::default()
    };
    if text.len() > MAX_BYTES {
        report.push(
            Diagnostic::error(whole, format!("the file has {} bytes", text.len()))
                .expected(format!("at most {MAX_BYTES} bytes")),
        );
        return None;
    }
    if text
        .lines()
        .all(|l| l.trim().is_empty() || l.trim_start().starts_with('#'))
    {
        report.push(
            Diagnostic::error(whole, "the file is empty")
                .expected("a playbook, starting with `playbook: 1`"),
        );
        return None;
    }
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options()) {
        Ok(raw) => Some(Builder::new(file, text, report).node(raw)),
        Err(error) => {
            let at = error.location().map_or(whole, |l| pos(file, &l, 1));
            let message = error.without_snippet().to_string();
            let message = strip_position(message.lines().next().unwrap_or_default());
            report.push(match limit(message) {
                Some((what, bound)) => Diagnostic::error(at, what).expected(bound),
                None => {
                    let diagnostic = Diagnostic::error(at, format!("not YAML: {message}"));
                    match hint(text, at) {
                        Some(hint) => diagnostic.expected(hint),
                        None => diagnostic,
                    }
                }
            });
            None
        }
    }
}

/// Which limit of this reader a message of the library is about, and how far it reaches.
fn limit(message: &str) -> Option<(&'static str, String)> {
    let breached = message.strip_prefix("budget breached: ");
    let name = breached.map(|b| b.split([' ', '{']).next().unwrap_or_default());
    Some(match name {
        Some("Documents") => (
            "a second document starts here",
            "one document a file".into(),
        ),
        Some("Depth") => (
            "maps and lists stand too deep within each other",
            format!("at most {MAX_DEPTH} levels"),
        ),
        Some("Nodes" | "Events" | "ScalarBytes") => (
            "the file holds too many values",
            format!("at most {MAX_NODES} values"),
        ),
        Some(_) => (
            "anchors and aliases unfold into too many values",
            format!("at most {MAX_NODES} values, aliases written out"),
        ),
        None if message.starts_with("recursion limit") => (
            "maps and lists stand too deep within each other",
            format!("at most {MAX_DEPTH} levels"),
        ),
        None if message.starts_with("recursive references") => (
            "an alias stands within its own anchor",
            "an alias of something that is complete".into(),
        ),
        None if message.contains("alias") && message.contains("limit") => (
            "anchors and aliases unfold into too many values",
            format!("at most {MAX_NODES} values, aliases written out"),
        ),
        None if message.starts_with("alias references unknown anchor") => (
            "the alias names no anchor",
            "an anchor that stands before it; text that starts with `*` in quotes".into(),
        ),
        None => return None,
    })
}

/// What most often leads to text that is no YAML at this place.
fn hint(text: &str, at: Pos) -> Option<&'static str> {
    let index = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let line = text.lines().nth(index)?;
    let value = line.split_once(':').map_or("", |(_, v)| v).trim_start();
    if value.starts_with(['>', '|', '%', '@', '&', '*', '`']) {
        Some("quotes around a value that starts with a sign: `\">= 16\"`")
    } else if line.starts_with("---") {
        Some("one document a file")
    } else if line.contains('\t') {
        Some("spaces, not tabs")
    } else {
        None
    }
}

/// The library repeats the position at the end of its message; the caret says it already.
fn strip_position(message: &str) -> &str {
    match message.rfind(" at line ") {
        Some(at) => &message[..at],
        None => message,
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4 * MAX_NODES,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_depth: MAX_DEPTH,
            max_documents: 1,
            max_nodes: MAX_NODES,
            max_total_scalar_bytes: MAX_BYTES,
            max_recorded_anchor_events: MAX_NODES,
            max_recorded_anchor_bytes: 4 * MAX_BYTES,
            max_merge_keys: 1_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
            max_replay_stack_depth: 16,
            max_alias_expansions_per_anchor: 1_000,
        },
        // Every repeated key is reported, not the first alone.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        null_as_string: true,
        with_snippet: false,
        emit_comments: false,
    }
}

fn pos(file: u16, location: &Location, width: u32) -> Pos {
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Pos {
        file,
        line: small(location.line()),
        column: small(location.column()),
        width,
    }
}

/// Any YAML value; scalars as the library types them, their spelling is looked up in the text.
enum Raw {
    Null,
    Scalar(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map, a list, a word, a number")
    }

    fn visit_bool<E: de::Error>(self, v: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_string()))
    }

    fn visit_i64<E: de::Error>(self, v: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_string()))
    }

    fn visit_u64<E: de::Error>(self, v: u64) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_string()))
    }

    fn visit_i128<E: de::Error>(self, v: i128) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_string()))
    }

    fn visit_u128<E: de::Error>(self, v: u128) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_string()))
    }

    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_string()))
    }

    fn visit_str<E: de::Error>(self, v: &str) -> Result<Raw, E> {
        Ok(Raw::Scalar(v.to_owned()))
    }

    fn visit_bytes<E: de::Error>(self, _v: &[u8]) -> Result<Raw, E> {
        Err(E::custom("binary data has no place in a playbook"))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Raw, D::Error> {
        Raw::deserialize(d)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

struct Builder<'a> {
    file: u16,
    text: &'a str,
    report: &'a mut Report,
    /// Duplicate keys reported so far: a file of nothing else is refused after a few.
    duplicates: Cell<u32>,
}

impl<'a> Builder<'a> {
    fn new(file: u16, text: &'a str, report: &'a mut Report) -> Self {
        Builder {
            file,
            text,
            report,
            duplicates: Cell::new(0),
        }
    }

    fn node(&mut self, raw: Spanned<Raw>) -> Node {
        // A value that came by an alias is shown where it is used, spelt where it is defined.
        let spelling = self.spelling(&raw.defined);
        let value = match raw.value {
            Raw::Null => match spelling {
                Some(word) if !word.is_empty() => scalar(word),
                _ => Value::Empty,
            },
            Raw::Scalar(text) => match spelling {
                Some(word) if word.starts_with(['"', '\'', '|', '>']) => {
                    Value::Scalar { text, quoted: true }
                }
                // Numbers and words of the schema keep the spelling of the file: 0755, 1e3, on.
                Some(word)
                    if !word.is_empty() && !word.contains('\n') && !word.starts_with('!') =>
                {
                    scalar(word)
                }
                _ => Value::Scalar {
                    text,
                    quoted: false,
                },
            },
            Raw::List(items) => Value::List(items.into_iter().map(|i| self.node(i)).collect()),
            Raw::Map(entries) => Value::Map(self.entries(entries)),
        };
        let width = match &value {
            Value::Scalar { .. } => {
                spelling.map_or(1, |w| w.lines().next().unwrap_or("").chars().count())
            }
            _ => 1,
        };
        Node {
            pos: pos(
                self.file,
                &raw.referenced,
                u32::try_from(width.max(1)).unwrap_or(1),
            ),
            value,
        }
    }

    fn entries(&mut self, raw: Vec<(Spanned<String>, Spanned<Raw>)>) -> Vec<Entry> {
        let mut seen = std::collections::BTreeMap::<String, Pos>::new();
        let mut entries = Vec::with_capacity(raw.len());
        for (key, value) in raw {
            let width = u32::try_from(key.value.chars().count().max(1)).unwrap_or(1);
            let key_pos = pos(self.file, &key.referenced, width);
            let node = self.node(value);
            if let Some(first) = seen.get(&key.value) {
                self.duplicates.set(self.duplicates.get() + 1);
                if self.duplicates.get() <= 20 {
                    self.report.push(
                        Diagnostic::error(key_pos, format!("the key `{}` stands twice", key.value))
                            .expected(format!(
                                "one `{}`; the first is in line {}",
                                key.value, first.line
                            )),
                    );
                }
                continue;
            }
            seen.insert(key.value.clone(), key_pos);
            entries.push(Entry {
                key: key.value,
                key_pos,
                node,
            });
        }
        entries
    }

    fn spelling(&self, location: &Location) -> Option<&'a str> {
        let span = location.span();
        let start = usize::try_from(span.byte_offset()?).ok()?;
        let len = usize::try_from(span.byte_len()?).ok()?;
        self.text.get(start..start.checked_add(len)?).map(str::trim)
    }
}

fn scalar(word: &str) -> Value {
    Value::Scalar {
        text: word.to_owned(),
        quoted: false,
    }
}
