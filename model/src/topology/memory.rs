//! Which memory belongs to which CPUs: nodes of memory alone, nodes of CPUs alone, who is near what.

use crate::cpuset::CpuSet;
use crate::id::{CpuId, NodeId};

use super::tree::{NumaNode, Topology};

/// A memory as hwloc describes it: the CPUs near it, which several memories may share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalMemory {
    /// The kernel's number of the node.
    pub id: NodeId,
    /// `HBM`, `MCDRAM`, `NVM`, ... where said; ordinary memory has none.
    pub kind: Option<String>,
    /// CPUs for which this memory is local.
    pub near: CpuSet,
    /// In bytes; `None`: unknown.
    pub memory_bytes: Option<u64>,
}

/// Gives each CPU to one node, as the kernel does. hwloc says for which CPUs a memory is local, so
/// HBM beside DRAM lists the same CPUs, and memory of a package lists those of its nodes. The node of
/// a CPU is the closest (fewest CPUs), ordinary memory before special, the lower number first.
pub fn assign_cpus_to_nodes(memories: Vec<LocalMemory>) -> Vec<NumaNode> {
    let mut order: Vec<&LocalMemory> = memories.iter().collect();
    order.sort_by_key(|m| (m.near.len(), m.kind.is_some(), m.id));
    let mut taken = CpuSet::new();
    let mut nodes: Vec<NumaNode> = Vec::new();
    for memory in order {
        let cpus = memory.near.difference(&taken);
        taken = taken.union(&cpus);
        nodes.push(NumaNode {
            id: memory.id,
            cpus,
            memory_bytes: memory.memory_bytes,
        });
    }
    nodes.sort_by_key(|n| n.id);
    nodes
}

/// Why memory cannot be bound as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// No such node.
    #[error("this machine has no node {node}: it has {}", list(known))]
    NoSuchNode {
        /// The node asked for.
        node: NodeId,
        /// Those there are.
        known: Vec<NodeId>,
    },
    /// A node of CPUs alone.
    #[error("node {node} has no memory; {}", nearest_words(nearest))]
    NoMemory {
        /// The node asked for.
        node: NodeId,
        /// Nodes with memory at the least distance; empty where distances are unknown.
        nearest: Vec<NodeId>,
    },
    /// CPUs that share no local memory.
    #[error(
        "no memory is local to both CPU {first} ({}) and CPU {second} ({})",
        node_words(first_node),
        node_words(second_node)
    )]
    NothingInCommon {
        /// One CPU.
        first: CpuId,
        /// Its node.
        first_node: Option<NodeId>,
        /// Another.
        second: CpuId,
        /// Its node.
        second_node: Option<NodeId>,
    },
}

fn list(nodes: &[NodeId]) -> String {
    let words: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    words.join(", ")
}

fn nearest_words(nearest: &[NodeId]) -> String {
    let words: Vec<String> = nearest.iter().map(ToString::to_string).collect();
    match words.len() {
        0 => "which node with memory is nearest is not known here".into(),
        _ => format!("nearest with memory: {} (by distance)", words.join(" or ")),
    }
}

fn node_words(node: &Option<NodeId>) -> String {
    node.map_or("no node".into(), |n| format!("node {n}"))
}

impl Topology {
    /// The node a CPU belongs to.
    pub fn node_of(&self, cpu: CpuId) -> Option<&NumaNode> {
        self.nodes.iter().find(|n| n.cpus.contains(cpu))
    }

    /// Nodes with memory at the least distance from a node, itself left out.
    pub fn nearest_memory(&self, node: NodeId) -> Vec<NodeId> {
        let Some(distances) = &self.distances else {
            return Vec::new();
        };
        let with_memory = self
            .nodes
            .iter()
            .filter(|n| n.id != node && n.memory_bytes != Some(0));
        let far: Vec<(u32, NodeId)> = with_memory
            .filter_map(|n| Some((distances.between(node, n.id)?, n.id)))
            .collect();
        let least = far.iter().map(|&(d, _)| d).min();
        far.iter()
            .filter(|&&(d, _)| Some(d) == least)
            .map(|&(_, n)| n)
            .collect()
    }

    /// Whether memory can be bound to a node. CPUs of a node without memory can still be pinned to.
    ///
    /// # Errors
    /// No such node, or a node without memory.
    pub fn check_memory_binding(&self, node: NodeId) -> Result<(), MemoryError> {
        match self.nodes.iter().find(|n| n.id == node) {
            None => Err(MemoryError::NoSuchNode {
                node,
                known: self.nodes.iter().map(|n| n.id).collect(),
            }),
            Some(n) if n.memory_bytes == Some(0) => Err(MemoryError::NoMemory {
                node,
                nearest: self.nearest_memory(node),
            }),
            Some(_) => Ok(()),
        }
    }

