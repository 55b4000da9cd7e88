//! Workloads as the model plays them, one file each.

pub(crate) mod hackbench;
pub mod meter;
pub(crate) mod netperf;
pub(crate) mod program;
mod render;
pub(crate) mod schbench;
mod start;
pub(crate) mod stream;

pub(crate) use render::{Printed, print};
pub use start::NotModelled;
pub(crate) use start::{Played, play};
