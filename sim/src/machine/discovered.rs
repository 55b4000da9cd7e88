//! A machine from the topology that an agent discovered. What the topology does not say is filled
//! in, and the machine says so.

use schedrig_model::cpuset::CpuSet;
use schedrig_model::id::{CpuId, NodeId};
use schedrig_model::topology::Topology;

use super::calibrated::CostProfile;
use super::costs::CacheSizes;
use super::error::MachineError;
use super::file::group;
use super::resolve::Resolver;
use super::tree::{CPUS_MAX, CpuPlace, Machine, Node};
use crate::mask::CpuMask;
use crate::sourced::{Kind, Quantity, Unit};

/// Distance of a node to itself, and to others where the firmware says nothing (`LOCAL_DISTANCE`
/// and `REMOTE_DISTANCE`, include/linux/topology.h).
const LOCAL_DISTANCE: u32 = 10;
const REMOTE_DISTANCE: u32 = 20;

impl Machine {
    /// The machine with this topology, at these costs. Without NUMA nodes or packages in the
    /// topology there is one; without a known last-level cache there is one a node; each such step
    /// is a finding.
    pub fn from_topology(
        name: &str,
        topology: &Topology,
        profile: &CostProfile,
    ) -> Result<Self, MachineError> {
        let os_cpu: Vec<CpuId> = topology.online().iter().collect();
        let machine = || name.to_owned();
        if os_cpu.is_empty() {
            return Err(MachineError::NoCpu { machine: machine() });
        }
        if os_cpu.len() > CPUS_MAX {
            let cpus = os_cpu.len() as u64;
            return Err(MachineError::TooLarge {
                machine: machine(),
                cpus,
            });
        }
        let mut reader = Reader {
            topology,
            os_cpu: &os_cpu,
            findings: Vec::new(),
        };
        let nodes = reader.nodes();
        let cpus = reader.places(&nodes);
        let distances = reader.distances(&nodes);
        let mut numbers = Resolver::new();
        let caches = reader
            .caches(name)
            .map("caches", &mut |p, q| numbers.take(p, q));
        let costs = profile.costs.map(&mut |p, q| numbers.take(p, q));
        let ids = nodes.iter().map(|(id, _)| *id);
        Ok(Machine {
            name: machine(),
            vendor: topology.cpu_vendor.clone(),
            cpu_model: topology.cpu_model.clone(),
            cores: group(&cpus, |p| p.core),
            clusters: group(&cpus, |p| p.cluster),
            llcs: group(&cpus, |p| p.llc),
            nodes: (ids.zip(group(&cpus, |p| p.node)))
                .map(|(id, cpus)| Node { id, cpus })
                .collect(),
            packages: group(&cpus, |p| p.package),
            distances,
            caches,
            node_bytes: topology.nodes_with_cpus().find_map(|n| n.memory_bytes),
            costs,
            numbers: numbers.finish(name)?,
            findings: reader.findings,
            cpus,
            os_cpu,
        })
    }

    /// CPUs by the kernel's numbers as CPUs by index; those the machine has not are left out.
    pub fn mask_of(&self, set: &CpuSet) -> CpuMask {
        CpuMask::of(self.nr_cpus(), set.iter().filter_map(|id| self.by_os(id)))
    }

    /// CPUs by index as CPUs by the kernel's numbers.
    pub fn os_set(&self, mask: &CpuMask) -> CpuSet {
        mask.iter().map(|cpu| self.os_cpu[cpu.at()]).collect()
    }
}

struct Reader<'a> {
    topology: &'a Topology,
    os_cpu: &'a [CpuId],
    findings: Vec<String>,
}

