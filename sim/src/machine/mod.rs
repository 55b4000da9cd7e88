//! Machines: a description in YAML or a discovered topology becomes CPUs, caches, costs, domains.

pub mod costs;
pub mod domains;
mod tree;

pub use costs::{CacheSizes, Costs, IdleState};
pub use tree::{CPUS_MAX, CpuPlace, Distance, Machine, Node};
