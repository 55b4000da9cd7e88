//! A measured value beside the one the simulator expects.

use serde::Serialize;

use crate::assume::Assumption;
use crate::compare::{CompareError, Comparison};
use crate::sample::Sample;
use crate::summary::{Summary, summarise};
use crate::verdict::Verdict;

/// How far a model's absolute values may be off, as a share: 0.5 allows measured / expected from
/// 1 / 1.5 to 1.5. It belongs to the model and its calibration, not to the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ErrorBand(pub f64);

/// Whether a measured value is what the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// Within the band.
    Agrees,
    /// Outside the band.
    Outside,
    /// Zero on one side: there is no ratio.
    NoRatio,
}

/// A measured value beside the expected one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// The expected value over the simulator's seeds, in the unit of the measured one.
    pub expected: Summary,
    /// Measured over expected; `None`: one of them is zero, or they differ in sign.
    pub ratio: Option<f64>,
    /// The band that was applied.
    pub band: ErrorBand,
    /// What it says.
    pub fit: Fit,
}

/// Holds a measured sample against an expected one.
pub fn hold_against(
    measured: &Sample,
    expected: &Sample,
    band: ErrorBand,
    assume: Assumption,
) -> Result<Expectation, CompareError> {
    let converted = expected
        .converted(measured.unit())
        .ok_or_else(|| CompareError::Units {
            base: measured.unit().to_string(),
            new: expected.unit().to_string(),
        })?;
    let expected = summarise(&converted, assume);
    let seen = summarise(measured, assume).center;
    let both_zero = seen == 0.0 && expected.center == 0.0;
    let ratio =
        (seen / expected.center > 0.0 && expected.center != 0.0).then(|| seen / expected.center);
    let fit = match ratio {
        _ if both_zero => Fit::Agrees,
        None => Fit::NoRatio,
        Some(r) if r.ln().abs() <= (1.0 + band.0.max(0.0)).ln() + 1e-12 => Fit::Agrees,
        Some(_) => Fit::Outside,
    };
    Ok(Expectation {
        expected,
        ratio,
        band,
        fit,
    })
}

/// Whether the measured difference between two arms is the expected one, by its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectFit {
    /// The same verdict.
    Agrees,
    /// Different verdicts, both of which tell.
    Contradicts,
    /// One of them does not tell.
    Open,
}

/// Holds a measured comparison against the expected one.
pub fn hold_effect_against(measured: &Comparison, expected: &Comparison) -> EffectFit {
    let tells = |v: Verdict| v.tells() && v != Verdict::Differs;
    if !tells(measured.verdict) || !tells(expected.verdict) {
        EffectFit::Open
    } else if measured.verdict == expected.verdict {
        EffectFit::Agrees
    } else {
        EffectFit::Contradicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Criteria, Direction, Unit, compare};

    fn ms(values: &[f64]) -> Sample {
        Sample::new(values.to_vec(), Unit::new("ms"), Direction::LowerIsBetter).unwrap()
    }

    fn held(measured: &[f64], expected: &[f64], band: f64) -> Expectation {
        let band = ErrorBand(band);
        hold_against(&ms(measured), &ms(expected), band, Assumption::Nothing).unwrap()
    }

    /// Case E11: the model says 100 ms, the machine 471 ms.
    #[test]
    fn a_factor_of_4_7_is_outside() {
        let got = held(&[471.0], &[100.0], 0.5);
        assert!((got.ratio.unwrap() - 4.71).abs() < 1e-9);
        assert_eq!(got.fit, Fit::Outside);
    }

    #[test]
    fn the_band_is_the_same_factor_both_ways() {
        assert_eq!(held(&[150.0], &[100.0], 0.5).fit, Fit::Agrees);
        assert_eq!(held(&[151.0], &[100.0], 0.5).fit, Fit::Outside);
        assert_eq!(held(&[67.0], &[100.0], 0.5).fit, Fit::Agrees);
        assert_eq!(held(&[66.0], &[100.0], 0.5).fit, Fit::Outside);
        assert_eq!(held(&[1.0], &[0.0], 0.5).fit, Fit::NoRatio);
    }

    #[test]
    fn expected_seconds_are_held_against_measured_milliseconds() {
        let s = Sample::new(vec![0.1], Unit::new("s"), Direction::LowerIsBetter).unwrap();
        let got = hold_against(&ms(&[110.0]), &s, ErrorBand(0.2), Assumption::Nothing).unwrap();
        assert_eq!(got.fit, Fit::Agrees);
        assert!((got.expected.center - 100.0).abs() < 1e-9);
    }

    #[test]
    fn effects_agree_contradict_or_stay_open() {
        let criteria = Criteria::default();
        let low = ms(&[1.0, 1.01, 1.02, 1.03]);
        let high = ms(&[2.0, 2.01, 2.02, 2.03]);
        let slower = compare(&low, &high, &criteria).unwrap();
        let faster = compare(&high, &low, &criteria).unwrap();
        let open = compare(&ms(&[1.0]), &ms(&[2.0]), &criteria).unwrap();
        assert_eq!(hold_effect_against(&slower, &slower), EffectFit::Agrees);
        assert_eq!(
            hold_effect_against(&slower, &faster),
            EffectFit::Contradicts
        );
        assert_eq!(hold_effect_against(&slower, &open), EffectFit::Open);
    }
}
