use schedrig_stats::agreement::Class;

use super::*;

const SHIPPED: &[(&str, usize, &str)] = &[
    (
        "cluster-wakeup-2023",
        39,
        include_str!("../../../playbooks/published/reference/cluster-wakeup-2023.yaml"),
    ),
    (
        "eevdf-place-bonus-2023",
        5,
        include_str!("../../../playbooks/published/reference/eevdf-place-bonus-2023.yaml"),
    ),
    (
        "smt-buddy-2026",
        78,
        include_str!("../../../playbooks/published/reference/smt-buddy-2026.yaml"),
    ),
    (
        "task-throttle-2025",
        9,
        include_str!("../../../playbooks/published/reference/task-throttle-2025.yaml"),
    ),
    (
        "tg-load-avg-2014",
        27,
        include_str!("../../../playbooks/published/reference/tg-load-avg-2014.yaml"),
    ),
];

fn shipped(id: &str) -> Reference {
    let (_, _, text) = SHIPPED.iter().find(|(known, ..)| *known == id).unwrap();
    Reference::parse(id, text).unwrap()
}

#[test]
fn every_shipped_reference_can_be_read_in_full() {
    for (id, rows, text) in SHIPPED {
        let reference = Reference::parse(id, text).unwrap();
        assert_eq!((reference.id.as_str(), reference.rows.len()), (*id, *rows));
    }
}

#[test]
fn classes_follow_the_larger_standard_deviation_or_the_authors_word() {
    let reference = shipped("task-throttle-2025");
    let classes: Vec<Class> = reference
        .rows
        .iter()
        .map(|r| reference.class(r).unwrap())
        .collect();
    use Class::{Noise, Regressed};
    let expected = [
        Noise, Noise, Noise, Regressed, Regressed, Noise, Noise, Regressed, Noise,
    ];
    assert_eq!(classes, expected);
    // A printed difference and the one of the means agree to rounding.
    for row in reference.rows.iter().filter(|r| r.change_pct.is_some()) {
        let from_means = Row {
            change_pct: None,
            ..row.clone()
        }
        .improvement_pct()
        .unwrap();
        assert!(
            (from_means - row.change_pct.unwrap()).abs() < 0.05,
            "{row:?}"
        );
    }
}

#[test]
fn a_row_without_prediction_counts_as_wrong_and_is_listed() {
    let reference = shipped("task-throttle-2025");
    let change = |improvement_pct, class| Prediction::Change {
        improvement_pct,
        spread_pct: 1.0,
        class,
    };
    let mut predictions = vec![change(0.1, Class::Noise); 9];
    predictions[1] = change(3.0, Class::Improved);
    predictions[3] = change(-23.08, Class::Regressed);
    predictions[4] = Prediction::None("not modelled".to_owned());
    let counts = [Some(10.0), Some(8052.0), Some(200_000.0)];
    let scored = score(&reference, &predictions, &counts, &[Some(4.0)]);
    let summary = &scored.summary;
    assert_eq!(
        (summary.scored, summary.not_predicted, summary.not_scored),
        (9, 1, 0)
    );
    // Right: rows 1, 3, 4, 6, 7 and 9.
    assert_eq!(summary.class_agreement, Some(6.0 / 9.0));
    assert_eq!(summary.false_alarms, 1);
    assert_eq!(scored.rows[4].note.as_deref(), Some("not modelled"));
    let ratio = scored.rows[3].ln_ratio.unwrap();
    assert!((ratio - 2_f64.ln()).abs() < 1e-3, "{ratio}");
    assert_eq!(summary.counts, 11);
    assert_eq!((summary.counts_within_1_5, summary.counts_within_3), (2, 3));
}

#[test]
fn rows_that_the_reference_does_not_score_are_listed_and_not_counted() {
    let reference = shipped("smt-buddy-2026");
    let scored = score(&reference, &[], &[], &[]);
    assert_eq!(scored.summary.not_scored, 2);
    assert_eq!(scored.summary.not_predicted, 76);
    assert_eq!(scored.summary.class_agreement, Some(0.0));
    assert_eq!(scored.summary.kappa, None);
}

#[test]
fn a_reference_with_a_gap_is_refused_by_row() {
    let (.., text) = SHIPPED[3];
    let no_change = text
        .replace(", change_pct: -24.69", "")
        .replace("mean: 101, ", "");
    assert!(matches!(
        Reference::parse("mine", &no_change),
        Err(ReferenceError::NoChange { row: 5, .. })
    ));
    let no_spread = text.replace("base_std_pct: 4.33, ", "");
    assert!(matches!(
        Reference::parse("mine", &no_spread),
        Err(ReferenceError::NoSpread { row: 4, .. })
    ));
    let no_machine = text.replace("emr: emr-2s, ", "");
    assert!(matches!(
        Reference::parse("mine", &no_machine),
        Err(ReferenceError::Machine { row: 1, .. })
    ));
    let later = text.replace("reference: 1\n", "reference: 9\n");
    assert!(matches!(
        Reference::parse("mine", &later),
        Err(ReferenceError::Format { .. })
    ));
}
