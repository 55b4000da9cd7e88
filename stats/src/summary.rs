//! A sample in a few numbers.

use serde::Serialize;

use crate::assume::{Assumption, normal};
use crate::direction::Direction;
use crate::moments;
use crate::order;
use crate::sample::Sample;
use crate::unit::Unit;
use crate::warning::{UNSTABLE_CV_PCT, Warning, add};

/// Level of the confidence interval of a centre.
pub const LEVEL: f64 = 0.95;

/// A sample in a few numbers, each with what it takes to read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many values.
    pub n: usize,
    /// Median, mean, or the value, by the assumption.
    pub center: f64,
    /// What `center` is.
    pub assume: Assumption,
    /// Standard deviation; `None`: one value.
    pub sd: Option<f64>,
    /// Standard deviation in percent of the mean; `None`: one value, or a mean of zero.
    pub cv_pct: Option<f64>,
    /// Interval of the centre; `None`: too few values.
    pub interval: Option<(f64, f64)>,
    /// Level of `interval`: at least 0.95.
    pub level: Option<f64>,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// Unit of every value here.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

impl Summary {
    /// Half of the interval in percent of the centre, the wider side where it is uneven; `None`: no
    /// interval, or a centre of zero.
    pub fn half_interval_pct(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        let half = (self.center - low).max(high - self.center);
        (self.center != 0.0).then(|| half / self.center.abs() * 100.0)
    }

    /// The centre in another unit of the same dimension, and the factor from this unit to it.
    pub fn factor_to(&self, unit: &Unit) -> Option<f64> {
        self.unit.convert(1.0, unit)
    }
}

/// Summarises a sample under an assumption.
pub fn summarise(sample: &Sample, assume: Assumption) -> Summary {
    let values = sample.values();
    let ordered = order::sorted(values);
    let interval = match assume {
        Assumption::Nothing => order::median_interval(values, LEVEL),
        Assumption::Normal => normal::mean_interval(values, LEVEL),
        Assumption::Exact => None,
    };
    let center = match assume {
        Assumption::Normal => moments::mean(values),
        Assumption::Nothing | Assumption::Exact => order::median(values),
    };
    let mut summary = Summary {
        n: values.len(),
        // A sample is never empty.
        center: center.unwrap_or(ordered[0]),
        assume,
        sd: moments::sd(values),
        cv_pct: moments::cv_pct(values),
        interval: interval.map(|i| (i.low, i.high)),
        level: interval.map(|i| i.level),
        min: ordered[0],
        max: ordered[ordered.len() - 1],
        unit: sample.unit().clone(),
        direction: sample.direction(),
        warnings: Vec::new(),
    };
    summary.warnings = warnings(sample, &summary);
    summary
}

fn warnings(sample: &Sample, summary: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if summary.assume == Assumption::Exact {
        if !sample.is_constant() {
            add(&mut warnings, Warning::NotExact);
        }
    } else if summary.n == 1 {
        add(&mut warnings, Warning::SingleValue);
    } else if sample.is_constant() {
        add(&mut warnings, Warning::ZeroSpread { n: summary.n });
    } else if summary.interval.is_none() {
        let need = order::least_n_for_median_interval(LEVEL);
        add(
            &mut warnings,
            Warning::TooFewForInterval { need, level: LEVEL },
        );
    }
    if let Some(cv_pct) = summary.cv_pct.filter(|cv| *cv >= UNSTABLE_CV_PCT) {
        add(&mut warnings, Warning::Unstable { cv_pct });
    }
    if summary.direction == Direction::Unknown {
        add(&mut warnings, Warning::DirectionUnknown);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec(), Unit::new("s"), Direction::LowerIsBetter).unwrap()
    }

    #[test]
    fn median_or_mean_by_the_assumption() {
        let s = sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 60.0]);
        assert_eq!(summarise(&s, Assumption::Nothing).center, 3.5);
        assert_eq!(summarise(&s, Assumption::Normal).center, 12.5);
        let got = summarise(&s, Assumption::Nothing);
        assert_eq!(got.interval, Some((1.0, 60.0)));
        assert!((got.half_interval_pct().unwrap() - 56.5 / 3.5 * 100.0).abs() < 1e-9);
    }

    #[test]
    fn one_value_has_no_spread_and_says_so() {
        let got = summarise(&sample(&[5.0]), Assumption::Nothing);
        assert_eq!((got.sd, got.cv_pct, got.interval), (None, None, None));
        assert_eq!(got.warnings, [Warning::SingleValue]);
    }

    #[test]
    fn five_values_have_no_interval_at_95() {
        let got = summarise(&sample(&[1.0, 1.1, 1.2, 1.3, 1.4]), Assumption::Nothing);
        assert_eq!(
            got.warnings[0].to_string(),
            "need >= 6 samples for a 95% confidence interval"
        );
    }

    #[test]
    fn equal_values_are_suspicious() {
        let got = summarise(&sample(&[17.0, 17.0, 17.0]), Assumption::Nothing);
        assert_eq!(got.warnings, [Warning::ZeroSpread { n: 3 }]);
    }
}
