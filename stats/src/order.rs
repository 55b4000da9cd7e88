//! Order statistics: medians, and the exact interval of a median.

/// A sorted copy. The values are finite.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_by(f64::total_cmp);
    copy
}

/// The median; for an even number of values the mean of the middle two. `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let s = sorted(values);
    let n = s.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(s[n / 2]),
        _ => Some(s[n / 2 - 1] + (s[n / 2] - s[n / 2 - 1]) / 2.0),
    }
}

/// What lkp-tests prints as a median: element n/2 of the sorted list, the upper of the middle two
/// for an even number of values. Label it "lkp median" where it is shown.
pub fn lkp_median(values: &[f64]) -> Option<f64> {
    sorted(values).get(values.len() / 2).copied()
}

/// The quantile `q` (0 to 1) by linear interpolation between order statistics (R's type 7).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let s = sorted(values);
    let last = s.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(last);
    Some(s[low] + (s[high] - s[low]) * (place - low as f64))
}

/// A confidence interval with the level it reaches, which is at least the level asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Level reached.
    pub level: f64,
}

/// The interval of the median by order statistics: the ends are sample values, the level is a sum of
/// binomial probabilities, no distribution is assumed. `None` where even the whole range does not
/// reach `level`: below six values for 95 %.
pub fn median_interval(values: &[f64], level: f64) -> Option<Interval> {
    let s = sorted(values);
    let n = s.len();
    let mut term = 0.5_f64.powi(n as i32); // P(Binomial(n, 1/2) = k)
    let mut below = 0.0; // P(Binomial(n, 1/2) < k)
    let mut best = None;
    for k in 0..n / 2 {
        below += term;
        if 1.0 - 2.0 * below < level {
            break;
        }
        best = Some(Interval {
            low: s[k],
            high: s[n - 1 - k],
            level: 1.0 - 2.0 * below,
        });
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    best
}

/// The least number of values for which [`median_interval`] has an answer at `level`.
pub fn least_n_for_median_interval(level: f64) -> u32 {
    let mut n = 2;
    while n < 64 && 1.0 - 2.0 * 0.5_f64.powi(n as i32) < level {
        n += 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_median_of_an_even_count_differs_from_lkps() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values), Some(2.5));
        assert_eq!(lkp_median(&values), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn interval_levels_equal_scipys_binomial_sums() {
        // 1 - 2 * scipy.stats.binom.cdf(k - 1, n, 0.5), with the largest k that keeps 95 %.
        for (n, k, level) in [
            (6, 1, 0.968_75),
            (7, 1, 0.984_375),
            (10, 2, 0.978_515_625),
            (20, 6, 0.958_610_534_667_968_8),
            (50, 18, 0.967_160_862_435_731_5),
            (100, 40, 0.964_799_799_782_295_1),
        ] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let got = median_interval(&values, 0.95).unwrap();
            assert_eq!((got.low, got.high), (f64::from(k), f64::from(n + 1 - k)));
            assert!((got.level - level).abs() < 1e-12, "{n}: {}", got.level);
        }
        assert_eq!(median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), None);
        assert_eq!(least_n_for_median_interval(0.95), 6);
    }

    #[test]
    fn quantiles_interpolate() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert!((quantile(&values, 0.9).unwrap() - 3.7).abs() < 1e-12);
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