impl Reader<'_> {
    /// Nodes with CPUs, those without any left out; one of all CPUs where none is known.
    fn nodes(&mut self) -> Vec<(NodeId, CpuSet)> {
        let online: CpuSet = self.os_cpu.iter().copied().collect();
        let nodes: Vec<_> = (self.topology.nodes_with_cpus())
            .map(|n| (n.id, n.cpus.intersection(&online)))
            .filter(|(_, cpus)| !cpus.is_empty())
            .collect();
        let covered = nodes
            .iter()
            .fold(CpuSet::new(), |all, (_, cpus)| all.union(cpus));
        if covered == online {
            return nodes;
        }
        let missing = online.difference(&covered);
        self.findings.push(format!(
            "no NUMA node is known for CPUs {missing}: the model takes the machine for one node"
        ));
        vec![(NodeId(0), online)]
    }

    fn places(&mut self, nodes: &[(NodeId, CpuSet)]) -> Vec<CpuPlace> {
        let node_sets: Vec<&CpuSet> = nodes.iter().map(|(_, cpus)| cpus).collect();
        let node = self.indices(&node_sets);
        let packages: Vec<&CpuSet> = self.topology.packages.iter().map(|p| &p.cpus).collect();
        let package = self.required(&packages, "package", "one package", &|_| 0);
        let llcs: Vec<&CpuSet> = self.topology.llcs().iter().map(|c| &c.cpus).collect();
        let by_node = |at: usize| node[at].unwrap_or(0);
        let llc = self.required(&llcs, "last-level cache", "one a node", &by_node);
        let cores: Vec<&CpuSet> = self.topology.cores.iter().map(|c| &c.cpus).collect();
        let core = self.required(&cores, "core", "one a CPU", &|at| at);
        let clusters: Vec<&CpuSet> = self.topology.clusters();
        // A CPU under no shared L2 is a cluster with its own core only.
        let cluster: Vec<usize> = (self.indices(&clusters).iter().enumerate())
            .map(|(at, found)| found.unwrap_or(clusters.len() + core[at]))
            .collect();
        let cluster = dense(&cluster);
        (0..self.os_cpu.len())
            .map(|at| CpuPlace {
                // At most CPUS_MAX of anything: fits.
                core: core[at] as u16,
                cluster: cluster[at] as u16,
                llc: llc[at] as u16,
                node: by_node(at) as u16,
                package: package[at] as u16,
            })
            .collect()
    }

    /// Which of `sets` each CPU is in.
    fn indices(&self, sets: &[&CpuSet]) -> Vec<Option<usize>> {
        (self.os_cpu.iter())
            .map(|&cpu| sets.iter().position(|set| set.contains(cpu)))
            .collect()
    }

    /// Which of `sets` each CPU is in, counted without gaps; where a CPU is in none, all CPUs are
    /// placed by `instead`.
    fn required(
        &mut self,
        sets: &[&CpuSet],
        what: &str,
        taken: &str,
        instead: &dyn Fn(usize) -> usize,
    ) -> Vec<usize> {
        let found: Option<Vec<usize>> = self.indices(sets).into_iter().collect();
        if let Some(found) = found {
            return dense(&found);
        }
        self.findings.push(format!(
            "not every CPU has a known {what}: the model takes {taken}"
        ));
        let placed: Vec<usize> = (0..self.os_cpu.len()).map(instead).collect();
        dense(&placed)
    }

    fn distances(&mut self, nodes: &[(NodeId, CpuSet)]) -> Vec<Vec<u32>> {
        let table = self.topology.distances.as_ref();
        let known = |a, b| table.and_then(|t| t.between(a, b));
        if nodes.len() > 1 && nodes.iter().any(|(id, _)| known(nodes[0].0, *id).is_none()) {
            self.findings.push(format!(
                "node distances are not known: the model takes {LOCAL_DISTANCE} and \
                 {REMOTE_DISTANCE}"
            ));
        }
        let distance = |a: NodeId, b: NodeId| match (known(a, b), a == b) {
            (Some(found), _) => found,
            (None, true) => LOCAL_DISTANCE,
            (None, false) => REMOTE_DISTANCE,
        };
        (nodes.iter())
            .map(|(a, _)| nodes.iter().map(|(b, _)| distance(*a, *b)).collect())
            .collect()
    }

    fn caches(&mut self, name: &str) -> CacheSizes<Quantity> {
        let llc = self.topology.llcs().iter().find_map(|c| c.size_bytes);
        let of_level = |level: u8| {
            let mut caches = self.topology.caches.iter().filter(|c| c.level == level);
            caches.find_map(|c| c.size_bytes)
        };
        let (l1, l2) = (of_level(1), of_level(2));
        let quantity = |bytes: u64, kind: Kind, source: String| Quantity {
            value: bytes as f64 / 1024.0,
            unit: Unit::KiB,
            source,
            kind,
        };
        let read = |bytes| quantity(bytes, Kind::Measured, format!("topology of {name}"));
        let l1d_bytes = l1.map(read).unwrap_or_else(|| {
            let finding = "the L1 size is not known: the model takes 32 KiB".to_owned();
            self.findings.push(finding.clone());
            quantity(32 * 1024, Kind::Assumed, finding)
        });
        CacheSizes {
            l1d_bytes,
            l2_bytes: l2.map(read),
            llc_bytes: llc.map(read),
        }
    }
}

/// The same grouping with numbers from 0 without gaps, in order of first appearance.
fn dense(groups: &[usize]) -> Vec<usize> {
    let mut seen: Vec<usize> = Vec::new();
    let number = |g: &usize| {
        seen.iter().position(|s| s == g).unwrap_or_else(|| {
            seen.push(*g);
            seen.len() - 1
        })
    };
    groups.iter().map(number).collect()
}
