//! What the catalogue states about a workload: parameters, metrics, tool. The schema, the
//! documentation and the completions come from these values.

use serde::{Deserialize, Serialize};

use schedrig_stats::Direction;

/// A workload of the catalogue.
#[derive(Clone, Debug)]
pub struct WorkloadDef {
    /// The key in a playbook.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The program it drives, where it drives one.
    pub tool: Option<ToolDef>,
    /// Which implementations there are, the preferred one for `impl: auto` first.
    pub implementations: &'static [Implementation],
    /// Its parameters.
    pub params: &'static [ParamDef],
    /// What it yields.
    pub metrics: &'static [MetricDef],
    /// What the simulator models of it, and what not, in words.
    pub simulated: &'static str,
}

impl WorkloadDef {
    /// The metric `name` is of: what stands after the last `/`. Before it are qualifiers where an
    /// output has several values of one metric: `futex/bogo-ops-rate`, `copies=8/score`.
    pub fn metric(&self, name: &str) -> Option<&MetricDef> {
        let last = name.rsplit('/').next().unwrap_or(name);
        self.metrics.iter().find(|m| m.name == last)
    }
}

/// A program and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct ToolDef {
    /// Looked up in `PATH`.
    pub program: &'static str,
    /// The Debian package that has it; `None`: source only.
    pub package: Option<&'static str>,
    /// Arguments that make it print its version, where it can.
    pub version_args: &'static [&'static str],
}

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implementation {
    /// The installed program.
    Tool,
    /// schedrig's own, inside the agent.
    Builtin,
}

/// A parameter of a workload.
#[derive(Clone, Copy, Debug)]
pub struct ParamDef {
    /// The key.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParamKind,
    /// The default as it would be written; `None`: must be given, or derived from the machine where
    /// `doc` says so.
    pub default: Option<&'static str>,
    /// Unit of the value, empty where it has none.
    pub unit: &'static str,
    /// What it does.
    pub doc: &'static str,
}

impl ParamDef {
    /// A parameter without a unit.
    pub(super) const fn new(
        name: &'static str,
        kind: ParamKind,
        default: Option<&'static str>,
        doc: &'static str,
    ) -> Self {
        ParamDef {
            name,
            kind,
            default,
            unit: "",
            doc,
        }
    }

    /// A whole number of `min` or more.
    pub(super) const fn count(
        name: &'static str,
        min: i64,
        default: Option<&'static str>,
        doc: &'static str,
    ) -> Self {
        let max = 1_000_000_000_000;
        Self::new(name, ParamKind::Count { min, max }, default, doc)
    }

    /// The same with a unit.
    pub(super) const fn in_unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number in a range, both ends in.
    Count {
        /// The least.
        min: i64,
        /// The most.
        max: i64,
    },
    /// A number in a range, both ends in.
    Number {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// `on` or `off`.
    Switch,
    /// Free text.
    Text,
    /// A list of words.
    Words,
    /// A size with a unit: `64 KiB`.
    Size,
    /// A nested value that the workload reads itself (`phases`, `exec`).
    Tree,
}

/// How values of several instances of a workload become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    /// Throughputs add up.
    Sum,
    /// Latencies, scores.
    Mean,
    /// The slowest decides: run times of one job in parts.
    Max,
}

/// A metric of a workload.
#[derive(Clone, Copy, Debug)]
pub struct MetricDef {
    /// The key: no unit in it.
    pub name: &'static str,
    /// A symbol of [`schedrig_stats::Unit`].
    pub unit: &'static str,
    /// Which way is better.
    pub direction: Direction,
    /// How instances become one value.
    pub aggregate: Aggregate,
    /// The step of the printed value, in `unit`, where the tool rounds: 0.001 for hackbench.
    pub resolution: Option<f64>,
    /// Whether tables show it without being asked.
    pub primary: bool,
    /// What it means.
    pub doc: &'static str,
}

impl MetricDef {
    /// A time, latency or cost: instances are averaged.
    pub(super) const fn lower(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        MetricDef {
            name,
            unit,
            direction: Direction::LowerIsBetter,
            aggregate: Aggregate::Mean,
            resolution: None,
            primary: false,
            doc,
        }
    }

    /// A rate or throughput: instances add up.
    pub(super) const fn higher(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        MetricDef {
            name,
            unit,
            direction: Direction::HigherIsBetter,
            aggregate: Aggregate::Sum,
            resolution: None,
            primary: false,
            doc,
        }
    }

    /// A number of which nobody says whether more is better: instances add up.
    pub(super) const fn counted(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        MetricDef {
            name,
            unit,
            direction: Direction::Unknown,
            aggregate: Aggregate::Sum,
            resolution: None,
            primary: false,
            doc,
        }
    }

    /// Shown without being asked.
    pub(super) const fn primary(mut self) -> Self {
        self.primary = true;
        self
    }

    /// Instances become one value this way.
    pub(super) const fn over(mut self, aggregate: Aggregate) -> Self {
        self.aggregate = aggregate;
        self
    }

    /// The tool prints it in steps of this size.
    pub(super) const fn step(mut self, resolution: f64) -> Self {
        self.resolution = Some(resolution);
        self
    }
}
