//! What is odd about a topology, and what makes it impossible.

use std::collections::BTreeMap;
use std::fmt;

use crate::cpuset::CpuSet;
use crate::id::{CpuId, NodeId};

use super::tree::Topology;

/// A topology that cannot be: it is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// Two nodes list the same CPU.
    #[error("CPU {cpu} in node {first} and node {second}: a CPU belongs to one node")]
    CpuInTwoNodes {
        /// The CPU.
        cpu: CpuId,
        /// One node.
        first: NodeId,
        /// Another.
        second: NodeId,
    },
    /// Two cores list the same CPU.
    #[error("CPU {cpu} is in two cores: {first} and {second}")]
    CpuInTwoCores {
        /// The CPU.
        cpu: CpuId,
        /// The CPUs of one core.
        first: CpuSet,
        /// The CPUs of another.
        second: CpuSet,
    },
    /// No CPU at all.
    #[error("the topology has no CPU")]
    NoCpu,
}

/// Something the reader of a result should know about the machine's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A last-level cache that reaches over packages: a guest with its host's sharing width.
    LlcAcrossPackages {
        /// Its CPUs.
        llc: CpuSet,
        /// How many packages it reaches.
        packages: usize,
    },
    /// Some CPUs have a last-level cache, these have none.
    CpusWithoutLlc {
        /// Those without.
        cpus: CpuSet,
        /// No LLC is larger than one core where this is false: the machine merely lacks the level.
        in_guest_pattern: bool,
    },
    /// No cache is known at all.
    NoCacheData,
    /// A core's threads reach outside their L2.
    SmtOutsideL2 {
        /// The core's CPUs.
        core: CpuSet,
        /// The L2's CPUs.
        l2: CpuSet,
    },
    /// An L2 reaches outside its LLC.
    L2OutsideLlc {
        /// The L2's CPUs.
        l2: CpuSet,
        /// The LLC's CPUs.
        llc: CpuSet,
    },
    /// One CPU lists another as sharing its cache, which does not list it back.
    SharingNotSymmetric {
        /// Lists the other.
        cpu: CpuId,
        /// Does not list the first.
        other: CpuId,
    },
    /// CPUs without memory of their own.
    NodeWithoutMemory {
        /// The node.
        node: NodeId,
        /// Nodes with memory at the least distance.
        nearest: Vec<NodeId>,
    },
    /// Memory without CPUs (HBM, CXL, persistent memory).
    NodesWithoutCpus(Vec<NodeId>),
    /// A package none of whose CPUs belongs to a node.
    PackageWithoutNode(CpuSet),
    /// The lowest CPU is not CPU 0.
    CpuZeroOffline,
    /// Not all CPUs of the machine are online or may be used here.
    Restricted {
        /// How many may be used.
        usable: usize,
        /// How many there are.
        present: usize,
        /// Levels that are cut through: `L3 #1 partly (2 of 4)`.
        partial: Vec<String>,
    },
    /// Cores with fewer threads than their likes, on a machine with CPUs offline.
    PartlyOfflineCores {
        /// Threads of the widest core.
        width: usize,
        /// The CPUs of each narrower core.
        cores: Vec<CpuSet>,
    },
    /// The hardware gives packages no number, or states no package.
    PackageUnknown,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::LlcAcrossPackages { llc, packages } => write!(
                f,
                "VM cache topology inconsistent: the LLC of CPUs {llc} reaches over {packages} packages"
            ),
            Finding::CpusWithoutLlc {
                cpus,
                in_guest_pattern: true,
            } => {
                write!(f, "VM cache topology inconsistent: CPUs {cpus} have no L3")
            }
            Finding::CpusWithoutLlc { cpus, .. } => write!(f, "CPUs {cpus} have no shared cache"),
            Finding::NoCacheData => f.write_str("no cache data: one LLC per node is assumed"),
            Finding::SmtOutsideL2 { core, l2 } => write!(
                f,
                "kernel topology bug, see 55409ac5c371: the threads {core} of one core reach \
                 outside their L2 ({l2})"
            ),
            Finding::L2OutsideLlc { l2, llc } => {
                write!(
                    f,
                    "kernel topology bug: the L2 of CPUs {l2} reaches outside their LLC ({llc})"
                )
            }
            Finding::SharingNotSymmetric { cpu, other } => write!(
                f,
                "cache sharing lists contradict each other: CPU {cpu} names CPU {other}, which \
                 does not name it back"
            ),
            Finding::NodeWithoutMemory { node, nearest } if nearest.is_empty() => {
                write!(f, "node {node} has CPUs only, no memory")
            }
            Finding::NodeWithoutMemory { node, nearest } => {
                write!(
                    f,
                    "node {node} has CPUs only; nearest with memory: {}",
                    join(nearest, " or ")
                )
            }
            Finding::NodesWithoutCpus(nodes) => {
                write!(
                    f,
                    "memory without CPUs: {} {}",
                    plural("node", nodes.len()),
                    join(nodes, ", ")
                )
            }
            Finding::PackageWithoutNode(cpus) => {
                write!(f, "the package of CPUs {cpus} has no local memory")
            }
            Finding::CpuZeroOffline => f.write_str("CPU0 offline"),
            Finding::Restricted {
                usable,
                present,
                partial,
            } => {
                write!(f, "allowed {usable} of {present} CPUs")?;
                partial.iter().try_for_each(|p| write!(f, "; {p}"))
            }
            Finding::PartlyOfflineCores { width, cores } => write!(
                f,
                "SMT{width} cores with partly offline threads: {}",
                cores
                    .iter()
                    .map(|c| format!("{c} ({} of {width})", c.len()))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            Finding::PackageUnknown => {
                f.write_str("the hardware states no package number: one package is assumed")
            }
        }
    }
}

