//! A kernel as data: what it does where kernels differ, its features, its numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::constants::Constants;
use super::feature::{Feature, FeatureError, Features};
use super::patch::{Patch, PatchError};
use super::rules::{Rules, RulesFile};
use crate::numbers::{self, NumberError};
use crate::sourced::{Kind, Quantity, Sourced};

/// A kernel, patches included.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// `v6.12`.
    pub name: String,
    /// What it stands for, in words.
    pub title: String,
    /// Releases it fits, first two numbers.
    pub releases: Vec<(u32, u32)>,
    /// What it does where kernels differ.
    pub rules: Rules,
    /// Features.
    pub features: Features,
    /// Numbers, unscaled.
    pub constants: Constants,
    /// `relax_domain_level` of the command line; `None`: not given.
    pub relax_domain_level: Option<i32>,
    /// `base_slice_ns` as set in debugfs, scaled already; `None`: the kernel's own.
    pub base_slice_ns: Option<u64>,
    /// Patches applied, in order.
    pub patches: Vec<String>,
    /// Changes that later stable releases carry: see [`Profile::for_release`].
    pub backports: Vec<Backport>,
    /// Every number of its file, by dotted name.
    pub numbers: Vec<(String, Quantity)>,
}

/// A change that stable releases carry from some point on.
#[derive(Clone, Debug, PartialEq)]
pub struct Backport {
    /// The first release known to have it.
    pub since: (u32, u32, u32),
    /// The change.
    pub patch: Patch,
    /// Where that was read.
    pub source: String,
}

