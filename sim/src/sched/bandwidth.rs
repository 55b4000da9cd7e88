//! CPU bandwidth of groups: the pool of a period, what queues take of it, who is stopped when it is
//! empty. Both models: the whole queue at once (before 6.18), each task on its way to user mode.

use std::collections::VecDeque;

use super::fair::Dequeue;
use crate::cpu::CpuIx;
use crate::kernel::rules::ThrottleModel;
use crate::queue::Event;
use crate::sim::Sim;
use crate::table::{CfsRqIx, GroupIx, TaskIx};
use crate::time::Ns;

/// The pool of a group.
#[derive(Clone, Debug)]
pub struct CfsBandwidth {
    /// Runtime of a period.
    pub quota: Ns,
    /// Length of a period.
    pub period: Ns,
    /// Unused runtime that may be kept.
    pub burst: Ns,
    /// Runtime left for queues to take.
    pub runtime: Ns,
    pub(crate) runtime_snap: Ns,
    pub(crate) idle: bool,
    pub(crate) period_active: bool,
    pub(crate) slack_started: bool,
    /// When the present period ends.
    pub(crate) period_ends: Ns,
    pub(crate) timer_cpu: CpuIx,
    /// Queues that are stopped, first stopped first.
    pub(crate) throttled: VecDeque<CfsRqIx>,
    /// Periods that began while the group was active.
    pub nr_periods: u64,
    /// ... with a stopped queue.
    pub nr_throttled: u64,
    /// Time queues were stopped, added up.
    pub throttled_time: Ns,
    /// Periods that used kept runtime.
    pub nr_bursts: u64,
    /// Kept runtime that was used.
    pub burst_time: Ns,
}

impl CfsBandwidth {
    /// A full pool.
    pub(crate) fn new(quota: Ns, period: Ns, burst: Ns) -> Self {
        CfsBandwidth {
            quota,
            period,
            burst,
            runtime: quota,
            runtime_snap: quota,
            idle: false,
            period_active: false,
            slack_started: false,
            period_ends: 0,
            timer_cpu: CpuIx(0),
            throttled: VecDeque::new(),
            nr_periods: 0,
            nr_throttled: 0,
            throttled_time: 0,
            nr_bursts: 0,
            burst_time: 0,
        }
    }

    /// A new period: what is left may be kept up to the burst.
    fn refill(&mut self) {
        self.runtime += self.quota;
        let used = self.runtime_snap.saturating_sub(self.runtime);
        if used > 0 {
            self.burst_time += used;
            self.nr_bursts += 1;
        }
        self.runtime = self.runtime.min(self.quota + self.burst);
        self.runtime_snap = self.runtime;
    }
}

/// What a queue has of its group's pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct CfsBandwidthRq {
    /// The group has a quota.
    pub enabled: bool,
    /// Runtime it may still use.
    pub runtime_remaining: i64,
    /// Stopped itself.
    pub throttled: bool,
    /// Stopped queues from here up, itself included.
    pub throttle_count: u32,
    /// Since when it counts as stopped.
    pub throttled_clock: Option<Ns>,
    /// Its averages stand still since.
    pub throttled_clock_pelt: Option<Ns>,
    /// How long they stood still before.
    pub throttled_clock_pelt_time: Ns,
    /// Tasks that throttled themselves.
    pub limbo: Vec<TaskIx>,
    /// To be let go by its own CPU.
    pub csd_pending: bool,
}

impl Sim {
    pub(crate) fn init_cfs_rq_runtime(&mut self, group: GroupIx, queue: CfsRqIx) {
        let enabled = self.groups[group].bandwidth.is_some();
        let above = self.cfs[queue].se.map(|se| self.se[se].cfs_rq);
        let count = above.map_or(0, |q| self.cfs[q].bw.throttle_count);
        let now = self.clock_task(self.cfs[queue].cpu);
        let bw = &mut self.cfs[queue].bw;
        bw.enabled = enabled;
        bw.throttle_count = count;
        bw.throttled_clock_pelt = (count > 0).then_some(now);
    }

    /// Stopped itself.
    #[inline]
    pub(crate) fn cfs_rq_throttled(&self, queue: CfsRqIx) -> bool {
        // A queue that is stopped by its tasks keeps its place among the others.
        self.cfs[queue].bw.throttled && self.tun.throttle == ThrottleModel::CfsRq
    }

    /// Stopped, or below a stopped one.
    #[inline]
    pub(crate) fn throttled_hierarchy(&self, queue: CfsRqIx) -> bool {
        self.cfs[queue].bw.throttle_count > 0
    }

    /// Charges `delta` to a queue; without runtime left it takes more, or is stopped.
    pub(crate) fn account_cfs_rq_runtime(&mut self, queue: CfsRqIx, delta: Ns) {
        if !self.cfs[queue].bw.enabled {
            return;
        }
        let bw = &mut self.cfs[queue].bw;
        bw.runtime_remaining -= delta as i64;
        if bw.runtime_remaining > 0 || bw.throttled {
            return;
        }
        match self.tun.throttle {
            ThrottleModel::CfsRq => {
                let slice = self.profile.constants.bandwidth.slice_ns;
                if !self.assign_cfs_rq_runtime(queue, slice) && self.cfs[queue].curr.is_some() {
                    let cpu = self.cfs[queue].cpu;
                    self.resched_curr(cpu);
                }
            }
            ThrottleModel::Task => {
                self.throttle_cfs_rq(queue);
            }
        }
    }

