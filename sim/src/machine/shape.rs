//! The topology of a machine of the model: what an agent would have discovered on it.

use schedrig_model::cpuset::CpuSet;
use schedrig_model::topology::{
    Cache, Core, Cpu, Distances, NumaNode, Package, Topology, TopologyOrigin,
};

use super::tree::Machine;
use crate::mask::CpuMask;

impl Machine {
    /// Its shape, for the planner and for drawing. A last-level cache of unknown size is one of
    /// unknown size, never none.
    pub fn topology(&self) -> Topology {
        let sets = |masks: &[CpuMask]| -> Vec<CpuSet> {
            masks.iter().map(|mask| self.os_set(mask)).collect()
        };
        let mut topology = Topology::unknown(TopologyOrigin::Description);
        topology.cpu_model.clone_from(&self.cpu_model);
        topology.cpu_vendor.clone_from(&self.vendor);
        topology.packages = (0..)
            .zip(sets(&self.packages))
            .map(|(at, cpus)| Package {
                os_index: Some(at),
                cpus,
            })
            .collect();
        topology.nodes = (self.nodes.iter())
            .map(|node| NumaNode {
                id: node.id,
                cpus: self.os_set(&node.cpus),
                memory_bytes: self.node_bytes,
            })
            .collect();
        topology.distances = Some(Distances {
            nodes: self.nodes.iter().map(|node| node.id).collect(),
            values: self.distances.concat(),
        });
        let caches = |level, size_bytes, masks: &[CpuMask]| -> Vec<Cache> {
            let mut caches: Vec<Cache> = (sets(masks).into_iter())
                .map(|cpus| Cache {
                    level,
                    size_bytes,
                    cpus,
                })
                .collect();
            caches.sort_by_key(|cache| cache.cpus.first());
            caches
        };
        topology.caches = caches(1, Some(self.caches.l1d_bytes), &self.cores);
        if self.caches.l2_bytes.is_some() {
            topology
                .caches
                .extend(caches(2, self.caches.l2_bytes, &self.clusters));
        }
        topology
            .caches
            .extend(caches(3, self.caches.llc_bytes, &self.llcs));
        topology.cores = (sets(&self.cores).into_iter())
            .map(|cpus| Core {
                os_index: None,
                cpus,
            })
            .collect();
        topology.cores.sort_by_key(|core| core.cpus.first());
        topology.cpus = self.os_cpu.iter().map(|&id| Cpu { id }).collect();
        topology.allowed = self.os_cpu.iter().copied().collect();
        topology.present = topology.allowed.clone();
        topology.findings.clone_from(&self.findings);
        topology
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::{CostProfile, Machine, shipped_machines};

    #[test]
    fn a_shipped_machine_survives_the_way_over_its_topology() {
        let costs = CostProfile::shipped("vm-2").unwrap();
        for name in shipped_machines() {
            let machine = Machine::shipped(name).unwrap();
            let again = Machine::from_topology(name, &machine.topology(), &costs).unwrap();
            assert_eq!(again.cpus, machine.cpus, "{name}");
            assert_eq!(again.os_cpu, machine.os_cpu, "{name}");
            assert_eq!(again.distances, machine.distances, "{name}");
            assert_eq!(again.caches, machine.caches, "{name}");
            assert_eq!(again.vendor, machine.vendor, "{name}");
        }
    }
}
