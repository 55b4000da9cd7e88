//! Values of workload parameters: checked against the catalogue, kept until the machine is known.

use serde::{Deserialize, Serialize};

use crate::workload::{ParamDef, ParamKind, ParamValue, Workload};

use super::amount::{Amount, plain_integer};
use super::check::{Fault, switch, word};
use super::diagnostic::{Diagnostic, Report, near_miss};
use super::node::{Entry, Node, Value};
use super::shape::one_of;
use super::words;

/// A value before the machine is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// The same on every machine.
    Value(ParamValue),
    /// A part of the machine.
    Amount(Amount),
    /// Several values, for a matrix.
    Range(Range),
}

/// `{from: 1, to: 2 x cpus, factor: 2}`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The first value.
    pub from: Amount,
    /// No value is above this.
    pub to: Amount,
    /// How to get to the next.
    pub next: Next,
}

/// How a range goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    /// Add this.
    Step(u32),
    /// Multiply by this, at least 2.
    Factor(u32),
}

/// A range has at most so many values.
pub(crate) const MAX_RANGE: usize = 10_000;

/// What a dimension of a matrix is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dimension {
    /// A parameter of the workload.
    Param(&'static ParamDef),
    /// Copies in each place.
    Instances,
    /// Where copies run.
    Place,
}

/// The dimension a key names.
pub(super) fn dimension(workload: Workload, key: &str) -> Option<Dimension> {
    match key {
        "instances" => Some(Dimension::Instances),
        "in" => Some(Dimension::Place),
        _ => param(workload, key).map(Dimension::Param),
    }
}

/// The parameter of this name.
pub(super) fn param(workload: Workload, key: &str) -> Option<&'static ParamDef> {
    workload.def().params.iter().find(|p| p.name == key)
}

/// Checks the parameters and the matrix of an entry.
pub(super) fn check(entry: &Entry, workload: Workload, matrix: Option<&Node>, report: &mut Report) {
    match &entry.node.value {
        Value::Map(params) => params.iter().for_each(|p| check_param(p, workload, report)),
        Value::Empty => {}
        _ => report.push(
            Diagnostic::error(entry.node.pos, format!("`{}` takes parameters", entry.key))
                .found(entry.node.found())
                .expected("a map of parameters"),
        ),
    }
    if let Some(matrix) = matrix {
        check_matrix(matrix, workload, report);
    }
}

fn check_param(entry: &Entry, workload: Workload, report: &mut Report) {
    match param(workload, &entry.key) {
        Some(def) => match read(&entry.node, def.kind) {
            Ok(Wanted::Range(_)) => report.push(
                Diagnostic::error(entry.node.pos, format!("`{}` is a range", entry.key))
                    .expected("one value here; ranges belong into `matrix`"),
            ),
            Ok(_) => {}
            Err(fault) => push_fault(entry.node.pos, &entry.key, &entry.node, fault, report),
        },
        None => unknown(entry, workload, report),
    }
}

fn push_fault(pos: super::source::Pos, key: &str, node: &Node, fault: Fault, report: &mut Report) {
    if node.text().is_some_and(|t| t.contains("${")) {
        return;
    }
    report.push(
        Diagnostic::error(pos, format!("wrong value for `{key}`"))
            .found(node.found())
            .expected(fault.expected)
            .suggest(fault.suggestion.as_deref()),
    );
}

fn unknown(entry: &Entry, workload: Workload, report: &mut Report) {
    let known: Vec<&str> = workload.def().params.iter().map(|p| p.name).collect();
    report.push(
        Diagnostic::error(
            entry.key_pos,
            format!(
                "unknown parameter `{}` of {}",
                entry.key,
                workload.def().name
            ),
        )
        .expected(format!("one of {}", one_of(&known)))
        .suggest(near_miss(&entry.key, known.iter().copied())),
    );
}

