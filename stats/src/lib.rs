//! Samples in, comparisons with warnings out.
//!
//! This crate knows no host and no playbook. It imports no member of the workspace.

pub mod agreement;
pub mod assume;
pub mod compare;
pub mod correct;
pub mod direction;
pub mod expected;
pub mod geomean;
pub mod moments;
pub mod noise;
pub mod order;
pub mod pooled;
pub mod power;
pub mod published;
pub mod ranks;
pub mod render;
pub mod sample;
pub mod summary;
pub mod table;
pub mod unit;
pub mod verdict;
pub mod warning;

pub use assume::Assumption;
pub use compare::{CompareError, Comparison, Criteria, compare, compare_all};
pub use correct::Correction;
pub use direction::Direction;
pub use sample::{Sample, SampleError};
pub use summary::{Summary, summarise};
pub use table::Table;
pub use unit::Unit;
pub use verdict::{Doubt, Verdict};
pub use warning::Warning;
