//! Tasks in and out of a CPU's hierarchy of queues, and the pick through it.

use super::fair::{Dequeue, Enqueue};
use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::sim::Sim;
use crate::table::{CfsRqIx, SeIx, TaskIx};

impl Sim {
    /// Puts a task on its CPU's queues.
    pub(crate) fn enqueue_task_fair(&mut self, task: TaskIx, mut flags: Enqueue) {
        if self.enqueue_throttled_task(task) {
            return;
        }
        let own = self.tasks[task].se;
        let cpu = self.tasks[task].cpu;
        let mut at = Some(own);
        let mut throttled = false;
        // First the queues the task's branch is not on yet ...
        while let Some(se) = at {
            if self.se[se].on_rq {
                if self.se[se].sched_delayed {
                    self.requeue_delayed_entity(se);
                }
                break;
            }
            let queue = self.se[se].cfs_rq;
            self.enqueue_entity(queue, se, flags);
            self.count_tasks(queue, 1, 1);
            if self.cfs_rq_throttled(queue) {
                throttled = true;
                break;
            }
            flags = Enqueue {
                wakeup: true,
                ..Enqueue::default()
            };
            at = self.se[se].parent;
        }
        // ... then those above, which only count it.
        while let Some(se) = at.filter(|_| !throttled) {
            let queue = self.se[se].cfs_rq;
            self.update_load_avg(queue, se);
            self.update_cfs_group(se);
            self.count_tasks(queue, 1, 1);
            throttled = self.cfs_rq_throttled(queue);
            at = self.se[se].parent;
        }
        if !throttled {
            self.add_nr_running(cpu, 1);
        }
    }

    pub(crate) fn count_tasks(&mut self, queue: CfsRqIx, queued: i32, runnable: i32) {
        let cfs = &mut self.cfs[queue];
        cfs.h_nr_queued = cfs.h_nr_queued.wrapping_add_signed(queued);
        cfs.h_nr_runnable = cfs.h_nr_runnable.wrapping_add_signed(runnable);
    }

    /// Changes `nr_running` of a CPU and what hangs on it.
    pub(crate) fn add_nr_running(&mut self, cpu: CpuIx, by: i32) {
        let rq = &mut self.rqs[cpu];
        rq.nr_running = rq.nr_running.wrapping_add_signed(by);
        let nr = rq.nr_running;
        if nr >= 2 {
            self.overloaded.insert(cpu);
        } else {
            self.overloaded.remove(cpu);
        }
        self.update_idle_cpu(cpu);
    }

    /// Takes a task off its CPU's queues. False: it stays, delayed.
    pub(crate) fn dequeue_task_fair(&mut self, task: TaskIx, flags: Dequeue) -> bool {
        if self.dequeue_throttled_task(task) {
            return true;
        }
        let se = self.tasks[task].se;
        self.dequeue_entities(se, flags)
    }

    /// Takes an entity, and every group above that empties, off the queues. False: the task itself
    /// stays, delayed.
    pub(crate) fn dequeue_entities(&mut self, se: SeIx, mut flags: Dequeue) -> bool {
        let cpu = self.cfs[self.se[se].cfs_rq].cpu;
        let is_task = self.se[se].task().is_some();
        let was_delayed = self.se[se].sched_delayed;
        let queued = i32::from(is_task);
        let runnable = i32::from(is_task && (!was_delayed || flags.delayed));
        let mut at = Some(se);
        while let Some(se) = at {
            let queue = self.se[se].cfs_rq;
            if !self.dequeue_entity(queue, se, flags) {
                if self.se[se].task().is_some() {
                    return false;
                }
                break;
            }
            self.count_tasks(queue, -queued, -runnable);
            if self.cfs_rq_throttled(queue) {
                return true;
            }
            at = self.se[se].parent;
            if self.cfs[queue].load_weight > 0 {
                break;
            }
            flags = Dequeue {
                sleep: true,
                ..Dequeue::default()
            };
        }
        while let Some(se) = at {
            let queue = self.se[se].cfs_rq;
            // A group that was just delayed is counted here too: its queue above was not.
            self.update_load_avg(queue, se);
            self.update_cfs_group(se);
            self.count_tasks(queue, -queued, -runnable);
            if self.cfs_rq_throttled(queue) {
                return true;
            }
            at = self.se[se].parent;
        }
        if queued > 0 {
            self.add_nr_running(cpu, -queued);
        }
        true
    }

