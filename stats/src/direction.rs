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

impl Direction {
    /// `delta` (new minus base, in any unit) signed so that positive is an improvement; `None` where
    /// nobody said which way is better.
    pub fn improvement(self, delta: f64) -> Option<f64> {
        match self {
            Direction::LowerIsBetter => Some(-delta),
            Direction::HigherIsBetter => Some(delta),
            Direction::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_is_a_gain_only_where_lower_is_better() {
        assert_eq!(Direction::LowerIsBetter.improvement(-3.0), Some(3.0));
        assert_eq!(Direction::HigherIsBetter.improvement(-3.0), Some(-3.0));
        assert_eq!(Direction::Unknown.improvement(-3.0), None);
    }
}
