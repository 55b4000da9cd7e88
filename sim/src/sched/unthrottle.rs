//! Letting stopped queues and tasks go.

use super::fair::{Dequeue, Enqueue};
use crate::cpu::CpuIx;
use crate::kernel::rules::{ThrottleModel, UnthrottleBy};
use crate::queue::Event;
use crate::sim::Sim;
use crate::table::{CfsRqIx, GroupIx, TaskIx};

impl Sim {
    /// Lets a queue go: here, or by an interrupt on its own CPU.
    pub(crate) fn unthrottle_cfs_rq_async(&mut self, group: GroupIx, queue: CfsRqIx) {
        let cpu = self.cfs[queue].cpu;
        let timer_cpu = self.groups[group].bandwidth.as_ref().map(|b| b.timer_cpu);
        if self.profile.rules.unthrottle_by == UnthrottleBy::SameCpu || timer_cpu == Some(cpu) {
            self.unthrottle_cfs_rq(queue);
            return;
        }
        self.cfs[queue].bw.csd_pending = true;
        let list = &mut self.rqs[cpu].cfsb_csd_list;
        list.push(queue);
        if list.len() == 1 {
            let at = self.now + self.machine.costs.switch.ipi_flight_ns;
            self.push(at, cpu, Event::UnthrottleIpi);
        }
    }

    /// The CPU's own part of letting queues go.
    pub(crate) fn cfsb_csd_unthrottle(&mut self, cpu: CpuIx) -> bool {
        for queue in std::mem::take(&mut self.rqs[cpu].cfsb_csd_list) {
            self.cfs[queue].bw.csd_pending = false;
            if self.cfs[queue].bw.throttled {
                self.unthrottle_cfs_rq(queue);
            }
        }
        true
    }

    fn unthrottle_cfs_rq(&mut self, queue: CfsRqIx) {
        let (group, cpu) = (self.cfs[queue].group, self.cfs[queue].cpu);
        if self.tun.throttle == ThrottleModel::Task && self.cfs[queue].curr.is_some() {
            // What ran in the kernel since the runtime was granted comes first.
            self.update_curr(queue);
            if self.cfs[queue].bw.runtime_remaining <= 0 {
                return;
            }
        }
        let now = self.now;
        let bw = &mut self.cfs[queue].bw;
        bw.throttled = false;
        let since = bw.throttled_clock.take();
        if let Some(pool) = &mut self.groups[group].bandwidth {
            pool.throttled_time += since.map_or(0, |since| now - since);
            pool.throttled.retain(|&q| q != queue);
        }
        self.unthrottle_up(group, cpu);
        if self.tun.throttle == ThrottleModel::CfsRq {
            self.enqueue_unthrottled_queue(queue);
        }
        if self.rqs[cpu].curr.is_none() && self.rqs[cpu].nr_running > 0 {
            self.resched_curr(cpu);
        }
    }

    /// One stopped queue less above every queue of the subtree; tasks in limbo come back where
    /// none is left.
    fn unthrottle_up(&mut self, group: GroupIx, cpu: CpuIx) {
        let now = self.clock_task(cpu);
        let mut freed = Vec::new();
        for queue in self.subtree_queues(group, cpu) {
            let bw = &mut self.cfs[queue].bw;
            bw.throttle_count -= 1;
            if bw.throttle_count > 0 {
                continue;
            }
            if let Some(since) = bw.throttled_clock_pelt.take() {
                bw.throttled_clock_pelt_time += now.saturating_sub(since);
            }
            if let Some(since) = bw.throttled_clock.take() {
                let owner = self.cfs[queue].group;
                if let Some(pool) = &mut self.groups[owner].bandwidth {
                    pool.throttled_time += self.now.saturating_sub(since);
                }
            }
            freed.push(queue);
        }
        for queue in freed {
            let limbo = std::mem::take(&mut self.cfs[queue].bw.limbo);
            // Pushed at the head, taken from the head: last in, first out.
            for task in limbo.into_iter().rev() {
                self.tasks[task].throttled = false;
                self.enqueue_task_fair(
                    task,
                    Enqueue {
                        wakeup: true,
                        ..Enqueue::default()
                    },
                );
                self.rqs[cpu].cfs_tasks.push(task);
                self.tasks[task].queued_at.get_or_insert(self.now);
                self.check_preempt_wakeup_fair(cpu, task, false);
            }
        }
    }

