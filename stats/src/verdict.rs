//! From evidence to a word.

use std::fmt;

use serde::Serialize;

use crate::assume::Assumption;
use crate::compare::Criteria;
use crate::direction::Direction;
use crate::moments::same;
use crate::power;

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
pub enum Verdict {
    /// Better, beyond chance and beyond the least effect that matters.
    Improved,
    /// Worse, beyond chance and beyond the least effect that matters.
    Regressed,
    /// Different beyond chance, in a metric of which nobody said which way is better.
    Differs,
    /// The interval of the difference lies within the least effect that matters. The absence of a
    /// significant difference is no such thing.
    NoChange,
    /// Neither a difference nor its absence is shown.
    CannotTell {
        /// Repetitions an arm that would tell; `None`: more of the same would not help, or more than
        /// anybody runs.
        needs_n: Option<u32>,
        /// Why.
        reason: Doubt,
    },
}

/// Why a comparison does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The test cannot reach alpha with so few values.
    TooFew,
    /// The spread hides what is there.
    Spread,
    /// There is a difference, and it is not shown to be below or above the least effect that
    /// matters.
    NearThreshold,
    /// All values of both arms are the same, n of the smaller arm.
    ZeroSpread {
        /// Values of the smaller arm.
        n: usize,
    },
    /// The difference is at most one step of the metric.
    WithinResolution,
    /// Every value is zero.
    AllZero,
    /// Values of a metric stated exact vary.
    NotExact,
}

impl Verdict {
    /// Whether a difference or its absence is shown.
    pub fn tells(self) -> bool {
        !matches!(self, Verdict::CannotTell { .. })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Improved => f.write_str("improved"),
            Verdict::Regressed => f.write_str("regressed"),
            Verdict::Differs => f.write_str("differs (direction unknown)"),
            Verdict::NoChange => f.write_str("no change"),
            Verdict::CannotTell { needs_n, reason } => match (reason, needs_n) {
                (Doubt::ZeroSpread { n }, _) => write!(f, "cannot tell (sd 0, n={n})"),
                (Doubt::WithinResolution, _) => f.write_str("cannot tell (within resolution)"),
                (Doubt::AllZero, _) => f.write_str("cannot tell (all values 0)"),
                (Doubt::NotExact, _) => f.write_str("cannot tell (not exact)"),
                (_, Some(n)) => write!(f, "cannot tell, needs n >= {n}"),
                (_, None) => write!(f, "cannot tell, needs n > {}", power::MOST_ADVISED),
            },
        }
    }
}

/// What is known of a pair of samples, in the unit of the base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    pub(crate) assume: Assumption,
    pub(crate) direction: Direction,
    pub(crate) base: f64,
    pub(crate) new: f64,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) sd: Option<f64>,
    pub(crate) n1: usize,
    pub(crate) n2: usize,
    pub(crate) both_constant: bool,
    pub(crate) all_zero: bool,
    pub(crate) resolution: Option<f64>,
    /// Raw p-value.
    pub(crate) p: Option<f64>,
}

impl Finding {
    fn delta(&self) -> f64 {
        if same(self.base, self.new) {
            0.0
        } else {
            self.new - self.base
        }
    }

    fn fewest(&self) -> usize {
        self.n1.min(self.n2)
    }
}

