//! The catalogue as a document: `docs/workloads.md` is what this yields.

use std::fmt::Write as _;

use schedrig_stats::Direction;

use crate::workload::{
    ALL, Aggregate, Implementation, MetricDef, ParamDef, ParamKind, WorkloadDef,
};

/// Every workload with its parameters and metrics, in Markdown.
pub fn document() -> String {
    let mut out = String::from(
        "# Workloads\n\nGenerated from `model/src/workload`. A workload's parameters, the metrics it \
         yields with unit and direction, how copies that run at one time become one value, and what the \
         simulator models of it.\n\n| workload | what | implementations | tool |\n| --- | --- | --- | --- |\n",
    );
    for workload in ALL {
        let def = workload.def();
        let _ = writeln!(
            out,
            "| [{name}](#{name}) | {} | {} | {} |",
            def.summary,
            implementations(def),
            tool(def),
            name = def.name,
        );
    }
    for workload in ALL {
        section(&mut out, workload.def());
    }
    out
}

fn section(out: &mut String, def: &WorkloadDef) {
    let _ = writeln!(out, "\n## {}\n\n{}.\n", def.name, sentence(def.summary));
    if !def.params.is_empty() {
        out.push_str(
            "| parameter | values | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n",
        );
        for param in def.params {
            param_row(out, param);
        }
        out.push('\n');
    }
    if def.metrics.is_empty() {
        out.push_str("Metrics: those the playbook states.\n");
    } else {
        out.push_str(
            "| metric | unit | better | copies | meaning |\n| --- | --- | --- | --- | --- |\n",
        );
        for metric in def.metrics {
            metric_row(out, metric);
        }
        out.push_str("\nMetrics in bold are in tables without being asked for.\n");
    }
    let _ = writeln!(out, "\nSimulated: {}.", squeeze(def.simulated));
}

fn param_row(out: &mut String, param: &ParamDef) {
    let _ = writeln!(
        out,
        "| `{}` | {} | {} | {} | {} |",
        param.name,
        values(param.kind),
        param.default.filter(|d| !d.is_empty()).unwrap_or(""),
        param.unit,
        squeeze(param.doc)
    );
}

fn metric_row(out: &mut String, metric: &MetricDef) {
    let name = if metric.primary {
        format!("**{}**", metric.name)
    } else {
        metric.name.to_owned()
    };
    let copies = match metric.aggregate {
        Aggregate::Sum => "sum",
        Aggregate::Mean => "mean",
        Aggregate::Max => "max",
    };
    let better = match metric.direction {
        Direction::Unknown => "neither",
        stated => stated.word(),
    };
    let step = metric
        .resolution
        .map_or(String::new(), |step| format!("; in steps of {step}"));
    let _ = writeln!(
        out,
        "| {name} | {} | {better} | {copies} | {}{step} |",
        metric.unit,
        squeeze(metric.doc)
    );
}

fn values(kind: ParamKind) -> String {
    match kind {
        ParamKind::Choice(words) => words.join(", "),
        ParamKind::Count { min, max } if max >= 1_000_000_000_000 => format!("{min} or more"),
        ParamKind::Count { min, max } => format!("{min} to {max}"),
        ParamKind::Number { min, max } => format!("number, {min} to {max}"),
        ParamKind::Switch => "on, off".to_owned(),
        ParamKind::Text => "text".to_owned(),
        ParamKind::Words => "list of words".to_owned(),
        ParamKind::Size => "size with unit".to_owned(),
        ParamKind::Tree => "map".to_owned(),
    }
}

fn implementations(def: &WorkloadDef) -> String {
    let words: Vec<&str> = def
        .implementations
        .iter()
        .map(|i| match i {
            Implementation::Tool => "tool",
            Implementation::Builtin => "builtin",
        })
        .collect();
    words.join(", ")
}

fn tool(def: &WorkloadDef) -> String {
    match &def.tool {
        None => String::new(),
        Some(tool) => match tool.package {
            Some(package) => format!("`{}` (package {package})", tool.program),
            None => format!("`{}` (source only)", tool.program),
        },
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// One line: the sources break long texts.
fn squeeze(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_and_metric_is_in_the_document() {
        let text = document();
        for workload in ALL {
            let def = workload.def();
            assert!(text.contains(&format!("\n## {}\n", def.name)));
            for metric in def.metrics {
                assert!(text.contains(metric.name), "{}", metric.name);
            }
        }
    }
}
