//! Changes to a kernel, by name. A patch changes answers of a profile; it has no number of its own.

use std::fmt;

use super::feature::{Feature, FeatureError};
use super::profile::Profile;
use super::rules::{
    ClusterScan, LoadTracking, MigrationScope, NewidleScope, Policy, RelaxCompare, ThrottleModel,
    ThrottledLb, UnthrottleBy,
};

macro_rules! patches {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A change to a kernel that takes no argument.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum NamedPatch { $($(#[$doc])* $variant,)+ }

        impl NamedPatch {
            /// Every one.
            pub const ALL: &[NamedPatch] = &[$(NamedPatch::$variant,)+];

            /// As playbooks write it.
            pub fn name(self) -> &'static str {
                match self { $(NamedPatch::$variant => $name,)+ }
            }
        }
    };
}

patches! {
    /// Tasks throttle themselves, balancing looks at the destination only (6.18).
    TaskThrottle = "task-throttle",
    /// Tasks throttle themselves, balancing still refuses a throttled source or destination: the
    /// series without its last patch.
    TaskThrottleLbPair = "task-throttle-lb-pair",
    /// Balancing refuses a throttled source or destination: takes the last part of
    /// `task-throttle` back.
    ThrottledLbForbidden = "throttled-lb-forbidden",
    /// Wake-up search in the L2 cluster first, with prev and recent CPU as fallback (6.7).
    ClusterWakeup = "cluster-wakeup",
    /// The same without the fallback: earlier versions of the series.
    ClusterWakeupNoFallback = "cluster-wakeup-no-fallback",
    /// No wake-up search in the cluster: takes the above out of a kernel that has it.
    NoClusterWakeup = "no-cluster-wakeup",
    /// Woken tasks are placed ahead as CFS did.
    PlaceBonus = "place-bonus",
    /// `tg->load_avg` is not written where the contribution is unchanged.
    SkipZeroContrib = "skip-zero-contrib",
    /// `tg->load_avg` is written past the threshold only.
    NoForceUpdate = "no-force-update",
    /// Per-entity load tracking without separate blocked load (4.3).
    PerEntityLoadRewrite = "per-entity-load-rewrite",
    /// A queue writes `tg->load_avg` at most once a millisecond (6.7).
    TgLoadAvgRatelimit = "tg-load-avg-ratelimit",
    /// Every part of the SMT buddy series.
    SmtBuddy = "smt-buddy",
    /// Its wake-up part: the waker's SMT sibling is preferred.
    SmtBuddyAssist = "smt-buddy-assist",
    /// Its balancing part: newidle balancing does not pull from beyond the LLC.
    SmtBuddyNewidle = "smt-buddy-newidle",
    /// No migration in domains that do not share the LLC.
    NoMigrationBeyondLlc = "no-migration-beyond-llc",
    /// `relax_domain_level` takes its own level in (6.10).
    RelaxAtOrAbove = "relax-at-or-above",
}

/// A change to a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Patch {
    /// One without argument.
    Named(NamedPatch),
    /// `relax_domain_level=N` of the command line.
    RelaxDomainLevel(i32),
    /// `base-slice=NS`: what `base_slice_ns` in debugfs is set to, scaled already.
    BaseSlice(u64),
    /// `normalized-base-slice=NS`: the base slice before scaling, as the kernel is built with.
    NormalizedBaseSlice(u64),
    /// `PLACE_LAG` or `NO_PLACE_LAG`.
    Feature(Feature, bool),
}

