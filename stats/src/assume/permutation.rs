//! The permutation test of the difference of means: exact, and it sees sizes, which ranks do not.

/// Up to this many ways to deal the values every one is tried.
pub const MOST_WAYS: f64 = 200_000.0;

/// Two-sided p-value: twice the smaller share of all ways to deal the values to two samples of these
/// sizes whose difference of means is at least as extreme. `None` for an empty sample or more than
/// [`MOST_WAYS`].
pub fn mean_difference_p(base: &[f64], new: &[f64]) -> Option<f64> {
    if base.is_empty() || new.is_empty() || ways(base.len(), new.len()) > MOST_WAYS {
        return None;
    }
    // With the sizes fixed the sum of one sample decides the difference. Values are taken from their
    // mean so that the tolerance below suits their spread.
    let all: Vec<f64> = base.iter().chain(new).copied().collect();
    let centre = all.iter().sum::<f64>() / all.len() as f64;
    let all: Vec<f64> = all.iter().map(|v| v - centre).collect();
    let seen: f64 = all[..base.len()].iter().sum();
    let tolerance = 1e-9 * all.iter().map(|v| v.abs()).sum::<f64>();
    let mut tally = Tally {
        seen,
        tolerance,
        lower: 0,
        upper: 0,
        total: 0,
    };
    deal(&all, base.len(), 0.0, &mut tally);
    let tail = tally.lower.min(tally.upper) as f64 / tally.total as f64;
    Some((2.0 * tail).min(1.0))
}

struct Tally {
    seen: f64,
    tolerance: f64,
    lower: u64,
    upper: u64,
    total: u64,
}

/// Takes `left` more of `rest` in every way. The depth is at most the number of values, which
/// [`MOST_WAYS`] keeps small unless one sample is tiny; then `left` ends it.
fn deal(rest: &[f64], left: usize, sum: f64, tally: &mut Tally) {
    if left == 0 {
        tally.total += 1;
        tally.lower += u64::from(sum <= tally.seen + tally.tolerance);
        tally.upper += u64::from(sum >= tally.seen - tally.tolerance);
        return;
    }
    for (place, value) in rest.iter().enumerate().take(rest.len() + 1 - left) {
        deal(&rest[place + 1..], left - 1, sum + value, tally);
    }
}

/// C(n1 + n2, n1).
fn ways(n1: usize, n2: usize) -> f64 {
    let (few, many) = (n1.min(n2), n1.max(n2));
    (1..=few).map(|i| (many + i) as f64 / i as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_scipys_permutation_test() {
        // scipy 1.17.1: permutation_test of the difference of means, every permutation
        let x = [12.1, 12.4, 11.9, 12.0, 12.6, 12.3, 12.2];
        let y = [12.5, 12.9, 12.7, 12.3, 13.0, 12.8];
        assert!((mean_difference_p(&x, &y).unwrap() - 0.010_489_510_489_510_49).abs() < 1e-14);
        assert!((mean_difference_p(&y, &x).unwrap() - 0.010_489_510_489_510_49).abs() < 1e-14);
    }

    #[test]
    fn too_many_ways_are_refused() {
        assert_eq!(mean_difference_p(&[1.0; 15], &[2.0; 15]), None);
        assert_eq!(mean_difference_p(&[], &[2.0]), None);
    }
}
