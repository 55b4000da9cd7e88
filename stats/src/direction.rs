//! Which way of a metric is an improvement.

use serde::{Deserialize, Serialize};

/// Which way of a metric is an improvement. There is no default: a metric whose direction nobody
/// stated is [`Direction::Unknown`], and a difference in it is printed without good or bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Times, latencies, costs.
    LowerIsBetter,
    /// Rates, throughputs, scores.
    HigherIsBetter,
    /// Nobody said: counters, or a metric of an unknown tool.
    Unknown,
}

impl Direction {
    /// The word for a table header: `lower`, `higher`, `?`.
    pub fn word(self) -> &'static str {
        match self {
            Direction::LowerIsBetter => "lower",
            Direction::HigherIsBetter => "higher",
            Direction::Unknown => "?",
        }
    }
}
