//! Values do not vary: a difference needs no test.

use super::Evidence;
use crate::moments::same;

/// What two deterministic samples say: p is 0 where they differ and 1 where they do not. A sample
/// that does vary is none of the kind: no p.
pub fn exact_test(base: &[f64], new: &[f64]) -> Evidence {
    let constant = |values: &[f64]| values.iter().all(|v| same(*v, values[0]));
    match (base.first(), new.first()) {
        (Some(b), Some(n)) if constant(base) && constant(new) => Evidence {
            p: Some(if same(*b, *n) { 1.0 } else { 0.0 }),
            interval: Some((n - b, n - b)),
        },
        _ => Evidence {
            p: None,
            interval: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_each_is_enough() {
        assert_eq!(exact_test(&[5.0], &[6.0]).p, Some(0.0));
        assert_eq!(exact_test(&[5.0], &[5.0 + 1e-12]).p, Some(1.0));
    }

    #[test]
    fn values_that_vary_are_not_exact() {
        assert_eq!(exact_test(&[5.0, 6.0], &[7.0]).p, None);
    }
}
