//! The values a table is made of.

use serde::Serialize;

use crate::compare::{Comparison, Criteria};
use crate::direction::Direction;
use crate::expected::{EffectFit, Expectation};
use crate::geomean::Geomean;
use crate::summary::Summary;
use crate::unit::Unit;

/// Version of the shape of a serialised table. Changelog:
/// - 1: first.
pub const TABLE_FORMAT: u32 = 1;

/// Who produced the values of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Machines.
    Measured,
    /// The simulator.
    Expected,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arm {
    /// Its name.
    pub name: String,
    /// Who produced its values.
    pub source: Source,
}

/// A table. Every value in it carries unit, direction, n and spread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// [`TABLE_FORMAT`].
    pub format: u32,
    /// What was done.
    pub title: String,
    /// The circumstances, line by line, above the table.
    pub header: Vec<String>,
    /// How verdicts were reached.
    pub criteria: Criteria,
    /// How many comparisons p-values were corrected for.
    pub family: usize,
    /// The arms; the first is the base.
    pub arms: Vec<Arm>,
    /// One a cell and metric.
    pub rows: Vec<Row>,
    /// One a group of rows, metric and arm.
    pub geomeans: Vec<GeomeanLine>,
    /// Below the table.
    pub footnotes: Vec<Footnote>,
}

/// A metric of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Rows of one group have a geometric mean together: the workload.
    pub group: String,
    /// The cell.
    pub label: String,
    /// The metric.
    pub metric: String,
    /// The unit values are printed in; the values themselves are in the unit of their summary.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// One an arm.
    pub entries: Vec<Entry>,
    /// Numbers of the footnotes that concern it.
    pub notes: Vec<usize>,
}

/// An arm in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// What was measured (or simulated, where the arm's source says so).
    pub value: Value,
    /// What the simulator says beside it.
    pub expected: Option<Expected>,
}

/// A value, or why there is none. A missing value is never a zero.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Value {
    /// There is one.
    Present {
        /// The sample.
        summary: Summary,
        /// Against the base; `None` for the base itself, and where it does not compare.
        comparison: Option<Box<Comparison>>,
    },
    /// There is none.
    Missing {
        /// Why.
        reason: String,
    },
}

/// What the simulator says of an arm in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// Over the seeds.
    pub summary: Summary,
    /// Against the expected base.
    pub comparison: Option<Box<Comparison>>,
    /// Against the measured value; `None` where nothing was measured or the units differ.
    pub fit: Option<Expectation>,
    /// The expected difference against the measured one.
    pub effect: Option<EffectFit>,
}

/// Ratios of a group of rows put together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeomeanLine {
    /// The group.
    pub group: String,
    /// The metric.
    pub metric: String,
    /// Which way is better.
    pub direction: Direction,
    /// The arm that is compared with the base.
    pub arm: String,
    /// New over base.
    pub geomean: Geomean,
}

/// A line below the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Footnote {
    /// The number rows refer to; `None`: it concerns every row.
    pub number: Option<usize>,
    /// The words.
    pub text: String,
}

impl Entry {
    /// The summary, where there is a value.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.value {
            Value::Present { summary, .. } => Some(summary),
            Value::Missing { .. } => None,
        }
    }

    /// The comparison with the base, where there is one.
    pub fn comparison(&self) -> Option<&Comparison> {
        match &self.value {
            Value::Present { comparison, .. } => comparison.as_deref(),
            Value::Missing { .. } => None,
        }
    }
}

impl Table {
    /// Every comparison with the base, row by row.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        let entries = self.rows.iter().flat_map(|row| &row.entries);
        entries.filter_map(Entry::comparison)
    }

    /// Whether any row has an expected value beside a measured one.
    pub fn has_expected(&self) -> bool {
        let mut entries = self.rows.iter().flat_map(|row| &row.entries);
        entries.any(|e| e.expected.is_some())
    }
}
