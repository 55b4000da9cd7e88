//! The geometric mean of ratios.

use serde::Serialize;

use crate::moments::same;

/// Ratios of several rows put together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Geomean {
    /// exp of the mean of the logarithms.
    pub ratio: f64,
    /// How many ratios.
    pub count: usize,
    /// The least ratio.
    pub min: f64,
    /// The greatest ratio.
    pub max: f64,
    /// How many ratios are within 1 % of one.
    pub within_1_pct: usize,
    /// Rows that have no ratio: missing, zero or negative.
    pub left_out: usize,
}

impl Geomean {
    /// Difference in percent: 30.8 for a ratio of 1.308.
    pub fn delta_pct(&self) -> f64 {
        (self.ratio - 1.0) * 100.0
    }
}

/// The geometric mean of new / base ratios; `None` where no row has one. A row without a ratio is
/// counted in `left_out`, never taken as zero or one.
pub fn geomean(ratios: &[Option<f64>]) -> Option<Geomean> {
    let usable = |r: &Option<f64>| r.filter(|r| r.is_finite() && *r > 0.0);
    let good: Vec<f64> = ratios.iter().filter_map(usable).collect();
    if good.is_empty() {
        return None;
    }
    let logs: f64 = good.iter().map(|r| r.ln()).sum();
    let near = |r: &&f64| (**r - 1.0).abs() <= 0.01 || same((**r - 1.0).abs(), 0.01);
    Some(Geomean {
        ratio: (logs / good.len() as f64).exp(),
        count: good.len(),
        min: good.iter().copied().fold(f64::INFINITY, f64::min),
        max: good.iter().copied().fold(0.0, f64::max),
        within_1_pct: good.iter().filter(near).count(),
        left_out: ratios.len() - good.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sis_util_netperf_rows() {
        // Published TCP_RR differences of 70fb5ccf2ebb, 28 to 224 threads.
        let pct = [-0.16, -0.02, -0.47, -0.66, -0.69, -0.48, 194.70, 197.30];
        let ratios: Vec<Option<f64>> = pct.iter().map(|p| Some(1.0 + p / 100.0)).collect();
        let got = geomean(&ratios).unwrap();
        assert!(
            (got.delta_pct() - 30.76).abs() < 0.005,
            "{}",
            got.delta_pct()
        );
        assert_eq!((got.count, got.within_1_pct), (8, 6));
        assert!((got.max - 2.973).abs() < 1e-9 && (got.min - 0.9931).abs() < 1e-9);
        let arithmetic: f64 = pct.iter().sum::<f64>() / 8.0;
        assert!((arithmetic - 48.69).abs() < 0.005);
    }

    #[test]
    fn a_missing_row_is_left_out_and_counted() {
        let got = geomean(&[Some(2.0), None, Some(0.0)]).unwrap();
        assert_eq!((got.count, got.left_out), (1, 2));
        assert_eq!(geomean(&[None]), None);
    }
}
