//! The three assumptions, and what a test yields.

use serde::{Deserialize, Serialize};

/// What is assumed of the values of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// Nothing: medians, rank tests, intervals by order statistics.
    #[default]
    Nothing,
    /// Values are normal: means, Welch's t.
    Normal,
    /// Values do not vary: counts of a deterministic program. Any difference is real.
    Exact,
}

impl Assumption {
    /// The assumption a playbook names.
    pub fn from_word(word: &str) -> Option<Assumption> {
        match word {
            "nothing" => Some(Assumption::Nothing),
            "normal" => Some(Assumption::Normal),
            "exact" => Some(Assumption::Exact),
            _ => None,
        }
    }

    /// As a playbook writes it.
    pub fn word(self) -> &'static str {
        match self {
            Assumption::Nothing => "nothing",
            Assumption::Normal => "normal",
            Assumption::Exact => "exact",
        }
    }

    /// What the centre of a sample is under it.
    pub fn center_word(self) -> &'static str {
        match self {
            Assumption::Nothing => "median",
            Assumption::Normal => "mean",
            Assumption::Exact => "value",
        }
    }

    /// The test used.
    pub fn test_word(self) -> &'static str {
        match self {
            Assumption::Nothing => "Mann-Whitney rank test",
            Assumption::Normal => "Welch t test",
            Assumption::Exact => "exact values",
        }
    }
}

/// What a test says of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Two-sided; `None` where the test cannot be done.
    pub p: Option<f64>,
    /// Interval of new minus base in the unit of the samples; `None` where they are too small.
    pub interval: Option<(f64, f64)>,
}
