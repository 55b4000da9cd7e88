//! Ranks with ties, and the exact distribution of a rank sum.

use crate::moments::same;

/// Midranks of the values of two samples taken together, doubled so that they are whole numbers:
/// first those of `a`, then those of `b`. Values equal to a relative 1e-9 are tied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Doubled ranks of the first sample.
    pub a: Vec<u64>,
    /// Doubled ranks of the second sample.
    pub b: Vec<u64>,
    /// Size of each group of tied values, groups of one included.
    pub groups: Vec<u64>,
}

/// Ranks the values of both samples together.
pub fn rank_together(a: &[f64], b: &[f64]) -> Ranks {
    let mut all: Vec<(f64, usize)> = a.iter().chain(b).copied().zip(0..).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut doubled = vec![0; all.len()];
    let mut groups = Vec::new();
    let mut start = 0;
    while start < all.len() {
        let mut end = start + 1;
        while end < all.len() && same(all[start].0, all[end].0) {
            end += 1;
        }
        for (_, index) in &all[start..end] {
            // Ranks start + 1 to end, their mean doubled.
            doubled[*index] = (start + 1 + end) as u64;
        }
        groups.push((end - start) as u64);
        start = end;
    }
    let b_ranks = doubled.split_off(a.len());
    Ranks {
        a: doubled,
        b: b_ranks,
        groups,
    }
}

impl Ranks {
    /// Whether no two values are equal.
    pub fn distinct(&self) -> bool {
        self.groups.iter().all(|g| *g == 1)
    }

    /// Doubled rank sum of the first sample.
    pub fn sum_a(&self) -> u64 {
        self.a.iter().sum()
    }

    /// The exact two-sided p-value of the rank sum: every way to deal the ranks to the two samples
    /// is equally likely where nothing differs. Twice the smaller tail, at most 1.
    pub fn exact_p(&self) -> f64 {
        let counts = subset_sums(&self.a, &self.b);
        let total: f64 = counts.iter().sum();
        let seen = self.sum_a() as usize;
        let lower: f64 = counts[..=seen].iter().sum();
        let upper: f64 = counts[seen..].iter().sum();
        (2.0 * lower.min(upper) / total).min(1.0)
    }

    /// The p-value by the normal approximation, with correction for ties and for continuity;
    /// `None` where every value is the same.
    pub fn approximate_z(&self) -> Option<f64> {
        let (n1, n2) = (self.a.len() as f64, self.b.len() as f64);
        let n = n1 + n2;
        let u = self.sum_a() as f64 / 2.0 - n1 * (n1 + 1.0) / 2.0;
        let ties: f64 = self
            .groups
            .iter()
            .map(|g| *g as f64)
            .map(|t| t * t * t - t)
            .sum();
        let variance = n1 * n2 / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
        if variance <= 0.0 {
            return None;
        }
        let distance = ((u - n1 * n2 / 2.0).abs() - 0.5).max(0.0);
        Some(distance / variance.sqrt())
    }
}

/// For every sum: in how many ways `a.len()` of all the ranks have it. Counts are held as `f64`:
/// their relative error of 1e-16 a step is far below that of any use of a p-value.
fn subset_sums(a: &[u64], b: &[u64]) -> Vec<f64> {
    let all: Vec<usize> = a.iter().chain(b).map(|r| *r as usize).collect();
    let most: usize = all.iter().sum();
    let chosen = a.len();
    let width = most + 1;
    let mut ways = vec![0.0; (chosen + 1) * width];
    ways[0] = 1.0;
    let mut reach = 0;
    for (seen, rank) in all.iter().enumerate() {
        reach += rank;
        for take in (1..=chosen.min(seen + 1)).rev() {
            for sum in (*rank..=reach).rev() {
                ways[take * width + sum] += ways[(take - 1) * width + sum - rank];
            }
        }
    }
    ways.split_off(chosen * width)
}

