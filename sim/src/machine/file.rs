//! A machine as its file describes it. Regular machines only: every package, node and LLC alike;
//! others come from a discovered topology.

use schedrig_model::id::{CpuId, NodeId};
use serde::{Deserialize, Serialize};

use super::costs::{CacheSizes, Costs};
use super::error::MachineError;
use super::resolve::Resolver;
use super::tree::{CPUS_MAX, CpuPlace, Machine, Node};
use crate::cpu::CpuIx;
use crate::mask::CpuMask;
use crate::numbers::number_table;
use crate::sourced::{Quantity, Sourced};

number_table! {
    /// How many of each there are.
    Shape {
        /// Packages.
        packages,
        /// NUMA nodes of a package.
        nodes_per_package,
        /// Last-level caches of a node.
        llcs_per_node,
        /// Cores under an LLC.
        cores_per_llc,
        /// Threads of a core.
        threads_per_core,
    } optional {
        /// Cores that share an L2 (or, on Arm, an L3 tag); absent: each has its own.
        cores_per_cluster,
        /// Memory of a node.
        node_bytes,
    }
}

number_table! {
    /// Distances between nodes, as the firmware states them.
    NodeDistances {
        /// A node to itself.
        local_distance,
    } optional {
        /// To another node of the package.
        package_distance,
        /// To a node of another package.
        remote_distance,
    }
}

/// How Linux numbers the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbering {
    /// First threads of all cores, then the second ones: most x86 servers.
    SiblingsLast,
    /// The threads of a core follow each other: most guests, some Arm and POWER machines.
    SiblingsAdjacent,
}

/// A machine file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFile {
    /// `genoa-2s`.
    pub name: String,
    /// What it is, in words.
    pub title: String,
    /// `AuthenticAMD`, ... as `/proc/cpuinfo` says it.
    pub vendor: Sourced<String>,
    /// The CPU's model name.
    pub cpu_model: Sourced<String>,
    /// How many of each.
    pub shape: Shape<Quantity>,
    /// How Linux numbers the CPUs.
    pub numbering: Sourced<Numbering>,
    /// Distances between nodes.
    pub distances: NodeDistances<Quantity>,
    /// Cache sizes.
    pub caches: CacheSizes<Quantity>,
    /// What things cost.
    pub costs: Costs<Quantity>,
}

impl MachineFile {
    /// Reads a machine file. `file` is its name, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        serde_saphyr::from_str(text).map_err(|e| MachineError::Yaml {
            file: file.to_owned(),
            source: Box::new(e),
        })
    }

    /// The machine it describes.
    pub fn machine(&self) -> Result<Machine, MachineError> {
        let mut numbers = Resolver::new();
        let shape = self.shape.map("shape", &mut |p, q| numbers.take(p, q));
        let distances = self
            .distances
            .map("distances", &mut |p, q| numbers.take(p, q));
        let caches = self.caches.map("caches", &mut |p, q| numbers.take(p, q));
        let costs = self.costs.map(&mut |p, q| numbers.take(p, q));
        let numbers = numbers.finish(&self.name)?;
        let counts = Counts::check(&self.name, &shape)?;
        let tree = counts.build(self.numbering.value);
        Ok(Machine {
            name: self.name.clone(),
            vendor: Some(self.vendor.value.clone()),
            cpu_model: Some(self.cpu_model.value.clone()),
            os_cpu: (0..tree.cpus.len()).map(|at| CpuId(at as u32)).collect(),
            cpus: tree.cpus,
            cores: tree.cores,
            clusters: tree.clusters,
            llcs: tree.llcs,
            distances: counts.distances(&distances),
            nodes: tree.nodes,
            packages: tree.packages,
            caches,
            node_bytes: shape.node_bytes,
            costs,
            numbers,
            findings: Vec::new(),
        })
    }
}

/// Counts of a regular machine, all of them at least 1.
struct Counts {
    packages: usize,
    nodes: usize,
    llcs: usize,
    cores: usize,
    cluster: usize,
    threads: usize,
}

struct Tree {
    cpus: Vec<CpuPlace>,
    cores: Vec<CpuMask>,
    clusters: Vec<CpuMask>,
    llcs: Vec<CpuMask>,
    nodes: Vec<Node>,
    packages: Vec<CpuMask>,
}

