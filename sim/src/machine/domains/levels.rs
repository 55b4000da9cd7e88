//! The levels a kernel builds on a machine, before any of them degenerates.

use super::domain::LevelKind;
use super::flags::SdFlags;
use crate::cpu::CpuIx;
use crate::kernel::Profile;
use crate::kernel::rules::{PkgName, PreferSibling, ReclaimDistance};
use crate::machine::Machine;
use crate::mask::CpuMask;

/// `RECLAIM_DISTANCE`: NUMA distances beyond it lose flags (include/linux/topology.h).
const RECLAIM_DISTANCE: u32 = 30;
/// What AMD and Hygon processors raise it to (arch/x86/kernel/cpu/{amd,hygon}.c).
const RECLAIM_DISTANCE_AMD: u32 = 32;

/// A level of the topology (`struct sched_domain_topology_level`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) kind: LevelKind,
    pub(super) name: &'static str,
    /// Greatest distance of the nodes of a NUMA level.
    pub(super) distance: Option<u32>,
}

/// The levels, lowest first. Their places are the numbers `relax_domain_level` compares.
pub(super) fn levels(machine: &Machine, profile: &Profile) -> Vec<Level> {
    let rules = &profile.rules;
    let plain = |kind, name| Level {
        kind,
        name,
        distance: None,
    };
    let mut levels = Vec::new();
    if machine.has_smt() || !rules.smt_level_only_with_smt {
        levels.push(plain(LevelKind::Smt, "SMT"));
    }
    if rules.cluster_level {
        levels.push(plain(LevelKind::Cls, "CLS"));
    }
    levels.push(plain(LevelKind::Mc, "MC"));
    // x86 has no package level where a package holds several nodes (x86_has_numa_in_package).
    if !(machine.is_x86() && numa_in_package(machine)) {
        let name = match rules.pkg_name {
            PkgName::Die => "DIE",
            PkgName::Pkg => "PKG",
        };
        levels.push(plain(LevelKind::Pkg, name));
    }
    let mut distances: Vec<u32> = machine.distances.iter().flatten().copied().collect();
    distances.sort_unstable();
    distances.dedup();
    if machine.nodes.len() < 2 {
        return levels;
    }
    if rules.node_level {
        levels.push(plain(LevelKind::Node, "NODE"));
    }
    levels.extend(distances.into_iter().skip(1).map(|distance| Level {
        kind: LevelKind::Numa,
        name: "NUMA",
        distance: Some(distance),
    }));
    levels
}

fn numa_in_package(machine: &Machine) -> bool {
    let nodes_of = |package: &CpuMask| {
        let nodes = machine.nodes.iter();
        nodes.filter(|n| n.cpus.intersects(package)).count()
    };
    machine.packages.iter().any(|p| nodes_of(p) > 1)
}

/// The CPUs of a level as one CPU sees it.
pub(super) fn span(machine: &Machine, level: Level, cpu: CpuIx) -> CpuMask {
    let node = &machine.node(cpu).cpus;
    let within_node = |mask: &CpuMask| {
        let mut mask = mask.clone();
        mask.intersect_with(node);
        mask
    };
    match level.kind {
        LevelKind::Smt => machine.siblings(cpu).clone(),
        LevelKind::Cls => within_node(machine.cluster(cpu)),
        LevelKind::Mc => within_node(machine.llc(cpu)),
        // cpu_cpu_mask() is the node's mask, whatever the level is called.
        LevelKind::Pkg | LevelKind::Node => node.clone(),
        LevelKind::Numa => within_distance(machine, cpu, level.distance.unwrap_or(0)),
    }
}

fn within_distance(machine: &Machine, cpu: CpuIx, limit: u32) -> CpuMask {
    let from = usize::from(machine.place(cpu).node);
    let mut mask = CpuMask::empty(machine.nr_cpus());
    for (node, &distance) in machine.nodes.iter().zip(&machine.distances[from]) {
        if distance <= limit {
            mask.union_with(&node.cpus);
        }
    }
    mask
}

/// What `sd_init` gives a domain of a level.
pub(super) struct Init {
    pub(super) flags: SdFlags,
    pub(super) imbalance_pct: u32,
    pub(super) cache_nice_tries: u32,
}

/// Flags and numbers of a level's domains (`sd_init`).
pub(super) fn init(machine: &Machine, profile: &Profile, level: Level) -> Init {
    let rules = &profile.rules;
    let balance = &profile.constants.balance;
    let everywhere = SdFlags::BALANCE_NEWIDLE
        | SdFlags::BALANCE_EXEC
        | SdFlags::BALANCE_FORK
        | SdFlags::WAKE_AFFINE;
    let prefer = match rules.prefer_sibling {
        PreferSibling::SmtAndPkg => matches!(level.kind, LevelKind::Smt | LevelKind::Pkg),
        PreferSibling::AllButNuma => level.kind != LevelKind::Numa,
    };
    let mut flags = everywhere;
    if prefer {
        flags |= SdFlags::PREFER_SIBLING;
    }
    let (own, pct, cache_nice_tries) = match level.kind {
        LevelKind::Smt => {
            let own = SdFlags::SHARE_CPUCAPACITY | SdFlags::SHARE_LLC;
            (own, balance.imbalance_smt_pct, 0)
        }
        LevelKind::Cls if rules.cluster_flag => {
            let own = SdFlags::CLUSTER | SdFlags::SHARE_LLC;
            (own, balance.imbalance_llc_pct, 1)
        }
        LevelKind::Cls | LevelKind::Mc => (SdFlags::SHARE_LLC, balance.imbalance_llc_pct, 1),
        LevelKind::Pkg | LevelKind::Node => (SdFlags::NONE, balance.imbalance_pct, 1),
        LevelKind::Numa => {
            let overlap = if rules.overlap_flag {
                SdFlags::OVERLAP
            } else {
                SdFlags::NONE
            };
            (
                SdFlags::SERIALIZE | SdFlags::NUMA | overlap,
                balance.imbalance_pct,
                2,
            )
        }
    };
    flags |= own;
    if level
        .distance
        .is_some_and(|d| d > reclaim_distance(machine, profile))
    {
        flags = flags.without(SdFlags::BALANCE_EXEC | SdFlags::BALANCE_FORK | SdFlags::WAKE_AFFINE);
    }
    // A percentage of a kernel file is far below u32::MAX; a wrong one saturates.
    let imbalance_pct = u32::try_from(pct).unwrap_or(u32::MAX);
    Init {
        flags,
        imbalance_pct,
        cache_nice_tries,
    }
}

fn reclaim_distance(machine: &Machine, profile: &Profile) -> u32 {
    let vendor = machine.vendor.as_deref();
    let raised = matches!(vendor, Some("AuthenticAMD" | "HygonGenuine"));
    match profile.rules.reclaim_distance {
        ReclaimDistance::ByVendor if raised => RECLAIM_DISTANCE_AMD,
        ReclaimDistance::ByVendor | ReclaimDistance::Fixed => RECLAIM_DISTANCE,
    }
}