    /// Fills a queue up to `target` from the pool. Whether it has runtime now.
    fn assign_cfs_rq_runtime(&mut self, queue: CfsRqIx, target: Ns) -> bool {
        let (group, cpu) = (self.cfs[queue].group, self.cfs[queue].cpu);
        self.start_cfs_bandwidth(group, cpu);
        let remaining = self.cfs[queue].bw.runtime_remaining;
        let wanted = (target as i64 - remaining).max(0) as u64;
        let mut amount = 0;
        if let Some(pool) = &mut self.groups[group].bandwidth
            && pool.runtime > 0
        {
            amount = pool.runtime.min(wanted);
            pool.runtime -= amount;
            pool.idle = false;
        }
        let bw = &mut self.cfs[queue].bw;
        bw.runtime_remaining += amount as i64;
        bw.runtime_remaining > 0
    }

    fn start_cfs_bandwidth(&mut self, group: GroupIx, cpu: CpuIx) {
        let now = self.now;
        let Some(pool) = &mut self.groups[group].bandwidth else {
            return;
        };
        if pool.period_active {
            return;
        }
        pool.period_active = true;
        pool.timer_cpu = cpu;
        // The timer keeps its phase over a pause (hrtimer_forward_now).
        if pool.period_ends <= now {
            let behind = (now - pool.period_ends) / pool.period + 1;
            pool.period_ends += behind * pool.period;
        }
        let at = pool.period_ends;
        self.push(at, cpu, Event::PeriodTimer { group });
    }

    /// At a switch or a pick: stops a queue without runtime (queue model). Whether it is stopped.
    pub(crate) fn check_cfs_rq_runtime(&mut self, queue: CfsRqIx) -> bool {
        let bw = &self.cfs[queue].bw;
        if !bw.enabled || bw.runtime_remaining > 0 || self.tun.throttle == ThrottleModel::Task {
            return false;
        }
        if bw.throttled {
            return true;
        }
        self.throttle_cfs_rq(queue)
    }

    /// A queue that was empty gets an entity: it may be stopped at once.
    pub(crate) fn check_enqueue_throttle(&mut self, queue: CfsRqIx) {
        let cfs = &self.cfs[queue];
        if !cfs.bw.enabled || cfs.curr.is_some() || cfs.bw.throttled {
            return;
        }
        self.account_cfs_rq_runtime(queue, 0);
        if self.cfs[queue].bw.runtime_remaining <= 0 && !self.cfs[queue].bw.throttled {
            self.throttle_cfs_rq(queue);
        }
    }

    /// Stops a queue unless there is runtime after all. Whether it is stopped.
    fn throttle_cfs_rq(&mut self, queue: CfsRqIx) -> bool {
        let slice = self.profile.constants.bandwidth.slice_ns;
        let by_task = self.tun.throttle == ThrottleModel::Task;
        let running = self.cfs[queue].curr.is_some();
        let ask = if by_task && running { slice } else { 1 };
        if self.assign_cfs_rq_runtime(queue, ask) {
            return false;
        }
        let (group, cpu) = (self.cfs[queue].group, self.cfs[queue].cpu);
        if let Some(pool) = &mut self.groups[group].bandwidth {
            pool.throttled.push_back(queue);
        }
        self.throttle_down(group, cpu);
        if by_task {
            self.cfs[queue].bw.throttled = true;
            if let Some(curr) = self.rqs[cpu].curr
                && self.is_below(curr, queue)
            {
                self.tasks[curr].throttle_work = true;
            }
        } else {
            self.dequeue_throttled_queue(queue);
            let now = self.now;
            let bw = &mut self.cfs[queue].bw;
            bw.throttled = true;
            bw.throttled_clock = Some(now);
        }
        true
    }

    fn is_below(&self, task: TaskIx, queue: CfsRqIx) -> bool {
        let mut at = Some(self.tasks[task].se);
        while let Some(se) = at {
            if self.se[se].cfs_rq == queue {
                return true;
            }
            at = self.se[se].parent;
        }
        false
    }

    /// Counts one more stopped queue above every queue of the group's subtree on `cpu`.
    fn throttle_down(&mut self, group: GroupIx, cpu: CpuIx) {
        let by_task = self.tun.throttle == ThrottleModel::Task;
        let now = self.clock_task(cpu);
        for queue in self.subtree_queues(group, cpu) {
            let cfs = &mut self.cfs[queue];
            cfs.bw.throttle_count += 1;
            // With task throttling the averages go on until the last entity left.
            if cfs.bw.throttle_count == 1 && (!by_task || cfs.nr_queued == 0) {
                cfs.bw.throttled_clock_pelt = Some(now);
            }
        }
    }

