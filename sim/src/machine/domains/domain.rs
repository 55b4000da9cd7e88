//! Scheduling domains: what of them never changes after they are built. What a CPU keeps for each
//! of its domains (balance interval, failures, newidle cost) belongs to the scheduler.

use super::flags::SdFlags;
use crate::cpu::CpuIx;
use crate::mask::CpuMask;

/// The place of a domain in [`SchedDomains::table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DomainId(pub u32);

impl DomainId {
    /// As an index into [`SchedDomains::table`].
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// A level of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LevelKind {
    /// Threads of a core.
    Smt,
    /// CPUs that share an L2.
    Cls,
    /// CPUs that share the LLC.
    Mc,
    /// A package (`DIE` before 6.7).
    Pkg,
    /// A NUMA node.
    Node,
    /// Nodes within a distance.
    Numa,
}

/// A group of a domain: the span of a child domain, or a single CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedGroup {
    /// Its CPUs.
    pub span: CpuMask,
    /// CPUs that may balance for it (`group_balance_mask`): its span, less where NUMA levels
    /// overlap.
    pub balance: CpuMask,
    /// How many CPUs.
    pub weight: u32,
    /// How many cores.
    pub cores: u32,
    /// The child domain's flags; none for a group that is no child domain.
    pub flags: SdFlags,
}

/// A domain, shared by the CPUs that see it alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedDomain {
    /// Which level it is of.
    pub kind: LevelKind,
    /// As this kernel calls it: `SMT`, `MC`, `PKG` or `DIE`, ...
    pub name: &'static str,
    /// Number of the level, counted before degeneration: what `relax_domain_level` compares.
    pub level: u32,
    /// Its CPUs.
    pub span: CpuMask,
    /// How many CPUs.
    pub weight: u32,
    /// Its groups in ascending order of their first CPU. The kernel's ring of a CPU starts at that
    /// CPU's own group: see [`SchedDomain::ring`].
    pub groups: Vec<SchedGroup>,
    /// Flags.
    pub flags: SdFlags,
    /// Load of the busiest group has to be this many percent of the local one's.
    pub imbalance_pct: u32,
    /// Intervals are this much longer while the CPU is busy.
    pub busy_factor: u32,
    /// Shortest balance interval in ms.
    pub min_interval_ms: u32,
    /// Longest balance interval in ms.
    pub max_interval_ms: u32,
    /// Failed balances before cache-hot tasks are moved.
    pub cache_nice_tries: u32,
    /// Tasks a node may run before NUMA balancing spreads them; 0 below the level above the LLC,
    /// and on kernels without it.
    pub imb_numa_nr: u32,
    /// The level above, where there is one.
    pub parent: Option<DomainId>,
}

impl SchedDomain {
    /// Which group a CPU of the span belongs to. Where groups overlap: the first of this domain's
    /// list that holds it.
    pub fn group_of(&self, cpu: CpuIx) -> Option<usize> {
        self.groups.iter().position(|g| g.span.contains(cpu))
    }

    /// The groups in the order of a CPU's ring: its own first.
    pub fn ring(&self, cpu: CpuIx) -> impl Iterator<Item = &SchedGroup> {
        let local = self.group_of(cpu).unwrap_or(0);
        let (before, from) = self.groups.split_at(local);
        from.iter().chain(before)
    }
}

/// The domains of a machine under one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedDomains {
    /// Every domain once.
    pub table: Vec<SchedDomain>,
    /// Each CPU's domains, lowest first, by CPU index; empty where a CPU is alone.
    pub of_cpu: Vec<Vec<DomainId>>,
}

impl SchedDomains {
    /// A domain by its place.
    #[inline]
    pub fn get(&self, id: DomainId) -> &SchedDomain {
        &self.table[id.at()]
    }

    /// A CPU's domains, lowest first.
    pub fn of(&self, cpu: CpuIx) -> impl DoubleEndedIterator<Item = (DomainId, &SchedDomain)> {
        self.of_cpu[cpu.at()].iter().map(|&id| (id, self.get(id)))
    }

    /// The highest domain of a CPU that shares the LLC (`sd_llc`).
    pub fn llc(&self, cpu: CpuIx) -> Option<(DomainId, &SchedDomain)> {
        self.highest_with(cpu, SdFlags::SHARE_LLC)
    }

    /// The highest domain of a CPU with `flag` in an unbroken chain from the lowest
    /// (`highest_flag_domain`).
    pub fn highest_with(&self, cpu: CpuIx, flag: SdFlags) -> Option<(DomainId, &SchedDomain)> {
        self.of(cpu).take_while(|(_, d)| d.flags.has(flag)).last()
    }

    /// The lowest domain of a CPU with `flag` (`lowest_flag_domain`).
    pub fn lowest_with(&self, cpu: CpuIx, flag: SdFlags) -> Option<(DomainId, &SchedDomain)> {
        self.of(cpu).find(|(_, d)| d.flags.has(flag))
    }

    /// The lowest domain of `cpu` whose span holds `other`.
    pub fn lowest_shared(&self, cpu: CpuIx, other: CpuIx) -> Option<(DomainId, &SchedDomain)> {
        self.of(cpu).find(|(_, d)| d.span.contains(other))
    }
}
