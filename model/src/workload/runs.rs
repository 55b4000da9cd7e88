//! Several complete runs in one output, as LKP and shell loops leave them, become one set of metrics.
//!
//! Runs that say the same of themselves (groups, threads, array size) are averaged: each metric is
//! the arithmetic mean over the runs that have it, and `samples` in `resolved` says how many runs
//! there were. Runs that differ in what they say of themselves are never averaged together: their
//! metrics are kept apart by a qualifier, `groups=2/time`.

use std::collections::BTreeMap;

use schedrig_stats::{Direction, Unit};

use crate::workload::{Failure, Measurement, Outcome, Parsed, WorkloadDef};

/// What one complete run printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Run {
    /// What it says it did.
    pub(super) resolved: BTreeMap<String, String>,
    /// Metrics of the catalogue by name, a qualifier before a `/` allowed, in printed order.
    pub(super) values: Vec<(String, f64)>,
    /// Unit and direction of the metrics that the catalogue does not know.
    pub(super) kinds: BTreeMap<String, (Unit, Direction)>,
}

impl Run {
    /// Adds a metric's value.
    pub(super) fn push(&mut self, metric: impl Into<String>, value: f64) {
        self.values.push((metric.into(), value));
    }

    /// Adds the value of a metric that the tool or the playbook made up.
    pub(super) fn push_as(
        &mut self,
        metric: impl Into<String>,
        value: f64,
        unit: Unit,
        direction: Direction,
    ) {
        let metric = metric.into();
        self.kinds.insert(metric.clone(), (unit, direction));
        self.values.push((metric, value));
    }

    /// Notes what the run says of itself.
    pub(super) fn says(&mut self, key: &str, value: impl ToString) {
        self.resolved.insert(key.to_owned(), value.to_string());
    }
}

/// What a parser found, as an outcome.
pub(super) fn outcome(
    def: &WorkloadDef,
    found: Result<(Vec<Run>, Vec<String>), Failure>,
) -> Outcome {
    match found {
        Ok((runs, warnings)) => {
            let mut parsed = merge(def, &runs);
            for warning in warnings {
                if !parsed.warnings.contains(&warning) {
                    parsed.warnings.push(warning);
                }
            }
            Outcome::Ok(parsed)
        }
        Err(failure) => Outcome::Failed(failure),
    }
}

/// The metrics of `runs`; names, units and directions come from the catalogue.
pub(super) fn merge(def: &WorkloadDef, runs: &[Run]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut kinds: Vec<(&BTreeMap<String, String>, Vec<&Run>)> = Vec::new();
    for run in runs {
        match kinds.iter_mut().find(|(says, _)| **says == run.resolved) {
            Some((_, same)) => same.push(run),
            None => kinds.push((&run.resolved, vec![run])),
        }
    }
    let differing = differing_keys(&kinds);
    for (says, same) in &kinds {
        let qualifier: String = differing
            .iter()
            .map(|key| {
                format!(
                    "{key}={}/",
                    says.get(key.as_str()).map_or("?", String::as_str)
                )
            })
            .collect();
        for (metric, value) in averages(def, same, &mut parsed.warnings) {
            let stated = same.iter().find_map(|run| run.kinds.get(&metric));
            let (unit, direction) = stated.cloned().unwrap_or_else(|| unit_of(def, &metric));
            parsed.metrics.push(Measurement {
                metric: format!("{qualifier}{metric}"),
                value,
                unit,
                direction,
            });
        }
    }
    if let [(says, same)] = kinds.as_slice() {
        parsed.resolved = (*says).clone();
        if same.len() > 1 {
            parsed
                .resolved
                .insert("samples".to_owned(), same.len().to_string());
        }
    } else if let Some((first, _)) = kinds.first() {
        parsed.resolved = (*first).clone();
        parsed.resolved.retain(|key, _| !differing.contains(key));
        parsed
            .resolved
            .insert("samples".to_owned(), runs.len().to_string());
        parsed.warnings.push(format!(
            "{} runs differ in {}: kept apart, not averaged",
            runs.len(),
            differing.join(", ")
        ));
    }
    parsed
}

/// The mean of each metric over the runs that have it, in the order of the catalogue.
fn averages(def: &WorkloadDef, runs: &[&Run], warnings: &mut Vec<String>) -> Vec<(String, f64)> {
    let mut sums: Vec<(String, f64, u32)> = Vec::new();
    for (metric, value) in runs.iter().flat_map(|r| &r.values) {
        match sums.iter_mut().find(|(name, _, _)| name == metric) {
            Some((_, sum, n)) => {
                *sum += value;
                *n += 1;
            }
            None => sums.push((metric.clone(), *value, 1)),
        }
    }
    for (metric, _, n) in &sums {
        if (*n as usize) < runs.len() {
            warnings.push(format!("{metric} is in {n} of {} runs", runs.len()));
        }
    }
    // Metrics of one qualifier stay together where they stood; the rest follows the catalogue.
    sums.sort_by_key(|(metric, _, _)| {
        let place = def.metrics.iter().position(|m| m.name == metric);
        // A sort keeps the order of equals: qualified names stay as they stood.
        place.unwrap_or(usize::MAX)
    });
    sums.into_iter()
        .map(|(metric, sum, n)| (metric, sum / f64::from(n)))
        .collect()
}

fn unit_of(def: &WorkloadDef, metric: &str) -> (Unit, Direction) {
    match def.metric(metric) {
        Some(known) => (Unit::new(known.unit), known.direction),
        None => (Unit::new("count"), Direction::Unknown),
    }
}

fn differing_keys(kinds: &[(&BTreeMap<String, String>, Vec<&Run>)]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for key in kinds.iter().flat_map(|(says, _)| says.keys()) {
        let differs = kinds
            .iter()
            .any(|(says, _)| kinds.first().map(|k| k.0.get(key)) != Some(says.get(key)));
        if differs && !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}