    /// Queues on `cpu` of a group and the groups below it.
    pub(crate) fn subtree_queues(&self, group: GroupIx, cpu: CpuIx) -> Vec<CfsRqIx> {
        (self.groups[group].subtree.iter())
            .filter_map(|&below| self.groups[below].cfs_rq[cpu.at()])
            .collect()
    }

    /// Takes a stopped queue's entity, and what empties above, off the queues.
    fn dequeue_throttled_queue(&mut self, queue: CfsRqIx) {
        let cpu = self.cfs[queue].cpu;
        let queued = self.cfs[queue].h_nr_queued as i32;
        let runnable = self.cfs[queue].h_nr_runnable as i32;
        let mut at = self.cfs[queue].se;
        while let Some(se) = at {
            if !self.se[se].on_rq {
                return;
            }
            let delayed = self.se[se].sched_delayed;
            let above = self.se[se].cfs_rq;
            let flags = Dequeue {
                sleep: true,
                special: true,
                delayed,
                migrate: false,
            };
            self.dequeue_entity(above, se, flags);
            self.count_tasks(above, -queued, -runnable);
            at = self.se[se].parent;
            if self.cfs_rq_throttled(above) {
                return;
            }
            if self.cfs[above].load_weight > 0 {
                break;
            }
        }
        while let Some(se) = at {
            let above = self.se[se].cfs_rq;
            self.update_load_avg(above, se);
            self.count_tasks(above, -queued, -runnable);
            if self.cfs_rq_throttled(above) {
                return;
            }
            at = self.se[se].parent;
        }
        self.add_nr_running(cpu, -queued);
    }

    /// A queue that empties gives back all but a little.
    pub(crate) fn return_cfs_rq_runtime(&mut self, queue: CfsRqIx) {
        let constants = &self.profile.constants.bandwidth;
        let (keep, slice, delay) = (
            constants.min_runtime_ns as i64,
            constants.slice_ns,
            constants.slack_ns,
        );
        let cfs = &mut self.cfs[queue];
        let slack = cfs.bw.runtime_remaining - keep;
        if !cfs.bw.enabled || cfs.nr_queued > 0 || slack <= 0 {
            return;
        }
        cfs.bw.runtime_remaining -= slack;
        let (group, cpu, now) = (cfs.group, cfs.cpu, self.now);
        let Some(pool) = &mut self.groups[group].bandwidth else {
            return;
        };
        pool.runtime += slack as u64;
        let soon =
            pool.period_ends < now + delay + self.profile.constants.bandwidth.min_expiration_ns;
        if pool.runtime > slice && !pool.throttled.is_empty() && !soon && !pool.slack_started {
            pool.slack_started = true;
            self.push(now + delay, cpu, Event::SlackTimer { group });
        }
    }

    /// Hands out returned runtime.
    pub(crate) fn sched_cfs_slack_timer(&mut self, group: GroupIx) -> bool {
        let (slice, soon) = {
            let constants = &self.profile.constants.bandwidth;
            (constants.slice_ns, constants.min_expiration_ns)
        };
        let now = self.now;
        let Some(pool) = &mut self.groups[group].bandwidth else {
            return false;
        };
        pool.slack_started = false;
        if pool.period_ends < now + soon || pool.runtime <= slice {
            return true;
        }
        self.distribute_cfs_runtime(group);
        true
    }

    /// A period begins.
    pub(crate) fn sched_cfs_period_timer(&mut self, group: GroupIx) -> bool {
        let Some(pool) = &mut self.groups[group].bandwidth else {
            return false;
        };
        pool.nr_periods += 1;
        pool.refill();
        let throttled = !pool.throttled.is_empty();
        if pool.idle && !throttled {
            pool.period_active = false;
            return true;
        }
        pool.period_ends += pool.period;
        let (at, cpu) = (pool.period_ends, pool.timer_cpu);
        if throttled {
            pool.nr_throttled += 1;
            pool.idle = false;
        } else {
            pool.idle = true;
        }
        self.push(at, cpu, Event::PeriodTimer { group });
        if throttled {
            self.distribute_cfs_runtime(group);
        }
        true
    }

    /// Gives stopped queues what they are behind and one nanosecond, first stopped first.
    fn distribute_cfs_runtime(&mut self, group: GroupIx) {
        let Some(pool) = &self.groups[group].bandwidth else {
            return;
        };
        let stopped: Vec<_> = pool.throttled.iter().copied().collect();
        for queue in stopped {
            if self.cfs[queue].bw.csd_pending {
                continue;
            }
            let Some(pool) = &mut self.groups[group].bandwidth else {
                return;
            };
            if pool.runtime == 0 {
                break;
            }
            let behind = (1 - self.cfs[queue].bw.runtime_remaining).max(0) as u64;
            let amount = behind.min(pool.runtime);
            pool.runtime -= amount;
            self.cfs[queue].bw.runtime_remaining += amount as i64;
            if self.cfs[queue].bw.runtime_remaining > 0 {
                self.unthrottle_cfs_rq_async(group, queue);
            }
        }
    }
}
