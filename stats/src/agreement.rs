//! How well predicted differences agree with published ones.

use serde::{Deserialize, Serialize};

use crate::order::quantile;

/// The class of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Worse, beyond the noise.
    Regressed,
    /// Inside the noise.
    Noise,
    /// Better, beyond the noise.
    Improved,
}

impl Class {
    /// In the order of a table.
    pub const ALL: [Class; 3] = [Class::Regressed, Class::Noise, Class::Improved];
}

/// The class of a published difference by its author's rule: "noise" where the difference of the
/// means is inside the larger standard deviation. All three in percent of the base's mean, the
/// improvement signed so that positive is better.
pub fn classify_published(improvement_pct: f64, base_sd_pct: f64, new_sd_pct: f64) -> Class {
    if improvement_pct.abs() <= base_sd_pct.max(new_sd_pct) {
        Class::Noise
    } else if improvement_pct > 0.0 {
        Class::Improved
    } else {
        Class::Regressed
    }
}

/// How often each pair of (published, predicted) classes occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    counts: [[u32; 3]; 3],
}

impl Confusion {
    /// Counts one row.
    pub fn add(&mut self, published: Class, predicted: Class) {
        self.counts[published as usize][predicted as usize] += 1;
    }

    /// Rows of this published class with this predicted one.
    pub fn count(&self, published: Class, predicted: Class) -> u32 {
        self.counts[published as usize][predicted as usize]
    }

    /// All rows.
    pub fn total(&self) -> u32 {
        self.counts.iter().flatten().sum()
    }

    /// Share of rows in the right class, 0 to 1; `None` of no rows.
    pub fn agreement(&self) -> Option<f64> {
        let total = self.total();
        let right: u32 = Class::ALL.iter().map(|c| self.count(*c, *c)).sum();
        (total > 0).then(|| f64::from(right) / f64::from(total))
    }

    /// Rows published as noise and predicted as a difference.
    pub fn false_alarms(&self) -> u32 {
        self.count(Class::Noise, Class::Regressed) + self.count(Class::Noise, Class::Improved)
    }

    /// Cohen's kappa: agreement beyond what the shares of the classes alone would give, at most 1.
    /// `None` of no rows, or where chance alone agrees everywhere (one class on both sides).
    pub fn kappa(&self) -> Option<f64> {
        let total = f64::from(self.total());
        let seen = self.agreement()?;
        let mut chance = 0.0;
        for class in Class::ALL {
            let published: u32 = Class::ALL.iter().map(|p| self.count(class, *p)).sum();
            let predicted: u32 = Class::ALL.iter().map(|p| self.count(*p, class)).sum();
            chance += f64::from(published) * f64::from(predicted) / (total * total);
        }
        (chance < 1.0 - 1e-12).then(|| (seen - chance) / (1.0 - chance))
    }
}

/// |ln(predicted / published)| over rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LogRatios {
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// Rows that have a ratio.
    pub count: usize,
    /// Rows that have none: zero or of different sign.
    pub left_out: usize,
}

/// ln(predicted / published) of one row; `None` where there is no such logarithm.
pub fn ln_ratio(predicted: f64, published: f64) -> Option<f64> {
    let ratio = predicted / published;
    (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
}

/// Size of the error over rows of (predicted, published); `None` where no row has a ratio.
pub fn log_ratios(rows: &[(f64, f64)]) -> Option<LogRatios> {
    let sizes: Vec<f64> = rows
        .iter()
        .filter_map(|(predicted, published)| ln_ratio(*predicted, *published))
        .map(f64::abs)
        .collect();
    Some(LogRatios {
        median: quantile(&sizes, 0.5)?,
        p90: quantile(&sizes, 0.9)?,
        count: sizes.len(),
        left_out: rows.len() - sizes.len(),
    })
}

/// How many rows are within a factor of the published value, either way (1.5, 3).
pub fn within_factor(rows: &[(f64, f64)], factor: f64) -> usize {
    let limit = factor.ln() + 1e-12;
    let close = |row: &&(f64, f64)| ln_ratio(row.0, row.1).is_some_and(|l| l.abs() <= limit);
    rows.iter().filter(close).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_spread_decides() {
        assert_eq!(classify_published(-1.12, 3.98, 3.98), Class::Noise);
        assert_eq!(classify_published(-11.54, 4.33, 7.71), Class::Regressed);
        assert_eq!(classify_published(6.02, 0.26, 1.53), Class::Improved);
        assert_eq!(classify_published(0.0, 0.0, 0.0), Class::Noise);
    }

    #[test]
    fn kappa_is_agreement_beyond_chance() {
        let mut table = Confusion::default();
        for (published, predicted, times) in [
            (Class::Regressed, Class::Regressed, 4),
            (Class::Regressed, Class::Noise, 1),
            (Class::Noise, Class::Noise, 5),
            (Class::Noise, Class::Improved, 2),
            (Class::Improved, Class::Improved, 2),
            (Class::Improved, Class::Regressed, 2),
        ] {
            for _ in 0..times {
                table.add(published, predicted);
            }
        }
        assert_eq!(table.total(), 16);
        assert_eq!(table.agreement(), Some(11.0 / 16.0));
        assert_eq!(table.false_alarms(), 2);
        // (11/16 - 88/256) / (1 - 88/256): rows 5, 7, 4 and columns 6, 6, 4 of 16.
        let want = (11.0 / 16.0 - 88.0 / 256.0) / (1.0 - 88.0 / 256.0);
        assert!((table.kappa().unwrap() - want).abs() < 1e-12);
        assert_eq!(Confusion::default().kappa(), None);
    }

    #[test]
    fn ratios_of_different_sign_are_left_out_and_counted() {
        let rows = [(-20.0, -10.0), (5.0, 10.0), (3.0, -3.0), (0.0, 1.0)];
        let got = log_ratios(&rows).unwrap();
        assert_eq!((got.count, got.left_out), (2, 2));
        assert!((got.median - 2_f64.ln()).abs() < 1e-12);
        assert_eq!(within_factor(&rows, 2.0), 2);
        assert_eq!(within_factor(&rows, 1.5), 0);
    }
}
