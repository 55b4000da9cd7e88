//! Rows of a table: one a machine, cell and metric.

use schedrig_model::id::{CellId, HostId};
use schedrig_model::plan::{Cell, StepAction};
use schedrig_model::record::{RepetitionRecord, RunRecord, RunState};
use schedrig_model::workload::{CellIdentity, Workload};
use schedrig_stats::pooled::compare_pooled;
use schedrig_stats::table::RowInput;
use schedrig_stats::{Criteria, Sample, Unit, Warning};

use super::columns::Column;
use super::identity::{bar, identity};
use super::samples::{ByCell, fairness, first_failure, sample, taints};

/// What rows are made from.
pub(super) struct Sources<'a> {
    /// The records of the columns: measured ones, or expected ones where nothing was measured.
    pub(super) records: Vec<&'a RunRecord>,
    /// The repetitions of each of them.
    pub(super) found: Vec<ByCell<'a>>,
    /// What the simulator says beside measured values.
    pub(super) expected: Vec<ByCell<'a>>,
    /// The columns.
    pub(super) columns: Vec<Column>,
    /// Every metric, not only primary ones.
    pub(super) all_metrics: bool,
    /// For the word on runs that disagree.
    pub(super) criteria: Criteria,
}

impl Sources<'_> {
    /// The rows, cells in the order of the plans.
    pub(super) fn rows(&self) -> Vec<RowInput> {
        let hosts = self.hosts();
        let mut rows = Vec::new();
        for cell in self.cells() {
            for host in hosts.iter().filter(|h| self.runs_on(&cell.id, h)) {
                for metric in self.metrics(cell, host) {
                    rows.push(self.row(cell, host, &metric, hosts.len() > 1));
                }
            }
        }
        rows
    }

    fn cells(&self) -> Vec<&Cell> {
        let mut cells: Vec<&Cell> = Vec::new();
        for cell in self.records.iter().flat_map(|r| &r.plan.cells) {
            if !cells.iter().any(|c| c.id == cell.id) {
                cells.push(cell);
            }
        }
        cells
    }

    /// Machines that ran anything or were to.
    fn hosts(&self) -> Vec<HostId> {
        let mut hosts: Vec<HostId> = Vec::new();
        for record in &self.records {
            let planned = record.plan.steps.iter();
            let planned = planned.filter(|s| matches!(s.action, StepAction::Run(_)));
            let all = planned
                .map(|s| &s.host)
                .chain(record.repetitions.iter().map(|r| &r.host));
            for host in all {
                if !hosts.contains(host) {
                    hosts.push(host.clone());
                }
            }
        }
        hosts
    }

    fn runs_on(&self, cell: &CellId, host: &HostId) -> bool {
        let ran = self
            .found
            .iter()
            .any(|f| f.of_cell(host, cell).next().is_some());
        ran || self.records.iter().any(|record| {
            record.plan.steps.iter().any(|s| {
                s.host == *host && matches!(&s.action, StepAction::Run(run) if run.cell == *cell)
            })
        })
    }

    /// The metrics to show of a cell: primary ones by the catalogue; all, where none is primary or
    /// all were asked for; the primary ones by name where no repetition yields any.
    fn metrics(&self, cell: &Cell, host: &HostId) -> Vec<String> {
        let def = Workload::by_name(&cell.workload).map(Workload::def);
        let mut seen: Vec<String> = Vec::new();
        for found in &self.found {
            for metric in found.of_cell(host, &cell.id).flat_map(|r| &r.metrics) {
                if !seen.contains(&metric.metric) {
                    seen.push(metric.metric.clone());
                }
            }
        }
        if self.all_metrics {
            return seen;
        }
        let is_primary =
            |name: &String| def.and_then(|d| d.metric(name)).is_some_and(|m| m.primary);
        let primary: Vec<String> = seen.iter().filter(|m| is_primary(m)).cloned().collect();
        if !primary.is_empty() {
            primary
        } else if !seen.is_empty() {
            seen
        } else {
            let of_catalogue = def.iter().flat_map(|d| d.metrics).filter(|m| m.primary);
            let first = of_catalogue.map(|m| m.name.to_owned()).next();
            vec![first.unwrap_or_else(|| "result".to_owned())]
        }
    }

    fn row(&self, cell: &Cell, host: &HostId, metric: &str, several_hosts: bool) -> RowInput {
        let parts: Vec<Parts> = self
            .columns
            .iter()
            .map(|column| self.parts(column, cell, host, metric))
            .collect();
        let base = parts.first().and_then(|p| p.identity.as_ref());
        let barred = parts.iter().enumerate().map(|(place, p)| {
            p.mixed
                .clone()
                .or_else(|| bar(base, p.identity.as_ref()).filter(|_| place > 0))
        });
        let mut notes: Vec<String> = Vec::new();
        for (column, part) in self.columns.iter().zip(&parts) {
            notes.extend(part.notes.iter().map(|n| format!("{}: {n}", column.name)));
        }
        notes.extend(self.fairness_note(&parts));
        notes.extend(self.disagreement(&parts));
        RowInput {
            group: cell.entry.clone(),
            label: if several_hosts {
                format!("{host}: {}", cell.id)
            } else {
                cell.id.to_string()
            },
            metric: metric.to_owned(),
            barred: barred.collect(),
            expected: self
                .columns
                .iter()
                .map(|column| self.expected(column, cell, host, metric))
                .collect(),
            samples: parts.into_iter().map(|p| p.sample).collect(),
            notes,
        }
    }

    fn parts(&self, column: &Column, cell: &Cell, host: &HostId, metric: &str) -> Parts {
        let mut parts = Parts::default();
        let mut reasons = Vec::new();
        let mut identities: Vec<CellIdentity> = Vec::new();
        for place in &column.records {
            let record = self.records[*place];
            let found = self.found[*place].of(host, &cell.id, &column.arm);
            if record.state == RunState::Withdrawn {
                reasons.push(format!("run {} is withdrawn", record.id));
                continue;
            }
            let own = record.plan.cells.iter().find(|c| c.id == cell.id);
            let valid = found.iter().find(|r| !r.metrics.is_empty());
            identities.extend(own.zip(valid).map(|(c, r)| identity(c, r)));
            match sample(&found, metric, step(cell, metric)) {
                Ok(one) => parts.runs.push(one),
                Err(reason) => reasons.push(reason),
            }
            parts.note(&found);
            parts.fairness = parts.fairness.or(fairness(&found, metric));
        }
        let first = identities.first();
        parts.mixed = identities
            .iter()
            .skip(1)
            .find_map(|other| bar(first, Some(other)));
        parts.identity = identities.into_iter().next();
        reasons.dedup();
        parts.sample = if parts.runs.is_empty() {
            Err(if reasons.is_empty() {
                "not run".to_owned()
            } else {
                reasons.join("; ")
            })
        } else {
            Sample::pool(&parts.runs).map_err(|e| e.to_string())
        };
        parts
    }

    /// The simulator's sample for a column: of this machine, or of the only one it was run for.
    fn expected(
        &self,
        column: &Column,
        cell: &Cell,
        host: &HostId,
        metric: &str,
    ) -> Option<Sample> {
        self.expected.iter().find_map(|simulated| {
            let mut found = simulated.of(host, &cell.id, &column.arm);
            if let (true, Some(only)) = (found.is_empty(), simulated.only_host()) {
                found = simulated.of(only, &cell.id, &column.arm);
            }
            sample(&found, metric, None).ok()
        })
    }

    /// A gain that some instances pay for is a trade-off: a word where fairness moves.
    fn fairness_note(&self, parts: &[Parts]) -> Option<String> {
        const WORTH_A_WORD: f64 = 0.02;
        let base = parts.first()?.fairness?;
        let mut words = Vec::new();
        for (column, part) in self.columns.iter().zip(parts).skip(1) {
            if let Some(new) = part.fairness.filter(|f| (f - base).abs() >= WORTH_A_WORD) {
                words.push(format!("{} {new:.2}", column.name));
            }
        }
        (!words.is_empty()).then(|| {
            let name = &self.columns[0].name;
            format!(
                "fairness across instances: {name} {base:.2}, {}",
                words.join(", ")
            )
        })
    }

    /// Whether runs that were put together say different things.
    fn disagreement(&self, parts: &[Parts]) -> Vec<String> {
        let Some((base, others)) = parts.split_first() else {
            return Vec::new();
        };
        let mut words = Vec::new();
        for other in others.iter().filter(|o| o.runs.len() > 1) {
            if let Ok(pooled) = compare_pooled(&base.runs, &other.runs, &self.criteria) {
                let own = pooled.warnings.iter();
                let own = own.filter(|w| matches!(w, Warning::RunsDisagree { .. }));
                words.extend(own.map(ToString::to_string));
            }
        }
        words.dedup();
        words
    }
}