    /// The task that runs next on a CPU, `None`: none is queued.
    pub(crate) fn pick_task_fair(&mut self, cpu: CpuIx) -> Option<TaskIx> {
        'again: loop {
            let mut queue = self.rqs[cpu].cfs;
            if self.cfs[queue].nr_queued == 0 {
                return None;
            }
            loop {
                if let Some(curr) = self.cfs[queue].curr
                    && self.se[curr].on_rq
                {
                    self.update_curr(queue);
                }
                if self.check_cfs_rq_runtime(queue) {
                    continue 'again;
                }
                let se = self.pick_next_entity(queue)?;
                if self.se[se].sched_delayed {
                    let flags = Dequeue {
                        sleep: true,
                        delayed: true,
                        ..Dequeue::default()
                    };
                    self.dequeue_delayed(se, flags);
                    continue 'again;
                }
                match self.se[se].my_q() {
                    Some(below) => queue = below,
                    None => return self.se[se].task(),
                }
            }
        }
    }

    /// A delayed entity is picked: now it really leaves.
    pub(crate) fn dequeue_delayed(&mut self, se: SeIx, flags: Dequeue) {
        self.dequeue_entities(se, flags);
        if let Some(task) = self.se[se].task() {
            self.block_task(task);
        }
    }

    fn pick_next_entity(&self, queue: CfsRqIx) -> Option<SeIx> {
        if self.tun.eevdf() {
            self.pick_eevdf(queue, true)
        } else {
            self.pick_next_entity_cfs(queue)
        }
    }

    /// The task `prev` stops running, `next` starts: each level of both branches is told.
    pub(crate) fn put_prev_set_next_task(&mut self, prev: Option<TaskIx>, next: Option<TaskIx>) {
        if prev == next {
            return;
        }
        let mut at = prev.map(|task| self.tasks[task].se);
        while let Some(se) = at {
            let queue = self.se[se].cfs_rq;
            if self.cfs[queue].curr == Some(se) {
                self.put_prev_entity(queue, se);
            }
            at = self.se[se].parent;
        }
        let Some(task) = next else {
            return;
        };
        let mut at = Some(self.tasks[task].se);
        while let Some(se) = at {
            let queue = self.se[se].cfs_rq;
            self.set_next_entity(queue, se);
            self.account_cfs_rq_runtime(queue, 0);
            at = self.se[se].parent;
        }
        self.move_to_mru(task);
    }

    fn move_to_mru(&mut self, task: TaskIx) {
        let list = &mut self.rqs[self.tasks[task].cpu].cfs_tasks;
        if let Some(at) = list.iter().rposition(|&t| t == task) {
            list.remove(at);
            list.push(task);
        }
    }

    /// Whether `task`, woken on its CPU, is to replace the running task there.
    pub(crate) fn check_preempt_wakeup_fair(&mut self, cpu: CpuIx, task: TaskIx, fork: bool) {
        let Some(curr) = self.rqs[cpu].curr else {
            return;
        };
        if curr == task || self.rqs[cpu].need_resched {
            return;
        }
        if self.task_throttled_here(task) || !self.feat(Feature::WakeupPreemption) {
            return;
        }
        use super::task::TaskPolicy;
        let (cp, wp) = (self.tasks[curr].policy, self.tasks[task].policy);
        if cp == TaskPolicy::Idle && wp != TaskPolicy::Idle {
            self.resched_curr_lazy(cpu);
            return;
        }
        if wp != TaskPolicy::Normal {
            return;
        }
        let Some((se, pse)) = self.find_matching_se(curr, task) else {
            return;
        };
        let queue = self.se[se].cfs_rq;
        self.update_curr(queue);
        if self.se[pse].sched_delayed {
            return;
        }
        if self.tun.eevdf() {
            self.wakeup_preempt_eevdf(cpu, queue, se, pse, fork);
        } else {
            let next_buddy = self.feat(Feature::NextBuddy);
            if next_buddy {
                self.cfs[queue].next = Some(pse);
            }
            if self.wakeup_preempt_entity(se, pse) == 1 {
                self.cfs[queue].next = Some(pse);
                self.resched_curr(cpu);
            }
        }
    }

    fn wakeup_preempt_eevdf(
        &mut self,
        cpu: CpuIx,
        queue: CfsRqIx,
        se: SeIx,
        pse: SeIx,
        fork: bool,
    ) {
        if fork && self.tun.throttle == crate::kernel::rules::ThrottleModel::Task {
            return;
        }
        if self.feat(Feature::NextBuddy) {
            self.cfs[queue].next = Some(pse);
        }
        let shorter = self.se[pse].slice < self.se[se].slice;
        let protect = !(self.feat(Feature::PreemptShort) && shorter);
        let eligible_short = !protect && self.entity_eligible(queue, pse);
        if !protect {
            self.se[se].vprot = i64::MIN;
        }
        if self.pick_eevdf(queue, protect) == Some(pse) || eligible_short {
            self.resched_curr_lazy(cpu);
        } else {
            self.update_protect_slice(queue, se);
        }
    }

    /// Ancestors of two tasks of one CPU in the same queue.
    fn find_matching_se(&self, a: TaskIx, b: TaskIx) -> Option<(SeIx, SeIx)> {
        let depth = |mut at: SeIx| {
            let mut depth = 0;
            while let Some(parent) = self.se[at].parent {
                depth += 1;
                at = parent;
            }
            depth
        };
        let (mut x, mut y) = (self.tasks[a].se, self.tasks[b].se);
        let (mut dx, mut dy) = (depth(x), depth(y));
        while dx > dy {
            x = self.se[x].parent?;
            dx -= 1;
        }
        while dy > dx {
            y = self.se[y].parent?;
            dy -= 1;
        }
        while self.se[x].cfs_rq != self.se[y].cfs_rq {
            x = self.se[x].parent?;
            y = self.se[y].parent?;
        }
        Some((x, y))
    }
}
