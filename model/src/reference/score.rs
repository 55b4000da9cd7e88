//! Predictions beside published rows. No row is dropped silently: those that could not be predicted
//! are listed and counted.

use schedrig_stats::agreement::{Class, Confusion, LogRatios, ln_ratio, log_ratios, within_factor};
use serde::Serialize;

use super::types::{CountRow, Reference, Row, ShareRow};

/// What the simulator says about one row; in the order of the reference's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// A difference.
    Change {
        /// In percent of the base, positive is better.
        improvement_pct: f64,
        /// Standard deviation over seeds, in percent of the base.
        spread_pct: f64,
        /// Its class, by the same code that judges measured runs.
        class: Class,
    },
    /// None, and why: a mechanism that is not modelled, a run that failed.
    None(String),
}

/// A predicted count; `None`: not predicted.
pub type CountPrediction = Option<f64>;
/// A predicted share in percent; `None`: not predicted.
pub type SharePrediction = Option<f64>;

/// A row with its prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoredRow {
    /// The published row.
    pub row: Row,
    /// The published class; `None` for a row that is not scored.
    pub published: Option<Class>,
    /// The predicted difference in percent, positive is better.
    pub expected_pct: Option<f64>,
    /// Its standard deviation over seeds.
    pub spread_pct: Option<f64>,
    /// The predicted class.
    pub expected: Option<Class>,
    /// Whether the classes agree.
    pub agrees: Option<bool>,
    /// ln(predicted / published), where both have one sign.
    pub ln_ratio: Option<f64>,
    /// Why there is no score.
    pub note: Option<String>,
}

/// A count with its prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoredCount {
    /// The published count.
    pub row: CountRow,
    /// The predicted one.
    pub expected: Option<f64>,
    /// Predicted by published.
    pub factor: Option<f64>,
}

/// A share with its prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoredShare {
    /// The published share.
    pub row: ShareRow,
    /// The predicted one in percent.
    pub expected: Option<f64>,
    /// Predicted by published.
    pub factor: Option<f64>,
}

/// The summary of all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Rows that count.
    pub scored: u32,
    /// Rows that count and have no prediction: wrong in `class_agreement`.
    pub not_predicted: u32,
    /// Rows listed without counting, as the reference says.
    pub not_scored: u32,
    /// Share of the scored rows in the right class, 0 to 1; one without prediction is wrong.
    pub class_agreement: Option<f64>,
    /// Cohen's kappa of the predicted rows.
    pub kappa: Option<f64>,
    /// Rows published as noise and predicted as a difference.
    pub false_alarms: u32,
    /// Median |ln ratio| of rows published and predicted as differences of one sign.
    pub median_abs_ln_ratio: Option<f64>,
    /// 90th percentile of the same.
    pub p90_abs_ln_ratio: Option<f64>,
    /// Counts and shares.
    pub counts: u32,
    /// Those within a factor of 1.5.
    pub counts_within_1_5: u32,
    /// Those within a factor of 3.
    pub counts_within_3: u32,
}

/// Everything of a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The reference's id.
    pub id: String,
    /// Row by row.
    pub rows: Vec<ScoredRow>,
    /// Count by count.
    pub counts: Vec<ScoredCount>,
    /// Share by share.
    pub shares: Vec<ScoredShare>,
    /// The summary.
    pub summary: Summary,
}

