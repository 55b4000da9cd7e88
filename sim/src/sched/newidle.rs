//! Balancing by a CPU that is about to go idle.

use super::stat::IdleType;
use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::kernel::rules::NewidleScope;
use crate::machine::domains::SdFlags;
use crate::sim::Sim;
use crate::table::SdIx;
use crate::time::{Ns, SEC};

impl Sim {
    /// Tries to pull a task before a CPU goes idle. Whether it has one now.
    pub(crate) fn sched_balance_newidle(&mut self, cpu: CpuIx) -> bool {
        if !self.rqs[cpu].wake_list.is_empty() {
            return false;
        }
        let now = self.now;
        self.rqs[cpu].idle_stamp.get_or_insert(now);
        let Some(&first) = self.rqs[cpu].domains.first() else {
            return false;
        };
        let avg_idle = self.rqs[cpu].avg_idle;
        if self.overloaded.is_empty() || avg_idle < self.sds[first].max_newidle_lb_cost {
            self.update_next_balance(cpu, first);
            return false;
        }
        let mut spent = self.update_blocked_averages(cpu);
        let mut pulled = 0;
        for at in 0..self.rqs[cpu].domains.len() {
            let sd = self.rqs[cpu].domains[at];
            self.update_next_balance(cpu, sd);
            if avg_idle < spent + self.sds[sd].max_newidle_lb_cost {
                break;
            }
            let flags = self.domains.get(self.sds[sd].id).flags;
            if flags.has(SdFlags::BALANCE_NEWIDLE) && self.newidle_in_scope(flags) {
                let Some(weight) = self.newidle_draw(sd) else {
                    continue;
                };
                let before = self.rqs[cpu].overhead;
                pulled = self.sched_balance_rq(cpu, sd, IdleType::NewlyIdle).pulled;
                let cost = self.rqs[cpu].overhead - before;
                self.update_newidle_cost(sd, cost, if pulled > 0 { weight } else { 0 });
                spent += cost;
            }
            if pulled > 0 || self.rqs[cpu].nr_running > 0 {
                break;
            }
        }
        let rq = &mut self.rqs[cpu];
        rq.max_idle_balance_cost = rq.max_idle_balance_cost.max(spent);
        if rq.nr_running > 0 {
            rq.idle_stamp = None;
            return true;
        }
        // The time passes before the CPU is idle: whoever is woken here meanwhile waits for it.
        false
    }

    fn newidle_in_scope(&self, flags: SdFlags) -> bool {
        match self.profile.rules.newidle_scope {
            NewidleScope::Flagged => true,
            NewidleScope::WithinLlc => flags.has(SdFlags::SHARE_LLC),
        }
    }

    /// Whether this pass is made: by the odds of success where the kernel draws. The weight of a
    /// success, so that passes not made are counted in.
    fn newidle_draw(&mut self, sd: SdIx) -> Option<u32> {
        if !self.feat(Feature::NiRandom) {
            return Some(1);
        }
        let odds = 1 + self.sds[sd].newidle_ratio;
        let drawn = 1 + self.streams.newidle.below(1024) as u32;
        if drawn > odds {
            self.update_newidle_stats(sd, 0);
            return None;
        }
        Some((1024 + odds / 2) / odds.max(1))
    }

    fn update_newidle_stats(&mut self, sd: SdIx, success: u32) {
        let state = &mut self.sds[sd];
        state.newidle_call += 1;
        state.newidle_success += success;
        if state.newidle_call >= 1024 {
            state.newidle_ratio = state.newidle_success.min(1024);
            state.newidle_call /= 2;
            state.newidle_success /= 2;
        }
    }

    /// Learns the cost of a pass; forgets a little each second.
    pub(crate) fn update_newidle_cost(&mut self, sd: SdIx, cost: Ns, success: u32) -> bool {
        if self.feat(Feature::NiRandom) {
            self.update_newidle_stats(sd, success);
        }
        let now = self.now;
        // The kernel caps what it believes at just above the migration cost.
        let cap = self.tun.migration_cost_ns + 200;
        let state = &mut self.sds[sd];
        if cost > state.max_newidle_lb_cost {
            state.max_newidle_lb_cost = cost.min(cap);
            state.last_decay_max_lb_cost = now;
            return false;
        }
        self.decay_newidle_cost(sd)
    }

    /// Forgets a little of the longest pass, once a second. Whether it did.
    pub(crate) fn decay_newidle_cost(&mut self, sd: SdIx) -> bool {
        let now = self.now;
        let state = &mut self.sds[sd];
        if now <= state.last_decay_max_lb_cost + SEC {
            return false;
        }
        state.max_newidle_lb_cost = state.max_newidle_lb_cost * 253 / 256;
        state.last_decay_max_lb_cost = now;
        true
    }

    /// A domain balanced while idle is due sooner than while busy.
    fn update_next_balance(&mut self, cpu: CpuIx, sd: SdIx) {
        let due = self.sds[sd].last_balance + self.sd_balance_interval(sd, false);
        let rq = &mut self.rqs[cpu];
        rq.next_balance = rq.next_balance.min(due);
    }

    /// Ages what blocked tasks left behind on a CPU. What that costs, charged already.
    pub(crate) fn update_blocked_averages(&mut self, cpu: CpuIx) -> Ns {
        let mut queues = 1;
        for at in 0..self.groups.len() {
            let group = crate::table::GroupIx(at as u32);
            if let Some(queue) = self.groups[group].cfs_rq[cpu.at()]
                && self.cfs[queue].avg.load_avg > 0
            {
                self.update_blocked_queue(queue);
                queues += 1;
            }
        }
        let root = self.rqs[cpu].cfs;
        self.update_blocked_queue(root);
        let cost = self.machine.costs.kernel.balance_cpu_ns * queues;
        self.rqs[cpu].overhead += cost;
        cost
    }
}
