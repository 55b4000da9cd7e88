//! What differs between two plans: every value by its path, then the steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::types::{Plan, Step};

/// A value that differs. `None`: not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Keys down to the value; cells, arms and hosts by their names: `cells.wakeup.params.seconds`.
    pub path: String,
    /// In the first plan.
    pub a: Option<String>,
    /// In the second plan.
    pub b: Option<String>,
}

/// How two plans differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanDiff {
    /// Values that differ, by path.
    pub values: Vec<Difference>,
    /// Steps of the first and of the second plan.
    pub steps: (usize, usize),
    /// The first place at which the steps differ; `None`: they are the same.
    pub first_step: Option<usize>,
    /// Estimates in milliseconds.
    pub estimate_ms: (u64, u64),
}

impl PlanDiff {
    /// Whether the plans are equal.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.first_step.is_none()
    }

    /// For people.
    pub fn to_text(&self) -> String {
        if self.is_empty() {
            return "the plans are the same\n".into();
        }
        let mut out = String::new();
        for d in &self.values {
            let _ = match (&d.a, &d.b) {
                (Some(a), Some(b)) => writeln!(out, "~ {}: {a} -> {b}", d.path),
                (Some(a), None) => writeln!(out, "- {}: {a}", d.path),
                (None, Some(b)) => writeln!(out, "+ {}: {b}", d.path),
                (None, None) => Ok(()),
            };
        }
        if let Some(at) = self.first_step {
            let _ = writeln!(
                out,
                "steps: {} -> {}, the first that differs is {at}",
                self.steps.0, self.steps.1
            );
        }
        let (a, b) = self.estimate_ms;
        let _ = writeln!(
            out,
            "time: {} -> {}",
            super::render::time_text(a),
            super::render::time_text(b)
        );
        out
    }
}

/// Compares two plans.
pub fn diff(a: &Plan, b: &Plan) -> PlanDiff {
    let (left, right) = (values(a), values(b));
    let paths: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let folded = alone(&left, &right);
    let values = paths
        .into_iter()
        .filter(|p| left.get(*p) != right.get(*p) && !is_within(p, &folded))
        .map(|p| Difference {
            path: p.clone(),
            a: left.get(p).cloned(),
            b: right.get(p).cloned(),
        })
        .collect();
    let differs = |(x, y): (&Step, &Step)| x != y;
    let common = a.steps.len().min(b.steps.len());
    let first_step = a
        .steps
        .iter()
        .zip(&b.steps)
        .position(differs)
        .or_else(|| (a.steps.len() != b.steps.len()).then_some(common));
    PlanDiff {
        values,
        steps: (a.steps.len(), b.steps.len()),
        first_step,
        estimate_ms: (a.estimate_ms(), b.estimate_ms()),
    }
}

/// Cells and groups that one plan has and the other has not, as the beginning of their paths: their
/// names say it, their values are not listed one by one.
fn alone(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (here, there) in [(a, b), (b, a)] {
        for path in here.keys().filter(|path| !there.contains_key(*path)) {
            let name = path
                .strip_suffix("id")
                .filter(|p| p.starts_with("cells.") && p.ends_with('.'))
                .or_else(|| {
                    path.strip_suffix("path")
                        .filter(|p| p.starts_with("cgroups.groups.") && p.ends_with('.'))
                });
            found.extend(name.map(str::to_owned));
        }
    }
    found.sort();
    found
}

/// Whether a path is below one of `folded` (sorted), and is not the name itself.
fn is_within(path: &str, folded: &[String]) -> bool {
    let after = folded.partition_point(|prefix| prefix.as_str() <= path);
    after
        .checked_sub(1)
        .and_then(|at| path.strip_prefix(folded[at].as_str()))
        .is_some_and(|rest| rest != "id" && rest != "path")
}

/// Every value of a plan but its steps and notes, by path.
fn values(plan: &Plan) -> BTreeMap<String, String> {
    let head = Plan {
        steps: Vec::new(),
        notes: Vec::new(),
        ..plan.clone()
    };
    let mut found = BTreeMap::new();
    flatten(
        "",
        &serde_json::to_value(&head).unwrap_or_default(),
        &mut found,
    );
    found
}

fn flatten(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                flatten(&below(key), value, found);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                flatten(
                    &below(&name_of(item).unwrap_or_else(|| i.to_string())),
                    item,
                    found,
                );
            }
        }
        Value::Null => {}
        Value::String(text) => {
            found.insert(path.to_owned(), text.clone());
        }
        other => {
            found.insert(path.to_owned(), other.to_string());
        }
    }
}

/// The name by which an item of a list is known, so that one more item does not shift the others.
fn name_of(item: &Value) -> Option<String> {
    ["id", "role", "path"]
        .iter()
        .find_map(|key| item.get(key)?.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(paths: &[&str]) -> BTreeMap<String, String> {
        let entry = |p: &&str| ((*p).to_owned(), "v".to_owned());
        paths.iter().map(entry).collect()
    }

    #[test]
    fn a_cell_of_one_plan_alone_is_one_line() {
        let a = map(&["cells.x/n=1.id", "cells.x/n=1.params.n", "seed"]);
        let b = map(&["cells.x/n=1.id", "cells.x/n=1.params.n", "cells.x/n=10.id"]);
        let folded = alone(&a, &b);
        assert_eq!(folded, ["cells.x/n=10."]);
        assert!(is_within("cells.x/n=10.params.n", &folded));
        for kept in ["cells.x/n=10.id", "cells.x/n=1.params.n", "seed"] {
            assert!(!is_within(kept, &folded), "{kept}");
        }
    }
}