/// The greatest k for which the k-th least and k-th greatest of the n1 x n2 differences bound the
/// shift at level 1 - alpha, without ties; 0 where the samples are too small.
pub fn shift_interval_place(n1: usize, n2: usize, alpha: f64) -> usize {
    let a: Vec<u64> = (1..=n1 as u64).map(|r| 2 * r).collect();
    let b: Vec<u64> = (n1 as u64 + 1..=(n1 + n2) as u64).map(|r| 2 * r).collect();
    let counts = subset_sums(&a, &b);
    let total: f64 = counts.iter().sum();
    let least: u64 = a.iter().sum();
    let mut cumulated = 0.0;
    for k in 0..=n1 * n2 {
        cumulated += counts[least as usize + 2 * k];
        if cumulated / total > alpha / 2.0 {
            return k;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean_of_their_ranks() {
        let ranks = rank_together(&[1.0, 2.0], &[2.0, 3.0]);
        assert_eq!(ranks.a, [2, 5]);
        assert_eq!(ranks.b, [5, 8]);
        assert_eq!(ranks.groups, [1, 2, 1]);
        assert!(!ranks.distinct());
    }

    #[test]
    fn fully_separated_fives_have_p_two_in_252() {
        let ranks = rank_together(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((ranks.exact_p() - 2.0 / 252.0).abs() < 1e-15);
    }

    #[test]
    fn exact_p_equals_scipys() {
        // scipy 1.17.1: mannwhitneyu(method='exact')
        let distinct = rank_together(&[1.1, 2.2, 3.3, 4.4, 9.9], &[2.5, 5.5, 6.6, 7.7, 8.8, 10.1]);
        assert!((distinct.exact_p() - 0.177_489_177_489_177_5).abs() < 1e-14);
        // scipy 1.17.1: permutation_test of the rank sum, every permutation
        let tied = rank_together(
            &[12.1, 12.4, 11.9, 12.0, 12.6, 12.3, 12.2],
            &[12.5, 12.9, 12.7, 12.3, 13.0, 12.8],
        );
        assert!((tied.exact_p() - 0.009_324_009_324_009_324).abs() < 1e-14);
        let uneven = rank_together(&[1.0, 2.0, 2.0, 3.0, 5.0, 8.0], &[2.0, 3.0, 3.0, 4.0]);
        assert!((uneven.exact_p() - 0.923_809_523_809_523_9).abs() < 1e-14);
        let a: Vec<f64> = (1..=40).map(f64::from).collect();
        let b: Vec<f64> = (1..=40).map(|v| f64::from(v) + 7.5).collect();
        assert!((rank_together(&a, &b).exact_p() - 0.008_480_482_834_297_774).abs() < 1e-12);
    }

    /// Where nothing differs every deal of the values is equally likely: the share of deals with a
    /// p-value up to alpha is at most alpha, ties or not.
    #[test]
    fn false_alarms_stay_below_alpha() {
        for pool in [
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 8.0, 9.0],
        ] {
            let mut p_values = Vec::new();
            for mask in 0_u32..512 {
                if mask.count_ones() != 4 {
                    continue;
                }
                let of = |bit: u32| {
                    let chosen = (0..9).filter(|i| mask >> i & 1 == bit);
                    chosen.map(|i| pool[i as usize]).collect::<Vec<f64>>()
                };
                p_values.push(rank_together(&of(1), &of(0)).exact_p());
            }
            assert_eq!(p_values.len(), 126);
            for alpha in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5] {
                let alarms = p_values.iter().filter(|p| **p <= alpha).count();
                assert!(
                    alarms as f64 / 126.0 <= alpha + 1e-12,
                    "{alarms} at {alpha}"
                );
            }
            assert!(p_values.iter().any(|p| *p <= 0.05));
        }
    }

    #[test]
    fn shift_interval_place_is_none_below_four_and_four() {
        assert_eq!(shift_interval_place(3, 3, 0.05), 0);
        assert_eq!(shift_interval_place(4, 4, 0.05), 1);
        assert_eq!(shift_interval_place(7, 6, 0.05), 7);
    }
}