fn join(nodes: &[NodeId], between: &str) -> String {
    nodes
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(between)
}

fn plural(word: &str, count: usize) -> String {
    if count == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

/// Refuses what cannot be.
///
/// # Errors
/// No CPU, a CPU in two nodes, a CPU in two cores.
pub fn reject(topology: &Topology) -> Result<(), TopologyError> {
    if topology.cpus.is_empty() {
        return Err(TopologyError::NoCpu);
    }
    let mut node_of: BTreeMap<CpuId, NodeId> = BTreeMap::new();
    for node in &topology.nodes {
        for cpu in node.cpus.iter() {
            if let Some(first) = node_of.insert(cpu, node.id) {
                return Err(TopologyError::CpuInTwoNodes {
                    cpu,
                    first,
                    second: node.id,
                });
            }
        }
    }
    let mut core_of: BTreeMap<CpuId, &CpuSet> = BTreeMap::new();
    for core in &topology.cores {
        for cpu in core.cpus.iter() {
            if let Some(first) = core_of.insert(cpu, &core.cpus) {
                return Err(TopologyError::CpuInTwoCores {
                    cpu,
                    first: first.clone(),
                    second: core.cpus.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Everything odd, the grave first.
pub fn findings(topology: &Topology) -> Vec<Finding> {
    let mut found = cache_findings(topology);
    found.extend(memory_findings(topology));
    found.extend(cpu_findings(topology));
    found
}

fn cache_findings(topology: &Topology) -> Vec<Finding> {
    let llcs = topology.llcs();
    let mut found = Vec::new();
    for llc in &llcs {
        let packages = topology
            .packages
            .iter()
            .filter(|p| p.cpus.intersects(&llc.cpus))
            .count();
        if packages > 1 {
            found.push(Finding::LlcAcrossPackages {
                llc: llc.cpus.clone(),
                packages,
            });
        }
    }
    if topology.caches.iter().all(|c| c.level < 2) {
        found.push(Finding::NoCacheData);
    } else {
        // Where the last level is L3, a CPU whose highest cache is an L2 lacks its L3.
        let top = llcs.iter().map(|c| c.level).max();
        let at_top = llcs.iter().filter(|c| Some(c.level) == top);
        let covered = at_top.fold(CpuSet::new(), |all, c| all.union(&c.cpus));
        let cpus = topology.online().difference(&covered);
        if !cpus.is_empty() && !is_hybrid_gap(topology, &cpus) {
            found.push(Finding::CpusWithoutLlc {
                cpus,
                in_guest_pattern: top == Some(3),
            });
        }
    }
    for l2 in topology.caches.iter().filter(|c| c.level == 2) {
        if let Some(core) = topology.cores.iter().find(|c| crosses(&c.cpus, &l2.cpus)) {
            found.push(Finding::SmtOutsideL2 {
                core: core.cpus.clone(),
                l2: l2.cpus.clone(),
            });
        }
        if let Some(llc) = llcs.iter().find(|c| crosses(&l2.cpus, &c.cpus)) {
            found.push(Finding::L2OutsideLlc {
                l2: l2.cpus.clone(),
                llc: llc.cpus.clone(),
            });
        }
    }
    found
}

/// Whether a set that should lie within another reaches outside it.
fn crosses(inner: &CpuSet, outer: &CpuSet) -> bool {
    inner.intersects(outer) && !inner.is_subset(outer)
}

/// The low-power cores of some hybrid machines truly have no L3: they are a kind of their own.
fn is_hybrid_gap(topology: &Topology, cpus: &CpuSet) -> bool {
    topology.cpu_kinds.iter().any(|k| k.cpus == *cpus)
}

fn memory_findings(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    for node in topology
        .nodes_with_cpus()
        .filter(|n| n.memory_bytes == Some(0))
    {
        found.push(Finding::NodeWithoutMemory {
            node: node.id,
            nearest: topology.nearest_memory(node.id),
        });
    }
    let memory_only: Vec<NodeId> = topology
        .nodes
        .iter()
        .filter(|n| n.cpus.is_empty())
        .map(|n| n.id)
        .collect();
    if !memory_only.is_empty() && memory_only.len() < topology.nodes.len() {
        found.push(Finding::NodesWithoutCpus(memory_only));
    }
    if !topology.nodes.is_empty() {
        let without = topology
            .packages
            .iter()
            .filter(|p| !topology.nodes.iter().any(|n| n.cpus.intersects(&p.cpus)));
        found.extend(without.map(|p| Finding::PackageWithoutNode(p.cpus.clone())));
    }
    found
}

fn cpu_findings(topology: &Topology) -> Vec<Finding> {
    let mut found = Vec::new();
    let online = topology.online();
    if online.first().is_some_and(|c| c.0 != 0) {
        found.push(Finding::CpuZeroOffline);
    }
    let usable = topology.allowed.intersection(&online);
    if usable.len() < topology.present.len().max(online.len()) && !usable.is_empty() {
        let partial = topology
            .partial
            .iter()
            .filter(|p| !p.name.starts_with("core"));
        found.push(Finding::Restricted {
            usable: usable.len(),
            present: topology.present.len().max(online.len()),
            partial: partial
                .map(|p| format!("{} partly ({} of {})", p.name, p.usable.len(), p.all.len()))
                .collect(),
        });
    }
    let width = topology.smt_width();
    let narrower: Vec<CpuSet> = topology
        .cores
        .iter()
        .filter(|c| c.cpus.len() < width)
        .map(|c| c.cpus.clone())
        .collect();
    let offline = !topology.present.difference(&online).is_empty();
    if width > 1 && offline && !narrower.is_empty() && topology.cpu_kinds.is_empty() {
        found.push(Finding::PartlyOfflineCores {
            width,
            cores: narrower,
        });
    }
    if topology.packages.is_empty() || topology.packages.iter().any(|p| p.os_index.is_none()) {
        found.push(Finding::PackageUnknown);
    }
    found
}

/// Compares what each CPU says of the CPUs that share its cache (`shared_cpu_list`): each must be
/// named back by those it names. The first contradiction of each CPU is reported.
pub fn sharing_findings(lists: &BTreeMap<CpuId, CpuSet>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (&cpu, list) in lists {
        let silent = |other: &CpuId| !lists.get(other).is_some_and(|back| back.contains(cpu));
        if let Some(other) = list.iter().find(silent) {
            found.push(Finding::SharingNotSymmetric { cpu, other });
        }
    }
    found
}

/// The groups of CPUs that share a last-level cache, for placing and for modelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlcGroups {
    /// One set a group, by first CPU; every online CPU is in exactly one.
    pub groups: Vec<CpuSet>,
    /// Why the groups are not the hardware's, where they are not.
    pub assumed: Option<String>,
}

impl Topology {
    /// LLC groups that cover every CPU: the hardware's where it states a sound set, else one per NUMA
    /// node (or one for the machine where no node is known), and the reason.
    pub fn llc_groups(&self) -> LlcGroups {
        let online = self.online();
        let llcs = self.llcs();
        let across = llcs
            .iter()
            .any(|l| self.packages.iter().any(|p| crosses(&l.cpus, &p.cpus)));
        let covered = llcs.iter().fold(CpuSet::new(), |all, c| all.union(&c.cpus));
        let reason = if llcs.is_empty() {
            Some("no cache data")
        } else if across {
            Some("the stated LLC reaches over packages")
        } else if cache_findings(self)
            .iter()
            .any(|f| matches!(f, Finding::CpusWithoutLlc { .. }))
            || covered != online
        {
            Some("some CPUs have no LLC")
        } else {
            None
        };
        let Some(reason) = reason else {
            return LlcGroups {
                groups: llcs.iter().map(|c| c.cpus.clone()).collect(),
                assumed: None,
            };
        };
        let mut groups: Vec<CpuSet> = self.nodes_with_cpus().map(|n| n.cpus.clone()).collect();
        let rest = groups.iter().fold(online, |rest, g| rest.difference(g));
        if !rest.is_empty() {
            groups.push(rest);
        }
        groups.sort_by_key(|g| g.first());
        LlcGroups {
            groups,
            assumed: Some(format!("{reason}: one LLC per node is assumed")),
        }
    }
}

#[cfg(test)]
mod tests;
