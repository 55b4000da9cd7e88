//! Load balancing: when, between which groups and queues, how much.

use super::group_stats::{GroupType, SdLbStats, SgLbStats};
use super::stat::IdleType;
use crate::cpu::CpuIx;
use crate::kernel::rules::{ImbNuma, Serialise};
use crate::machine::domains::{DomainId, SdFlags};
use crate::sim::Sim;
use crate::table::SdIx;
use crate::time::{MS, Ns};

/// In which measure an imbalance is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MigrationType {
    Load,
    Util,
    Task,
}

/// An imbalance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Imbalance {
    pub kind: MigrationType,
    pub amount: u64,
}

/// What a balancing pass did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balanced {
    pub pulled: u32,
    /// Another CPU balances for this group: levels above are not looked at.
    pub stop: bool,
}

/// A balance interval at most, however long the domain's own is (`max_load_balance_interval`).
fn max_load_balance_interval(cpus: usize) -> Ns {
    cpus as u64 * 1000 * MS / 10
}

impl Sim {
    /// Time between balances of a domain.
    pub(crate) fn sd_balance_interval(&self, sd: SdIx, busy: bool) -> Ns {
        let state = &self.sds[sd];
        let mut interval = state.balance_interval;
        if busy {
            interval *= u64::from(self.domains.get(state.id).busy_factor);
            // A jiffy less keeps domains of different length from meeting at one tick.
            interval = interval.saturating_sub(self.tun.tick_ns);
        }
        interval.clamp(
            self.tun.tick_ns,
            max_load_balance_interval(self.machine.nr_cpus()),
        )
    }

    /// Balances every domain of a CPU that is due.
    pub(crate) fn sched_balance_domains(&mut self, cpu: CpuIx, idle: IdleType) {
        let cost = self.update_blocked_averages(cpu);
        debug_assert!(cost > 0 || self.machine.costs.kernel.balance_cpu_ns == 0);
        let mut next = self.now + 60_000 * MS;
        let mut go_on = true;
        let busy = idle == IdleType::Busy;
        for at in 0..self.rqs[cpu].domains.len() {
            let sd = self.rqs[cpu].domains[at];
            self.decay_newidle_cost(sd);
            if !go_on {
                continue;
            }
            let interval = self.sd_balance_interval(sd, busy);
            if self.now >= self.sds[sd].last_balance + interval {
                let serial = self
                    .domains
                    .get(self.sds[sd].id)
                    .flags
                    .has(SdFlags::SERIALIZE);
                let in_loop = self.profile.rules.serialise == Serialise::DomainLoop;
                if !(serial && in_loop && self.balance_running) {
                    let result = self.sched_balance_rq(cpu, sd, idle);
                    go_on = !result.stop;
                }
                self.sds[sd].last_balance = self.now;
            }
            let interval = self.sd_balance_interval(sd, busy);
            next = next.min(self.sds[sd].last_balance + interval);
        }
        self.rqs[cpu].next_balance = next;
        if self.rqs[cpu].curr.is_none() && self.rqs[cpu].nr_running > 0 {
            self.resched_curr(cpu);
        }
    }

    /// One CPU of a group balances for it: the first idle one, else the first.
    fn should_we_balance(&self, id: DomainId, cpu: CpuIx, idle: IdleType) -> bool {
        if idle == IdleType::NewlyIdle {
            return self.rqs[cpu].nr_running == 0 && self.rqs[cpu].wake_list.is_empty();
        }
        let domain = self.domains.get(id);
        let Some(group) = domain.group_of(cpu).map(|at| &domain.groups[at]) else {
            return true;
        };
        let smt_level = domain.flags.has(SdFlags::SHARE_CPUCAPACITY);
        let mut idle_smt = None;
        for other in group.balance.iter() {
            if !self.idle_cpu(other) {
                continue;
            }
            let core_idle = (self.machine.siblings(other).iter()).all(|s| self.idle_cpu(s));
            if smt_level || core_idle {
                return other == cpu;
            }
            idle_smt.get_or_insert(other);
        }
        idle_smt.or(group.balance.first()) == Some(cpu)
    }

