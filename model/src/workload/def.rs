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
