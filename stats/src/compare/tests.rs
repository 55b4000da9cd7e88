//! Comparisons, by the cases people met.

use proptest::prelude::*;

use super::*;
use crate::unit::Unit;

fn lower(unit: &str, values: &[f64]) -> Sample {
    Sample::new(values.to_vec(), Unit::new(unit), Direction::LowerIsBetter).unwrap()
}

fn higher(unit: &str, values: &[f64]) -> Sample {
    Sample::new(values.to_vec(), Unit::new(unit), Direction::HigherIsBetter).unwrap()
}

fn judged(base: &Sample, new: &Sample) -> Comparison {
    compare(base, new, &Criteria::default()).unwrap()
}

fn texts(comparison: &Comparison) -> Vec<String> {
    comparison.warnings.iter().map(Warning::to_string).collect()
}

/// Case A1: -9.18 % is a regression, +17.95 % of a wide spread is not an improvement.
#[test]
fn size_alone_is_no_verdict() {
    let wide_base = lower("s", &[0.2657, 0.1801, 0.3512, 0.2011, 0.3309]);
    let wide_new = lower("s", &[0.2180, 0.1502, 0.2873, 0.1709, 0.3120]);
    let noise = judged(&wide_base, &wide_new);
    assert!((noise.improvement_pct.unwrap() - 17.95).abs() < 0.01);
    assert!(!noise.verdict.tells());

    let tight_base = lower("s", &[2.3207, 2.3101, 2.3310, 2.3150, 2.3260]);
    let tight_new = lower("s", &[2.5337, 2.5201, 2.5402, 2.5290, 2.5380]);
    let slower = judged(&tight_base, &tight_new);
    assert!((slower.improvement_pct.unwrap() + 9.18).abs() < 0.005);
    assert_eq!(slower.verdict, Verdict::Regressed);
}

/// Case A1: the author's results change across reboots.
#[test]
fn one_boot_is_said() {
    let base = lower("s", &[1.0, 1.1, 1.2, 1.3])
        .with_boots(vec![0; 4])
        .unwrap();
    let new = lower("s", &[2.0, 2.1, 2.2, 2.3])
        .with_boots(vec![0; 4])
        .unwrap();
    let got = texts(&judged(&base, &new));
    assert!(got.contains(&"1 boot: boot-to-boot spread not measured".to_owned()));
}

/// Case A4: a gain of 125.5 % was a bug.
#[test]
fn a_gain_too_good_to_be_true_is_marked() {
    let base = higher("ops/s", &[308_887.0, 301_000.0, 312_000.0, 309_500.0]);
    let new = higher("ops/s", &[696_539.0, 690_000.0, 701_000.0, 696_539.0]);
    let got = judged(&base, &new);
    assert_eq!(got.verdict, Verdict::Improved);
    assert!(texts(&got).contains(&"implausibly large: check correctness".to_owned()));
    let loss = judged(&new, &base);
    assert!(!texts(&loss).contains(&"implausibly large: check correctness".to_owned()));
}

/// Case A5: 4.49 times the base with a CV of 92 % shows nothing.
#[test]
fn unstable_values_are_named_so() {
    let base = lower("s", &[1.00, 0.98, 1.02, 1.01, 0.99]);
    let new = lower("s", &[0.9, 1.2, 4.4, 9.9, 6.05]);
    let got = judged(&base, &new);
    assert!(!got.verdict.tells());
    assert!(texts(&got).iter().any(|t| t.starts_with("unstable (CV ")));
}

/// Case A7: standard deviations of 0.00 everywhere.
#[test]
fn no_spread_no_claim() {
    let base = lower("us", &[52.0; 5]);
    let new = lower("us", &[56.0; 5]);
    let got = judged(&base, &new);
    assert_eq!(got.verdict.to_string(), "cannot tell (sd 0, n=5)");
    assert!(texts(&got)[0].starts_with("sd 0 with n=5"));
    // One value an arm: too few, not zero spread.
    let single = judged(&lower("us", &[52.0]), &lower("us", &[56.0]));
    assert_eq!(single.verdict.to_string(), "cannot tell, needs n >= 4");
}

/// Where the step is known, four steps between constant arms are a difference.
#[test]
fn constant_arms_differ_where_the_step_is_known() {
    let base = lower("us", &[52.0; 5]).with_resolution(1.0).unwrap();
    let new = lower("us", &[56.0; 5]).with_resolution(1.0).unwrap();
    assert_eq!(judged(&base, &new).verdict, Verdict::Regressed);
    let fine = lower("us", &[520.0; 5]).with_resolution(1.0).unwrap();
    assert_eq!(judged(&fine, &fine).verdict, Verdict::NoChange);
    // One step is 1.9 % of 52: it cannot exclude an effect of 1 %.
    assert!(!judged(&base, &base).verdict.tells());
}

