//! Kernels that come with the project, and which of them stands for a release.

use super::patch::PatchError;
use super::profile::{Profile, ProfileError, parse_stable};

/// Name and text of every shipped kernel, oldest first.
const FILES: &[(&str, &str)] = &[
    ("v3.16", include_str!("../../kernels/v3.16.yaml")),
    ("v4.18", include_str!("../../kernels/v4.18.yaml")),
    ("v5.10", include_str!("../../kernels/v5.10.yaml")),
    ("v6.1", include_str!("../../kernels/v6.1.yaml")),
    ("v6.6", include_str!("../../kernels/v6.6.yaml")),
    ("v6.8", include_str!("../../kernels/v6.8.yaml")),
    ("v6.12", include_str!("../../kernels/v6.12.yaml")),
    ("v6.17", include_str!("../../kernels/v6.17.yaml")),
    ("v6.18", include_str!("../../kernels/v6.18.yaml")),
    ("v7.1", include_str!("../../kernels/v7.1.yaml")),
    ("flat", include_str!("../../kernels/flat.yaml")),
];

/// No profile for what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// No shipped kernel of that name.
    #[error("no kernel profile `{name}`: one of {known}")]
    Name {
        /// As given.
        name: String,
        /// What there is.
        known: String,
    },
    /// Text that is not a kernel release.
    #[error("`{release}` is not a kernel release like 6.12.95")]
    Release {
        /// As given.
        release: String,
    },
    /// A release older than every profile.
    #[error("no kernel profile fits {release}: the oldest is {oldest}")]
    TooOld {
        /// As given.
        release: String,
        /// The oldest release a profile fits.
        oldest: String,
    },
    /// A backport that cannot be applied.
    #[error("a backport of kernel profile `{name}` cannot be applied")]
    Backport {
        /// The profile.
        name: String,
        /// Why.
        #[source]
        source: PatchError,
    },
    /// A file that came with the project is not as described.
    #[error("the kernel file of `{name}` cannot be used")]
    File {
        /// The profile.
        name: String,
        /// Why.
        #[source]
        source: Box<ProfileError>,
    },
}

/// A profile for a release, and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The profile.
    pub profile: Profile,
    /// Set where no profile names this release and a neighbour stands in: words for the reader.
    pub finding: Option<String>,
}

/// Names of the shipped kernels, oldest first.
pub fn shipped_kernels() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

fn read(name: &str, text: &str) -> Result<Profile, LookupError> {
    Profile::parse(name, text).map_err(|source| LookupError::File {
        name: name.to_owned(),
        source: Box::new(source),
    })
}

/// What stable releases up to this one are known to carry.
fn with_backports(profile: Profile, release: (u32, u32, u32)) -> Result<Profile, LookupError> {
    let name = profile.name.clone();
    let carried: Vec<_> = (profile.backports.iter())
        .filter(|b| (b.since.0, b.since.1) == (release.0, release.1) && b.since <= release)
        .map(|b| b.patch.clone())
        .collect();
    (carried.iter())
        .try_fold(profile, Profile::with_backport)
        .map_err(|source| LookupError::Backport { name, source })
}

impl Profile {
    /// A shipped kernel by name, as its first release was.
    pub fn shipped(name: &str) -> Result<Self, LookupError> {
        let found = FILES.iter().find(|(known, _)| *known == name);
        let (name, text) = found.ok_or_else(|| LookupError::Name {
            name: name.to_owned(),
            known: shipped_kernels().collect::<Vec<_>>().join(", "),
        })?;
        read(name, text)
    }

