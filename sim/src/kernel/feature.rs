//! Scheduler features by the kernel's tokens (kernel/sched/features.h), those the model knows.

use std::collections::BTreeMap;
use std::fmt;

use crate::sourced::Sourced;

macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $token:literal,)+) => {
        /// A scheduler feature that the model acts on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Feature { $($(#[$doc])* $variant,)+ }

        impl Feature {
            /// Every feature the model acts on.
            pub const ALL: &[Feature] = &[$(Feature::$variant,)+];

            /// The kernel's token, as in `/sys/kernel/debug/sched/features`.
            pub fn token(self) -> &'static str {
                match self { $(Feature::$variant => $token,)+ }
            }
        }
    };
}

features! {
    /// Keep lag over a sleep.
    PlaceLag = "PLACE_LAG",
    /// A forked task gets half a slice.
    PlaceDeadlineInitial = "PLACE_DEADLINE_INITIAL",
    /// A migrated task keeps what is left of its request.
    PlaceRelDeadline = "PLACE_REL_DEADLINE",
    /// A waking task is placed ahead as CFS did (a proposal; never in mainline).
    PlaceBonus = "PLACE_BONUS",
    /// A task runs until its lag is used up or its slice ends.
    RunToParity = "RUN_TO_PARITY",
    /// A wakee with a shorter slice ignores protection.
    PreemptShort = "PREEMPT_SHORT",
    /// Prefer the task just woken.
    NextBuddy = "NEXT_BUDDY",
    /// Prefer the task that was preempted (CFS).
    LastBuddy = "LAST_BUDDY",
    /// Picking honours the next buddy.
    PickBuddy = "PICK_BUDDY",
    /// Buddies count as cache-hot.
    CacheHotBuddy = "CACHE_HOT_BUDDY",
    /// A blocking task without lag stays queued.
    DelayDequeue = "DELAY_DEQUEUE",
    /// ... and its lag is cut at zero.
    DelayZero = "DELAY_ZERO",
    /// Wake-ups may preempt.
    WakeupPreemption = "WAKEUP_PREEMPTION",
    /// Slices end by a timer instead of a tick.
    Hrtick = "HRTICK",
    /// A wake-up may be queued to a remote CPU's list.
    TtwuQueue = "TTWU_QUEUE",
    /// Scan depth by average idle time.
    SisProp = "SIS_PROP",
    /// Scan depth by LLC utilisation.
    SisUtil = "SIS_UTIL",
    /// Cut a scan by average idle time (before `SIS_PROP`).
    SisAvgCpu = "SIS_AVG_CPU",
    /// Ignore groups with little load in `load_balance`.
    LbMin = "LB_MIN",
    /// Attach decays foreign load.
    AttachAgeLoad = "ATTACH_AGE_LOAD",
    /// wake_affine: idle rule.
    WaIdle = "WA_IDLE",
    /// wake_affine: weight rule.
    WaWeight = "WA_WEIGHT",
    /// wake_affine: bias towards the waker.
    WaBias = "WA_BIAS",
    /// Estimated utilisation.
    UtilEst = "UTIL_EST",
    /// Newidle balancing by the odds of success.
    NiRandom = "NI_RANDOM",
    /// ... weighted by time.
    NiRate = "NI_RATE",
    /// Sleepers are credited half a latency period (CFS).
    GentleFairSleepers = "GENTLE_FAIR_SLEEPERS",
    /// A new task starts a slice late (CFS).
    StartDebit = "START_DEBIT",
    /// The period of CFS grows with the number of runnable tasks in the hierarchy.
    AltPeriod = "ALT_PERIOD",
    /// A slice of CFS is never below the minimum granularity.
    BaseSlice = "BASE_SLICE",
    /// CPU time taken by interrupts lowers capacity.
    NontaskCapacity = "NONTASK_CAPACITY",
    /// Prefer the SMT sibling of the waker (a proposal).
    SmtBuddyAssist = "SMT_BUDDY_ASSIST",
}

/// A token that the model does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeatureError {
    /// Not a feature the model acts on.
    #[error("`{token}` is no scheduler feature that the model acts on")]
    Unknown {
        /// As given.
        token: String,
    },
    /// The kernel of this profile has no such feature.
    #[error("kernel profile `{profile}` has no scheduler feature `{token}`")]
    NotInKernel {
        /// As given.
        token: String,
        /// The profile.
        profile: String,
    },
}

impl Feature {
    /// Reads `PLACE_LAG` or `NO_PLACE_LAG`.
    pub fn parse_toggle(token: &str) -> Result<(Feature, bool), FeatureError> {
        let (name, on) = match token.strip_prefix("NO_") {
            Some(name) => (name, false),
            None => (token, true),
        };
        (Feature::ALL.iter().find(|f| f.token() == name))
            .map(|&f| (f, on))
            .ok_or_else(|| FeatureError::Unknown {
                token: token.to_owned(),
            })
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.token())
    }
}

/// Which features a kernel has, and which of them are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    has: u64,
    on: u64,
}

impl Features {
    /// Whether a feature is on; a kernel without it behaves as with it off.
    #[inline]
    pub fn on(self, feature: Feature) -> bool {
        self.on >> feature as u8 & 1 == 1
    }

    /// Whether the kernel has the feature at all.
    pub fn has(self, feature: Feature) -> bool {
        self.has >> feature as u8 & 1 == 1
    }

    /// Adds the feature to the kernel, on or off.
    pub fn set(&mut self, feature: Feature, on: bool) {
        let bit = 1 << feature as u8;
        self.has |= bit;
        self.on = if on { self.on | bit } else { self.on & !bit };
    }

    /// From the table of a kernel file.
    pub(crate) fn from_table(
        table: &BTreeMap<String, Sourced<bool>>,
    ) -> Result<Self, FeatureError> {
        let mut features = Features::default();
        for (token, entry) in table {
            let (feature, named_on) = Feature::parse_toggle(token)?;
            features.set(feature, entry.value == named_on);
        }
        Ok(features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_parses_to_its_feature_both_ways() {
        assert!(Feature::ALL.len() <= 64);
        for &feature in Feature::ALL {
            assert_eq!(Feature::parse_toggle(feature.token()), Ok((feature, true)));
            let off = format!("NO_{feature}");
            assert_eq!(Feature::parse_toggle(&off), Ok((feature, false)));
        }
        assert!(Feature::parse_toggle("NO_SUCH").is_err());
    }
}
