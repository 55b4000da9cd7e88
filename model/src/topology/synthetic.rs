//! Topologies from a line of text, in hwloc's synthetic notation: `pack:2 [numa] l3:4 l2:4 core:1
//! pu:2`. Pure, so that plans and the simulator can be tried on machines that nobody has at hand.

use crate::cpuset::CpuSet;
use crate::id::{CpuId, NodeId};

use super::tree::{Cache, Core, Cpu, Die, Group, NumaNode, Package, Topology, TopologyOrigin};

/// CPUs of a description, at most.
const MAX_CPUS: u32 = 16_384;
/// Size of an L3 that states none: hwloc's own.
const L3_BYTES: u64 = 16 << 20;
/// Size of an L2 that states none: hwloc's own.
const L2_BYTES: u64 = 4 << 20;
/// Size of an L1 that states none: hwloc's own.
const L1_BYTES: u64 = 32 << 10;
/// Memory of a node that states none: hwloc's own.
const NODE_BYTES: u64 = 1 << 30;

/// Why a description is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntheticError {
    /// A word that is no level.
    #[error("`{word}` is not a level such as `pack:2`, `l3:4`, `core:4`, `pu:2` or `[numa]`")]
    Word {
        /// The word.
        word: String,
    },
    /// More CPUs than any machine has.
    #[error("`{text}` has more than {MAX_CPUS} CPUs")]
    TooLarge {
        /// The description.
        text: String,
    },
    /// No levels.
    #[error("a description needs at least `pu:N`")]
    Empty,
}

/// A level of the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Package,
    Die,
    Group,
    Node,
    Cache(u8),
    Core,
    Pu,
}

struct Level {
    kind: Kind,
    /// CPUs that each object of the level spans.
    span: u32,
    size: Option<u64>,
}

/// Reads a description. CPUs are numbered from 0 in the order of the tree.
///
/// # Errors
/// The word that is no level; too many CPUs.
pub fn synthetic(text: &str) -> Result<Topology, SyntheticError> {
    let (levels, cpus) = levels(text)?;
    let mut topology = Topology::unknown(TopologyOrigin::Synthetic);
    topology.cpus = (0..cpus).map(|c| Cpu { id: CpuId(c) }).collect();
    topology.allowed = CpuSet::range(0, cpus - 1);
    topology.present = topology.allowed.clone();
    for level in &levels {
        add(&mut topology, level, cpus);
    }
    if topology.packages.is_empty() {
        topology.packages.push(Package {
            os_index: Some(0),
            cpus: topology.allowed.clone(),
        });
    }
    if topology.nodes.is_empty() {
        // hwloc, too, has a node where none is said: the machine's.
        topology.nodes.push(NumaNode {
            id: NodeId(0),
            cpus: topology.allowed.clone(),
            memory_bytes: Some(NODE_BYTES),
        });
    }
    if topology.cores.is_empty() {
        let each = Level {
            kind: Kind::Core,
            span: 1,
            size: None,
        };
        add(&mut topology, &each, cpus);
    }
    topology.caches.sort_by_key(|c| (c.level, c.cpus.first()));
    Ok(topology)
}

/// The levels with their spans, and the number of CPUs.
fn levels(text: &str) -> Result<(Vec<Level>, u32), SyntheticError> {
    let mut counted: Vec<(Kind, u32, Option<u64>, bool)> = Vec::new();
    for word in words(text) {
        let bad = || SyntheticError::Word { word: word.clone() };
        let attached = word.starts_with('[');
        let inner = word.trim_start_matches('[').trim_end_matches(']');
        let (level, attributes) = inner.split_once('(').unwrap_or((inner, ""));
        let (name, count) = level.split_once(':').unwrap_or((level, "1"));
        let count: u32 = count.trim().parse().map_err(|_| bad())?;
        let kind = kind(name.trim()).ok_or_else(bad)?;
        if count == 0 || count > MAX_CPUS {
            return Err(bad());
        }
        counted.push((kind, count, size(attributes), attached));
    }
    let total = counted
        .iter()
        .filter(|(_, _, _, attached)| !attached)
        .try_fold(1_u32, |n, (_, count, _, _)| n.checked_mul(*count))
        .filter(|n| *n <= MAX_CPUS)
        .ok_or_else(|| SyntheticError::TooLarge {
            text: text.to_owned(),
        })?;
    if counted.is_empty() {
        return Err(SyntheticError::Empty);
    }
    let mut span = total;
    let levels = counted
        .into_iter()
        .map(|(kind, count, size, attached)| {
            if !attached {
                span /= count;
            }
            Level { kind, span, size }
        })
        .collect();
    Ok((levels, total))
}