    /// Balances one domain on behalf of a CPU.
    pub(crate) fn sched_balance_rq(&mut self, cpu: CpuIx, sd: SdIx, idle: IdleType) -> Balanced {
        self.sds[sd].stat.lb(idle).count += 1;
        let id = self.sds[sd].id;
        if !self.should_we_balance(id, cpu, idle) {
            self.sds[sd].stat.lb(idle).balanced += 1;
            return Balanced {
                pulled: 0,
                stop: true,
            };
        }
        let flags = vec![false; self.domains.get(id).groups.len()];
        let stats = self.update_sd_lb_stats(id, cpu, idle, &flags);
        let Some((group, imbalance)) = self.sched_balance_find_src_group(id, cpu, idle, &stats)
        else {
            self.sds[sd].stat.lb(idle).nobusyg += 1;
            return self.out_balanced(sd, idle);
        };
        let Some(busiest) = self.sched_balance_find_src_rq(id, group, cpu, imbalance) else {
            self.sds[sd].stat.lb(idle).nobusyq += 1;
            return self.out_balanced(sd, idle);
        };
        let lb = self.sds[sd].stat.lb(idle);
        match imbalance.kind {
            MigrationType::Load => lb.imbalance_load += imbalance.amount,
            MigrationType::Util => lb.imbalance_util += imbalance.amount,
            MigrationType::Task => lb.imbalance_task += imbalance.amount,
        }
        let moved = self.pull(cpu, busiest, sd, idle, imbalance);
        if moved.pinned && moved.count == 0 {
            return self.out_balanced(sd, idle);
        }
        if moved.count == 0 {
            self.sds[sd].stat.lb(idle).failed += 1;
            if idle != IdleType::NewlyIdle {
                self.sds[sd].nr_balance_failed += 1;
                self.consider_active_balance(cpu, busiest, sd);
            }
        } else {
            self.sds[sd].nr_balance_failed = 0;
            let min = u64::from(self.domains.get(id).min_interval_ms) * MS;
            self.sds[sd].balance_interval = min;
        }
        Balanced {
            pulled: moved.count,
            stop: false,
        }
    }

    fn out_balanced(&mut self, sd: SdIx, idle: IdleType) -> Balanced {
        let max = u64::from(self.domains.get(self.sds[sd].id).max_interval_ms) * MS;
        let state = &mut self.sds[sd];
        state.stat.lb(idle).balanced += 1;
        state.nr_balance_failed = 0;
        if idle != IdleType::NewlyIdle && state.balance_interval < max {
            state.balance_interval *= 2;
        }
        Balanced::default()
    }

    fn consider_active_balance(&mut self, cpu: CpuIx, busiest: CpuIx, sd: SdIx) {
        let tries = self.domains.get(self.sds[sd].id).cache_nice_tries;
        if self.sds[sd].nr_balance_failed <= tries + 2 {
            return;
        }
        let Some(curr) = self.rqs[busiest].curr else {
            return;
        };
        if self.rqs[busiest].active_balance.is_some() || !self.allows(curr, cpu) {
            return;
        }
        self.rqs[busiest].active_balance = Some((cpu, sd));
        let at = self.now + self.machine.costs.switch.ipi_flight_ns;
        self.push(at, busiest, crate::queue::Event::Stopper);
        self.sds[sd].nr_balance_failed = tries + 1;
    }

    /// The group to pull from, and how much.
    fn sched_balance_find_src_group(
        &self,
        id: DomainId,
        this: CpuIx,
        idle: IdleType,
        stats: &SdLbStats,
    ) -> Option<(usize, Imbalance)> {
        let (at, busiest) = stats.busiest.as_ref()?;
        let local = &stats.local;
        let domain = self.domains.get(id);
        let pct = u64::from(domain.imbalance_pct);
        let sibling = sibling_imbalance(local, busiest);
        let prefer = self.prefers_sibling(id, *at);
        if busiest.group_type != GroupType::Imbalanced {
            if local.group_type > busiest.group_type {
                return None;
            }
            if local.group_type == GroupType::Overloaded {
                let average = stats.total_load * 1024 / stats.total_capacity.max(1);
                if local.avg_load >= busiest.avg_load
                    || local.avg_load >= average
                    || 100 * busiest.avg_load <= pct * local.avg_load
                {
                    return None;
                }
            }
            let spread = prefer && local.group_type == GroupType::HasSpare && sibling > 1;
            let worth = idle != IdleType::Busy
                && !(busiest.group_type == GroupType::HasSpare
                    && busiest.group_weight > 1
                    && local.idle_cpus <= busiest.idle_cpus + 1)
                && busiest.sum_h_nr_running != 1;
            let spare = busiest.group_type < GroupType::SmtBalance;
            if !spread && spare && !worth {
                return None;
            }
        }
        let imbalance = self.calculate_imbalance(id, this, idle, stats, busiest, prefer, sibling);
        (imbalance.amount > 0).then_some((*at, imbalance))
    }

