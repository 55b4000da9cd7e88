//! The values a machine's topology is made of. Every level lists the CPUs it spans, by kernel
//! number, so that levels need not nest: a NUMA node may be smaller or larger than a package.

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::id::{CpuId, NodeId};

/// Where a topology was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopologyOrigin {
    /// The machine the agent runs on.
    ThisMachine,
    /// A saved hwloc XML file.
    Xml,
    /// A synthetic description, such as `pack:2 l3:4 core:4 pu:2`.
    Synthetic,
    /// A machine file of the simulator.
    Description,
}

/// The shape of a machine. Only online CPUs are in `cpus`; `allowed` are those this process may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Where it was read.
    pub origin: TopologyOrigin,
    /// The CPU's model name, where a CPU says it.
    pub cpu_model: Option<String>,
    /// `GenuineIntel`, `AuthenticAMD`, `HygonGenuine`, ...
    pub cpu_vendor: Option<String>,
    /// Packages (sockets), in ascending order of their first CPU. Empty where unknown.
    pub packages: Vec<Package>,
    /// Dies, where the hardware says them.
    pub dies: Vec<Die>,
    /// NUMA nodes by kernel number, those without CPUs (memory only) included.
    pub nodes: Vec<NumaNode>,
    /// Distances between NUMA nodes, where known.
    pub distances: Option<Distances>,
    /// Every cache of level 1 (data), 2, 3 and 4, in order of level, then first CPU.
    pub caches: Vec<Cache>,
    /// Cores, in order of their first CPU.
    pub cores: Vec<Core>,
    /// CPUs (hwloc PUs), by kernel number.
    pub cpus: Vec<Cpu>,
    /// CPUs that this process may use.
    pub allowed: CpuSet,
    /// CPUs the machine has, those offline or forbidden to this process included; empty: unknown.
    #[serde(default)]
    pub present: CpuSet,
    /// Groups that the firmware or the kernel states between the levels above: Arm clusters, boards.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Levels of which some CPUs are offline or forbidden to this process.
    #[serde(default)]
    pub partial: Vec<PartialLevel>,
    /// Kinds of CPUs on hybrid machines, least efficient last; empty where all are alike.
    pub cpu_kinds: Vec<CpuKind>,
    /// What is odd about this topology, in words for the reader.
    pub findings: Vec<String>,
}

/// A package (socket).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// The number the hardware gives; `None` where it gives none (-1 on some Arm boards).
    pub os_index: Option<u32>,
    /// Its CPUs.
    pub cpus: CpuSet,
}

/// A die within a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Die {
    /// The number the hardware gives.
    pub os_index: Option<u32>,
    /// Its CPUs.
    pub cpus: CpuSet,
}

/// A NUMA node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNode {
    /// The kernel's number.
    pub id: NodeId,
    /// Its CPUs: empty for a node of memory alone.
    pub cpus: CpuSet,
    /// Local memory in bytes: `Some(0)` for a node of CPUs alone, `None` where unknown.
    pub memory_bytes: Option<u64>,
}

/// The distance table of the NUMA nodes, as the firmware states it: 10 is local.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distances {
    /// Which node each row and column stands for.
    pub nodes: Vec<NodeId>,
    /// Row by row; `nodes.len()` squared.
    pub values: Vec<u32>,
}

impl Distances {
    /// The distance from one node to another.
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let at = |n| self.nodes.iter().position(|&m| m == n);
        self.values
            .get(at(from)? * self.nodes.len() + at(to)?)
            .copied()
    }
}

/// A data or unified cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3 or 4.
    pub level: u8,
    /// In bytes; `None` where the machine does not say. Never 0.
    pub size_bytes: Option<u64>,
    /// The CPUs that share it.
    pub cpus: CpuSet,
}

/// A core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    /// The number the hardware gives: unique within a package at best.
    pub os_index: Option<u32>,
    /// Its CPUs (SMT threads).
    pub cpus: CpuSet,
}

/// A CPU (hwloc PU).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The kernel's number.
    pub id: CpuId,
}

/// CPUs that belong together in a way no other level says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// What it is, where that is said: `Cluster`, `Book`, ...
    pub kind: Option<String>,
    /// Its CPUs.
    pub cpus: CpuSet,
}