/// Words of the description; brackets and parentheses hold theirs together.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match words.last_mut() {
            Some(last) if !(c.is_whitespace() && depth == 0) => last.push(c),
            _ => words.push(String::new()),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name.to_lowercase().as_str() {
        "pack" | "package" | "socket" => Kind::Package,
        "die" => Kind::Die,
        "group" | "cluster" => Kind::Group,
        "numa" | "node" | "numanode" => Kind::Node,
        "l4" => Kind::Cache(4),
        "l3" => Kind::Cache(3),
        "l2" => Kind::Cache(2),
        "l1" | "l1d" => Kind::Cache(1),
        "core" => Kind::Core,
        "pu" => Kind::Pu,
        _ => return None,
    })
}

/// `size=32MB`, `memory=64GB` among attributes.
fn size(attributes: &str) -> Option<u64> {
    let text = attributes.trim_end_matches(')');
    let value = text.split_whitespace().find_map(|a| {
        a.strip_prefix("size=")
            .or_else(|| a.strip_prefix("memory="))
    })?;
    let split = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    let (digits, unit) = value.split_at(split);
    let shift = match unit {
        "" | "B" => 0,
        "kB" | "KB" | "KiB" => 10,
        "MB" | "MiB" => 20,
        "GB" | "GiB" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn add(topology: &mut Topology, level: &Level, cpus: u32) {
    for (i, first) in (0..cpus).step_by(level.span as usize).enumerate() {
        let set = CpuSet::range(first, first + level.span - 1);
        let number = u32::try_from(i).unwrap_or(u32::MAX);
        match level.kind {
            Kind::Package => topology.packages.push(Package {
                os_index: Some(number),
                cpus: set,
            }),
            Kind::Die => topology.dies.push(Die {
                os_index: Some(number),
                cpus: set,
            }),
            Kind::Group => topology.groups.push(Group {
                kind: None,
                cpus: set,
            }),
            Kind::Node => topology.nodes.push(NumaNode {
                id: NodeId(number),
                cpus: set,
                memory_bytes: level.size.or(Some(NODE_BYTES)),
            }),
            Kind::Cache(n) => topology.caches.push(Cache {
                level: n,
                size_bytes: level.size.or(match n {
                    1 => Some(L1_BYTES),
                    2 => Some(L2_BYTES),
                    _ => Some(L3_BYTES),
                }),
                cpus: set,
            }),
            Kind::Core => topology.cores.push(Core {
                os_index: Some(number),
                cpus: set,
            }),
            Kind::Pu => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn genoa_has_24_llcs_of_16_cpus() {
        let t = synthetic("pack:2 [numa] l3:12 l2:8 l1d:1 core:1 pu:2").unwrap();
        assert_eq!(
            (t.packages.len(), t.nodes.len(), t.llcs().len()),
            (2, 2, 24)
        );
        assert_eq!((t.cores.len(), t.cpus.len(), t.smt_width()), (192, 384, 2));
        assert!(t.clusters().is_empty());
        assert_eq!(t.llcs()[1].cpus, CpuSet::range(16, 31));
    }

    #[test]
    fn jacobsville_has_six_clusters_of_four() {
        let t = synthetic("pack:1 [numa] l3:1 l2:6 l1d:4 core:1 pu:1").unwrap();
        assert_eq!(
            (t.clusters().len(), t.cpus.len(), t.smt_width()),
            (6, 24, 1)
        );
    }

    #[test]
    fn the_short_form_has_a_node_and_sizes() {
        let t = synthetic("pack:2 l3:4 core:4 pu:2").unwrap();
        assert_eq!((t.nodes.len(), t.llcs().len(), t.cpus.len()), (1, 8, 64));
        let t = synthetic("pack:1 l3:1(size=32MB) core:2 pu:1").unwrap();
        assert_eq!(t.llc_bytes_of(&t.allowed), Some(32 << 20));
    }

    #[test]
    fn a_wrong_word_is_named() {
        assert_eq!(
            synthetic("pack:2 l5:3"),
            Err(SyntheticError::Word {
                word: "l5:3".into()
            })
        );
        assert_eq!(synthetic(""), Err(SyntheticError::Empty));
        assert!(matches!(
            synthetic("pack:9999 pu:9999"),
            Err(SyntheticError::TooLarge { .. })
        ));
    }
}
