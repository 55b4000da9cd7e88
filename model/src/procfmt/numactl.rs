//! `numactl -H`: nodes with their CPUs, sizes and distances.

use std::collections::BTreeMap;

use super::line::LineError;
use crate::cpuset::CpuSet;
use crate::id::{CpuId, NodeId};

/// The whole output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaLists {
    /// By number.
    pub nodes: BTreeMap<NodeId, NumaNodeLine>,
    /// Row by row, in the order of `nodes`; empty where not printed.
    pub distances: Vec<Vec<u32>>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaNodeLine {
    /// Its CPUs: empty for memory alone.
    pub cpus: CpuSet,
    /// Memory in MB; 0: CPUs alone.
    pub size_mb: Option<u64>,
}

/// Reads the output of `numactl -H`. CPU numbers may be a list of numbers or, in mails, ranges.
///
/// # Errors
/// A node line that cannot be read; a CPU in two nodes.
pub fn parse_numactl(text: &str) -> Result<NumaLists, LineError> {
    let mut lists = NumaLists::default();
    let mut in_distances = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("node distances") {
            in_distances = true;
        } else if in_distances {
            distance_row(&mut lists, line);
        } else if let Some(rest) = line.strip_prefix("node ") {
            let bad = || LineError::new(index, line, "a node with its CPUs or size");
            node_line(&mut lists, rest).ok_or_else(bad)?;
        }
    }
    match overlap(&lists) {
        Some(text) => Err(LineError::new(
            0,
            &text,
            "a topology: a CPU belongs to one node",
        )),
        None => Ok(lists),
    }
}

fn node_line(lists: &mut NumaLists, rest: &str) -> Option<()> {
    let (id, rest) = rest.split_once(' ')?;
    let (what, value) = rest.split_once(':')?;
    let node = lists.nodes.entry(NodeId(id.parse().ok()?)).or_default();
    match what {
        "cpus" => {
            for word in value.split_ascii_whitespace() {
                node.cpus = node
                    .cpus
                    .union(&CpuSet::parse_list(word.trim_end_matches(',')).ok()?);
            }
        }
        "size" => node.size_mb = Some(value.split_ascii_whitespace().next()?.parse().ok()?),
        _ => {}
    }
    Some(())
}

fn distance_row(lists: &mut NumaLists, line: &str) {
    let Some((_, values)) = line.split_once(':') else {
        return;
    };
    let row: Result<Vec<u32>, _> = values.split_ascii_whitespace().map(str::parse).collect();
    if let Ok(row) = row {
        lists.distances.push(row);
    }
}

/// The first CPU that is in two nodes: `CPU 223 in node 2 and node 3`.
fn overlap(lists: &NumaLists) -> Option<String> {
    let mut owner: BTreeMap<CpuId, NodeId> = BTreeMap::new();
    for (&id, node) in &lists.nodes {
        for cpu in node.cpus.iter() {
            if let Some(other) = owner.insert(cpu, id) {
                return Some(format!("CPU {cpu} in node {other} and node {id}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_sizes_and_distances() {
        let text = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3\nnode 0 size: 331 MB\nnode 0 free: 270 MB\nnode 1 cpus:\nnode 1 size: 0 MB\nnode distances:\nnode   0   1 \n  0:  10  32 \n  1:  32  10 \n";
        let lists = parse_numactl(text).unwrap();
        assert_eq!(lists.nodes[&NodeId(0)].cpus, CpuSet::range(0, 3));
        assert_eq!(lists.nodes[&NodeId(1)].size_mb, Some(0));
        assert_eq!(lists.distances, [[10, 32], [32, 10]]);
    }

    #[test]
    fn a_cpu_in_two_nodes_is_refused() {
        let text = "node 2 cpus: 64-95 192-223\nnode 3 cpus: 96-127,223-255\n";
        let err = parse_numactl(text).unwrap_err().to_string();
        assert!(err.contains("CPU 223 in node 2 and node 3"), "{err}");
    }

    #[test]
    fn sparse_numbers_past_1024() {
        let lists = parse_numactl("node 0 cpus: 0 1 109-127 1030 1791\n").unwrap();
        assert_eq!(lists.nodes[&NodeId(0)].cpus.len(), 23);
    }
}
