//! Ticks. Only those that change something are events: the end of a slice, runtime used up, a
//! balance that is due.

use super::entity::NICE_0_LOAD;
use super::stat::IdleType;
use crate::cpu::CpuIx;
use crate::kernel::rules::LoadTracking;
use crate::queue::Event;
use crate::sim::Sim;
use crate::table::SeIx;
use crate::time::Ns;

impl Sim {
    /// Sets the next tick of a CPU that matters.
    pub(crate) fn update_tick(&mut self, cpu: CpuIx) {
        let due = self.next_tick(cpu);
        let now = self.now;
        let rq = &mut self.rqs[cpu];
        let at = due.map(|due| rq.grid.at_or_after(due).max(rq.grid.after(now)));
        if at == rq.tick_at {
            return;
        }
        rq.tick_generation = rq.tick_generation.wrapping_add(1);
        rq.tick_at = at;
        let generation = rq.tick_generation;
        if let Some(at) = at {
            self.push(at, cpu, Event::Tick { generation });
        }
    }

    /// From when on a tick matters on a CPU; `None`: none does.
    fn next_tick(&self, cpu: CpuIx) -> Option<Ns> {
        let rq = &self.rqs[cpu];
        let curr = rq.curr?;
        if rq.need_resched_lazy {
            return Some(self.now);
        }
        let mut due = Ns::MAX;
        if !rq.domains.is_empty() {
            due = due.min(rq.next_balance);
            if rq.nr_running >= 2 && !self.nohz.idle_cpus.is_empty() && !self.nohz.kicked {
                due = due.min(self.nohz.next_balance);
            }
        }
        if self.profile.rules.load_tracking == LoadTracking::BlockedLoad {
            due = due.min(self.now + self.tun.tick_ns);
        }
        let mut at = Some(self.tasks[curr].se);
        while let Some(se) = at {
            due = due.min(self.slice_ends(se));
            let bw = &self.cfs[self.se[se].cfs_rq].bw;
            if bw.enabled && !bw.throttled {
                due = due.min(self.now + bw.runtime_remaining.max(0) as u64);
            }
            at = self.se[se].parent;
        }
        (due < Ns::MAX).then_some(due)
    }

    /// When the running entity's slice ends, as far as others wait for it.
    fn slice_ends(&self, se: SeIx) -> Ns {
        let entity = &self.se[se];
        let cfs = &self.cfs[entity.cfs_rq];
        if cfs.nr_queued < 2 {
            return Ns::MAX;
        }
        if !self.tun.eevdf() {
            // CFS looks at each tick how far the running entity is ahead.
            let least = self
                .tun
                .min_granularity_ns
                .min(self.sched_slice(entity.cfs_rq, se));
            let ran = entity.sum_exec - entity.prev_sum_exec
                + self.clock_task(cfs.cpu).saturating_sub(entity.exec_start);
            return self.now + least.saturating_sub(ran);
        }
        let left = (entity.deadline - entity.vruntime).max(0) as u64;
        let exec = (u128::from(left) * u128::from(entity.weight) / u128::from(NICE_0_LOAD)) as u64;
        let since = self.clock_task(cfs.cpu).saturating_sub(entity.exec_start);
        self.now + exec.saturating_sub(since)
    }

    pub(crate) fn tick_event(&mut self, cpu: CpuIx, generation: u32) -> bool {
        if self.rqs[cpu].tick_generation != generation {
            return false;
        }
        self.rqs[cpu].tick_at = None;
        let Some(curr) = self.rqs[cpu].curr else {
            return false;
        };
        let lazy = self.rqs[cpu].need_resched_lazy;
        self.task_tick_fair(self.tasks[curr].se);
        if lazy {
            self.rqs[cpu].need_resched = true;
        }
        if self.now >= self.rqs[cpu].next_balance {
            self.sched_balance_domains(cpu, IdleType::Busy);
        }
        self.nohz_balancer_kick(cpu);
        // The interrupt returns: to user mode, or into the kernel, where only a full reschedule
        // is served.
        let user = !self.tasks[curr].in_kernel;
        if user && self.tasks[curr].throttle_work {
            self.throttle_cfs_rq_work(curr);
        }
        let rq = &self.rqs[cpu];
        if rq.need_resched || (user && rq.need_resched_lazy) {
            self.schedule(cpu);
        } else {
            self.update_tick(cpu);
        }
        true
    }

    fn task_tick_fair(&mut self, se: SeIx) {
        let mut at = Some(se);
        while let Some(se) = at {
            let queue = self.se[se].cfs_rq;
            self.update_curr(queue);
            self.update_load_avg(queue, se);
            self.update_cfs_group(se);
            self.force_group_load(queue);
            if !self.tun.eevdf()
                && self.cfs[queue].nr_queued > 1
                && self.check_preempt_tick(queue, se)
            {
                let cpu = self.cfs[queue].cpu;
                self.resched_curr(cpu);
            }
            at = self.se[se].parent;
        }
    }
}
