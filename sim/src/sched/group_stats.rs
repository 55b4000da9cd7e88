//! What a balancing pass sees: each group's load, tasks, idle CPUs, and of which type it is.

use super::stat::IdleType;
use crate::cpu::CpuIx;
use crate::machine::domains::{DomainId, SdFlags};
use crate::sim::Sim;

/// Type of a group, from the least to the most in need of help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupType {
    #[default]
    HasSpare,
    FullyBusy,
    SmtBalance,
    Imbalanced,
    Overloaded,
}

/// Statistics of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SgLbStats {
    pub avg_load: u64,
    pub group_load: u64,
    pub group_capacity: u64,
    pub group_util: u64,
    pub group_runnable: u64,
    pub sum_h_nr_running: u32,
    pub sum_nr_running: u32,
    pub idle_cpus: u32,
    pub group_weight: u32,
    pub cores: u32,
    pub group_type: GroupType,
}

/// Statistics of a domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct SdLbStats {
    pub local: SgLbStats,
    pub busiest: Option<(usize, SgLbStats)>,
    pub total_load: u64,
    pub total_capacity: u64,
    pub sum_util: u64,
}

/// Capacity of a CPU.
const CAPACITY: u64 = 1024;

impl Sim {
    pub(crate) fn update_sd_lb_stats(
        &mut self,
        id: DomainId,
        this: CpuIx,
        idle: IdleType,
        sd_imbalanced: &[bool],
    ) -> SdLbStats {
        let mut stats = SdLbStats::default();
        let count = self.domains.get(id).groups.len();
        let local = self.domains.get(id).group_of(this).unwrap_or(0);
        for offset in 0..count {
            let at = (local + offset) % count;
            let flag = sd_imbalanced.get(at).copied().unwrap_or(false);
            let group = self.update_sg_lb_stats(id, at, at == local, idle, flag);
            stats.total_load += group.group_load;
            stats.total_capacity += group.group_capacity;
            stats.sum_util += group.group_util;
            if at == local {
                stats.local = group;
            } else if update_sd_pick_busiest(stats.busiest.as_ref().map(|(_, b)| b), &group) {
                stats.busiest = Some((at, group));
            }
        }
        let looked = u64::from(self.domains.get(id).weight);
        self.rqs[this].overhead += self.machine.costs.kernel.balance_ns
            + self.machine.costs.kernel.balance_cpu_ns * looked;
        if self.domains.get(id).flags.has(SdFlags::SHARE_LLC) && idle != IdleType::NewlyIdle {
            self.update_idle_cpu_scan(id, this, stats.sum_util);
        }
        stats
    }

    /// How far the next wake-ups may search, by the LLC's utilisation.
    fn update_idle_cpu_scan(&mut self, id: DomainId, this: CpuIx, sum_util: u64) {
        let llc = self.rqs[this].llc;
        let domain = self.domains.get(id);
        if domain.span != self.llcs[llc].span {
            return;
        }
        let weight = u64::from(domain.weight);
        let nr = super::idle::nr_idle_scan(sum_util, weight, u64::from(domain.imbalance_pct));
        self.llcs[llc].nr_idle_scan = Some(nr);
    }

    fn update_sg_lb_stats(
        &mut self,
        id: DomainId,
        at: usize,
        local: bool,
        idle: IdleType,
        imbalanced: bool,
    ) -> SgLbStats {
        let domains = &self.domains;
        let group = &domains.get(id).groups[at];
        let pct = u64::from(domains.get(id).imbalance_pct);
        let mut stats = SgLbStats {
            group_weight: group.weight,
            cores: group.cores,
            group_capacity: CAPACITY * u64::from(group.weight),
            ..SgLbStats::default()
        };
        for cpu in group.span.iter() {
            let rq = &self.rqs[cpu];
            let root = &self.cfs[rq.cfs];
            stats.group_load += root.avg.load_avg;
            stats.group_util += root.avg.util_avg.min(CAPACITY);
            stats.group_runnable += root.avg.runnable_avg;
            stats.sum_h_nr_running += root.h_nr_runnable;
            stats.sum_nr_running += rq.nr_running;
            if rq.nr_running == 0 && self.idle.contains(cpu) {
                stats.idle_cpus += 1;
            }
        }
        let smt = group.flags.has(SdFlags::SHARE_CPUCAPACITY);
        stats.group_type = if group_is_overloaded(pct, &stats) {
            GroupType::Overloaded
        } else if imbalanced {
            GroupType::Imbalanced
        } else if !local && smt && idle != IdleType::Busy && stats.sum_h_nr_running > 1 {
            GroupType::SmtBalance
        } else if !group_has_capacity(pct, &stats) {
            GroupType::FullyBusy
        } else {
            GroupType::HasSpare
        };
        if stats.group_type == GroupType::Overloaded {
            stats.avg_load = stats.group_load * CAPACITY / stats.group_capacity.max(1);
        }
        stats
    }
}

fn group_is_overloaded(pct: u64, stats: &SgLbStats) -> bool {
    stats.sum_nr_running > stats.group_weight
        && (stats.group_capacity * 100 < stats.group_util * pct
            || stats.group_capacity * pct < stats.group_runnable * 100)
}

fn group_has_capacity(pct: u64, stats: &SgLbStats) -> bool {
    stats.sum_nr_running < stats.group_weight
        || (stats.group_capacity * pct >= stats.group_runnable * 100
            && stats.group_capacity * 100 > stats.group_util * pct)
}

/// Whether a group is busier than the busiest so far.
fn update_sd_pick_busiest(busiest: Option<&SgLbStats>, group: &SgLbStats) -> bool {
    if group.sum_h_nr_running == 0 {
        return false;
    }
    let Some(busiest) = busiest else {
        return true;
    };
    if group.group_type != busiest.group_type {
        return group.group_type > busiest.group_type;
    }
    match group.group_type {
        GroupType::Overloaded => group.avg_load > busiest.avg_load,
        GroupType::Imbalanced => false,
        GroupType::SmtBalance | GroupType::FullyBusy => {
            group.sum_h_nr_running > busiest.sum_h_nr_running
        }
        GroupType::HasSpare => {
            if group.idle_cpus != busiest.idle_cpus {
                group.idle_cpus < busiest.idle_cpus
            } else {
                group.sum_nr_running > busiest.sum_nr_running
            }
        }
    }
}
