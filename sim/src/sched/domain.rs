//! What each CPU keeps for each of its domains, and what an LLC's CPUs keep together.

use super::stat::SdStat;
use crate::cpu::CpuIx;
use crate::machine::domains::{DomainId, LevelKind, SchedDomains, SdFlags};
use crate::mask::CpuMask;
use crate::table::{LlcIx, SdIx, Table};
use crate::time::{MS, Ns};

/// A CPU's copy of a domain.
#[derive(Clone, Debug)]
pub(crate) struct SdState {
    /// What of it never changes.
    pub id: DomainId,
    /// Place among the CPU's domains, 0 is the lowest.
    pub level: usize,
    /// When it was last balanced.
    pub last_balance: Ns,
    /// Time between balances while idle.
    pub balance_interval: Ns,
    /// Balances in a row that moved nothing.
    pub nr_balance_failed: u32,
    /// Longest newidle pass, slowly forgotten.
    pub max_newidle_lb_cost: Ns,
    pub(crate) last_decay_max_lb_cost: Ns,
    pub(crate) newidle_call: u32,
    pub(crate) newidle_success: u32,
    /// Chance of a newidle pass, in 1024ths.
    pub newidle_ratio: u32,
    /// Counters.
    pub stat: SdStat,
}

/// What the CPUs of a last-level cache share (`sched_domain_shared`).
#[derive(Clone, Debug)]
pub(crate) struct LlcShared {
    /// The CPUs.
    pub span: CpuMask,
    /// A core is believed to be idle.
    pub has_idle_cores: bool,
    /// CPUs that are worth a probe; `None`: not known yet.
    pub nr_idle_scan: Option<u64>,
}

/// The tables for a machine's domains.
pub(crate) struct Built {
    pub sds: Table<SdIx, SdState>,
    pub of_cpu: Vec<Vec<SdIx>>,
    pub llcs: Table<LlcIx, LlcShared>,
    pub llc_of: Vec<LlcIx>,
    pub in_cluster: Vec<bool>,
}

/// Makes the tables.
pub(crate) fn build(domains: &SchedDomains, cpus: usize) -> Built {
    let mut sds = Table::default();
    let mut of_cpu = Vec::with_capacity(cpus);
    let mut llcs: Table<LlcIx, LlcShared> = Table::default();
    let mut llc_of = Vec::with_capacity(cpus);
    let mut in_cluster = Vec::with_capacity(cpus);
    for cpu in (0..cpus).map(CpuIx::from_at) {
        let mut own = Vec::new();
        let mut cluster = false;
        for (level, (id, domain)) in domains.of(cpu).enumerate() {
            cluster |= domain.kind == LevelKind::Cls && domain.flags.has(SdFlags::CLUSTER);
            own.push(sds.push(SdState {
                id,
                level,
                last_balance: 0,
                balance_interval: u64::from(domain.min_interval_ms) * MS,
                nr_balance_failed: 0,
                max_newidle_lb_cost: 0,
                last_decay_max_lb_cost: 0,
                newidle_call: 512,
                newidle_success: 256,
                newidle_ratio: 512,
                stat: SdStat::default(),
            }));
        }
        of_cpu.push(own);
        in_cluster.push(cluster);
        let span = match domains.llc(cpu) {
            Some((_, domain)) => domain.span.clone(),
            None => CpuMask::of(cpus, [cpu]),
        };
        let known = llcs.indices().find(|&llc| llcs[llc].span == span);
        llc_of.push(known.unwrap_or_else(|| {
            llcs.push(LlcShared {
                span,
                has_idle_cores: true,
                nr_idle_scan: None,
            })
        }));
    }
    Built {
        sds,
        of_cpu,
        llcs,
        llc_of,
        in_cluster,
    }
}