    /// The one node that all of `cpus` belong to.
    ///
    /// # Errors
    /// Two CPUs of different nodes, or one without a node: both are named.
    pub fn node_common_to(&self, cpus: &CpuSet) -> Result<Option<NodeId>, MemoryError> {
        let node = |cpu| self.node_of(cpu).map(|n| n.id);
        let Some(first) = cpus.first() else {
            return Ok(None);
        };
        let first_node = node(first);
        match cpus.iter().find(|&c| node(c) != first_node) {
            Some(second) => Err(MemoryError::NothingInCommon {
                first,
                first_node,
                second,
                second_node: node(second),
            }),
            None => Ok(first_node),
        }
    }

    /// Memory tiers as seen from a node: its distance to every node with memory, nearest first.
    pub fn memory_tiers(&self, from: NodeId) -> Vec<(u32, NodeId)> {
        let Some(distances) = &self.distances else {
            return Vec::new();
        };
        let with_memory = self.nodes.iter().filter(|n| n.memory_bytes != Some(0));
        let mut tiers: Vec<(u32, NodeId)> = with_memory
            .filter_map(|n| Some((distances.between(from, n.id)?, n.id)))
            .collect();
        tiers.sort();
        tiers
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Distances, TopologyOrigin};
    use super::*;

    fn node(id: u32, cpus: &str, memory_bytes: Option<u64>) -> NumaNode {
        NumaNode {
            id: NodeId(id),
            cpus: CpuSet::parse_list(cpus).unwrap(),
            memory_bytes,
        }
    }

    fn machine(nodes: Vec<NumaNode>, values: &[u32]) -> Topology {
        let mut t = Topology::unknown(TopologyOrigin::Description);
        t.distances = Some(Distances {
            nodes: nodes.iter().map(|n| n.id).collect(),
            values: values.to_vec(),
        });
        t.nodes = nodes;
        t
    }

    #[test]
    fn threadripper_nodes_without_memory_refuse_binding_and_name_the_nearest() {
        let gib = Some(1 << 30);
        let t = machine(
            vec![
                node(0, "0-5,24-29", Some(0)),
                node(1, "6-11,30-35", gib),
                node(2, "12-17,36-41", gib),
                node(3, "18-23,42-47", Some(0)),
            ],
            &[
                10, 12, 12, 12, 12, 10, 12, 12, 12, 12, 10, 12, 12, 12, 12, 10,
            ],
        );
        let refusal = t.check_memory_binding(NodeId(0)).unwrap_err().to_string();
        assert_eq!(
            refusal,
            "node 0 has no memory; nearest with memory: 1 or 2 (by distance)"
        );
        assert!(t.check_memory_binding(NodeId(1)).is_ok());
        assert_eq!(t.nodes_with_cpus().count(), 4);
        assert!(
            t.check_memory_binding(NodeId(9))
                .unwrap_err()
                .to_string()
                .contains("it has 0, 1, 2, 3")
        );
    }

    #[test]
    fn memory_without_cpus_is_a_tier_and_no_place_for_a_workload() {
        let near = CpuSet::range(0, 7);
        let memories = (0..5).map(|i| LocalMemory {
            id: NodeId(i),
            kind: (i > 0).then(|| "HBM".into()),
            near: near.clone(),
            memory_bytes: Some(1 << 30),
        });
        let nodes = assign_cpus_to_nodes(memories.collect());
        let mut t = machine(nodes, &[]);
        let row = [10, 20, 20, 20, 40];
        t.distances = Some(Distances {
            nodes: (0..5).map(NodeId).collect(),
            values: row.iter().chain(&[0; 20]).copied().collect(),
        });
        assert_eq!(t.nodes_with_cpus().count(), 1);
        let tiers: Vec<u32> = t.memory_tiers(NodeId(0)).iter().map(|x| x.0).collect();
        assert_eq!(tiers, row);
    }

    #[test]
    fn package_memory_does_not_take_the_cpus_of_closer_nodes() {
        let memory = |id, near: &str| LocalMemory {
            id: NodeId(id),
            kind: None,
            near: CpuSet::parse_list(near).unwrap(),
            memory_bytes: None,
        };
        let nodes =
            assign_cpus_to_nodes(vec![memory(0, "0-3"), memory(1, "4-7"), memory(2, "0-7")]);
        let lists: Vec<String> = nodes.iter().map(|n| n.cpus.to_string()).collect();
        assert_eq!(lists, ["0-3", "4-7", ""]);
    }

    #[test]
    fn cpus_without_common_memory_are_both_named() {
        let t = machine(
            vec![node(0, "0-15", None), node(1, "16-31", None)],
            &[10, 21, 21, 10],
        );
        let ask = |list: &str| t.node_common_to(&CpuSet::parse_list(list).unwrap());
        assert_eq!(ask("0").unwrap(), Some(NodeId(0)));
        assert_eq!(ask("16").unwrap(), Some(NodeId(1)));
        assert_eq!(
            ask("0,16").unwrap_err().to_string(),
            "no memory is local to both CPU 0 (node 0) and CPU 16 (node 1)"
        );
    }
}
