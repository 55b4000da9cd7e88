//! Correction of p-values for the number of rows in a table.

use serde::{Deserialize, Serialize};

/// How p-values are corrected for many comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Holm's step-down: the chance of even one false claim in the table stays below alpha.
    #[default]
    Holm,
    /// Each row for itself.
    None,
}

impl Correction {
    /// The corrected values, in the order given. Rows without a p-value are no members of the
    /// family.
    pub fn adjust(self, p: &[Option<f64>]) -> Vec<Option<f64>> {
        match self {
            Correction::None => p.to_vec(),
            Correction::Holm => holm(p),
        }
    }

    /// As it is written in a playbook and in a header.
    pub fn word(self) -> &'static str {
        match self {
            Correction::Holm => "holm",
            Correction::None => "none",
        }
    }
}

fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = Vec::new();
    for (index, value) in p.iter().enumerate() {
        if let Some(value) = value {
            order.push((index, *value));
        }
    }
    order.sort_by(|x, y| x.1.total_cmp(&y.1));
    let family = order.len();
    let mut adjusted = vec![None; p.len()];
    let mut running: f64 = 0.0;
    for (place, (index, value)) in order.into_iter().enumerate() {
        running = running.max(value * (family - place) as f64).min(1.0);
        adjusted[index] = Some(running);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_equals_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") in R: 0.03 0.06 0.06 0.02
        let got = Correction::Holm.adjust(&[Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)]);
        let want = [Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)];
        for (g, w) in got.iter().zip(want) {
            match (g, w) {
                (Some(g), Some(w)) => assert!((g - w).abs() < 1e-12),
                (g, w) => assert_eq!(*g, w),
            }
        }
    }

    #[test]
    fn no_correction_leaves_them() {
        assert_eq!(Correction::None.adjust(&[Some(0.04)]), [Some(0.04)]);
    }
}
