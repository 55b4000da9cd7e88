//! The reference of the language as Markdown, drawn from the shapes and the catalogue.

use std::fmt::Write as _;

use schedrig_stats::Direction;

use crate::workload::{ALL, ParamDef, ParamKind, WorkloadDef};

use super::keys;
use super::shape::{MapDef, one_of};
use super::words::SIZE;

const HEAD: &str = "\
# Playbook reference

Written by a test from `model/src/playbook/keys.rs` and the workload catalogue; changes belong there.

A playbook is one YAML document. Words are words: `off` is the word `off`, never a truth value; `0755` is refused;
times, shares and sizes need their unit. `${name}` puts a parameter in. Unknown and repeated keys are errors.

Files named by `extends`, then by `include`, are read first; maps merge key by key, lists replace.

Counts of workloads may depend on the machine: `50% cpus` (rounded down, at least 1), `1 per llc`, `4 x nodes`; the
parts are cpus, cores, clusters, llcs, nodes, packages, of those CPUs that the agent may use. In a matrix, a range
`{from: 1, to: 4 x cpus, factor: 2}` (or `step:`) stands for its values.
";

/// The reference, as it is kept in `docs/playbook.md`.
pub fn reference() -> String {
    let mut out = HEAD.to_owned();
    for def in keys::MAPS {
        map(def, &mut out);
    }
    out.push_str("\n## Workloads\n");
    for w in ALL {
        workload(w.def(), &mut out);
    }
    out
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn map(def: &MapDef, out: &mut String) {
    let _ = writeln!(out, "\n## {}\n\n{}\n", def.name, def.doc);
    out.push_str("| key | takes | default | meaning |\n| --- | --- | --- | --- |\n");
    for key in def.keys {
        let default = match (key.required, key.default) {
            (true, _) => "must be there",
            (false, Some(default)) => default,
            (false, None) => "",
        };
        let takes = short(&key.shape);
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            key.name,
            cell(&takes),
            cell(default),
            cell(key.doc)
        );
    }
}

/// What a key takes, maps by their name.
fn short(shape: &super::shape::Shape) -> String {
    use super::shape::Shape;
    match shape {
        Shape::Map(def) => format!("map: {}", def.name),
        Shape::Names(def) => format!("map of {}", def.of),
        Shape::List(item) => format!("list: {}", short(item)),
        Shape::Either(a, b) => format!("{}, or {}", short(a), short(b)),
        other => other.expected(),
    }
}

fn workload(def: &WorkloadDef, out: &mut String) {
    let _ = writeln!(out, "\n### {}\n\n{}.", def.name, cell(def.summary));
    let impls: Vec<String> = def
        .implementations
        .iter()
        .map(|i| format!("{i:?}").to_lowercase())
        .collect();
    let tool = match def.tool {
        Some(tool) => match tool.package {
            Some(package) => format!(" The program is `{}` (package {package}).", tool.program),
            None => format!(
                " The program is `{}` (no package: from source).",
                tool.program
            ),
        },
        None => String::new(),
    };
    let _ = writeln!(
        out,
        "Implementations: {}.{tool}\nSimulated: {}.\n",
        impls.join(", "),
        cell(def.simulated)
    );
    out.push_str("| parameter | takes | default | meaning |\n| --- | --- | --- | --- |\n");
    for p in def.params {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            p.name,
            cell(&takes(p)),
            p.default.unwrap_or(""),
            cell(p.doc)
        );
    }
    out.push_str("\n| metric | unit | better | meaning |\n| --- | --- | --- | --- |\n");
    for m in def.metrics {
        let better = match m.direction {
            Direction::LowerIsBetter => "lower",
            Direction::HigherIsBetter => "higher",
            Direction::Unknown => "not said",
        };
        let _ = writeln!(
            out,
            "| `{}` | {} | {better} | {} |",
            m.name,
            m.unit,
            cell(m.doc)
        );
    }
}

fn takes(p: &ParamDef) -> String {
    let kind = match p.kind {
        ParamKind::Choice(words) => one_of(words),
        ParamKind::Count { min, max } if max >= i64::from(u32::MAX) => {
            format!("a count from {min}")
        }
        ParamKind::Count { min, max } => format!("a count from {min} to {max}"),
        ParamKind::Number { min, max } => format!("a number from {min} to {max}"),
        ParamKind::Switch => "`on`, `off`; also `true`, `false`".into(),
        ParamKind::Text => "text".into(),
        ParamKind::Words => "words".into(),
        ParamKind::Size => SIZE.into(),
        ParamKind::Tree => "a nested map or list".into(),
    };
    if p.unit.is_empty() {
        kind
    } else {
        format!("{kind}, {}", p.unit)
    }
}