/// A patch that is unknown, or has no meaning on a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// No patch of that name.
    #[error(
        "`{text}` is no patch the model knows: one of {known}, relax_domain_level=N, \
         base-slice=NS, normalized-base-slice=NS, or a scheduler feature like NO_PLACE_LAG"
    )]
    Unknown {
        /// As given.
        text: String,
        /// What there is.
        known: String,
    },
    /// The part after `=` is not a number in range.
    #[error("`{value}` in patch `{text}` is not {wanted}")]
    Value {
        /// As given.
        text: String,
        /// The part.
        value: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// A feature the kernel has not.
    #[error("patch `{token}` cannot be applied")]
    Feature {
        /// As given.
        token: String,
        /// Why.
        #[source]
        source: FeatureError,
    },
    /// A patch for EEVDF on a kernel with CFS.
    #[error("patch `{patch}` needs a kernel with EEVDF, profile `{profile}` has CFS")]
    NeedsEevdf {
        /// The patch.
        patch: String,
        /// The profile.
        profile: String,
    },
}

/// `base_slice_ns` may be set to 0.1 ms to 100 ms: the range of a task's own slice (6.12).
const BASE_SLICE_NS: std::ops::RangeInclusive<u64> = 100_000..=100_000_000;

impl Patch {
    /// Reads a patch as a playbook writes it.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        let text = text.trim();
        if let Some(&named) = NamedPatch::ALL.iter().find(|p| p.name() == text) {
            return Ok(Patch::Named(named));
        }
        let bad = |value: &str, wanted| PatchError::Value {
            text: text.to_owned(),
            value: value.to_owned(),
            wanted,
        };
        match text.split_once('=') {
            Some(("relax_domain_level", value)) => (value.parse())
                .map(Patch::RelaxDomainLevel)
                .map_err(|_| bad(value, "a level: -1, 0, 1, ...")),
            Some((name @ ("base-slice" | "normalized-base-slice"), value)) => {
                let slice = value.parse().ok().filter(|ns| BASE_SLICE_NS.contains(ns));
                let ns = slice.ok_or_else(|| bad(value, "a slice of 100000 to 100000000 ns"))?;
                Ok(match name {
                    "base-slice" => Patch::BaseSlice(ns),
                    _ => Patch::NormalizedBaseSlice(ns),
                })
            }
            _ => Feature::parse_toggle(text)
                .map(|(feature, on)| Patch::Feature(feature, on))
                .map_err(|_| PatchError::Unknown {
                    text: text.to_owned(),
                    known: known(),
                }),
        }
    }
}

fn known() -> String {
    let names: Vec<_> = NamedPatch::ALL.iter().map(|p| p.name()).collect();
    names.join(", ")
}

impl fmt::Display for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Patch::Named(named) => f.write_str(named.name()),
            Patch::RelaxDomainLevel(level) => write!(f, "relax_domain_level={level}"),
            Patch::BaseSlice(ns) => write!(f, "base-slice={ns}"),
            Patch::NormalizedBaseSlice(ns) => write!(f, "normalized-base-slice={ns}"),
            Patch::Feature(feature, true) => write!(f, "{feature}"),
            Patch::Feature(feature, false) => write!(f, "NO_{feature}"),
        }
    }
}

impl Profile {
    /// This kernel with a patch on it. A patch that is in the kernel already changes nothing.
    pub fn with(mut self, patch: &Patch) -> Result<Self, PatchError> {
        match *patch {
            Patch::Named(named) => self.apply(named, patch)?,
            Patch::RelaxDomainLevel(level) => self.relax_domain_level = Some(level),
            Patch::BaseSlice(ns) => {
                self.need_eevdf(patch)?;
                self.base_slice_ns = Some(ns);
            }
            Patch::NormalizedBaseSlice(ns) => {
                self.need_eevdf(patch)?;
                self.constants.slice.base_slice_ns = Some(ns);
            }
            Patch::Feature(feature, on) if self.features.has(feature) => {
                self.features.set(feature, on);
            }
            Patch::Feature(..) => {
                let token = patch.to_string();
                let profile = self.name.clone();
                let source = FeatureError::NotInKernel {
                    token: token.clone(),
                    profile,
                };
                return Err(PatchError::Feature { token, source });
            }
        }
        self.patches.push(patch.to_string());
        Ok(self)
    }