/// The verdict on a finding whose p-value is `p_adjusted` in a table of `family` rows.
pub(crate) fn judge(
    found: &Finding,
    criteria: &Criteria,
    p_adjusted: Option<f64>,
    family: usize,
) -> Verdict {
    let cannot = |needs_n, reason| Verdict::CannotTell { needs_n, reason };
    if found.all_zero {
        return cannot(None, Doubt::AllZero);
    }
    if found.assume == Assumption::Exact {
        return judge_exact(found, criteria);
    }
    let alpha = criteria.row_alpha(family);
    let least = power::least_n(found.assume, alpha);
    let delta = found.delta();
    let limit = criteria.min_effect * found.base.abs();
    // Two constant arms say nothing of chance, unless the step of the metric is known and the
    // difference is more than that.
    let beyond_step = found
        .resolution
        .is_some_and(|step| delta.abs() > step * 1.000_001);
    if found.both_constant && found.fewest() > 1 && !beyond_step {
        let fine = found.resolution.is_some_and(|step| step <= limit);
        return if delta == 0.0 && fine && found.fewest() >= least as usize {
            Verdict::NoChange
        } else {
            cannot(None, Doubt::ZeroSpread { n: found.fewest() })
        };
    }
    if found
        .interval
        .is_some_and(|(low, high)| low.abs().max(high.abs()) <= limit)
    {
        return Verdict::NoChange;
    }
    let significant = p_adjusted.is_some_and(|p| p <= criteria.alpha);
    if !significant {
        return not_significant(found, criteria, family, delta, limit);
    }
    if found.resolution.is_some() && !beyond_step {
        return cannot(None, Doubt::WithinResolution);
    }
    if delta.abs() < limit || delta == 0.0 {
        return cannot(
            precision_n(found, delta, limit, alpha),
            Doubt::NearThreshold,
        );
    }
    by_sign(found.direction, delta)
}

fn by_sign(direction: Direction, delta: f64) -> Verdict {
    match direction.improvement(delta) {
        None => Verdict::Differs,
        Some(gain) if gain > 0.0 => Verdict::Improved,
        Some(_) => Verdict::Regressed,
    }
}

fn judge_exact(found: &Finding, criteria: &Criteria) -> Verdict {
    let delta = found.delta();
    if found.p.is_none() {
        Verdict::CannotTell {
            needs_n: None,
            reason: Doubt::NotExact,
        }
    } else if delta == 0.0 || delta.abs() < criteria.min_effect * found.base.abs() {
        Verdict::NoChange
    } else {
        by_sign(found.direction, delta)
    }
}

fn not_significant(
    found: &Finding,
    criteria: &Criteria,
    family: usize,
    delta: f64,
    limit: f64,
) -> Verdict {
    let alpha = criteria.row_alpha(family);
    let least = power::least_n(found.assume, alpha);
    let too_few = found.p.is_none() || power::least_p(found.assume, found.n1, found.n2) > alpha;
    if too_few && found.fewest() < least as usize {
        return Verdict::CannotTell {
            needs_n: Some(least),
            reason: Doubt::TooFew,
        };
    }
    if delta != 0.0
        && found
            .resolution
            .is_some_and(|step| delta.abs() <= step * 1.000_001)
    {
        return Verdict::CannotTell {
            needs_n: None,
            reason: Doubt::WithinResolution,
        };
    }
    // The least effect that matters is what has to be found or excluded; a larger one that was seen
    // takes fewer.
    let effect = delta.abs().max(limit);
    let needs_n = found
        .sd
        .and_then(|sd| power::needed_n(found.assume, effect, sd, alpha))
        .map(|n| n.max(found.fewest() as u32 + 1));
    Verdict::CannotTell {
        needs_n,
        reason: Doubt::Spread,
    }
}

/// Repetitions an arm at which the interval of a difference `delta` would end before `limit`.
fn precision_n(found: &Finding, delta: f64, limit: f64, alpha: f64) -> Option<u32> {
    let gap = limit - delta.abs();
    power::needed_n(found.assume, gap, found.sd?, alpha).map(|n| n.max(found.fewest() as u32 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let few = Verdict::CannotTell {
            needs_n: Some(4),
            reason: Doubt::TooFew,
        };
        assert_eq!(few.to_string(), "cannot tell, needs n >= 4");
        let zero = Verdict::CannotTell {
            needs_n: None,
            reason: Doubt::ZeroSpread { n: 5 },
        };
        assert_eq!(zero.to_string(), "cannot tell (sd 0, n=5)");
        assert!(!few.tells() && Verdict::NoChange.tells());
    }
}
