//! What this machine is: its shape, its circumstances, its limits.

mod cgroup;
mod facts;
mod gaps;
pub mod hwloc;
mod limits;
mod roots;
mod settings;
mod tools;

pub use facts::{Identity, facts};
pub use limits::{ProcessLimits, disk_free_bytes, limits};
pub use roots::Roots;
pub use tools::{ToolProbe, VersionOf, collectors, find, run_for_version, sha256_of};