    /// This kernel with patches on it, in order, each as a playbook writes it.
    pub fn with_all<S: AsRef<str>>(self, patches: &[S]) -> Result<Self, PatchError> {
        (patches.iter()).try_fold(self, |profile, text| {
            let patch = Patch::parse(text.as_ref())?;
            profile.with(&patch)
        })
    }

    /// This kernel with a change that a stable release carries: may bring a feature it had not.
    pub(crate) fn with_backport(mut self, patch: &Patch) -> Result<Self, PatchError> {
        if let Patch::Feature(feature, on) = *patch {
            self.features.set(feature, on);
        }
        self.with(patch)
    }

    fn need_eevdf(&self, patch: &Patch) -> Result<(), PatchError> {
        match self.rules.policy {
            Policy::Eevdf | Policy::EevdfFlat => Ok(()),
            Policy::Cfs => Err(PatchError::NeedsEevdf {
                patch: patch.to_string(),
                profile: self.name.clone(),
            }),
        }
    }

    fn apply(&mut self, named: NamedPatch, patch: &Patch) -> Result<(), PatchError> {
        if named == NamedPatch::PlaceBonus {
            self.need_eevdf(patch)?;
        }
        let rules = &mut self.rules;
        match named {
            NamedPatch::TaskThrottle | NamedPatch::TaskThrottleLbPair => {
                rules.throttle = ThrottleModel::Task;
                rules.unthrottle_by = UnthrottleBy::EachCpu;
                rules.throttled_lb = match named {
                    NamedPatch::TaskThrottle => ThrottledLb::Destination,
                    _ => ThrottledLb::Pair,
                };
            }
            NamedPatch::ClusterWakeup | NamedPatch::ClusterWakeupNoFallback => {
                rules.cluster_flag = rules.cluster_level;
                rules.cluster_scan = match named {
                    NamedPatch::ClusterWakeup => ClusterScan::Fallback,
                    _ => ClusterScan::NoFallback,
                };
            }
            NamedPatch::ThrottledLbForbidden => rules.throttled_lb = ThrottledLb::Pair,
            NamedPatch::NoClusterWakeup => rules.cluster_scan = ClusterScan::Off,
            NamedPatch::PlaceBonus => self.features.set(Feature::PlaceBonus, true),
            NamedPatch::SkipZeroContrib => rules.tg_zero_delta_writes = false,
            NamedPatch::NoForceUpdate => rules.tg_force_update = false,
            NamedPatch::PerEntityLoadRewrite => {
                rules.load_tracking = LoadTracking::Rewritten;
                rules.tg_zero_delta_writes = false;
                rules.tg_force_update = false;
                self.constants.group_load.contrib_shift_count = CONTRIB_SHIFT_REWRITTEN;
            }
            NamedPatch::TgLoadAvgRatelimit => {
                self.constants.group_load.update_interval_ns = Some(TG_UPDATE_INTERVAL_NS);
            }
            NamedPatch::SmtBuddy => {
                self.features.set(Feature::SmtBuddyAssist, true);
                rules.newidle_scope = NewidleScope::WithinLlc;
            }
            NamedPatch::SmtBuddyAssist => self.features.set(Feature::SmtBuddyAssist, true),
            NamedPatch::SmtBuddyNewidle => rules.newidle_scope = NewidleScope::WithinLlc,
            NamedPatch::RelaxAtOrAbove => rules.relax_compare = RelaxCompare::AtOrAbove,
            NamedPatch::NoMigrationBeyondLlc => {
                rules.migration_scope = MigrationScope::WithinLlc;
            }
        }
        Ok(())
    }
}

/// The rewrite's threshold: a 64th of the contribution (9d89c257dfb9, update_cfs_rq_load_avg).
const CONTRIB_SHIFT_REWRITTEN: u64 = 6;
/// The rate limit's interval (1528c661c24b, update_tg_load_avg).
const TG_UPDATE_INTERVAL_NS: u64 = 1_000_000;
