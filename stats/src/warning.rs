//! What a reader of a number should know before believing it.

use std::fmt;

use serde::Serialize;

use crate::unit::Unit;

/// A gain above this is more often a bug than a better scheduler (percent).
pub const IMPLAUSIBLE_GAIN_PCT: f64 = 50.0;

/// From this coefficient of variation on a centre says little (percent).
pub const UNSTABLE_CV_PCT: f64 = 50.0;

/// From this ratio on, a difference in percent is printed as a factor.
pub const FACTOR_FROM: f64 = 100.0;

/// Something a reader should know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Warning {
    /// The test cannot reach alpha with so few values.
    TooFewToDetect {
        /// Least number of values an arm.
        need: u32,
        /// Level of significance, corrected for the rows of the table.
        alpha: f64,
    },
    /// There is no interval of the centre.
    TooFewForInterval {
        /// Least number of values.
        need: u32,
        /// Level of the interval.
        level: f64,
    },
    /// A single value has no spread.
    SingleValue,
    /// Several values, all the same.
    ZeroSpread {
        /// How many.
        n: usize,
    },
    /// A different boot may give a different result; nobody looked.
    OneBoot,
    /// Boots differ from one another more than repetitions within a boot do.
    BootsDiffer {
        /// Standard deviation between boots, percent of the mean.
        between_pct: f64,
        /// Standard deviation within a boot, percent of the mean.
        within_pct: f64,
    },
    /// The spread is as large as the value.
    Unstable {
        /// Coefficient of variation in percent.
        cv_pct: f64,
    },
    /// Too good to be true.
    ImplausiblyLarge {
        /// The improvement in percent.
        pct: f64,
    },
    /// The difference is at most one step of the metric.
    WithinResolution {
        /// The step.
        step: f64,
        /// Its unit.
        unit: Unit,
    },
    /// Nobody said which way is better.
    DirectionUnknown,
    /// A percentage of almost nothing.
    TinyBase {
        /// New over base.
        ratio: f64,
    },
    /// A percentage of zero.
    BaseZero,
    /// Every value of both arms is zero.
    AllZero,
    /// Values of a metric stated to be exact vary.
    NotExact,
    /// Two runs of the same thing do not say the same.
    RunsDisagree {
        /// From 1.
        first: usize,
        /// From 1.
        second: usize,
    },
    /// Anything else, worded by the caller.
    Note {
        /// The words.
        text: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::TooFewToDetect { need, alpha } => write!(
                f,
                "need >= {need} samples in each arm to detect a difference at alpha {alpha}",
                alpha = Level(*alpha)
            ),
            Warning::TooFewForInterval { need, level } => write!(
                f,
                "need >= {need} samples for a {:.0}% confidence interval",
                level * 100.0
            ),
            Warning::SingleValue => f.write_str("n=1: spread unknown"),
            Warning::ZeroSpread { n } => {
                write!(f, "sd 0 with n={n}: quantised metric, or one value copied")
            }
            Warning::OneBoot => f.write_str("1 boot: boot-to-boot spread not measured"),
            Warning::BootsDiffer {
                between_pct,
                within_pct,
            } => write!(
                f,
                "boots differ by {between_pct:.1}% (sd), repetitions within a boot by \
                 {within_pct:.1}%: n counts boots more than repetitions"
            ),
            Warning::Unstable { cv_pct } => write!(f, "unstable (CV {cv_pct:.0}%)"),
            Warning::ImplausiblyLarge { .. } => f.write_str("implausibly large: check correctness"),
            Warning::WithinResolution { step, unit } => {
                write!(f, "within resolution: the metric's step is {step} {unit}")
            }
            Warning::DirectionUnknown => f.write_str("direction unknown"),
            Warning::TinyBase { ratio } => write!(
                f,
                "x{ratio:.0}: the base is tiny, a percentage would mislead"
            ),
            Warning::BaseZero => f.write_str("base is 0: no percentage"),
            Warning::AllZero => {
                f.write_str("every value is 0: the counter was probably not collected")
            }
            Warning::NotExact => f.write_str("values vary although the metric is stated exact"),
            Warning::RunsDisagree { first, second } => {
                write!(f, "run {first} and run {second} disagree")
            }
            Warning::Note { text } => f.write_str(text),
        }
    }
}

/// A level of significance, at least two decimals and never rounded to zero.
struct Level(f64);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut decimals = 2;
        while decimals < 8
            && (self.0 * 10_f64.powi(decimals)).round() / 10_f64.powi(decimals) != self.0
            && self.0 * 10_f64.powi(decimals) < 10.0
        {
            decimals += 1;
        }
        write!(f, "{:.*}", decimals as usize, self.0)
    }
}

/// Adds `warning` unless it is there.
pub(crate) fn add(warnings: &mut Vec<Warning>, warning: Warning) {
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_keep_what_matters() {
        assert_eq!(Level(0.05).to_string(), "0.05");
        assert_eq!(Level(0.0025).to_string(), "0.0025");
        assert_eq!(Level(0.05 / 12.0).to_string(), "0.0042");
    }

    #[test]
    fn texts_name_what_would_help() {
        let few = Warning::TooFewToDetect {
            need: 4,
            alpha: 0.05,
        };
        assert_eq!(
            few.to_string(),
            "need >= 4 samples in each arm to detect a difference at alpha 0.05"
        );
        assert_eq!(
            Warning::Unstable { cv_pct: 92.14 }.to_string(),
            "unstable (CV 92%)"
        );
    }
}
