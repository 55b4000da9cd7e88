//! From levels to domains (`build_sched_domains`).

use std::collections::BTreeMap;

use super::degenerate::degenerate;
use super::domain::{DomainId, LevelKind, SchedDomain, SchedDomains, SchedGroup};
use super::flags::SdFlags;
use super::levels::{self, Level};
use crate::cpu::CpuIx;
use crate::kernel::Profile;
use crate::kernel::rules::{ImbNuma, RelaxCompare};
use crate::machine::Machine;
use crate::mask::CpuMask;

/// A domain of one CPU before it is shared with those that see it alike.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) level: Level,
    pub(super) number: u32,
    pub(super) span: CpuMask,
    pub(super) flags: SdFlags,
    pub(super) imb_numa_nr: u32,
}

/// Builds the domains of a machine under a kernel. `relax_domain_level` is the command line's or a
/// cpuset's request; `None`, and any negative value, is none.
pub fn build_sched_domains(
    machine: &Machine,
    profile: &Profile,
    relax_domain_level: Option<i32>,
) -> SchedDomains {
    let request = relax_domain_level.and_then(|level| u32::try_from(level).ok());
    let levels = levels::levels(machine, profile);
    let mut chains: Vec<Vec<Draft>> = (machine.all())
        .map(|cpu| chain(machine, profile, &levels, request, cpu))
        .collect();
    if profile.rules.imb_numa == ImbNuma::PerDomain {
        chains.iter_mut().for_each(|chain| imb_numa_nr(chain));
    }
    let kept: Vec<Vec<Draft>> = chains.iter().cloned().map(degenerate).collect();
    share(machine, profile, &chains, &kept)
}

/// The levels as one CPU sees them, up to the first that holds every CPU.
fn chain(
    machine: &Machine,
    profile: &Profile,
    levels: &[Level],
    request: Option<u32>,
    cpu: CpuIx,
) -> Vec<Draft> {
    let mut chain = Vec::with_capacity(levels.len());
    for (number, &level) in (0u32..).zip(levels) {
        let span = levels::span(machine, level, cpu);
        let mut flags = levels::init(machine, profile, level).flags;
        let relaxed = request.is_some_and(|request| match profile.rules.relax_compare {
            RelaxCompare::Above => number > request,
            RelaxCompare::AtOrAbove => number >= request,
        });
        if relaxed {
            flags = flags.without(SdFlags::BALANCE_NEWIDLE);
        }
        let whole = span.len() == machine.nr_cpus();
        chain.push(Draft {
            level,
            number,
            span,
            flags,
            imb_numa_nr: 0,
        });
        if whole {
            break;
        }
    }
    chain
}

/// How many tasks a node may run before NUMA balancing spreads them, level by level.
fn imb_numa_nr(chain: &mut [Draft]) {
    let weight = |draft: &Draft| u32::try_from(draft.span.len()).unwrap_or(u32::MAX);
    let (mut imb, mut imb_span) = (0, 1);
    for at in 0..chain.len() {
        let own = weight(&chain[at]);
        let shares = |draft: &Draft| draft.flags.has(SdFlags::SHARE_LLC);
        let child = at.checked_sub(1).map(|below| &chain[below]);
        match child {
            Some(child) if !shares(&chain[at]) && shares(child) => {
                let nr_llcs = own / weight(child).max(1);
                imb = if nr_llcs == 1 { own >> 3 } else { nr_llcs }.max(1);
                let above = &chain[at + 1..];
                let numa = above.iter().find(|d| d.flags.has(SdFlags::NUMA));
                imb_span = numa.map_or(own, weight);
                chain[at].imb_numa_nr = imb;
            }
            _ => chain[at].imb_numa_nr = imb * (own / imb_span).max(1),
        }
    }
}

/// What makes two CPUs' domains one: level and span, and the node where groups may overlap.
type Key = (u32, CpuMask, Option<u16>);

fn key(machine: &Machine, draft: &Draft, cpu: CpuIx) -> Key {
    let node = (draft.level.kind == LevelKind::Numa).then(|| machine.place(cpu).node);
    (draft.number, draft.span.clone(), node)
}

