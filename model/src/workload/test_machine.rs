//! A small machine for the tests of the catalogue: two packages, each with one L3 and two CPUs.

use crate::CpuSet;
use crate::id::{CpuId, NodeId};
use crate::topology::{Cache, Core, Cpu, NumaNode, Package, Topology, TopologyOrigin};

/// Two packages of two CPUs, 32 MiB of L3 each.
pub(super) fn machine() -> Topology {
    with_l3(&[Some(32 << 20), Some(32 << 20)])
}

/// A package of two CPUs for each L3 size; `None`: the machine does not say the size.
pub(super) fn with_l3(sizes: &[Option<u64>]) -> Topology {
    let pair = |i: usize| -> CpuSet {
        let first = u32::try_from(i * 2).unwrap();
        [CpuId(first), CpuId(first + 1)].into_iter().collect()
    };
    let count = sizes.len();
    let cpus: Vec<Cpu> = (0..count)
        .flat_map(|i| pair(i).iter().collect::<Vec<_>>())
        .map(|id| Cpu { id })
        .collect();
    Topology {
        origin: TopologyOrigin::Synthetic,
        cpu_model: None,
        cpu_vendor: None,
        packages: (0..count)
            .map(|i| Package {
                os_index: u32::try_from(i).ok(),
                cpus: pair(i),
            })
            .collect(),
        dies: Vec::new(),
        nodes: (0..count)
            .map(|i| NumaNode {
                id: NodeId(u32::try_from(i).unwrap()),
                cpus: pair(i),
                memory_bytes: Some(8 << 30),
            })
            .collect(),
        distances: None,
        caches: sizes
            .iter()
            .enumerate()
            .map(|(i, size)| Cache {
                level: 3,
                size_bytes: *size,
                cpus: pair(i),
            })
            .collect(),
        cores: cpus
            .iter()
            .map(|c| Core {
                os_index: Some(c.id.0),
                cpus: [c.id].into_iter().collect(),
            })
            .collect(),
        allowed: cpus.iter().map(|c| c.id).collect(),
        present: cpus.iter().map(|c| c.id).collect(),
        groups: Vec::new(),
        partial: Vec::new(),
        cpus,
        cpu_kinds: Vec::new(),
        findings: Vec::new(),
    }
}