    /// Puts the entity of a queue that was let go back on the queues above.
    fn enqueue_unthrottled_queue(&mut self, queue: CfsRqIx) {
        let cpu = self.cfs[queue].cpu;
        if self.cfs[queue].load_weight == 0 {
            return;
        }
        let queued = self.cfs[queue].h_nr_queued as i32;
        let runnable = self.cfs[queue].h_nr_runnable as i32;
        let mut at = self.cfs[queue].se;
        while let Some(se) = at {
            let above = self.se[se].cfs_rq;
            if self.se[se].sched_delayed {
                let flags = Dequeue {
                    sleep: true,
                    delayed: true,
                    ..Dequeue::default()
                };
                self.dequeue_entity(above, se, flags);
            } else if self.se[se].on_rq {
                break;
            }
            self.enqueue_entity(
                above,
                se,
                Enqueue {
                    wakeup: true,
                    ..Enqueue::default()
                },
            );
            self.count_tasks(above, queued, runnable);
            if self.cfs_rq_throttled(above) {
                return;
            }
            at = self.se[se].parent;
        }
        while let Some(se) = at {
            let above = self.se[se].cfs_rq;
            self.update_load_avg(above, se);
            self.update_cfs_group(se);
            self.count_tasks(above, queued, runnable);
            if self.cfs_rq_throttled(above) {
                return;
            }
            at = self.se[se].parent;
        }
        self.add_nr_running(cpu, queued);
    }

    /// On the way to user mode: a task of a stopped hierarchy takes itself off the queues. Whether
    /// it did.
    pub(crate) fn throttle_cfs_rq_work(&mut self, task: TaskIx) -> bool {
        self.tasks[task].throttle_work = false;
        let queue = self.se[self.tasks[task].se].cfs_rq;
        if !self.throttled_hierarchy(queue) {
            return false;
        }
        let cpu = self.tasks[task].cpu;
        let flags = Dequeue {
            sleep: true,
            special: true,
            ..Dequeue::default()
        };
        self.dequeue_entities(self.tasks[task].se, flags);
        self.rqs[cpu].cfs_tasks.retain(|&t| t != task);
        self.tasks[task].throttled = true;
        self.add_to_limbo(queue, task);
        self.mark_throttled_clocks(queue);
        self.rqs[cpu].need_resched = true;
        true
    }

    fn add_to_limbo(&mut self, queue: CfsRqIx, task: TaskIx) {
        self.cfs[queue].bw.limbo.push(task);
        let now = self.clock_task(self.cfs[queue].cpu);
        let cfs = &mut self.cfs[queue];
        if cfs.nr_queued == 0 && cfs.bw.throttled_clock_pelt.is_none() {
            cfs.bw.throttled_clock_pelt = Some(now);
        }
    }

    /// The stopped queues above count as throttled from the first task that left.
    fn mark_throttled_clocks(&mut self, queue: CfsRqIx) {
        let now = self.now;
        let mut at = Some(queue);
        while let Some(queue) = at {
            let bw = &mut self.cfs[queue].bw;
            if bw.throttled {
                bw.throttled_clock.get_or_insert(now);
            }
            at = self.cfs[queue].se.map(|se| self.se[se].cfs_rq);
        }
    }

    /// A throttled task is woken or moved: it goes to limbo while its hierarchy is stopped. Whether
    /// it did.
    pub(crate) fn enqueue_throttled_task(&mut self, task: TaskIx) -> bool {
        if !self.tasks[task].throttled {
            return false;
        }
        let queue = self.se[self.tasks[task].se].cfs_rq;
        if self.throttled_hierarchy(queue) {
            self.add_to_limbo(queue, task);
            return true;
        }
        self.tasks[task].throttled = false;
        false
    }

    /// A task in limbo leaves it. Whether it was there.
    pub(crate) fn dequeue_throttled_task(&mut self, task: TaskIx) -> bool {
        if !self.tasks[task].throttled {
            return false;
        }
        let queue = self.se[self.tasks[task].se].cfs_rq;
        self.cfs[queue].bw.limbo.retain(|&t| t != task);
        true
    }

    /// Whether a task could not run on its CPU since its queue is stopped.
    pub(crate) fn task_throttled_here(&self, task: TaskIx) -> bool {
        match self.tun.throttle {
            ThrottleModel::Task => self.tasks[task].throttled,
            ThrottleModel::CfsRq => self.throttled_hierarchy(self.se[self.tasks[task].se].cfs_rq),
        }
    }

    /// A task starts to run: in a stopped hierarchy it will throttle itself.
    pub(crate) fn task_throttle_setup_work(&mut self, task: TaskIx) {
        let queue = self.se[self.tasks[task].se].cfs_rq;
        if self.tun.throttle == ThrottleModel::Task && self.throttled_hierarchy(queue) {
            self.tasks[task].throttle_work = true;
        }
    }
}
