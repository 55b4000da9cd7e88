//! `${name}`: parameters of the playbook put in their places.

use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, Report, near_miss};
use super::node::{Node, Value};
use super::shape::one_of;
use super::source::Pos;

/// Parameters by name, with the text and whether it was in quotes.
type Params = BTreeMap<String, Param>;

#[derive(Clone)]
struct Param {
    text: String,
    quoted: bool,
}

/// Replaces every `${name}` in the document. `overrides` come from the command line.
pub(super) fn apply(
    root: &mut Node,
    overrides: &BTreeMap<String, String>,
    report: &mut Report,
) -> BTreeMap<String, String> {
    let mut grown = 0;
    let params = collect(root, overrides, report, &mut grown);
    if let Value::Map(entries) = &mut root.value {
        let mut substitution = Substitution {
            params: &params,
            report,
            grown: &mut grown,
        };
        for entry in entries.iter_mut().filter(|e| e.key != "params") {
            substitution.replace(&mut entry.node);
        }
    }
    params.into_iter().map(|(name, p)| (name, p.text)).collect()
}

/// The parameters, each of which may use those above it.
fn collect(
    root: &Node,
    overrides: &BTreeMap<String, String>,
    report: &mut Report,
    grown: &mut usize,
) -> Params {
    let mut params = Params::new();
    let stated = root.get("params").map_or(&[][..], Node::entries);
    for entry in stated {
        let mut node = entry.node.clone();
        if let Some(text) = overrides.get(&entry.key) {
            node.value = Value::Scalar {
                text: text.clone(),
                quoted: false,
            };
        }
        Substitution {
            params: &params,
            report,
            grown,
        }
        .replace(&mut node);
        if let Value::Scalar { text, quoted } = node.value {
            params.insert(entry.key.clone(), Param { text, quoted });
        }
    }
    for name in overrides
        .keys()
        .filter(|n| !stated.iter().any(|e| e.key == **n))
    {
        let known: Vec<&str> = stated.iter().map(|e| e.key.as_str()).collect();
        let expected = if known.is_empty() {
            "no `--set`: this playbook has no params".into()
        } else {
            format!("one of {}", one_of(&known))
        };
        report.push(
            Diagnostic::error(
                Pos {
                    file: u16::MAX,
                    ..Pos::default()
                },
                format!("unknown parameter `{name}` in --set"),
            )
            .expected(expected)
            .suggest(near_miss(name, known.iter().copied())),
        );
    }
    params
}

/// Parameters may add at most so much text to a playbook, in bytes.
const MAX_GROWTH: usize = 4 * 1024 * 1024;

struct Substitution<'a> {
    params: &'a Params,
    report: &'a mut Report,
    grown: &'a mut usize,
}

impl Substitution<'_> {
    fn replace(&mut self, node: &mut Node) {
        let pos = node.pos;
        match &mut node.value {
            Value::Empty => {}
            Value::List(items) => items.iter_mut().for_each(|i| self.replace(i)),
            Value::Map(entries) => entries.iter_mut().for_each(|e| self.replace(&mut e.node)),
            Value::Scalar { text, quoted } => {
                if text.contains("${") && *self.grown <= MAX_GROWTH {
                    (*text, *quoted) = self.replaced(text, *quoted, pos);
                    *self.grown += text.len();
                    if *self.grown > MAX_GROWTH {
                        self.report.push(Diagnostic::error(
                            pos,
                            format!("parameters add more than {MAX_GROWTH} bytes of text"),
                        ));
                    }
                }
            }
        }
    }

    /// The text with its parameters put in. A text that is one parameter takes its quotes too, so
    /// that a number stays a number.
    fn replaced(&mut self, text: &str, quoted: bool, pos: Pos) -> (String, bool) {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            out.push_str(&rest[..at]);
            let Some(end) = rest[at..].find('}') else {
                self.report.push(
                    Diagnostic::error(pos, format!("`{text}` has a `${{` without a `}}`"))
                        .expected("`${name}`"),
                );
                return (text.to_owned(), quoted);
            };
            let name = &rest[at + 2..at + end];
            match self.params.get(name) {
                Some(p) if rest.len() == text.len() && at == 0 && end + 1 == text.len() => {
                    return (p.text.clone(), p.quoted);
                }
                Some(p) => out.push_str(&p.text),
                None => {
                    self.unknown(name, pos);
                    return (text.to_owned(), quoted);
                }
            }
            rest = &rest[at + end + 1..];
            if out.len() > MAX_GROWTH {
                return (out, quoted);
            }
        }
        out.push_str(rest);
        (out, false)
    }

    fn unknown(&mut self, name: &str, pos: Pos) {
        let known: Vec<&str> = self.params.keys().map(String::as_str).collect();
        let expected = if known.is_empty() {
            "`params:` with its value".to_owned()
        } else {
            format!("one of {}", one_of(&known))
        };
        self.report.push(
            Diagnostic::error(pos, format!("unknown parameter `${{{name}}}`"))
                .expected(expected)
                .suggest(near_miss(name, known.iter().copied())),
        );
    }
}
