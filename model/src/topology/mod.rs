//! The shape of a machine: packages, dies, NUMA nodes, caches, cores, CPUs.

pub mod check;
mod draw;
mod memory;
mod synthetic;
mod tree;

pub use check::{Finding, LlcGroups, TopologyError};
pub use draw::draw;
pub use memory::{LocalMemory, MemoryError, assign_cpus_to_nodes};
pub use synthetic::{SyntheticError, synthetic};
pub use tree::{
    Cache, Core, Cpu, CpuKind, Die, Distances, Group, NumaNode, Package, PartialLevel, Topology,
    TopologyOrigin,
};
