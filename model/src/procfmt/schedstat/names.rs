//! Names of domains for versions that print none (before 17), from the shape of the machine.

use crate::cpuset::CpuSet;
use crate::id::CpuId;
use crate::topology::Topology;

/// The kernel's name of the domain of `cpu` that spans `span`: the smallest level of the machine that
/// has those CPUs. `PKG` is the name since 6.7; before, it was `DIE`. `None` where no level of the
/// machine fits (a partition, an overlapping NUMA group).
pub fn infer_domain_names(topology: &Topology, cpu: CpuId, span: &CpuSet) -> Option<&'static str> {
    let online = topology.online();
    let is = |cpus: &CpuSet| cpus.contains(cpu) && cpus.intersection(&online) == *span;
    if topology.cores.iter().any(|c| is(&c.cpus)) {
        return Some("SMT");
    }
    if topology.clusters().iter().any(|c| is(c)) {
        return Some("CLS");
    }
    if topology.llcs().iter().any(|c| is(&c.cpus)) {
        return Some("MC");
    }
    let node = topology.nodes.iter().find(|n| n.cpus.contains(cpu));
    if topology.packages.iter().any(|p| is(&p.cpus)) || node.is_some_and(|n| is(&n.cpus)) {
        return Some("PKG");
    }
    let wider_than_node = node.is_some_and(|n| n.cpus.intersection(&online).is_subset(span));
    wider_than_node.then_some("NUMA")
}