/// A kernel file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Not YAML of the right shape.
    #[error("kernel file `{file}` is not as described")]
    Shape {
        /// The file's name.
        file: String,
        /// Where and why.
        #[source]
        source: Box<serde_saphyr::Error>,
    },
    /// A number that contradicts its name.
    #[error("kernel file `{file}` has a number that cannot be right")]
    Number {
        /// The file's name.
        file: String,
        /// Which.
        #[source]
        source: NumberError,
    },
    /// A feature that the model does not know.
    #[error("kernel file `{file}` names a feature that cannot be used")]
    Feature {
        /// The file's name.
        file: String,
        /// Which.
        #[source]
        source: FeatureError,
    },
    /// A release that is not `MAJOR.MINOR`, or none at all.
    #[error("`{release}` in kernel file `{file}` is not a release like 6.12")]
    Release {
        /// The file's name.
        file: String,
        /// As written.
        release: String,
    },
    /// A backport that is no patch the model knows.
    #[error("kernel file `{file}` names a backport that cannot be used")]
    Backport {
        /// The file's name.
        file: String,
        /// Why.
        #[source]
        source: PatchError,
    },
    /// A rule or feature without a source.
    #[error("`{entry}` in kernel file `{file}` names no source")]
    NoSource {
        /// The file's name.
        file: String,
        /// Which.
        entry: String,
    },
    /// The numbers a policy needs are missing.
    #[error("kernel file `{file}` lacks `{entry}`, which its policy needs")]
    Missing {
        /// The file's name.
        file: String,
        /// Which.
        entry: &'static str,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    name: String,
    title: String,
    releases: Vec<String>,
    rules: RulesFile,
    features: BTreeMap<String, Sourced<bool>>,
    constants: Constants<Quantity>,
    #[serde(default)]
    backports: Vec<BackportFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackportFile {
    since: String,
    patch: String,
    source: String,
    #[serde(rename = "kind")]
    _kind: Kind,
}

impl BackportFile {
    fn resolve(&self, file: &str) -> Result<Backport, ProfileError> {
        let file = || file.to_owned();
        let since = parse_stable(&self.since).ok_or_else(|| ProfileError::Release {
            file: file(),
            release: self.since.clone(),
        })?;
        let patch = Patch::parse(&self.patch).map_err(|source| ProfileError::Backport {
            file: file(),
            source,
        })?;
        if self.source.trim().is_empty() {
            return Err(ProfileError::NoSource {
                file: file(),
                entry: self.patch.clone(),
            });
        }
        Ok(Backport {
            since,
            patch,
            source: self.source.clone(),
        })
    }
}

impl Profile {
    /// Reads a kernel file. `file` is its name, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileError> {
        let raw: ProfileFile = serde_saphyr::from_str(text).map_err(|e| ProfileError::Shape {
            file: file.to_owned(),
            source: Box::new(e),
        })?;
        Self::resolve(file, raw)
    }

    fn resolve(file: &str, raw: ProfileFile) -> Result<Self, ProfileError> {
        let file = file.to_owned();
        let unsourced = Self::first_unsourced(&raw);
        if let Some(entry) = unsourced {
            return Err(ProfileError::NoSource { file, entry });
        }
        let mut all = Vec::new();
        let mut wrong = None;
        let constants = raw.constants.map(&mut |path, q: &Quantity| {
            if let Err(e) = numbers::check(path, q) {
                wrong.get_or_insert(e);
            }
            all.push((path.to_owned(), q.clone()));
            q.base()
        });
        if let Some(source) = wrong {
            return Err(ProfileError::Number { file, source });
        }
        let features =
            Features::from_table(&raw.features).map_err(|source| ProfileError::Feature {
                file: file.clone(),
                source,
            })?;
        let releases = (raw.releases.iter())
            .map(|release| {
                parse_release(release).ok_or_else(|| ProfileError::Release {
                    file: file.clone(),
                    release: release.clone(),
                })
            })
            .collect::<Result<_, _>>()?;
        let backports = (raw.backports.iter())
            .map(|backport| backport.resolve(&file))
            .collect::<Result<_, _>>()?;
        let rules = raw.rules.resolve();
        let profile = Profile {
            name: raw.name,
            title: raw.title,
            releases,
            rules,
            features,
            constants,
            relax_domain_level: None,
            base_slice_ns: None,
            patches: Vec::new(),
            backports,
            numbers: all,
        };
        match profile.missing() {
            Some(entry) => Err(ProfileError::Missing { file, entry }),
            None => Ok(profile),
        }
    }

    fn first_unsourced(raw: &ProfileFile) -> Option<String> {
        let rules = raw.rules.sources();
        let rule = rules.iter().find(|(_, source, _)| source.trim().is_empty());
        let feature = raw
            .features
            .iter()
            .find(|(_, f)| f.source.trim().is_empty());
        rule.map(|(name, ..)| (*name).to_owned())
            .or_else(|| feature.map(|(token, _)| token.clone()))
    }

    fn missing(&self) -> Option<&'static str> {
        use super::rules::Policy;
        let slice = &self.constants.slice;
        let needs: &[(&'static str, Option<u64>)] = match self.rules.policy {
            Policy::Cfs => &[
                ("slice.latency_ns", slice.latency_ns),
                ("slice.min_granularity_ns", slice.min_granularity_ns),
                ("slice.wakeup_granularity_ns", slice.wakeup_granularity_ns),
                ("slice.nr_latency_count", slice.nr_latency_count),
            ],
            Policy::Eevdf | Policy::EevdfFlat => &[("slice.base_slice_ns", slice.base_slice_ns)],
        };
        needs
            .iter()
            .find(|(_, n)| n.is_none())
            .map(|(name, _)| *name)
    }

    /// Whether a feature is on.
    #[inline]
    pub fn on(&self, feature: Feature) -> bool {
        self.features.on(feature)
    }

    /// Length of a tick in ns.
    pub fn tick_ns(&self) -> u64 {
        1_000_000_000 / self.constants.tick.tick_hz.max(1)
    }

    /// Names of the numbers that are assumed rather than published, measured or derived.
    pub fn assumed(&self) -> impl Iterator<Item = &str> {
        (self.numbers.iter())
            .filter(|(_, q)| q.kind == Kind::Assumed)
            .map(|(name, _)| name.as_str())
    }
}

/// The first three numbers of a release: `6.12.95+deb13-cloud-amd64` gives (6, 12, 95); the third is
/// 0 where there is none.
pub(crate) fn parse_stable(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.trim().trim_start_matches('v').splitn(4, '.');
    let leading = |part: &str| {
        let end = part
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(part.len());
        part[..end].parse::<u32>().ok()
    };
    let major = parts.next()?.parse().ok()?;
    let minor = leading(parts.next()?)?;
    Some((major, minor, parts.next().and_then(leading).unwrap_or(0)))
}

/// The first two numbers of a release.
pub(crate) fn parse_release(text: &str) -> Option<(u32, u32)> {
    parse_stable(text).map(|(major, minor, _)| (major, minor))
}
