//! Samples in, comparisons with warnings out.
//!
//! This crate knows no host and no playbook. It imports no member of the workspace.

pub mod direction;
pub mod unit;

pub use direction::Direction;
pub use unit::Unit;
