//! The same thing measured in several runs: more samples, and a word where the runs disagree.

use crate::compare::{CompareError, Comparison, Criteria, compare};
use crate::sample::{Sample, SampleError};
use crate::warning::{Warning, add};

/// Runs that cannot be put together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PoolError {
    /// The values of one arm do not go together.
    #[error("runs cannot be pooled")]
    Sample(#[from] SampleError),
    /// The arms do not compare.
    #[error("pooled runs cannot be compared")]
    Compare(#[from] CompareError),
}

/// Compares `new` with `base`, each given run by run, on all their values together. Where the runs
/// come in pairs and two of them point to different conclusions by size, the comparison says so.
pub fn compare_pooled(
    base: &[Sample],
    new: &[Sample],
    criteria: &Criteria,
) -> Result<Comparison, PoolError> {
    let mut pooled = compare(&Sample::pool(base)?, &Sample::pool(new)?, criteria)?;
    let mut deltas = Vec::new();
    for (b, n) in base.iter().zip(new) {
        deltas.push(compare(b, n, criteria)?.delta_pct.unwrap_or(0.0));
    }
    for (first, a) in deltas.iter().enumerate() {
        for (second, b) in deltas.iter().enumerate().skip(first + 1) {
            if disagree(*a, *b, criteria.min_effect * 100.0) {
                let (first, second) = (first + 1, second + 1);
                add(
                    &mut pooled.warnings,
                    Warning::RunsDisagree { first, second },
                );
            }
        }
    }
    Ok(pooled)
}

/// Whether one difference is beyond the least effect that matters and the other is not, or not on
/// the same side.
fn disagree(a_pct: f64, b_pct: f64, least_pct: f64) -> bool {
    let side = |d: f64| {
        if d >= least_pct {
            1
        } else if d <= -least_pct {
            -1
        } else {
            0
        }
    };
    side(a_pct) != side(b_pct)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Unit};

    fn tbench(value: f64) -> Sample {
        Sample::new(vec![value], Unit::new("MB/s"), Direction::HigherIsBetter).unwrap()
    }

    /// Case A6: 256 clients measured twice: -8.09 %, then +0.16 %.
    #[test]
    fn a_verification_run_is_more_samples() {
        let base = [tbench(55_838.10), tbench(54_291.03)];
        let new = [tbench(51_318.64), tbench(54_379.80)];
        let got = compare_pooled(&base, &new, &Criteria::default()).unwrap();
        assert_eq!((got.n1, got.n2), (2, 2));
        assert!(!got.verdict.tells());
        let text: Vec<String> = got.warnings.iter().map(Warning::to_string).collect();
        assert!(
            text.contains(&"run 1 and run 2 disagree".to_owned()),
            "{text:?}"
        );
    }

    /// Case A6, the printed differences of the other rows: -7.28/-0.17, -9.93/-3.25, -6.24/-3.09.
    #[test]
    fn runs_that_say_the_same_do_not_disagree() {
        assert!(disagree(-7.28, -0.17, 1.0));
        assert!(!disagree(-9.93, -3.25, 1.0));
        assert!(!disagree(-6.24, -3.09, 1.0));
    }
}
