//! Tables as their authors printed them: rounded means, differences in one convention or another.

use serde::{Deserialize, Serialize};

use crate::agreement::{Class, classify_published};
use crate::direction::Direction;
use crate::moments::mean;

/// A number as it was printed, with the half step that rounding may have moved it by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// The number.
    pub value: f64,
    /// Half of the last printed digit.
    pub half_step: f64,
}

impl Printed {
    /// Reads `85.45`, `+6.02`, `-0.05`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Printed> {
        let text = text.trim();
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let value = text.parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
        Some(Printed {
            value,
            half_step: 0.5 * 10_f64.powi(-(decimals as i32)),
        })
    }
}

/// How an author signs a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// Positive is an improvement, whatever the metric.
    BetterPositive,
    /// (new - base) / base.
    Value,
}

impl Convention {
    /// The words for a header.
    pub fn words(self) -> &'static str {
        match self {
            Convention::BetterPositive => "positive is better",
            Convention::Value => "(new - base) / base",
        }
    }

    /// A difference of the value in percent, signed by the convention. In a metric whose direction
    /// nobody stated both conventions give (new - base) / base.
    pub fn sign(self, delta_pct: f64, direction: Direction) -> f64 {
        match self {
            Convention::Value => delta_pct,
            Convention::BetterPositive => direction.improvement(delta_pct).unwrap_or(delta_pct),
        }
    }
}

/// The difference of two printed means in percent, and how far rounding of the means may have moved
/// it: `None` where the base may be zero.
pub fn difference_pct(
    base: Printed,
    new: Printed,
    direction: Direction,
    convention: Convention,
) -> Option<(f64, f64)> {
    if base.value.abs() <= base.half_step {
        return None;
    }
    let delta = |b: f64, n: f64| (n - b) / b.abs() * 100.0;
    let centre = delta(base.value, new.value);
    let mut slack: f64 = 0.0;
    for b in [base.value - base.half_step, base.value + base.half_step] {
        for n in [new.value - new.half_step, new.value + new.half_step] {
            slack = slack.max((delta(b, n) - centre).abs());
        }
    }
    Some((convention.sign(centre, direction), slack))
}

/// Whether a printed difference follows from printed means, to within their rounding. Some authors
/// cut where others round, so a whole step of the printed difference is allowed.
pub fn reproduces(printed: Printed, calculated: (f64, f64)) -> bool {
    (printed.value - calculated.0).abs() <= calculated.1 + 2.0 * printed.half_step + 1e-9
}

/// The class of a row by printed means and standard deviations in percent of each mean.
pub fn classify_means(
    base: f64,
    base_std_pct: f64,
    new: f64,
    new_std_pct: f64,
    direction: Direction,
) -> Option<Class> {
    let improvement = direction.improvement((new - base) / base.abs() * 100.0)?;
    let new_std_of_base = new_std_pct * new.abs() / base.abs();
    improvement
        .is_finite()
        .then(|| classify_published(improvement, base_std_pct, new_std_of_base))
}

/// The arithmetic mean of printed differences, as authors print it; a row without one ("abnormal")
/// is left out. Our own tables give the geometric mean of ratios instead.
pub fn average_pct(rows: &[Option<f64>]) -> Option<f64> {
    mean(&rows.iter().flatten().copied().collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests;
