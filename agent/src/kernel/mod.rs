//! Readers and writers of /proc, /sys and cgroupfs, on an injected root.

mod cgroup;
mod files;
mod glob;
mod procfs;
mod real;

#[cfg(test)]
pub(crate) mod fake;

pub use cgroup::{
    CgroupError, CgroupFs, CgroupMount, LeftOver, PartitionGranted, Removal, TreeReport,
};
pub use files::{Entry, Held, HostFiles, errno_of};
pub use glob::{expand, scan};
pub use procfs::{ProcFs, RtThread};
pub use real::{RealFiles, read_text};
