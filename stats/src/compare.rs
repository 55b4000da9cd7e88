//! Two samples in, one comparison out.

use serde::Serialize;

use crate::assume::{Assumption, Evidence, exact, normal, nothing};
use crate::correct::Correction;
use crate::direction::Direction;
use crate::moments::{pooled_sd, same};
use crate::noise::boot_noise;
use crate::power;
use crate::sample::Sample;
use crate::summary::{Summary, summarise};
use crate::verdict::{Doubt, Finding, Verdict, judge};
use crate::warning::{FACTOR_FROM, IMPLAUSIBLE_GAIN_PCT, Warning, add};

/// How verdicts are reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Criteria {
    /// What is assumed of the values.
    pub assume: Assumption,
    /// Level of significance.
    pub alpha: f64,
    /// Differences below this share are no change (0.01: 1 %).
    pub min_effect: f64,
    /// Correction for the number of rows.
    pub correction: Correction,
}

impl Default for Criteria {
    /// What a playbook without `judge` means.
    fn default() -> Self {
        Criteria {
            assume: Assumption::Nothing,
            alpha: 0.05,
            min_effect: 0.01,
            correction: Correction::Holm,
        }
    }
}

impl Criteria {
    /// The level that the smallest p-value of a table of `family` rows has to reach.
    pub(crate) fn row_alpha(&self, family: usize) -> f64 {
        match self.correction {
            Correction::Holm => self.alpha / family.max(1) as f64,
            Correction::None => self.alpha,
        }
    }
}

/// Samples that do not compare.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The two measure different things.
    #[error("base is in {base}, head is in {new}: not comparable")]
    Units {
        /// Unit of the base.
        base: String,
        /// Unit of the other.
        new: String,
    },
    /// The two disagree on what is better.
    #[error("base says {base} is better, head says {new}: not comparable")]
    Directions {
        /// Of the base.
        base: &'static str,
        /// Of the other.
        new: &'static str,
    },
}

/// A comparison of a sample with its base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Summary of the base.
    pub base: Summary,
    /// Summary of the other, in the unit of the base.
    pub new: Summary,
    /// (new - base) / base of the centres in percent; `None`: the base is zero.
    pub delta_pct: Option<f64>,
    /// The same signed so that positive is better; `None` also where the direction is unknown.
    pub improvement_pct: Option<f64>,
    /// Interval of the difference at level 1 - alpha in percent of the base's centre, (new - base)
    /// signed; `None`: too few values or a base of zero.
    pub interval_pct: Option<(f64, f64)>,
    /// Two-sided p-value of this row alone; `None`: the test cannot be done.
    pub p: Option<f64>,
    /// The p-value corrected for the rows of the table.
    pub p_adjusted: Option<f64>,
    /// Rows of the table it was corrected for.
    pub family: usize,
    /// Values of the base.
    pub n1: usize,
    /// Values of the other.
    pub n2: usize,
    /// Level of significance of the table.
    pub alpha: f64,
    /// What it says.
    pub verdict: Verdict,
    /// What a reader should know, those of both summaries included.
    pub warnings: Vec<Warning>,
}

/// Compares one pair, alone in its table.
pub fn compare(
    base: &Sample,
    new: &Sample,
    criteria: &Criteria,
) -> Result<Comparison, CompareError> {
    let pair = Pair::new(base, new, criteria)?;
    Ok(pair.conclude(criteria, pair.found.p, 1))
}

/// Compares the rows of one table: p-values are corrected for how many there are.
pub fn compare_all(
    pairs: &[(&Sample, &Sample)],
    criteria: &Criteria,
) -> Vec<Result<Comparison, CompareError>> {
    let found: Vec<_> = pairs
        .iter()
        .map(|(base, new)| Pair::new(base, new, criteria))
        .collect();
    let raw: Vec<Option<f64>> = found
        .iter()
        .map(|pair| pair.as_ref().ok().and_then(|p| p.found.p))
        .collect();
    let family = raw.iter().flatten().count();
    let adjusted = criteria.correction.adjust(&raw);
    let concluded = found.into_iter().zip(adjusted);
    concluded
        .map(|(pair, p)| pair.map(|pair| pair.conclude(criteria, p, family)))
        .collect()
}

/// A pair with its evidence, before the rest of the table is known.
struct Pair {
    base: Summary,
    new: Summary,
    found: Finding,
    warnings: Vec<Warning>,
}

