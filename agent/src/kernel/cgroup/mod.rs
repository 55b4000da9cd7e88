//! cgroup v2: making the tree of a run, starting processes in it, removing it.

mod create;
mod error;
mod fs;
mod member;
mod mount;
mod remove;

#[cfg(test)]
mod tests;

pub use create::{PartitionGranted, TreeReport};
pub use error::CgroupError;
pub use fs::CgroupFs;
pub use mount::CgroupMount;
pub use remove::{LeftOver, Removal};