fn check_matrix(matrix: &Node, workload: Workload, report: &mut Report) {
    for kind in ["product", "zip"] {
        let Some(lists) = matrix.get(kind) else {
            continue;
        };
        for list in lists.entries() {
            check_list(list, workload, report);
        }
    }
    for lost in matrix.get("exclude").map_or(&[][..], Node::items) {
        for point in lost.entries() {
            if dimension(workload, &point.key).is_none() {
                unknown(point, workload, report);
            }
        }
    }
}

fn check_list(list: &Entry, workload: Workload, report: &mut Report) {
    let Some(dimension) = dimension(workload, &list.key) else {
        return unknown(list, workload, report);
    };
    if list.node.items().is_empty() {
        report.push(
            Diagnostic::error(list.node.pos, format!("`{}` has no values", list.key))
                .found(list.node.found())
                .expected("a list such as `[1, 2, 4]`"),
        );
    }
    for item in list.node.items() {
        if let Err(fault) = read_in(item, dimension) {
            push_fault(item.pos, &list.key, item, fault, report);
        }
    }
}

/// A value of a dimension.
pub(super) fn read_in(node: &Node, dimension: Dimension) -> Result<Wanted, Fault> {
    match dimension {
        Dimension::Param(def) => read(node, def.kind),
        Dimension::Instances => read(
            node,
            ParamKind::Count {
                min: 1,
                max: 1_000_000,
            },
        ),
        Dimension::Place => {
            let text = node
                .text()
                .ok_or_else(|| Fault::from(words::PLACE.to_owned()))?;
            words::parse_place(text)?;
            Ok(Wanted::Value(ParamValue::Text(text.to_owned())))
        }
    }
}

/// The value of a parameter of this kind.
pub(super) fn read(node: &Node, kind: ParamKind) -> Result<Wanted, Fault> {
    let value = match kind {
        ParamKind::Count { min, max } => return count(node, min, max),
        ParamKind::Number { min, max } => number(node, min, max)?,
        ParamKind::Choice(allowed) => {
            let text = scalar(node, &format!("one of {}", one_of(allowed)))?;
            word(text, allowed)?;
            ParamValue::Text(text.to_owned())
        }
        ParamKind::Switch => {
            // A tool's switch is a question of yes or no: the words of YAML are taken, too.
            let word = match scalar(node, "`on` or `off`")? {
                "true" => "on",
                "false" => "off",
                other => other,
            };
            switch(word)?;
            ParamValue::Text(word.to_owned())
        }
        ParamKind::Text => {
            let text = scalar(node, "text")?;
            if !matches!(node.value, Value::Scalar { quoted: true, .. }) {
                plain_integer(text)?;
            }
            ParamValue::Text(text.to_owned())
        }
        ParamKind::Size => {
            let text = scalar(node, words::SIZE)?;
            words::parse_bytes(text)?;
            ParamValue::Text(text.to_owned())
        }
        ParamKind::Words => ParamValue::List(
            node.items()
                .iter()
                .map(|i| scalar(i, "a list of words").map(|t| ParamValue::Text(t.to_owned())))
                .collect::<Result<_, Fault>>()?,
        ),
        ParamKind::Tree => tree(node)?,
    };
    Ok(Wanted::Value(value))
}

fn scalar<'a>(node: &'a Node, expected: &str) -> Result<&'a str, Fault> {
    node.text().ok_or_else(|| expected.to_owned().into())
}

fn count(node: &Node, min: i64, max: i64) -> Result<Wanted, Fault> {
    if let Value::Map(_) = node.value {
        return range(node).map(Wanted::Range);
    }
    let expected = if max >= i64::from(u32::MAX) {
        format!(
            "a whole number from {min}, or a part of the machine such as `50% cpus`, `1 per llc`, `4 x nodes`"
        )
    } else {
        format!(
            "a whole number from {min} to {max}, or a part of the machine such as `50% cpus`, `1 per llc`, `4 x nodes`"
        )
    };
    let text = scalar(node, &expected)?;
    if matches!(node.value, Value::Scalar { quoted: true, .. }) && plain_integer(text) != Ok(None) {
        return Err(format!("{expected}, without quotes").into());
    }
    let amount = Amount::parse(text).map_err(|why| {
        let why = if why == super::amount::EXPECTED {
            expected.clone()
        } else {
            why
        };
        Fault::from(why)
    })?;
    match amount {
        Amount::Fixed(n) if !(min..=max).contains(&n) => Err(expected.into()),
        Amount::Fixed(n) => Ok(Wanted::Value(ParamValue::Int(n))),
        other => Ok(Wanted::Amount(other)),
    }
}