/// A level of which only some CPUs can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialLevel {
    /// `L3 #1`, `core 4`, `package 0`: the number counts objects of that level.
    pub name: String,
    /// CPUs that can be used.
    pub usable: CpuSet,
    /// CPUs it has in all.
    pub all: CpuSet,
}

/// One kind of CPU of a hybrid machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuKind {
    /// 0 is the most power-saving; `None` where unknown.
    pub efficiency: Option<u32>,
    /// Its CPUs.
    pub cpus: CpuSet,
}

impl Topology {
    /// A topology of which nothing is known yet.
    pub fn unknown(origin: TopologyOrigin) -> Self {
        Topology {
            origin,
            cpu_model: None,
            cpu_vendor: None,
            packages: Vec::new(),
            dies: Vec::new(),
            nodes: Vec::new(),
            distances: None,
            caches: Vec::new(),
            cores: Vec::new(),
            cpus: Vec::new(),
            allowed: CpuSet::new(),
            present: CpuSet::new(),
            groups: Vec::new(),
            partial: Vec::new(),
            cpu_kinds: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// All online CPUs.
    pub fn online(&self) -> CpuSet {
        self.cpus.iter().map(|c| c.id).collect()
    }

    /// The CPUs a workload may use: the allowed ones that are online, or all where none is stated.
    pub fn usable(&self) -> CpuSet {
        let online = self.online();
        let usable = self.allowed.intersection(&online);
        if usable.is_empty() { online } else { usable }
    }

    /// The last-level caches: for each CPU the largest data or unified cache of the highest level
    /// that holds it. CPUs without any cache of level 2 or more form no group.
    pub fn llcs(&self) -> Vec<&Cache> {
        let mut seen = CpuSet::new();
        let mut found: Vec<&Cache> = Vec::new();
        let mut by_level: Vec<&Cache> = self
            .caches
            .iter()
            .filter(|c| (2..=3).contains(&c.level))
            .collect();
        by_level.sort_by_key(|c| (std::cmp::Reverse(c.level), c.cpus.first()));
        for cache in by_level {
            if !cache.cpus.intersects(&seen) && !cache.cpus.is_empty() {
                seen = seen.union(&cache.cpus);
                found.push(cache);
            }
        }
        found.sort_by_key(|c| c.cpus.first());
        found
    }

    /// Groups of cores below the LLC (the kernel's cluster level): cores that share an L2, or that
    /// the firmware groups, but not the whole LLC. Empty where there is no such level.
    pub fn clusters(&self) -> Vec<&CpuSet> {
        let llcs = self.llcs();
        let shared = self.caches.iter().filter(|c| c.level == 2);
        let stated = self.groups.iter().map(|g| &g.cpus);
        let mut found: Vec<&CpuSet> = Vec::new();
        for set in shared.map(|c| &c.cpus).chain(stated) {
            let one_core = self.cores.iter().any(|core| set.is_subset(&core.cpus));
            let below_llc = llcs
                .iter()
                .any(|l| set.is_subset(&l.cpus) && *set != l.cpus);
            if !one_core && below_llc && !found.iter().any(|f| f.intersects(set)) {
                found.push(set);
            }
        }
        found.sort_by_key(|set| set.first());
        found
    }

    /// Nodes that have CPUs.
    pub fn nodes_with_cpus(&self) -> impl Iterator<Item = &NumaNode> {
        self.nodes.iter().filter(|n| !n.cpus.is_empty())
    }

    /// The core a CPU belongs to.
    pub fn core_of(&self, cpu: CpuId) -> Option<&Core> {
        self.cores.iter().find(|c| c.cpus.contains(cpu))
    }

    /// Threads of the widest core: 1 where there is no SMT.
    pub fn smt_width(&self) -> usize {
        self.cores.iter().map(|c| c.cpus.len()).max().unwrap_or(1)
    }

    /// The sum of the last-level caches that serve any of `cpus`, in bytes; `None` where a size is
    /// unknown or no cache is known.
    pub fn llc_bytes_of(&self, cpus: &CpuSet) -> Option<u64> {
        let llcs = self.llcs();
        let used: Vec<_> = llcs.iter().filter(|l| l.cpus.intersects(cpus)).collect();
        if used.is_empty() {
            return None;
        }
        used.iter().map(|l| l.size_bytes).sum()
    }
}
