//! Topologies by way of the hwloc library. No other file knows hwloc.

use hwlocality::Topology as Hwloc;
use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::ObjectAttributes;
use hwlocality::object::distance::DistancesKind;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::{TopologyBuilder, TypeFilter};
use schedrig_model::topology::check;
use schedrig_model::topology::{
    Cache, Core, Cpu, CpuKind, Die, Distances, Group, LocalMemory, Package, PartialLevel, Topology,
    TopologyError, TopologyOrigin, assign_cpus_to_nodes,
};
use schedrig_model::{CpuId, CpuSet, NodeId};

/// Why a topology could not be had.
#[derive(Debug, thiserror::Error)]
pub enum HwlocError {
    /// The text states a format that this library cannot read.
    #[error(
        "hwloc XML format {version} is newer than the library here reads (2.x): convert the file \
         with `lstopo --of xml --export-xml-flags v2` of hwloc 2.12 or later"
    )]
    TooNew {
        /// As the file states it.
        version: String,
    },
    /// The library refuses the text.
    #[error("the text is not an hwloc XML topology")]
    NotXml,
    /// The library refuses the description.
    #[error("`{text}` is not a synthetic topology such as `pack:2 l3:4 core:4 pu:2`")]
    NotSynthetic {
        /// The description.
        text: String,
    },
    /// Detection failed.
    #[error("hwloc could not build the topology: {reason}")]
    Build {
        /// What the library said.
        reason: String,
    },
    /// The topology contradicts itself.
    #[error("the topology contradicts itself")]
    Contradiction(#[from] TopologyError),
}

/// The topology of this machine.
///
/// # Errors
/// hwloc cannot read the machine, or what it reads contradicts itself.
pub fn of_this_machine() -> Result<Topology, HwlocError> {
    load(TopologyBuilder::new(), TopologyOrigin::ThisMachine)
}

/// A topology from the text of an hwloc XML file.
///
/// # Errors
/// Text that is no hwloc XML, a format newer than the library, contradictions.
pub fn from_xml(text: &str) -> Result<Topology, HwlocError> {
    let version = xml_version(text).ok_or(HwlocError::NotXml)?;
    let major = version
        .split('.')
        .next()
        .and_then(|m| m.parse::<u32>().ok());
    if major.is_none_or(|m| m > 2) {
        return Err(HwlocError::TooNew { version });
    }
    let builder = TopologyBuilder::new()
        .from_xml(text)
        .map_err(|_| HwlocError::NotXml)?;
    load(builder, TopologyOrigin::Xml)
}

/// A topology from a description such as `pack:2 l3:4 core:4 pu:2`.
///
/// # Errors
/// Text that is no such description.
pub fn from_synthetic(text: &str) -> Result<Topology, HwlocError> {
    let bad = || HwlocError::NotSynthetic { text: text.into() };
    if text.trim().is_empty() {
        return Err(bad());
    }
    let builder = TopologyBuilder::new()
        .from_synthetic(text)
        .map_err(|_| bad())?;
    load(builder, TopologyOrigin::Synthetic)
}

/// The version in `<topology version="2.0">`; files without one are of format 1.
fn xml_version(text: &str) -> Option<String> {
    let start = text.find("<topology")?;
    let tag = &text[start..start + text[start..].find('>')?];
    let version = tag.split_once("version=\"").map(|(_, rest)| rest);
    Some(
        version
            .and_then(|v| v.split('"').next())
            .unwrap_or("1")
            .to_owned(),
    )
}

fn load(builder: TopologyBuilder, origin: TopologyOrigin) -> Result<Topology, HwlocError> {
    let mut topology = convert(&build(builder, &origin)?, origin);
    check::reject(&topology)?;
    topology.findings = check::findings(&topology)
        .iter()
        .map(ToString::to_string)
        .collect();
    Ok(topology)
}