fn range(node: &Node) -> Result<Range, Fault> {
    let expected =
        || Fault::from("a range such as `{from: 1, to: 4 x cpus, factor: 2}`".to_owned());
    let amount = |key: &str| -> Result<Amount, Fault> {
        let text = node.get(key).and_then(Node::text).ok_or_else(expected)?;
        Amount::parse(text).map_err(Fault::from)
    };
    let next = |key: &str, least: i64| -> Result<Option<u32>, Fault> {
        let Some(text) = node.get(key).and_then(Node::text) else {
            return Ok(None);
        };
        match plain_integer(text)? {
            Some(n) if n >= least => Ok(u32::try_from(n).ok()),
            _ => Err(format!("`{key}` from {least}").into()),
        }
    };
    let known = ["from", "to", "step", "factor"];
    if let Some(odd) = node
        .entries()
        .iter()
        .find(|e| !known.contains(&e.key.as_str()))
    {
        return Err(Fault {
            expected: format!("one of {} in a range, not `{}`", one_of(&known), odd.key),
            suggestion: near_miss(&odd.key, known).map(str::to_owned),
        });
    }
    let next = match (next("step", 1)?, next("factor", 2)?) {
        (Some(step), None) => Next::Step(step),
        (None, Some(factor)) => Next::Factor(factor),
        (None, None) => Next::Step(1),
        (Some(_), Some(_)) => return Err("`step` or `factor`, not both".to_owned().into()),
    };
    Ok(Range {
        from: amount("from")?,
        to: amount("to")?,
        next,
    })
}

fn number(node: &Node, min: f64, max: f64) -> Result<ParamValue, Fault> {
    let expected = format!("a number from {min} to {max}");
    let text = scalar(node, &expected)?;
    if matches!(node.value, Value::Scalar { quoted: true, .. }) {
        return Err(format!("{expected}, without quotes").into());
    }
    let value = match plain_integer(text)? {
        Some(n) => ParamValue::Int(n),
        None => match text.parse::<f64>() {
            Ok(x) if text.starts_with(|c: char| c.is_ascii_digit() || "-.+".contains(c)) => {
                ParamValue::Float(x)
            }
            _ => return Err(expected.into()),
        },
    };
    let x = match value {
        ParamValue::Int(n) => n as f64,
        ParamValue::Float(x) => x,
        _ => f64::NAN,
    };
    if x.is_finite() && (min..=max).contains(&x) {
        Ok(value)
    } else {
        Err(expected.into())
    }
}

/// A nested value as it stands: numbers where they are written as numbers, text otherwise.
fn tree(node: &Node) -> Result<ParamValue, Fault> {
    Ok(match &node.value {
        Value::Empty => ParamValue::Text(String::new()),
        Value::Scalar { text, quoted: true } => ParamValue::Text(text.clone()),
        Value::Scalar {
            text,
            quoted: false,
        } => match plain_integer(text)? {
            Some(n) => ParamValue::Int(n),
            None => match text.parse::<f64>() {
                Ok(x) if x.is_finite() => ParamValue::Float(x),
                _ => ParamValue::Text(text.clone()),
            },
        },
        Value::List(items) => ParamValue::List(items.iter().map(tree).collect::<Result<_, _>>()?),
        Value::Map(entries) => ParamValue::Map(
            entries
                .iter()
                .map(|e| Ok((e.key.clone(), tree(&e.node)?)))
                .collect::<Result<_, Fault>>()?,
        ),
    })
}
