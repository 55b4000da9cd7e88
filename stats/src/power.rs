//! How many repetitions a comparison needs.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::assume::Assumption;

/// Chance to find a difference that is there, for which [`needed_n`] plans.
pub const POWER: f64 = 0.8;

/// Above this many repetitions an arm the advice is "more than that": nobody runs them.
pub const MOST_ADVISED: u32 = 10_000;

/// The least number of values an arm at which the test of `assumption` can reach `alpha` at all:
/// for the rank test the least n with 2 / C(2n, n) <= alpha (4 for 0.05), for the t test 2.
pub fn least_n(assumption: Assumption, alpha: f64) -> u32 {
    match assumption {
        Assumption::Exact => 1,
        Assumption::Normal => 2,
        Assumption::Nothing => {
            let mut n = 1_u32;
            let mut ways = 2.0; // C(2n, n)
            while 2.0 / ways > alpha && n < 500 {
                ways *= f64::from(2 * (2 * n + 1)) / f64::from(n + 1);
                n += 1;
            }
            n
        }
    }
}

/// The smallest two-sided p-value that `n1` and `n2` values can yield.
pub fn least_p(assumption: Assumption, n1: usize, n2: usize) -> f64 {
    match assumption {
        Assumption::Exact => 0.0,
        Assumption::Normal if n1 >= 2 && n2 >= 2 => 0.0,
        Assumption::Normal => 1.0,
        Assumption::Nothing => {
            let mut ways = 1.0;
            for i in 1..=n1.min(n2) {
                ways *= (n1.max(n2) + i) as f64 / i as f64;
            }
            (2.0 / ways).min(1.0)
        }
    }
}

/// Values an arm for which a test at `alpha` finds a difference of `effect` with a chance of
/// [`POWER`], where a value spreads by `sd` (same unit). Two normal samples of equal size, with
/// Guenther's correction for the estimated variance; the rank test needs pi / 3 times as many.
/// `None`: more than [`MOST_ADVISED`], or there is no effect to find.
pub fn needed_n(assumption: Assumption, effect: f64, sd: f64, alpha: f64) -> Option<u32> {
    if effect == 0.0 || !effect.is_finite() || !sd.is_finite() {
        return None;
    }
    let standard = Normal::standard();
    let za = standard.inverse_cdf(1.0 - alpha / 2.0);
    let zb = standard.inverse_cdf(POWER);
    let size = effect.abs() / sd;
    let normal = 2.0 * ((za + zb) / size).powi(2) + za * za / 4.0;
    let wanted = match assumption {
        Assumption::Exact => return Some(1),
        Assumption::Normal => normal,
        Assumption::Nothing => normal * std::f64::consts::PI / 3.0,
    };
    let n = wanted.ceil().max(f64::from(least_n(assumption, alpha)));
    (n <= f64::from(MOST_ADVISED)).then_some(n as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_n_of_the_rank_test() {
        // The least n with 2 / comb(2n, n) <= alpha.
        for (alpha, n) in [(0.05, 4), (0.01, 5), (0.005, 6), (0.0025, 6), (0.001, 7)] {
            assert_eq!(least_n(Assumption::Nothing, alpha), n, "alpha {alpha}");
            let k = n as usize;
            assert!(least_p(Assumption::Nothing, k, k) <= alpha);
            assert!(least_p(Assumption::Nothing, k - 1, k - 1) > alpha);
        }
    }

    #[test]
    fn needed_n_equals_the_noncentral_t() {
        // The least n with power 0.8 at alpha 0.05, from scipy.stats.nct.
        for (size, n) in [(1.0, 17), (0.8, 26), (0.5, 64), (0.3, 176)] {
            assert_eq!(needed_n(Assumption::Normal, size, 1.0, 0.05), Some(n));
        }
        // 5 % above for the rank test.
        assert_eq!(needed_n(Assumption::Nothing, 0.5, 1.0, 0.05), Some(67));
    }

    #[test]
    fn a_hopeless_effect_has_no_n() {
        assert_eq!(needed_n(Assumption::Nothing, 0.0, 1.0, 0.05), None);
        assert_eq!(needed_n(Assumption::Nothing, 1e-6, 1.0, 0.05), None);
    }
}