/// Devices of a saved topology are kept, as a group may exist for their sake alone (CPUs near a PCI
/// root); this machine's are not looked for, which would take time and is not needed.
fn build(builder: TopologyBuilder, origin: &TopologyOrigin) -> Result<Hwloc, HwlocError> {
    let failed = |reason: String| HwlocError::Build { reason };
    let filter = match origin {
        TopologyOrigin::Xml => TypeFilter::KeepAll,
        _ => TypeFilter::KeepNone,
    };
    builder
        .with_io_type_filter(filter)
        .map_err(|e| failed(e.to_string()))?
        .build()
        .map_err(|e| failed(e.to_string()))
}

fn convert(hwloc: &Hwloc, origin: TopologyOrigin) -> Topology {
    let mut topology = Topology::unknown(origin);
    // A package or cache none of whose CPUs can be used here has no place in a plan.
    let of_type = |ty| {
        hwloc
            .objects_with_type(ty)
            .filter(|o| !cpus_of(o).is_empty())
    };
    topology.cpus = of_type(ObjectType::PU)
        .filter_map(|pu| {
            Some(Cpu {
                id: CpuId(os_index(pu)?),
            })
        })
        .collect();
    topology.cpus.sort_by_key(|c| c.id);
    topology.packages = of_type(ObjectType::Package)
        .map(|o| Package {
            os_index: os_index(o),
            cpus: cpus_of(o),
        })
        .collect();
    topology.dies = of_type(ObjectType::Die)
        .map(|o| Die {
            os_index: os_index(o),
            cpus: cpus_of(o),
        })
        .collect();
    topology.cores = of_type(ObjectType::Core)
        .map(|o| Core {
            os_index: os_index(o),
            cpus: cpus_of(o),
        })
        .collect();
    topology.groups = of_type(ObjectType::Group)
        .map(|o| Group {
            kind: text(o.subtype()),
            cpus: cpus_of(o),
        })
        .collect();
    topology.caches = CACHES
        .iter()
        .flat_map(|&(ty, level)| of_type(ty).map(move |o| cache(o, level)))
        .collect();
    topology.packages.sort_by_key(|p| p.cpus.first());
    topology.dies.sort_by_key(|d| d.cpus.first());
    topology.cores.sort_by_key(|c| c.cpus.first());
    topology
        .groups
        .sort_by_key(|g| (g.cpus.first(), g.cpus.len()));
    topology.caches.sort_by_key(|c| (c.level, c.cpus.first()));
    topology.nodes = assign_cpus_to_nodes(local_memories(hwloc));
    topology.distances = distances(hwloc);
    topology.allowed =
        set(hwloc.allowed_cpuset().iter_set().map(usize::from)).intersection(&topology.online());
    topology.present = set(hwloc.complete_cpuset().iter_set().map(usize::from));
    topology.partial = partial_levels(hwloc);
    topology.cpu_kinds = cpu_kinds(hwloc);
    topology.cpu_model = info(hwloc, "CPUModel");
    topology.cpu_vendor = info(hwloc, "CPUVendor");
    topology
}

const CACHES: [(ObjectType, u8); 4] = [
    (ObjectType::L1Cache, 1),
    (ObjectType::L2Cache, 2),
    (ObjectType::L3Cache, 3),
    (ObjectType::L4Cache, 4),
];

fn cache(object: &TopologyObject, level: u8) -> Cache {
    let size = match object.attributes() {
        Some(ObjectAttributes::Cache(attributes)) => attributes.size().map(|s| s.get()),
        _ => None,
    };
    Cache {
        level,
        size_bytes: size,
        cpus: cpus_of(object),
    }
}

/// NUMA nodes as hwloc sees them: the CPUs near each memory, not the kernel's CPUs of the node.
/// Memory sizes are unknown where no node states one (synthetic descriptions, old files).
fn local_memories(hwloc: &Hwloc) -> Vec<LocalMemory> {
    let bytes = |o: &TopologyObject| match o.attributes() {
        Some(ObjectAttributes::NUMANode(numa)) => numa.local_memory().map(|m| m.get()),
        _ => None,
    };
    let sizes_known = hwloc
        .objects_with_type(ObjectType::NUMANode)
        .any(|o| bytes(o).is_some());
    hwloc
        .objects_with_type(ObjectType::NUMANode)
        .filter_map(|o| {
            Some(LocalMemory {
                id: NodeId(os_index(o)?),
                kind: text(o.subtype()),
                near: cpus_of(o),
                memory_bytes: bytes(o).or(sizes_known.then_some(0)),
            })
        })
        .collect()
}