impl Pair {
    fn new(base: &Sample, new: &Sample, criteria: &Criteria) -> Result<Pair, CompareError> {
        let converted = new
            .converted(base.unit())
            .ok_or_else(|| CompareError::Units {
                base: base.unit().to_string(),
                new: new.unit().to_string(),
            })?;
        if base.direction() != new.direction() {
            return Err(CompareError::Directions {
                base: base.direction().word(),
                new: new.direction().word(),
            });
        }
        let new = converted;
        let summaries = (
            summarise(base, criteria.assume),
            summarise(&new, criteria.assume),
        );
        let evidence = evidence(base, &new, criteria);
        let zero = |s: &Sample| s.values().iter().all(|v| *v == 0.0);
        let found = Finding {
            assume: criteria.assume,
            direction: base.direction(),
            base: summaries.0.center,
            new: summaries.1.center,
            interval: evidence.interval,
            sd: pooled_sd(base.values(), new.values()),
            n1: base.n(),
            n2: new.n(),
            both_constant: base.is_constant() && new.is_constant(),
            all_zero: zero(base) && zero(&new),
            resolution: base.resolution().or(new.resolution()),
            p: evidence.p,
        };
        Ok(Pair {
            warnings: boot_warnings(base, &new),
            base: summaries.0,
            new: summaries.1,
            found,
        })
    }

    fn conclude(&self, criteria: &Criteria, p_adjusted: Option<f64>, family: usize) -> Comparison {
        let found = &self.found;
        let verdict = judge(found, criteria, p_adjusted, family);
        let share = |value: f64| value / found.base.abs() * 100.0;
        let usable = found.base != 0.0;
        let delta = if same(found.base, found.new) {
            0.0
        } else {
            found.new - found.base
        };
        let delta_pct = usable.then(|| share(delta));
        let improvement_pct = delta_pct.and_then(|d| found.direction.improvement(d));
        let mut comparison = Comparison {
            base: self.base.clone(),
            new: self.new.clone(),
            delta_pct,
            improvement_pct,
            interval_pct: found
                .interval
                .filter(|_| usable)
                .map(|(low, high)| (share(low), share(high))),
            p: found.p,
            p_adjusted,
            family,
            n1: found.n1,
            n2: found.n2,
            alpha: criteria.alpha,
            verdict,
            warnings: self.warnings.clone(),
        };
        self.warn(&mut comparison, criteria);
        comparison
    }

    fn warn(&self, comparison: &mut Comparison, criteria: &Criteria) {
        let warnings = &mut comparison.warnings;
        for inherited in self.base.warnings.iter().chain(&self.new.warnings) {
            add(warnings, inherited.clone());
        }
        let found = &self.found;
        if found.all_zero {
            add(warnings, Warning::AllZero);
            return;
        }
        if found.base == 0.0 {
            add(warnings, Warning::BaseZero);
        } else if found.new / found.base >= FACTOR_FROM {
            let ratio = found.new / found.base;
            add(warnings, Warning::TinyBase { ratio });
        }
        if let Some(pct) = comparison
            .improvement_pct
            .filter(|p| *p > IMPLAUSIBLE_GAIN_PCT)
        {
            add(warnings, Warning::ImplausiblyLarge { pct });
        }
        match (comparison.verdict, found.resolution) {
            (
                Verdict::CannotTell {
                    reason: Doubt::WithinResolution,
                    ..
                },
                Some(step),
            ) => {
                let unit = self.base.unit.clone();
                add(warnings, Warning::WithinResolution { step, unit });
            }
            (
                Verdict::CannotTell {
                    reason: Doubt::TooFew,
                    needs_n: Some(need),
                },
                _,
            ) => {
                let alpha = criteria.row_alpha(comparison.family);
                debug_assert_eq!(need, power::least_n(criteria.assume, alpha));
                add(warnings, Warning::TooFewToDetect { need, alpha });
            }
            _ => {}
        }
    }
}

fn evidence(base: &Sample, new: &Sample, criteria: &Criteria) -> Evidence {
    let (b, n) = (base.values(), new.values());
    match criteria.assume {
        Assumption::Nothing => nothing::rank_test(b, n, criteria.alpha),
        // Without spread in either arm there is no t; ranks still say how often chance would part
        // the arms so.
        Assumption::Normal
            if b.len().min(n.len()) > 1 && base.is_constant() && new.is_constant() =>
        {
            nothing::rank_test(b, n, criteria.alpha)
        }
        Assumption::Normal => normal::welch(b, n, criteria.alpha),
        Assumption::Exact => exact::exact_test(b, n),
    }
}

fn boot_warnings(base: &Sample, new: &Sample) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for sample in [base, new] {
        if sample.boot_count() == Some(1) {
            add(&mut warnings, Warning::OneBoot);
        }
        if let Some(noise) = boot_noise(sample).filter(|n| n.between_pct > n.within_pct) {
            add(
                &mut warnings,
                Warning::BootsDiffer {
                    between_pct: noise.between_pct,
                    within_pct: noise.within_pct,
                },
            );
        }
    }
    warnings
}

impl Comparison {
    /// New over base; `None`: the base is zero.
    pub fn ratio(&self) -> Option<f64> {
        self.delta_pct.map(|_| self.new.center / self.base.center)
    }

    /// Which way is better.
    pub fn direction(&self) -> Direction {
        self.base.direction
    }
}

#[cfg(test)]
mod tests;
