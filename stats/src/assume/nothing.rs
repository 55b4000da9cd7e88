//! Nothing is assumed: ranks.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Evidence;
use crate::ranks::{rank_together, shift_interval_place};

/// Up to this many values in both samples together the rank test counts every permutation; above,
/// the normal approximation is within 1e-3 of it.
pub const EXACT_UP_TO: usize = 60;

/// The Mann-Whitney test, and the Hodges-Lehmann interval of the shift from `base` to `new` at
/// level 1 - `alpha`.
pub fn rank_test(base: &[f64], new: &[f64], alpha: f64) -> Evidence {
    Evidence {
        p: rank_p(base, new),
        interval: shift_interval(base, new, alpha),
    }
}

/// Two-sided p-value of the Mann-Whitney test: exact for small samples, with or without ties.
pub fn rank_p(base: &[f64], new: &[f64]) -> Option<f64> {
    if base.is_empty() || new.is_empty() {
        return None;
    }
    let ranks = rank_together(base, new);
    if base.len() + new.len() <= EXACT_UP_TO {
        return Some(ranks.exact_p());
    }
    match ranks.approximate_z() {
        Some(z) => Some((2.0 * Normal::standard().sf(z)).min(1.0)),
        None => Some(1.0), // every value is the same
    }
}

/// The interval of the shift: the k-th least and greatest of all differences new - base.
fn shift_interval(base: &[f64], new: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let (n1, n2) = (base.len(), new.len());
    let k = if n1 + n2 <= EXACT_UP_TO {
        shift_interval_place(n1, n2, alpha)
    } else {
        let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
        let (m, n) = (n1 as f64, n2 as f64);
        (m * n / 2.0 - z * (m * n * (m + n + 1.0) / 12.0).sqrt())
            .floor()
            .max(0.0) as usize
    };
    if k == 0 {
        return None;
    }
    let mut differences: Vec<f64> = Vec::with_capacity(n1 * n2);
    for b in base {
        differences.extend(new.iter().map(|v| v - b));
    }
    differences.sort_by(f64::total_cmp);
    Some((differences[k - 1], differences[n1 * n2 - k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_the_shift() {
        let x = [12.1, 12.4, 11.9, 12.0, 12.6, 12.3, 12.2];
        let y = [12.5, 12.9, 12.7, 12.3, 13.0, 12.8];
        // The exact distribution counted in Python: k = 7.
        let (low, high) = rank_test(&x, &y, 0.05).interval.unwrap();
        assert!((low - 0.1).abs() < 1e-9 && (high - 0.8).abs() < 1e-9);
        assert_eq!(rank_test(&x[..3], &y[..3], 0.05).interval, None);
    }

    #[test]
    fn large_samples_use_the_normal_approximation() {
        // scipy 1.17.1: mannwhitneyu(method='asymptotic')
        let a: Vec<f64> = (1..=40).map(|i| f64::from(i / 3)).collect();
        let b: Vec<f64> = (1..=40).map(|i| f64::from(i / 3) + 2.0).collect();
        assert!((rank_p(&a, &b).unwrap() - 0.034_250_656_323_535_14).abs() < 1e-9);
        let constant = vec![1.0; 40];
        assert_eq!(rank_p(&constant, &constant), Some(1.0));
    }

    #[test]
    fn approximation_meets_the_exact_value_where_they_change_over() {
        let a: Vec<f64> = (1..=30).map(f64::from).collect();
        let b: Vec<f64> = (1..=30).map(|v| f64::from(v) + 6.5).collect();
        let ranks = rank_together(&a, &b);
        let approximate = 2.0 * Normal::standard().sf(ranks.approximate_z().unwrap());
        assert!((ranks.exact_p() - approximate).abs() < 1e-3);
    }
}
