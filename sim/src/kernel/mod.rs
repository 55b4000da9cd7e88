//! Kernels as data: profiles, features, patches. The code never asks for a version.

pub mod constants;
mod feature;
mod patch;
mod profile;
pub mod rules;

pub use constants::Constants;
pub use feature::{Feature, FeatureError, Features};
pub use patch::{NamedPatch, Patch, PatchError};
pub use profile::{Profile, ProfileError};
pub use rules::Rules;