    /// The child domain of the busiest group prefers that its tasks spread over its siblings.
    fn prefers_sibling(&self, id: DomainId, group: usize) -> bool {
        let flags = self.domains.get(id).groups[group].flags;
        flags.has(SdFlags::PREFER_SIBLING)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the kernel's lb_env and sd_lb_stats, spelt out"
    )]
    fn calculate_imbalance(
        &self,
        id: DomainId,
        this: CpuIx,
        idle: IdleType,
        stats: &SdLbStats,
        busiest: &SgLbStats,
        prefer: bool,
        sibling: u32,
    ) -> Imbalance {
        let local = &stats.local;
        let domain = self.domains.get(id);
        let task = |amount| Imbalance {
            kind: MigrationType::Task,
            amount,
        };
        if matches!(
            busiest.group_type,
            GroupType::Imbalanced | GroupType::SmtBalance
        ) {
            return task(1);
        }
        if local.group_type == GroupType::HasSpare {
            if busiest.group_type > GroupType::FullyBusy && !domain.flags.has(SdFlags::SHARE_LLC) {
                let amount = local.group_capacity.saturating_sub(local.group_util);
                if amount == 0 && idle != IdleType::Busy {
                    return task(1);
                }
                return Imbalance {
                    kind: MigrationType::Util,
                    amount,
                };
            }
            let mut amount = if busiest.group_weight == 1 || prefer {
                u64::from(sibling)
            } else {
                u64::from(local.idle_cpus.saturating_sub(busiest.idle_cpus))
            };
            if domain.flags.has(SdFlags::NUMA) {
                amount = self.adjust_numa_imbalance(id, amount, local.sum_nr_running + 1);
            }
            return task(amount / 2 + u64::from(amount == 1 && busiest.group_weight == 1));
        }
        let _ = this;
        let average = (stats.total_load * 1024) / stats.total_capacity.max(1);
        let local_load = local.group_load * 1024 / local.group_capacity.max(1);
        let busiest_load = busiest.group_load * 1024 / busiest.group_capacity.max(1);
        if local_load >= busiest_load || local_load >= average || busiest_load <= average {
            return Imbalance {
                kind: MigrationType::Load,
                amount: 0,
            };
        }
        let amount = ((busiest_load - average) * busiest.group_capacity)
            .min((average - local_load) * local.group_capacity)
            / 1024;
        Imbalance {
            kind: MigrationType::Load,
            amount,
        }
    }

    fn adjust_numa_imbalance(&self, id: DomainId, imbalance: u64, running: u32) -> u64 {
        let domain = self.domains.get(id);
        let allowed = match self.profile.rules.imb_numa {
            ImbNuma::None => 0,
            ImbNuma::TwoTasks => {
                return if running <= 2 && imbalance <= 2 {
                    0
                } else {
                    imbalance
                };
            }
            ImbNuma::QuarterOfSpan => domain.weight / 4,
            ImbNuma::PerDomain => domain.imb_numa_nr,
        };
        if running <= allowed && imbalance <= 2 {
            0
        } else {
            imbalance
        }
    }

    /// The queue of a group to pull from.
    fn sched_balance_find_src_rq(
        &mut self,
        id: DomainId,
        group: usize,
        this: CpuIx,
        imbalance: Imbalance,
    ) -> Option<CpuIx> {
        let cpus: Vec<_> = self.domains.get(id).groups[group].span.iter().collect();
        let mut best: Option<(CpuIx, u64)> = None;
        for cpu in cpus {
            let rq = &self.rqs[cpu];
            let root = &self.cfs[rq.cfs];
            let nr = root.h_nr_runnable;
            if nr == 0 || cpu == this {
                continue;
            }
            let key = match imbalance.kind {
                MigrationType::Load if nr == 1 && root.avg.load_avg > imbalance.amount => continue,
                MigrationType::Load => root.avg.load_avg,
                MigrationType::Util if nr <= 1 => continue,
                MigrationType::Util => root.avg.util_avg,
                MigrationType::Task => u64::from(nr),
            };
            if best.is_none_or(|(_, most)| key > most) {
                best = Some((cpu, key));
            }
        }
        best.map(|(cpu, _)| cpu)
    }
}

/// By how many tasks the busiest group is ahead, cores counted where they differ.
fn sibling_imbalance(local: &SgLbStats, busiest: &SgLbStats) -> u32 {
    let (here, there) = (local.cores.max(1), busiest.cores.max(1));
    if here == there {
        return busiest.sum_nr_running.saturating_sub(local.sum_nr_running);
    }
    let ahead = (u64::from(here) * u64::from(busiest.sum_nr_running))
        .saturating_sub(u64::from(there) * u64::from(local.sum_nr_running));
    let ahead = 2 * ahead + u64::from(here + there);
    let share = (ahead / u64::from(2 * (here + there).max(1))) as u32;
    if share <= 1 && local.sum_nr_running == 0 && busiest.sum_nr_running > 1 {
        2
    } else {
        share
    }
}
