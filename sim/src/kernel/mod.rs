//! Kernels as data: profiles, features, patches. The code never asks for a version.

pub mod constants;
mod feature;
mod patch;
mod profile;
pub mod rules;
mod shipped;

pub use constants::Constants;
pub use feature::{Feature, FeatureError, Features};
pub use patch::{NamedPatch, Patch, PatchError};
pub use profile::{Backport, Profile, ProfileError};
pub use rules::Rules;
pub use shipped::{Fit, LookupError, shipped_kernels};
