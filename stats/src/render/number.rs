//! Numbers as text. None of them ever reads -0.00.

use crate::warning::FACTOR_FROM;

/// `value` with `decimals` decimals.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| c == '0' || c == '.') => digits.to_owned(),
        _ => text,
    }
}

/// `value` with `decimals` decimals and a sign, none for what rounds to zero.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    let zero = text.chars().all(|c| c == '0' || c == '.');
    if zero || text.starts_with('-') {
        text
    } else {
        format!("+{text}")
    }
}

/// A difference in percent with its sign, two decimals; as a factor where new is a hundred times
/// the base or more.
pub fn difference(shown_pct: f64, ratio: Option<f64>) -> String {
    match ratio {
        Some(r) if r >= FACTOR_FROM => format!("x{r:.0}"),
        _ => format!("{}%", signed(shown_pct, 2)),
    }
}

/// How many decimals show four digits of a value of this size, at most six.
pub fn decimals_for(smallest: f64) -> usize {
    if smallest == 0.0 || !smallest.is_finite() {
        return 0;
    }
    let magnitude = smallest.abs().log10().floor() as i64;
    (3 - magnitude).clamp(0, 6) as usize
}

/// A value with a number of decimals; very large and very small ones in powers of ten.
pub fn value(v: f64, decimals: usize) -> String {
    let size = v.abs();
    if v != 0.0 && !(1e-6..1e12).contains(&size) {
        return format!("{v:.3e}");
    }
    fixed(v, decimals)
}

/// A spread in percent: one decimal from 10 % on, two below; `?` where it is unknown.
pub fn spread(cv_pct: Option<f64>) -> String {
    match cv_pct {
        None => "?".to_owned(),
        Some(pct) if pct >= 9.995 => format!("{pct:.1}%"),
        Some(pct) => format!("{pct:.2}%"),
    }
}

/// A p-value, three decimals.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.0005 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Case A5.
    #[test]
    fn never_minus_zero() {
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(signed(-0.0, 2), "0.00");
        assert_eq!(difference(-0.004, None), "0.00%");
        assert_eq!(signed(0.006, 2), "+0.01");
    }

    /// Case A6: rounded, not cut.
    #[test]
    fn percentages_are_rounded() {
        let pct = |base: f64, new: f64| difference((base - new) / base * 100.0, None);
        assert_eq!(pct(22.0, 23.0), "-4.55%");
        assert_eq!(pct(70.0, 72.0), "-2.86%");
        assert_eq!(pct(41.0, 30.0), "+26.83%");
        assert_eq!(pct(4.93, 4.86), "+1.42%");
    }

    /// Case A9.
    #[test]
    fn a_hundredfold_is_a_factor() {
        let ratio = 15_333_634.0 / 38_539.0;
        assert_eq!(difference((ratio - 1.0) * 100.0, Some(ratio)), "x398");
        assert_eq!(difference(125.5, Some(2.255)), "+125.50%");
    }

    #[test]
    fn four_digits() {
        assert_eq!(value(0.262, decimals_for(0.262)), "0.2620");
        assert_eq!(value(475.97, decimals_for(475.97)), "476.0");
        assert_eq!(value(2_159_865.69, decimals_for(2_159_865.69)), "2159866");
        assert_eq!(value(1e-9, 6), "1.000e-9");
        assert_eq!(p_value(Some(0.0001)), "<0.001");
        assert_eq!(spread(Some(0.0)), "0.00%");
        assert_eq!(spread(None), "?");
    }

    proptest! {
        #[test]
        fn no_text_reads_minus_zero(v in -1.0..1.0_f64, d in 0_usize..4) {
            for text in [fixed(v, d), signed(v, d)] {
                let zero = text.trim_start_matches(['-', '+']).chars().all(|c| "0.".contains(c));
                prop_assert!(!zero || !text.starts_with(['-', '+']), "{}", text);
            }
        }
    }
}
