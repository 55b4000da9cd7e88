//! A reference file: what somebody published, row by row.

use std::collections::BTreeMap;

use schedrig_stats::agreement::{Class, classify_published};
use serde::{Deserialize, Serialize};

use crate::plan::Cell;

/// Version of the reference format.
pub const REFERENCE_FORMAT: u32 = 1;

/// A reference file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// [`REFERENCE_FORMAT`].
    pub reference: u32,
    /// Its name.
    pub id: String,
    /// What was measured, in words.
    pub title: String,
    /// Where it was published: list, date, message, commit.
    pub source: BTreeMap<String, String>,
    /// The playbook that repeats it.
    pub playbook: String,
    /// Machine files of the simulator, by the playbook's role.
    pub machines: BTreeMap<String, String>,
    /// Spread for rows that print none.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// Differences between two arms.
    pub rows: Vec<Row>,
    /// Counts of one arm.
    #[serde(default)]
    pub counts: Vec<CountRow>,
    /// Shares of a profile.
    #[serde(default)]
    pub shares: Vec<ShareRow>,
}

/// Spread for rows that print none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// In percent of the base.
    pub pct: f64,
    /// Who says so.
    pub note: String,
}

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Times, latencies.
    Lower,
    /// Rates, throughputs, scores.
    Higher,
}

/// A difference between two arms at one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The playbook's workload entry.
    pub entry: String,
    /// Parameters that tell the cell from others of the entry.
    #[serde(default)]
    pub point: BTreeMap<String, String>,
    /// The playbook's role of the machine.
    pub machine: String,
    /// The catalogue's name of the metric.
    pub metric: String,
    /// Which direction of the metric is better.
    pub better: Better,
    /// The arm.
    pub arm: String,
    /// The arm it is compared with.
    pub against: String,
    /// Mean of `against`, where printed.
    #[serde(default)]
    pub base: Option<f64>,
    /// Its standard deviation in percent of the mean, where printed.
    #[serde(default)]
    pub base_std_pct: Option<f64>,
    /// Mean of `arm`, where printed.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Its standard deviation in percent of the mean, where printed.
    #[serde(default)]
    pub std_pct: Option<f64>,
    /// The printed difference in percent; positive is better, whatever the author's convention.
    #[serde(default)]
    pub change_pct: Option<f64>,
    /// The author prints "noise" instead of a number.
    #[serde(default)]
    pub printed_noise: bool,
    /// Why the row is listed but not scored.
    #[serde(default)]
    pub not_scored: Option<String>,
}

/// Why balancing ran, as schedstat tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleType {
    /// On an idle CPU.
    Idle,
    /// On a busy CPU.
    Busy,
    /// On a CPU about to go idle.
    Newidle,
}

/// A schedstat counter of one arm, summed over CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountRow {
    /// The playbook's workload entry.
    pub entry: String,
    /// Parameters that tell the cell from others of the entry.
    #[serde(default)]
    pub point: BTreeMap<String, String>,
    /// The playbook's role of the machine.
    pub machine: String,
    /// The arm.
    pub arm: String,
    /// `lb_gained`, ...
    pub counter: String,
    /// For counters of balancing.
    #[serde(default)]
    pub idle_type: Option<IdleType>,
    /// Name of the domain level, for counters of domains.
    #[serde(default)]
    pub domain: Option<String>,
    /// The count.
    pub value: f64,
}

/// A function's share of the cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareRow {
    /// The playbook's workload entry.
    pub entry: String,
    /// Parameters that tell the cell from others of the entry.
    #[serde(default)]
    pub point: BTreeMap<String, String>,
    /// The playbook's role of the machine.
    pub machine: String,
    /// The arm.
    pub arm: String,
    /// The function.
    pub symbol: String,
    /// In percent of all cycles.
    pub pct: f64,
}

