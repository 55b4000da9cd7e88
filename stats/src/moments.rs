//! Means and standard deviations.

/// Values that differ by less than this share are equal: a number that went through two programs
/// may differ in its last digits.
pub const SAME: f64 = 1e-9;

/// Whether two values are equal to within [`SAME`].
pub fn same(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    // The mean of the differences from the first value: exact for constant samples.
    let first = values[0];
    let sum: f64 = values.iter().map(|v| v - first).sum();
    Some(first + sum / values.len() as f64)
}

/// Standard deviation of the population the values were drawn from (n - 1 in the denominator);
/// `None` for fewer than two values. Values equal to within [`SAME`] have none: exactly 0.
pub fn sd(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    if values.iter().all(|v| same(*v, values[0])) {
        return Some(0.0);
    }
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Coefficient of variation in percent; `None` where the mean is zero or the spread unknown.
pub fn cv_pct(values: &[f64]) -> Option<f64> {
    let centre = mean(values)?;
    (centre != 0.0).then_some(())?;
    sd(values).map(|s| s / centre.abs() * 100.0)
}

/// Root of the mean of two variances, weighted by their degrees of freedom.
pub fn pooled_sd(a: &[f64], b: &[f64]) -> Option<f64> {
    let (sa, sb) = (sd(a)?, sd(b)?);
    let (fa, fb) = ((a.len() - 1) as f64, (b.len() - 1) as f64);
    Some(((sa * sa * fa + sb * sb * fb) / (fa + fb)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sd_divides_by_n_minus_one() {
        // numpy.std([2, 4, 4, 4, 5, 5, 7, 9], ddof=1)
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((sd(&values).unwrap() - 2.138_089_935).abs() < 1e-9);
        assert_eq!(sd(&[1.0]), None);
    }

    #[test]
    fn last_digits_are_no_spread() {
        // The same throughput as two interpreters print it.
        assert_eq!(
            sd(&[2_920_311.986_663_908_7, 2_920_311.986_663_91]),
            Some(0.0)
        );
        assert!(!same(0.0, 1e-12));
    }
}