    /// The profile that fits a release such as `6.12.95+deb13-cloud-amd64`: the one that names it,
    /// else the newest one for an older release.
    pub fn for_release(release: &str) -> Result<Fit, LookupError> {
        let exact = parse_stable(release).ok_or_else(|| LookupError::Release {
            release: release.to_owned(),
        })?;
        let wanted = (exact.0, exact.1);
        let mut below: Option<((u32, u32), Profile)> = None;
        let mut oldest: Option<(u32, u32)> = None;
        for (name, text) in FILES {
            let profile = read(name, text)?;
            if profile.releases.contains(&wanted) {
                let profile = with_backports(profile, exact)?;
                return Ok(Fit {
                    profile,
                    finding: None,
                });
            }
            let newest = profile
                .releases
                .iter()
                .filter(|r| **r < wanted)
                .max()
                .copied();
            // Files are listed oldest first.
            oldest = oldest.or(profile.releases.iter().min().copied());
            if let Some(newest) = newest
                && below.as_ref().is_none_or(|(best, _)| newest > *best)
            {
                below = Some((newest, profile));
            }
        }
        let Some(((major, minor), profile)) = below else {
            let oldest = oldest.map_or_else(String::new, |(a, b)| format!("{a}.{b}"));
            return Err(LookupError::TooOld {
                release: release.to_owned(),
                oldest,
            });
        };
        let finding = format!(
            "no kernel profile names {}.{}: `{}`, made for {major}.{minor} and before, stands in",
            wanted.0, wanted.1, profile.name
        );
        Ok(Fit {
            profile,
            finding: Some(finding),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::rules::{Policy, ThrottleModel};
    use crate::kernel::{Feature, Patch};

    #[test]
    fn every_shipped_kernel_can_be_read_and_bears_its_name() {
        for name in shipped_kernels() {
            assert_eq!(Profile::shipped(name).unwrap().name, name);
        }
        let error = Profile::shipped("v9.9").unwrap_err();
        assert!(error.to_string().contains("v6.12"), "{error}");
    }

    #[test]
    fn a_release_finds_its_profile() {
        let name = |release| {
            let fit = Profile::for_release(release).unwrap();
            (fit.profile.name, fit.finding.is_none())
        };
        assert_eq!(name("6.12.95"), ("v6.12".to_owned(), true));
        assert_eq!(name("6.18.44-fc-v669"), ("v6.18".to_owned(), true));
        assert_eq!(name("3.16-rc4"), ("v3.16".to_owned(), true));
        assert_eq!(name("7.2.13+deb14-cloud-amd64"), ("flat".to_owned(), true));
        // Not named by any profile: the next older one, and it says so.
        assert_eq!(name("5.17.0"), ("v5.10".to_owned(), false));
        assert_eq!(name("9.0"), ("flat".to_owned(), false));
        assert!(matches!(
            Profile::for_release("2.6.32"),
            Err(LookupError::TooOld { oldest, .. }) if oldest == "3.14"
        ));
        assert!(matches!(
            Profile::for_release("linux"),
            Err(LookupError::Release { .. })
        ));
    }

    #[test]
    fn a_stable_release_carries_its_backports_and_an_earlier_one_does_not() {
        let slice = |release| {
            let profile = Profile::for_release(release).unwrap().profile;
            (
                profile.constants.slice.base_slice_ns,
                profile.on(Feature::NiRandom),
            )
        };
        assert_eq!(slice("6.12.95"), (Some(750_000), false));
        assert_eq!(slice("6.12.117+deb13"), (Some(700_000), true));
        assert_eq!(slice("6.11.200"), (Some(750_000), false));
    }

    #[test]
    fn no_release_is_named_by_two_profiles() {
        let mut seen = std::collections::BTreeSet::new();
        for name in shipped_kernels() {
            for release in Profile::shipped(name).unwrap().releases {
                assert!(seen.insert(release), "{release:?} is named twice");
            }
        }
    }

    /// The features of the real kernels, as the guests printed them.
    #[test]
    fn features_are_those_of_the_real_kernels() {
        let printed = [
            (
                "6.1.176",
                include_str!("../../testdata/sched_features/6.1.txt"),
            ),
            (
                "6.12.117",
                include_str!("../../testdata/sched_features/6.12.txt"),
            ),
            (
                "7.2.13",
                include_str!("../../testdata/sched_features/7.2.txt"),
            ),
        ];
        for (name, text) in printed {
            let profile = Profile::for_release(name).unwrap().profile;
            let known: Vec<(Feature, bool)> = (text.split_ascii_whitespace())
                .filter_map(|token| Feature::parse_toggle(token).ok())
                .collect();
            for &feature in Feature::ALL {
                let real = known.iter().find(|(f, _)| *f == feature).map(|(_, on)| *on);
                let ours = profile.features.has(feature).then(|| profile.on(feature));
                assert_eq!(ours, real, "{feature} of {name}");
            }
        }
    }

    #[test]
    fn patches_turn_one_kernel_into_the_next() {
        let v6_17 = Profile::shipped("v6.17").unwrap();
        let patched = v6_17.with(&Patch::parse("task-throttle").unwrap()).unwrap();
        let v6_18 = Profile::shipped("v6.18").unwrap();
        assert_eq!(patched.rules, v6_18.rules);
        assert_eq!(patched.rules.throttle, ThrottleModel::Task);

        let v6_6 = Profile::shipped("v6.6").unwrap();
        let series = ["cluster-wakeup", "tg-load-avg-ratelimit"];
        let patched = v6_6.with_all(&series).unwrap();
        let v6_8 = Profile::shipped("v6.8").unwrap();
        assert_eq!(patched.rules.cluster_scan, v6_8.rules.cluster_scan);
        assert_eq!(patched.constants, v6_8.constants);
        assert_eq!(patched.rules.policy, Policy::Eevdf);
    }

    /// The patches that the published playbooks name, on the profiles they name.
    #[test]
    fn patches_of_the_published_playbooks_apply() {
        let arms: [(&str, &[&str]); 9] = [
            ("v6.6", &["cluster-wakeup"]),
            ("v6.6", &["place-bonus"]),
            ("v7.1", &["smt-buddy"]),
            ("v7.1", &["relax_domain_level=4"]),
            ("v6.17", &["task-throttle", "throttled-lb-forbidden"]),
            ("v6.17", &["task-throttle", "no-migration-beyond-llc"]),
            ("v3.16", &["skip-zero-contrib"]),
            ("v3.16", &["no-force-update"]),
            ("v3.16", &["per-entity-load-rewrite"]),
        ];
        for (name, patches) in arms {
            let base = Profile::shipped(name).unwrap();
            let patched = base.clone().with_all(patches).unwrap();
            assert_eq!(patched.patches, patches);
            assert_ne!(
                Profile {
                    patches: Vec::new(),
                    ..patched
                },
                base,
                "{patches:?}"
            );
        }
        let v6_17 = Profile::shipped("v6.17").unwrap();
        let both = v6_17
            .clone()
            .with_all(&["task-throttle", "throttled-lb-forbidden"])
            .unwrap();
        let one = v6_17.with_all(&["task-throttle-lb-pair"]).unwrap();
        assert_eq!(both.rules, one.rules);
    }
}