/// Means have no t without spread: ranks decide, and one value an arm is too few.
#[test]
fn constant_arms_under_the_normal_assumption() {
    let mean = Criteria {
        assume: Assumption::Normal,
        ..Criteria::default()
    };
    let base = lower("us", &[52.0; 5]).with_resolution(1.0).unwrap();
    let new = lower("us", &[56.0; 5]).with_resolution(1.0).unwrap();
    assert_eq!(
        compare(&base, &new, &mean).unwrap().verdict,
        Verdict::Regressed
    );
    let one = lower("us", &[52.0]);
    let got = compare(&one, &one, &mean).unwrap();
    assert_eq!(got.verdict.to_string(), "cannot tell, needs n >= 2");
}

/// Case A10: small whole latencies.
#[test]
fn one_step_is_within_the_resolution() {
    let base = lower("us", &[14.0, 14.0, 13.0, 14.0, 14.0])
        .with_resolution(1.0)
        .unwrap();
    let new = lower("us", &[15.0, 15.0, 15.0, 14.0, 15.0])
        .with_resolution(1.0)
        .unwrap();
    let got = judged(&base, &new);
    assert_eq!(got.verdict.to_string(), "cannot tell (within resolution)");
    assert!(texts(&got).contains(&"within resolution: the metric's step is 1 us".to_owned()));

    let many_steps = lower("us", &[5.0, 5.0, 5.0, 6.0, 7.0])
        .with_resolution(1.0)
        .unwrap();
    let constant = lower("us", &[9.0; 5]).with_resolution(1.0).unwrap();
    let mean = Criteria {
        assume: Assumption::Normal,
        ..Criteria::default()
    };
    let got = compare(&constant, &many_steps, &mean).unwrap();
    assert!((got.improvement_pct.unwrap() - 37.78).abs() < 0.005);
    assert_eq!(got.verdict, Verdict::Improved);
}

/// Case A12: nobody said which way is better.
#[test]
fn an_unknown_direction_has_a_percentage_and_no_colour() {
    let make = |v: &[f64]| Sample::new(v.to_vec(), Unit::new("req/s"), Direction::Unknown).unwrap();
    let got = judged(
        &make(&[100.0, 101.0, 102.0, 103.0]),
        &make(&[80.0, 81.0, 82.0, 83.0]),
    );
    assert_eq!(got.verdict, Verdict::Differs);
    assert_eq!(got.improvement_pct, None);
    assert!(got.delta_pct.unwrap() < -19.0);
    assert!(texts(&got).contains(&"direction unknown".to_owned()));
}

/// Case A13: five against five, fully separated: nothing is removed as an outlier.
#[test]
fn a_drop_of_31_percent_is_not_filtered_away() {
    let base = lower("us", &[115.0, 114.0, 115.0, 115.0, 115.0]);
    let new = lower("us", &[78.8; 5]);
    let got = judged(&base, &new);
    assert!((got.p.unwrap() - 2.0 / 252.0).abs() < 1e-12);
    assert!((got.delta_pct.unwrap() + 31.478).abs() < 0.001);
    assert_eq!(got.verdict, Verdict::Improved);
    assert_eq!((got.n1, got.n2), (5, 5));
}

/// Case A14: last digits are no difference.
#[test]
fn last_digits_are_unchanged() {
    let base = higher("ops/s", &[2_920_311.986_663_908_7; 4])
        .with_resolution(0.01)
        .unwrap();
    let new = higher("ops/s", &[2_920_311.986_663_91; 4])
        .with_resolution(0.01)
        .unwrap();
    let got = judged(&base, &new);
    assert_eq!(got.delta_pct, Some(0.0));
    assert_eq!(got.verdict, Verdict::NoChange);
}

/// Case A9: counters that are zero on a busy machine were not collected.
#[test]
fn zeros_everywhere_are_missing() {
    let zeros = lower("count", &[0.0; 5]);
    let got = judged(&zeros, &zeros);
    assert_eq!(got.verdict.to_string(), "cannot tell (all values 0)");
    assert_eq!(got.delta_pct, None);
}

/// Case A9: 38539 to 15333634.
#[test]
fn a_hundredfold_is_a_factor() {
    let base = lower("count", &[38_539.0, 38_500.0, 38_600.0, 38_539.0]);
    let new = lower(
        "count",
        &[15_333_634.0, 15_333_000.0, 15_334_000.0, 15_333_634.0],
    );
    let got = texts(&judged(&base, &new));
    assert!(got.iter().any(|t| t.starts_with("x398: the base is tiny")));
}

