//! What is assumed of the values, and the tests that follow from it.

mod assumption;
pub mod exact;
pub mod normal;
pub mod nothing;
pub mod permutation;

pub use assumption::{Assumption, Evidence};
