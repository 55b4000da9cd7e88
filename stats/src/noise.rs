//! Noise between boots and within one, and the threshold that follows from history.

use crate::moments::mean;
use crate::sample::Sample;

/// Standard deviations of a metric within a boot and between boots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootNoise {
    /// Within a boot, percent of the mean.
    pub within_pct: f64,
    /// Between boots, what repetitions within a boot do not explain, percent of the mean.
    pub between_pct: f64,
    /// How many boots.
    pub boots: usize,
}

/// Splits the variance of a sample into its parts within and between boots (one-way random effects,
/// groups of unequal size). `None` where boots are unknown, there is only one, no boot has two
/// values, or the mean is zero.
pub fn boot_noise(sample: &Sample) -> Option<BootNoise> {
    let boots = sample.boots()?;
    let values = sample.values();
    let grand = mean(values)?;
    let mut numbers = boots.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let (k, n) = (numbers.len(), values.len());
    if k < 2 || n <= k || grand == 0.0 {
        return None;
    }
    let (mut within, mut between, mut squares) = (0.0, 0.0, 0.0);
    for number in &numbers {
        let of_boot = boots.iter().zip(values).filter(|(b, _)| *b == number);
        let group: Vec<f64> = of_boot.map(|(_, v)| *v).collect();
        let centre = mean(&group)?;
        let size = group.len() as f64;
        within += group.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
        between += size * (centre - grand).powi(2);
        squares += size * size;
    }
    let within = within / (n - k) as f64;
    let typical_size = (n as f64 - squares / n as f64) / (k - 1) as f64;
    let extra = (between / (k - 1) as f64 - within) / typical_size;
    Some(BootNoise {
        within_pct: within.sqrt() / grand.abs() * 100.0,
        between_pct: extra.max(0.0).sqrt() / grand.abs() * 100.0,
        boots: k,
    })
}

/// The least difference worth a verdict, as a share: the practical limit, or what this metric moved
/// by on this machine while nothing had changed, whichever is more.
pub fn threshold(practical: f64, historic_noise: Option<f64>) -> f64 {
    historic_noise.map_or(practical, |h| practical.max(h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Unit};

    fn sample(values: &[f64], boots: &[u32]) -> Sample {
        Sample::new(values.to_vec(), Unit::new("s"), Direction::LowerIsBetter)
            .unwrap()
            .with_boots(boots.to_vec())
            .unwrap()
    }

    #[test]
    fn variance_splits_into_within_and_between() {
        // Groups {9, 11} and {19, 21}: mean squares 100 * 2 / 1 and 4 / 2, so the extra variance is
        // (100 - 2) / 2 = 49 around a mean of 15.
        let got = boot_noise(&sample(&[9.0, 11.0, 19.0, 21.0], &[0, 0, 1, 1])).unwrap();
        assert!((got.within_pct - 2_f64.sqrt() / 15.0 * 100.0).abs() < 1e-9);
        assert!((got.between_pct - 7.0 / 15.0 * 100.0).abs() < 1e-9);
        assert_eq!(got.boots, 2);
    }

    #[test]
    fn one_boot_says_nothing_of_others() {
        assert_eq!(boot_noise(&sample(&[9.0, 11.0], &[3, 3])), None);
    }

    #[test]
    fn history_raises_the_threshold() {
        assert_eq!(threshold(0.01, Some(0.05)), 0.05);
        assert_eq!(threshold(0.01, Some(0.001)), 0.01);
        assert_eq!(threshold(0.02, None), 0.02);
    }
}