/// Case H9: units convert before they compare, or not at all.
#[test]
fn units_convert_or_are_refused() {
    let us = lower("us", &[1500.0, 1510.0, 1520.0, 1505.0]);
    let ms = lower("ms", &[1.4, 1.41, 1.42, 1.405]);
    let got = judged(&us, &ms);
    assert_eq!(got.new.unit, Unit::new("us"));
    assert!((got.delta_pct.unwrap() + 6.634).abs() < 0.001);
    let refused = compare(&us, &lower("B", &[1.0]), &Criteria::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "base is in us, head is in B: not comparable"
    );
    let turned = compare(&us, &higher("us", &[1.0]), &Criteria::default()).unwrap_err();
    assert_eq!(
        turned.to_string(),
        "base says lower is better, head says higher: not comparable"
    );
}

#[test]
fn no_change_takes_an_interval_inside_the_least_effect() {
    let tight: Vec<f64> = (0..12).map(|i| 100.0 + 0.01 * f64::from(i)).collect();
    assert_eq!(
        judged(&lower("s", &tight), &lower("s", &tight)).verdict,
        Verdict::NoChange
    );
    let wide: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i)).collect();
    let got = judged(&lower("s", &wide), &lower("s", &wide));
    assert_eq!(got.p, Some(1.0));
    let Verdict::CannotTell {
        needs_n: Some(n),
        reason: Doubt::Spread,
    } = got.verdict
    else {
        panic!("{:?}", got.verdict);
    };
    // sd 3.606 against an effect of 1.055: 2 (2.8016 x 3.418)^2 x pi / 3 + ...
    assert_eq!(n, 194);
}

#[test]
fn many_rows_need_more_repetitions() {
    let base = lower("s", &[1.0, 1.1, 1.2, 1.3, 1.05]);
    let new = lower("s", &[2.0, 2.1, 2.2, 2.3, 2.05]);
    let pairs = vec![(&base, &new); 20];
    let got = compare_all(&pairs, &Criteria::default());
    let first = got[0].as_ref().unwrap();
    assert_eq!(first.family, 20);
    assert_eq!(first.verdict.to_string(), "cannot tell, needs n >= 6");
    let alone = Criteria {
        correction: Correction::None,
        ..Criteria::default()
    };
    let got = compare_all(&pairs, &alone);
    assert_eq!(got[0].as_ref().unwrap().verdict, Verdict::Regressed);
}

#[test]
fn an_incomparable_row_does_not_spoil_the_table() {
    let base = lower("s", &[1.0, 1.1, 1.2, 1.3]);
    let bytes = lower("B", &[1.0]);
    let new = lower("s", &[2.0, 2.1, 2.2, 2.3]);
    let got = compare_all(&[(&base, &bytes), (&base, &new)], &Criteria::default());
    assert!(got[0].is_err());
    assert_eq!(got[1].as_ref().unwrap().family, 1);
}

proptest! {
    /// Turning the arms round turns the sign and keeps p and whether it tells, where the difference
    /// is large on either base.
    #[test]
    fn arms_turned_round(
        base in prop::collection::vec(90.0..110.0_f64, 4..9),
        new in prop::collection::vec(190.0..210.0_f64, 4..9),
    ) {
        let (b, n) = (lower("s", &base), lower("s", &new));
        let there = judged(&b, &n);
        let back = judged(&n, &b);
        prop_assert!((there.p.unwrap() - back.p.unwrap()).abs() < 1e-12);
        prop_assert_eq!(there.verdict, Verdict::Regressed);
        prop_assert_eq!(back.verdict, Verdict::Improved);
    }

    /// A sample against itself is never a difference.
    #[test]
    fn nothing_differs_from_itself(values in prop::collection::vec(1.0..1e6_f64, 1..20)) {
        let s = higher("ops/s", &values);
        let got = judged(&s, &s);
        prop_assert_eq!(got.delta_pct, Some(0.0));
        prop_assert!(!matches!(got.verdict, Verdict::Improved | Verdict::Regressed));
    }

    /// The scale of the unit changes nothing.
    #[test]
    fn scale_changes_nothing(
        base in prop::collection::vec(1.0..2.0_f64, 2..8),
        new in prop::collection::vec(1.0..2.0_f64, 2..8),
    ) {
        let thousand = |v: &[f64]| v.iter().map(|x| x * 1000.0).collect::<Vec<_>>();
        let in_ms = judged(&lower("ms", &base), &lower("ms", &new));
        let in_us = judged(&lower("us", &thousand(&base)), &lower("us", &thousand(&new)));
        prop_assert!((in_ms.p.unwrap() - in_us.p.unwrap()).abs() < 1e-12);
        prop_assert_eq!(in_ms.verdict, in_us.verdict);
    }
}
