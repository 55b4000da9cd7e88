//! Values are normal: Welch's t.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Evidence;
use crate::moments::{mean, sd};
use crate::order::Interval;

/// Welch's test of the difference of means, and its interval at level 1 - `alpha`. Without spread in
/// either sample there is nothing to divide by: no p, no interval.
pub fn welch(base: &[f64], new: &[f64], alpha: f64) -> Evidence {
    evidence(base, new, alpha).unwrap_or(Evidence {
        p: None,
        interval: None,
    })
}

fn evidence(base: &[f64], new: &[f64], alpha: f64) -> Option<Evidence> {
    let (vb, vn) = (sd(base)?.powi(2), sd(new)?.powi(2));
    let (eb, en) = (vb / base.len() as f64, vn / new.len() as f64);
    let error = (eb + en).sqrt();
    if error == 0.0 {
        return None;
    }
    let (fb, fne) = ((base.len() - 1) as f64, (new.len() - 1) as f64);
    let freedom = (eb + en).powi(2) / (eb * eb / fb + en * en / fne);
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let difference = mean(new)? - mean(base)?;
    let half = t.inverse_cdf(1.0 - alpha / 2.0) * error;
    Some(Evidence {
        p: Some((2.0 * t.sf((difference / error).abs())).min(1.0)),
        interval: Some((difference - half, difference + half)),
    })
}

/// The t interval of the mean; `None` for fewer than two values.
pub fn mean_interval(values: &[f64], level: f64) -> Option<Interval> {
    let (centre, spread) = (mean(values)?, sd(values)?);
    let n = values.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let half = t.inverse_cdf(0.5 + level / 2.0) * spread / n.sqrt();
    Some(Interval {
        low: centre - half,
        high: centre + half,
        level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: [f64; 7] = [12.1, 12.4, 11.9, 12.0, 12.6, 12.3, 12.2];
    const Y: [f64; 6] = [12.5, 12.9, 12.7, 12.3, 13.0, 12.8];

    #[test]
    fn welch_equals_scipy() {
        // scipy 1.17.1: ttest_ind(Y, X, equal_var=False)
        let got = welch(&X, &Y, 0.05);
        assert!((got.p.unwrap() - 0.005_742_204_623_722).abs() < 1e-9);
        let (low, high) = got.interval.unwrap();
        assert!((low - 0.175_018_652_8).abs() < 1e-7, "{low}");
        assert!((high - 0.796_409_918_7).abs() < 1e-7, "{high}");
    }

    #[test]
    fn interval_of_the_mean_equals_scipy() {
        // scipy 1.17.1: t.interval(0.95, 6, mean, sd / sqrt(7))
        let got = mean_interval(&X, 0.95).unwrap();
        assert!((got.low - 11.991_370_571).abs() < 1e-7);
        assert!((got.high - 12.437_200_857_5).abs() < 1e-7);
    }

    #[test]
    fn no_spread_no_claim() {
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0], 0.05).p, None);
        assert_eq!(welch(&[1.0], &[2.0, 2.1], 0.05).p, None);
    }
}