/// Scores predictions, given in the order of the reference's lists. A missing one is none.
pub fn score(
    reference: &Reference,
    rows: &[Prediction],
    counts: &[CountPrediction],
    shares: &[SharePrediction],
) -> Score {
    let rows: Vec<ScoredRow> = (reference.rows.iter().enumerate())
        .map(|(at, row)| score_row(reference, row, rows.get(at)))
        .collect();
    let counts: Vec<ScoredCount> = (reference.counts.iter().enumerate())
        .map(|(at, row)| {
            let expected = counts.get(at).copied().flatten();
            let factor = expected.and_then(|e| factor(e, row.value));
            ScoredCount {
                row: row.clone(),
                expected,
                factor,
            }
        })
        .collect();
    let shares: Vec<ScoredShare> = (reference.shares.iter().enumerate())
        .map(|(at, row)| {
            let expected = shares.get(at).copied().flatten();
            let factor = expected.and_then(|e| factor(e, row.pct));
            ScoredShare {
                row: row.clone(),
                expected,
                factor,
            }
        })
        .collect();
    let summary = summarise(&rows, &counts, &shares);
    Score {
        id: reference.id.clone(),
        rows,
        counts,
        shares,
        summary,
    }
}

fn factor(expected: f64, published: f64) -> Option<f64> {
    let factor = expected / published;
    factor.is_finite().then_some(factor)
}

fn score_row(reference: &Reference, row: &Row, prediction: Option<&Prediction>) -> ScoredRow {
    let published = match row.not_scored {
        Some(_) => None,
        None => reference.class(row),
    };
    let mut scored = ScoredRow {
        row: row.clone(),
        published,
        expected_pct: None,
        spread_pct: None,
        expected: None,
        agrees: None,
        ln_ratio: None,
        note: row.not_scored.clone(),
    };
    match prediction {
        Some(&Prediction::Change {
            improvement_pct,
            spread_pct,
            class,
        }) => {
            scored.expected_pct = Some(improvement_pct);
            scored.spread_pct = Some(spread_pct);
            scored.expected = Some(class);
            scored.agrees = published.map(|p| p == class);
            let real = |c: Class| c != Class::Noise;
            scored.ln_ratio = (row.improvement_pct())
                .filter(|_| published.is_some_and(real) && real(class))
                .and_then(|p| ln_ratio(improvement_pct, p));
        }
        Some(Prediction::None(why)) => scored.note = scored.note.or(Some(why.clone())),
        None => scored.note = scored.note.or(Some("no prediction".to_owned())),
    }
    scored
}

fn summarise(rows: &[ScoredRow], counts: &[ScoredCount], shares: &[ScoredShare]) -> Summary {
    let mut confusion = Confusion::default();
    let mut not_predicted = 0;
    let mut sizes = Vec::new();
    for row in rows {
        match (row.published, row.expected) {
            (Some(published), Some(expected)) => confusion.add(published, expected),
            (Some(_), None) => not_predicted += 1,
            (None, _) => {}
        }
        let has_ratio = row.ln_ratio.is_some();
        if let (true, Some(e), Some(p)) = (has_ratio, row.expected_pct, row.row.improvement_pct()) {
            sizes.push((e, p));
        }
    }
    let scored = confusion.total() + not_predicted;
    let right: u32 = Class::ALL.iter().map(|c| confusion.count(*c, *c)).sum();
    let ratios: Option<LogRatios> = log_ratios(&sizes);
    // A count that was not predicted is within no factor.
    let pair = |expected: Option<f64>, published: f64| (expected.unwrap_or(0.0), published);
    let factors: Vec<(f64, f64)> = (counts.iter().map(|c| pair(c.expected, c.row.value)))
        .chain(shares.iter().map(|s| pair(s.expected, s.row.pct)))
        .collect();
    // Rows of a file are far fewer than u32::MAX.
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Summary {
        scored,
        not_predicted,
        not_scored: count(rows.len()) - scored,
        class_agreement: (scored > 0).then(|| f64::from(right) / f64::from(scored)),
        kappa: confusion.kappa(),
        false_alarms: confusion.false_alarms(),
        median_abs_ln_ratio: ratios.map(|r| r.median),
        p90_abs_ln_ratio: ratios.map(|r| r.p90),
        counts: count(factors.len()),
        counts_within_1_5: count(within_factor(&factors, 1.5)),
        counts_within_3: count(within_factor(&factors, 3.0)),
    }
}
