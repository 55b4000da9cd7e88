//! The values of one metric of one cell under one arm, out of records.

use std::collections::BTreeMap;

use schedrig_model::id::{ArmId, CellId, HostId};
use schedrig_model::record::{RepetitionRecord, RepetitionState, RunRecord};
use schedrig_stats::{Sample, Unit};

/// The repetitions of a run by machine, cell and arm: warm-ups left out, the last try of each, in
/// order.
pub(super) struct ByCell<'a> {
    found: BTreeMap<Key<'a>, Vec<&'a RepetitionRecord>>,
}

type Key<'a> = (&'a HostId, &'a CellId, &'a ArmId);

impl<'a> ByCell<'a> {
    /// Sorts the repetitions of a run.
    pub(super) fn new(record: &'a RunRecord) -> Self {
        let mut last: BTreeMap<(Key, u32), &RepetitionRecord> = BTreeMap::new();
        for repetition in record.repetitions.iter().filter(|r| !r.warmup) {
            let key = (&repetition.host, &repetition.cell, &repetition.arm);
            let known = last
                .entry((key, repetition.repetition))
                .or_insert(repetition);
            if repetition.attempt >= known.attempt {
                *known = repetition;
            }
        }
        let mut found: BTreeMap<Key, Vec<&RepetitionRecord>> = BTreeMap::new();
        for ((key, _), repetition) in last {
            found.entry(key).or_default().push(repetition);
        }
        ByCell { found }
    }

    /// Those of a cell under an arm on a machine.
    pub(super) fn of(
        &self,
        host: &HostId,
        cell: &CellId,
        arm: &ArmId,
    ) -> Vec<&'a RepetitionRecord> {
        self.found
            .get(&(host, cell, arm))
            .cloned()
            .unwrap_or_default()
    }

    /// The machine, where there is only one.
    pub(super) fn only_host(&self) -> Option<&'a HostId> {
        let mut hosts = self.found.keys().map(|(host, _, _)| *host);
        let first = hosts.next()?;
        hosts.all(|h| h == first).then_some(first)
    }

    /// Those of a cell on a machine under any arm.
    pub(super) fn of_cell(
        &self,
        host: &HostId,
        cell: &CellId,
    ) -> impl Iterator<Item = &'a RepetitionRecord> {
        let of_cell = self.found.iter();
        of_cell
            .filter(move |((h, c, _), _)| *h == host && *c == cell)
            .flat_map(|(_, found)| found.iter().copied())
    }
}

/// The sample of `metric` out of repetitions of one run; `step` is the metric's resolution in
/// `step_unit`.
///
/// # Errors
/// Why there is none, for the table.
pub(super) fn sample(
    repetitions: &[&RepetitionRecord],
    metric: &str,
    step: Option<(f64, Unit)>,
) -> Result<Sample, String> {
    let mut values = Vec::new();
    let mut boots = Vec::new();
    let mut kind = None;
    for repetition in repetitions
        .iter()
        .filter(|r| r.state == RepetitionState::Valid)
    {
        let Some(found) = repetition.metrics.iter().find(|m| m.metric == metric) else {
            continue;
        };
        let (unit, _) = kind.get_or_insert_with(|| (found.unit.clone(), found.direction));
        let value = found
            .unit
            .convert(found.value, unit)
            .ok_or_else(|| format!("{metric} is in {} and in {unit}: no one unit", found.unit))?;
        values.push(value);
        boots.push(repetition.boot);
    }
    let Some((unit, direction)) = kind else {
        return Err(why_none(repetitions, metric));
    };
    let sample = Sample::new(values, unit.clone(), direction).map_err(|e| e.to_string())?;
    let sample = sample.with_boots(boots).map_err(|e| e.to_string())?;
    let step = step.and_then(|(step, of)| of.convert(step, &unit));
    match step {
        Some(step) => sample.with_resolution(step).map_err(|e| e.to_string()),
        None => Ok(sample),
    }
}

fn why_none(repetitions: &[&RepetitionRecord], metric: &str) -> String {
    if repetitions.is_empty() {
        return "not run".to_owned();
    }
    match first_failure(repetitions) {
        Some((count, reason)) if count == repetitions.len() => {
            format!("none of {count} repetitions counts: {reason}")
        }
        _ => format!("no repetition yields {metric}"),
    }
}

/// How many repetitions do not count, and the reason of the first.
pub(super) fn first_failure<'a>(repetitions: &[&'a RepetitionRecord]) -> Option<(usize, &'a str)> {
    let mut reasons = repetitions.iter().filter_map(|r| match &r.state {
        RepetitionState::Invalid(reason) => Some(reason.as_str()),
        RepetitionState::Valid => None,
    });
    let first = reasons.next()?;
    Some((1 + reasons.count(), first))
}

/// How many repetitions that count are tainted, and by what.
pub(super) fn taints(repetitions: &[&RepetitionRecord]) -> Option<(usize, String)> {
    let valid = repetitions
        .iter()
        .filter(|r| r.state == RepetitionState::Valid);
    let tainted: Vec<_> = valid.filter(|r| !r.taints.is_empty()).collect();
    let mut kinds: Vec<String> = Vec::new();
    for taint in tainted.iter().flat_map(|r| &r.taints) {
        if !kinds.iter().any(|k| k.starts_with(&taint.kind)) {
            kinds.push(format!("{} ({})", taint.kind, taint.detail));
        }
    }
    (!tainted.is_empty()).then(|| (tainted.len(), kinds.join(", ")))
}

/// Jain's index of a metric across the instances of a repetition, the median over repetitions.
pub(super) fn fairness(repetitions: &[&RepetitionRecord], metric: &str) -> Option<f64> {
    let valid = repetitions
        .iter()
        .filter(|r| r.state == RepetitionState::Valid);
    let values: Vec<f64> = valid
        .filter_map(|r| r.spread.get(metric).map(|s| s.fairness))
        .collect();
    schedrig_stats::order::median(&values)
}
