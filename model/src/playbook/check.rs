//! The checker: a tree against the shapes of the language. It finds every fault, not the first.

use crate::workload::{ALL, Workload};

use super::diagnostic::{Diagnostic, Report, near_miss};
use super::keys;
use super::node::{Entry, Node, Value};
use super::shape::{MapDef, NamesDef, Shape, one_of};
use super::workload_values;

/// Checks the whole document.
pub(super) fn document(node: &Node, report: &mut Report) {
    if !matches!(node.value, Value::Map(_)) {
        report.push(
            Diagnostic::error(node.pos, "a playbook is a map")
                .found(node.found())
                .expected("`playbook: 1` and the other keys of a playbook"),
        );
        return;
    }
    shape(node, &Shape::Map(&keys::PLAYBOOK), "playbook", report);
}

/// Checks a value against what its key takes.
fn shape(node: &Node, want: &Shape, name: &str, report: &mut Report) {
    match want {
        Shape::List(item) => match &node.value {
            Value::List(items) => items.iter().for_each(|i| shape(i, item, name, report)),
            Value::Empty => wrong(node, want, name, report),
            _ => shape(node, item, name, report),
        },
        Shape::Map(def) => match &node.value {
            Value::Map(entries) => map(node, entries, def, report),
            _ => wrong(node, want, name, report),
        },
        Shape::Names(def) => match &node.value {
            Value::Map(entries) => names(node, entries, def, name, report),
            _ => wrong(node, want, name, report),
        },
        Shape::Either(a, b) => {
            let first = matches!(node.value, Value::Scalar { .. } | Value::Empty);
            shape(node, if first { a } else { b }, name, report);
        }
        Shape::Workload => entry(node, name, report),
        Shape::Open => {
            if !matches!(node.value, Value::Map(_)) {
                wrong(node, want, name, report);
            }
        }
        _ => scalar(node, want, name, report),
    }
}

fn wrong(node: &Node, want: &Shape, name: &str, report: &mut Report) {
    report.push(
        Diagnostic::error(node.pos, format!("`{name}` has the wrong form"))
            .found(node.found())
            .expected(want.expected()),
    );
}

fn scalar(node: &Node, want: &Shape, name: &str, report: &mut Report) {
    let Value::Scalar { text, quoted } = &node.value else {
        return wrong(node, want, name, report);
    };
    if text.contains("${") {
        // An unknown parameter has been reported already.
        return;
    }
    if let Err(fault) = scalar_text(text, *quoted, want) {
        report.push(
            Diagnostic::error(node.pos, format!("wrong value for `{name}`"))
                .found(node.found())
                .expected(fault.expected)
                .suggest(fault.suggestion.as_deref()),
        );
    }
}

/// What is wrong with a scalar.
pub(super) struct Fault {
    /// What would be right.
    pub expected: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl From<String> for Fault {
    fn from(expected: String) -> Self {
        Fault {
            expected,
            suggestion: None,
        }
    }
}

/// Checks the text of a scalar.
pub(super) fn scalar_text(text: &str, quoted: bool, want: &Shape) -> Result<(), Fault> {
    match want {
        Shape::Text => octal_trap(text, quoted),
        Shape::Word(words) => word(text, words),
        Shape::Switch => switch(text),
        Shape::Count(min, max) => {
            let n = number_text(text, quoted, want)?;
            let n = super::amount::plain_integer(n)?.and_then(|n| u64::try_from(n).ok());
            match n {
                Some(n) if (*min..=*max).contains(&n) => Ok(()),
                _ => Err(want.expected().into()),
            }
        }
        Shape::Number(min, max) => {
            let n = number_text(text, quoted, want)?;
            super::amount::plain_integer(n)?;
            match n.parse::<f64>() {
                Ok(n) if (*min..=*max).contains(&n) => Ok(()),
                _ => Err(want.expected().into()),
            }
        }
        Shape::Phrase(phrase) => (phrase.check)(text).map_err(|expected| {
            if expected.is_empty() {
                phrase.expected.to_owned().into()
            } else {
                expected.into()
            }
        }),
        _ => Err(want.expected().into()),
    }
}

fn number_text<'a>(text: &'a str, quoted: bool, want: &Shape) -> Result<&'a str, Fault> {
    if quoted {
        return Err(format!("{}, without quotes", want.expected()).into());
    }
    Ok(text)
}

/// 0755 is a number in one YAML and text in another: neither is guessed.
fn octal_trap(text: &str, quoted: bool) -> Result<(), Fault> {
    if quoted {
        return Ok(());
    }
    super::amount::plain_integer(text)
        .map(drop)
        .map_err(Fault::from)
}