/// The first table of latencies between all NUMA nodes.
fn distances(hwloc: &Hwloc) -> Option<Distances> {
    let tables = hwloc
        .distances_with_type(Some(DistancesKind::MEANS_LATENCY), ObjectType::NUMANode)
        .ok()?;
    let table = tables.first()?;
    let nodes: Vec<NodeId> = table
        .objects()
        .map(|o| o.and_then(os_index).map(NodeId))
        .collect::<Option<_>>()?;
    let values: Vec<u32> = table
        .distances()
        .iter()
        .map(|&d| u32::try_from(d).ok())
        .collect::<Option<_>>()?;
    (values.len() == nodes.len() * nodes.len()).then_some(Distances { nodes, values })
}

/// Packages, caches and cores that have more CPUs than can be used.
fn partial_levels(hwloc: &Hwloc) -> Vec<PartialLevel> {
    let mut found = Vec::new();
    let levels = [
        (ObjectType::Package, "package "),
        (ObjectType::L3Cache, "L3 #"),
        (ObjectType::L2Cache, "L2 #"),
        (ObjectType::Core, "core "),
    ];
    for (ty, name) in levels {
        for (number, object) in hwloc.objects_with_type(ty).enumerate() {
            let usable = cpus_of(object);
            let all = object
                .complete_cpuset()
                .map(|s| set(s.iter_set().map(usize::from)))
                .unwrap_or_default();
            if !usable.is_empty() && usable.len() < all.len() {
                found.push(PartialLevel {
                    name: format!("{name}{number}"),
                    usable,
                    all,
                });
            }
        }
    }
    found
}

fn cpu_kinds(hwloc: &Hwloc) -> Vec<CpuKind> {
    let Ok(kinds) = hwloc.cpu_kinds() else {
        return Vec::new();
    };
    let kinds: Vec<CpuKind> = kinds
        .map(|kind| CpuKind {
            efficiency: kind.efficiency.and_then(|e| u32::try_from(e).ok()),
            cpus: set(kind.cpuset.iter_set().map(usize::from)),
        })
        .collect();
    // One kind says nothing: all CPUs are alike.
    if kinds.len() > 1 { kinds } else { Vec::new() }
}

/// A text the firmware gives about its CPUs: with the package, or with the whole machine in old files.
fn info(hwloc: &Hwloc, key: &str) -> Option<String> {
    let packages = hwloc.objects_with_type(ObjectType::Package);
    let machine = std::iter::once(hwloc.root_object());
    let mut said = packages.chain(machine).filter_map(|o| text(o.info(key)));
    said.find(|t| !t.trim().is_empty())
        .map(|t| t.trim().to_owned())
}

fn text(c: Option<&std::ffi::CStr>) -> Option<String> {
    c.map(|c| c.to_string_lossy().into_owned())
}

fn os_index(object: &TopologyObject) -> Option<u32> {
    object.os_index().and_then(|i| u32::try_from(i).ok())
}

fn cpus_of(object: &TopologyObject) -> CpuSet {
    object
        .cpuset()
        .map(|s| set(s.iter_set().map(usize::from)))
        .unwrap_or_default()
}

fn set(indices: impl Iterator<Item = usize>) -> CpuSet {
    // An infinite hwloc set (the default of a missing one) would never end.
    let most = schedrig_model::cpuset::CPU_ID_MAX as usize;
    indices
        .take_while(|&i| i <= most)
        .map(|i| CpuId(i as u32))
        .collect()
}

#[cfg(test)]
mod tests;