impl Counts {
    fn check(machine: &str, shape: &Shape) -> Result<Self, MachineError> {
        let cluster = shape.cores_per_cluster.unwrap_or(1);
        let counts = [
            ("packages", shape.packages),
            ("nodes_per_package", shape.nodes_per_package),
            ("llcs_per_node", shape.llcs_per_node),
            ("cores_per_llc", shape.cores_per_llc),
            ("threads_per_core", shape.threads_per_core),
            ("cores_per_cluster", cluster),
        ];
        if let Some(&(name, _)) = counts.iter().find(|(_, n)| *n == 0) {
            let machine = machine.to_owned();
            return Err(MachineError::Zero { machine, name });
        }
        let cpus = (counts[..5].iter()).fold(1u64, |product, (_, n)| product.saturating_mul(*n));
        if cpus > CPUS_MAX as u64 {
            let machine = machine.to_owned();
            return Err(MachineError::TooLarge { machine, cpus });
        }
        if !shape.cores_per_llc.is_multiple_of(cluster) {
            let machine = machine.to_owned();
            let cores = shape.cores_per_llc;
            return Err(MachineError::Clusters {
                machine,
                cores,
                cluster,
            });
        }
        // Each factor is at most their product, checked above.
        let [packages, nodes, llcs, cores, threads, cluster] = counts.map(|(_, n)| n as usize);
        Ok(Counts {
            packages,
            nodes,
            llcs,
            cores,
            cluster,
            threads,
        })
    }

    fn all_cores(&self) -> usize {
        self.packages * self.nodes * self.llcs * self.cores
    }

    fn build(&self, numbering: Numbering) -> Tree {
        let cores = self.all_cores();
        let cpus = cores * self.threads;
        let place = |core: usize| CpuPlace {
            // At most CPUS_MAX of anything: fits.
            core: core as u16,
            cluster: (core / self.cluster) as u16,
            llc: (core / self.cores) as u16,
            node: (core / (self.cores * self.llcs)) as u16,
            package: (core / (self.cores * self.llcs * self.nodes)) as u16,
        };
        let core_of = |cpu: usize| match numbering {
            Numbering::SiblingsLast => cpu % cores,
            Numbering::SiblingsAdjacent => cpu / self.threads,
        };
        let places: Vec<CpuPlace> = (0..cpus).map(|cpu| place(core_of(cpu))).collect();
        let by = |part: fn(&CpuPlace) -> u16| group(&places, part);
        let nodes = by(|p| p.node).into_iter().zip(0u32..);
        Tree {
            cores: by(|p| p.core),
            clusters: by(|p| p.cluster),
            llcs: by(|p| p.llc),
            nodes: nodes
                .map(|(cpus, id)| Node {
                    id: NodeId(id),
                    cpus,
                })
                .collect(),
            packages: by(|p| p.package),
            cpus: places,
        }
    }

    fn distances(&self, table: &NodeDistances) -> Vec<Vec<u32>> {
        let as_u32 = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let local = as_u32(table.local_distance);
        let package = table.package_distance.map_or(local, as_u32);
        let remote = table.remote_distance.map_or(package, as_u32);
        let nodes = self.packages * self.nodes;
        let between = |a: usize, b: usize| match (a == b, a / self.nodes == b / self.nodes) {
            (true, _) => local,
            (_, true) => package,
            _ => remote,
        };
        (0..nodes)
            .map(|a| (0..nodes).map(|b| between(a, b)).collect())
            .collect()
    }
}

/// One mask for each value of `part`, which counts from 0 without gaps.
pub(super) fn group(places: &[CpuPlace], part: fn(&CpuPlace) -> u16) -> Vec<CpuMask> {
    let count = places
        .iter()
        .map(|p| usize::from(part(p)) + 1)
        .max()
        .unwrap_or(0);
    let mut masks = vec![CpuMask::empty(places.len()); count];
    for (at, place) in places.iter().enumerate() {
        masks[usize::from(part(place))].insert(CpuIx::from_at(at));
    }
    masks
}