/// A word of a list.
pub(super) fn word(text: &str, words: &[&str]) -> Result<(), Fault> {
    if words.contains(&text) {
        return Ok(());
    }
    Err(Fault {
        expected: format!("one of {}", one_of(words)),
        suggestion: near_miss(text, words.iter().copied()).map(str::to_owned),
    })
}

/// `on` or `off`; what other readers take for them is refused with the word to write.
pub(super) fn switch(text: &str) -> Result<(), Fault> {
    let meant = match text {
        "on" | "off" => return Ok(()),
        "true" | "yes" | "True" | "Yes" | "On" | "ON" | "1" | "enable" | "enabled" | "y" => {
            Some("on")
        }
        "false" | "no" | "False" | "No" | "Off" | "OFF" | "0" | "disable" | "disabled" | "n" => {
            Some("off")
        }
        _ => None,
    };
    Err(Fault {
        expected: Shape::Switch.expected(),
        suggestion: meant.map(str::to_owned),
    })
}

fn map(node: &Node, entries: &[Entry], def: &'static MapDef, report: &mut Report) {
    for entry in entries {
        match def.key(&entry.key) {
            Some(known) => shape(&entry.node, &known.shape, &entry.key, report),
            None => unknown(entry, def, &[], report),
        }
    }
    missing(node, entries, def, report);
}

fn missing(node: &Node, entries: &[Entry], def: &'static MapDef, report: &mut Report) {
    for wanted in def.keys.iter().filter(|k| k.required) {
        if !entries.iter().any(|e| e.key == wanted.name) {
            report.push(
                Diagnostic::error(node.pos, format!("{} has no `{}`", def.name, wanted.name))
                    .expected(format!("`{}`: {}", wanted.name, wanted.doc)),
            );
        }
    }
}

fn unknown(entry: &Entry, def: &'static MapDef, more: &[&str], report: &mut Report) {
    let known: Vec<&str> = def
        .keys
        .iter()
        .map(|k| k.name)
        .chain(more.iter().copied())
        .collect();
    let near = near_miss(&entry.key, known.iter().copied());
    report.push(
        Diagnostic::error(
            entry.key_pos,
            format!("unknown key `{}` of {}", entry.key, def.name),
        )
        .expected(format!("one of {}", one_of(&known)))
        .suggest(near),
    );
}

fn names(node: &Node, entries: &[Entry], def: &'static NamesDef, name: &str, report: &mut Report) {
    if entries.is_empty() {
        report.push(
            Diagnostic::error(node.pos, format!("`{name}` is empty"))
                .expected(format!("at least one of its {}", def.of)),
        );
    }
    for entry in entries {
        let fits = |c: char| {
            c.is_ascii_alphanumeric() || "_-".contains(c) || (def.dotted && "./".contains(c))
        };
        if entry.key.is_empty() || entry.key.len() > 64 || !entry.key.chars().all(fits) {
            report.push(
                Diagnostic::error(entry.key_pos, format!("`{}` is no name", entry.key))
                    .expected("1 to 64 letters, digits, `-`, `_`"),
            );
        }
        shape(&entry.node, &def.shape, &entry.key, report);
    }
}

/// An entry of `workloads`.
fn entry(node: &Node, name: &str, report: &mut Report) {
    let Value::Map(entries) = &node.value else {
        return wrong(node, &Shape::Workload, name, report);
    };
    let known: Vec<&str> = ALL.iter().map(|w| w.def().name).collect();
    let mut named: Vec<(&Entry, Workload)> = Vec::new();
    for e in entries {
        if let Some(key) = keys::ENTRY.key(&e.key) {
            shape(&e.node, &key.shape, &e.key, report);
        } else if let Some(workload) = Workload::by_name(&e.key) {
            named.push((e, workload));
        } else {
            unknown(e, &keys::ENTRY, &known, report);
        }
    }
    match named.as_slice() {
        [] if entries.iter().all(|e| keys::ENTRY.key(&e.key).is_some()) => report.push(
            Diagnostic::error(node.pos, format!("`{name}` names no workload"))
                .expected(format!("one of {}", one_of(&known))),
        ),
        [(e, workload)] => workload_values::check(e, *workload, node.get("matrix"), report),
        [_, (second, _), ..] => report.push(
            Diagnostic::error(
                second.key_pos,
                format!("`{name}` names more than one workload"),
            )
            .expected("one workload an entry"),
        ),
        [] => {}
    }
}