fn share(
    machine: &Machine,
    profile: &Profile,
    built: &[Vec<Draft>],
    kept: &[Vec<Draft>],
) -> SchedDomains {
    let mut ids: BTreeMap<Key, DomainId> = BTreeMap::new();
    let mut table: Vec<SchedDomain> = Vec::new();
    let mut of_cpu = Vec::with_capacity(kept.len());
    for cpu in machine.all() {
        let mut own: Vec<DomainId> = Vec::new();
        for (at, draft) in kept[cpu.at()].iter().enumerate() {
            let id = *ids.entry(key(machine, draft, cpu)).or_insert_with(|| {
                table.push(domain(machine, profile, built, kept, cpu, at));
                // A machine has at most CPUS_MAX CPUs, each with a handful of domains.
                DomainId((table.len() - 1) as u32)
            });
            if let Some(child) = own.last() {
                table[child.at()].parent = Some(id);
            }
            own.push(id);
        }
        of_cpu.push(own);
    }
    SchedDomains { table, of_cpu }
}

fn domain(
    machine: &Machine,
    profile: &Profile,
    built: &[Vec<Draft>],
    kept: &[Vec<Draft>],
    cpu: CpuIx,
    at: usize,
) -> SchedDomain {
    let draft = &kept[cpu.at()][at];
    let init = levels::init(machine, profile, draft.level);
    let weight = u32::try_from(draft.span.len()).unwrap_or(u32::MAX);
    let busy = profile.constants.balance.busy_factor_count;
    SchedDomain {
        kind: draft.level.kind,
        name: draft.level.name,
        level: draft.number,
        span: draft.span.clone(),
        weight,
        groups: groups(machine, built, kept, cpu, at),
        flags: draft.flags,
        imbalance_pct: init.imbalance_pct,
        busy_factor: u32::try_from(busy).unwrap_or(u32::MAX),
        min_interval_ms: weight,
        max_interval_ms: weight.saturating_mul(2),
        cache_nice_tries: init.cache_nice_tries,
        imb_numa_nr: draft.imb_numa_nr,
        parent: None,
    }
}

/// The groups of a domain: the spans of the level below, which may overlap at NUMA levels
/// (`build_sched_groups`, `build_overlap_sched_groups`).
fn groups(
    machine: &Machine,
    built: &[Vec<Draft>],
    kept: &[Vec<Draft>],
    cpu: CpuIx,
    at: usize,
) -> Vec<SchedGroup> {
    let draft = &kept[cpu.at()][at];
    let overlaps = draft.level.kind == LevelKind::Numa;
    // Where spans are disjoint every CPU sees the same groups: list them from the first CPU on.
    let start = if overlaps {
        cpu
    } else {
        draft.span.first().unwrap_or(cpu)
    };
    let mut covered = CpuMask::empty(machine.nr_cpus());
    let mut groups = Vec::new();
    for member in draft.span.iter_wrap(start) {
        if covered.contains(member) {
            continue;
        }
        let span = child_span(machine, built, draft, member);
        covered.union_with(&span);
        let balance = match overlaps {
            true => balance_mask(machine, built, draft, &span),
            false => span.clone(),
        };
        let weight = u32::try_from(span.len()).unwrap_or(u32::MAX);
        let cores = machine.cores.iter().filter(|c| c.intersects(&span)).count();
        let flags = child_flags(kept, member, draft.number, &span);
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        groups.push(SchedGroup {
            span,
            balance,
            weight,
            cores,
            flags,
        });
    }
    groups
}

/// What a CPU's domain below this level spans, cut to the domain where it reaches out of it
/// (`find_descended_sibling`).
fn child_span(machine: &Machine, built: &[Vec<Draft>], draft: &Draft, cpu: CpuIx) -> CpuMask {
    let below = (built[cpu.at()].iter().rev())
        .filter(|d| d.number < draft.number)
        .find(|d| d.span.is_subset(&draft.span));
    match below {
        Some(child) => child.span.clone(),
        None => CpuMask::of(machine.nr_cpus(), [cpu]),
    }
}

/// The CPUs of a group that arrive at this very group from their own domains
/// (`build_balance_mask`).
fn balance_mask(machine: &Machine, built: &[Vec<Draft>], draft: &Draft, span: &CpuMask) -> CpuMask {
    let arrives = |cpu: &CpuIx| child_span(machine, built, draft, *cpu) == *span;
    CpuMask::of(machine.nr_cpus(), span.iter().filter(arrives))
}

/// The flags of the domain a group stands for, after degeneration; none where it stands for none.
fn child_flags(kept: &[Vec<Draft>], cpu: CpuIx, number: u32, span: &CpuMask) -> SdFlags {
    (kept[cpu.at()].iter())
        .find(|d| d.number < number && d.span == *span)
        .map_or(SdFlags::NONE, |d| d.flags)
}
