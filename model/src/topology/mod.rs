//! The shape of a machine: packages, dies, NUMA nodes, caches, cores, CPUs.

mod tree;

pub use tree::{
    Cache, Core, Cpu, CpuKind, Die, Distances, Group, NumaNode, Package, PartialLevel, Topology,
    TopologyOrigin,
};