/// What a column has for a row.
struct Parts {
    sample: Result<Sample, String>,
    /// Run by run.
    runs: Vec<Sample>,
    identity: Option<CellIdentity>,
    /// Why the runs of this column are not of one thing.
    mixed: Option<String>,
    fairness: Option<f64>,
    notes: Vec<String>,
}

impl Default for Parts {
    fn default() -> Self {
        Parts {
            sample: Err("not run".to_owned()),
            runs: Vec::new(),
            identity: None,
            mixed: None,
            fairness: None,
            notes: Vec::new(),
        }
    }
}

impl Parts {
    fn note(&mut self, found: &[&RepetitionRecord]) {
        let all = found.len();
        if let Some((count, reason)) = first_failure(found).filter(|(count, _)| *count < all) {
            self.notes.push(format!(
                "{count} of {all} repetitions do not count: {reason}"
            ));
        }
        if let Some((count, kinds)) = taints(found) {
            self.notes
                .push(format!("{count} of {all} repetitions tainted: {kinds}"));
        }
    }
}

/// The step of a metric as the catalogue states it.
fn step(cell: &Cell, metric: &str) -> Option<(f64, Unit)> {
    let def = Workload::by_name(&cell.workload)?.def().metric(metric)?;
    def.resolution.map(|step| (step, Unit::new(def.unit)))
}