/// A reference that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// Not YAML of the right shape.
    #[error("`{file}` is not a reference file as docs/reference-format.md describes it")]
    Yaml {
        /// The file's name.
        file: String,
        /// Where and why.
        #[source]
        source: Box<serde_saphyr::Error>,
    },
    /// Another version.
    #[error("`{file}` has reference format {found}: this program reads {REFERENCE_FORMAT}")]
    Format {
        /// The file's name.
        file: String,
        /// What the file says.
        found: u32,
    },
    /// A row whose machine is not listed.
    #[error("row {row} of `{file}` is of machine `{machine}`, which `machines` does not list")]
    Machine {
        /// The file's name.
        file: String,
        /// Its place, from 1.
        row: usize,
        /// As given.
        machine: String,
    },
    /// A row without a difference.
    #[error(
        "row {row} of `{file}` states no difference: give change_pct, or base and mean, or \
         printed_noise"
    )]
    NoChange {
        /// The file's name.
        file: String,
        /// Its place, from 1.
        row: usize,
    },
    /// A row without spread.
    #[error(
        "row {row} of `{file}` states no spread: give base_std_pct and std_pct, or `noise` for the \
         whole file"
    )]
    NoSpread {
        /// The file's name.
        file: String,
        /// Its place, from 1.
        row: usize,
    },
}

impl Reference {
    /// Reads a reference file. `file` is its name, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, ReferenceError> {
        let file = || file.to_owned();
        let reference: Self = serde_saphyr::from_str(text).map_err(|e| ReferenceError::Yaml {
            file: file(),
            source: Box::new(e),
        })?;
        if reference.reference != REFERENCE_FORMAT {
            let found = reference.reference;
            return Err(ReferenceError::Format {
                file: file(),
                found,
            });
        }
        let machines = (reference.rows.iter().map(|r| &r.machine))
            .chain(reference.counts.iter().map(|r| &r.machine))
            .chain(reference.shares.iter().map(|r| &r.machine));
        for (at, machine) in machines.enumerate() {
            if !reference.machines.contains_key(machine) {
                let machine = machine.clone();
                return Err(ReferenceError::Machine {
                    file: file(),
                    row: at + 1,
                    machine,
                });
            }
        }
        for (row, at) in reference.rows.iter().zip(1..) {
            if row.not_scored.is_some() || row.printed_noise {
                continue;
            }
            if row.improvement_pct().is_none() {
                return Err(ReferenceError::NoChange {
                    file: file(),
                    row: at,
                });
            }
            if reference.class(row).is_none() {
                return Err(ReferenceError::NoSpread {
                    file: file(),
                    row: at,
                });
            }
        }
        Ok(reference)
    }

    /// The class of a row: noise where its author says so, or where the difference is inside the
    /// larger standard deviation (or the file's noise); `None` where neither is known.
    pub fn class(&self, row: &Row) -> Option<Class> {
        if row.printed_noise {
            return Some(Class::Noise);
        }
        let stated = self.noise.as_ref().map(|n| n.pct);
        let base = row.base_std_pct.or(stated)?;
        let new = row.std_pct.or(stated).unwrap_or(base);
        Some(classify_published(row.improvement_pct()?, base, new))
    }
}

impl Row {
    /// The published difference in percent of the base, positive is better: as printed, else from
    /// the means.
    pub fn improvement_pct(&self) -> Option<f64> {
        self.change_pct.or_else(|| {
            let (base, mean) = (self.base?, self.mean?);
            let delta = (base != 0.0).then(|| (mean - base) / base * 100.0)?;
            Some(match self.better {
                Better::Lower => -delta,
                Better::Higher => delta,
            })
        })
    }

    /// Whether this row is of a plan's cell.
    pub fn is_of(&self, cell: &Cell) -> bool {
        is_of(&self.entry, &self.point, cell)
    }
}

impl CountRow {
    /// Whether this row is of a plan's cell.
    pub fn is_of(&self, cell: &Cell) -> bool {
        is_of(&self.entry, &self.point, cell)
    }
}

impl ShareRow {
    /// Whether this row is of a plan's cell.
    pub fn is_of(&self, cell: &Cell) -> bool {
        is_of(&self.entry, &self.point, cell)
    }
}

fn is_of(entry: &str, point: &BTreeMap<String, String>, cell: &Cell) -> bool {
    cell.entry == entry
        && point
            .iter()
            .all(|(key, value)| cell.point.get(key) == Some(value))
}
