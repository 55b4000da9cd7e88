//! Waking: try_to_wake_up() and its paths, wake lists, new tasks.

use super::fair::Enqueue;
use super::task::TaskState;
use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::queue::Event;
use crate::sim::Sim;
use crate::table::TaskIx;
use crate::time::SEC;

impl Sim {
    /// Wakes a sleeping task from `this`. Whether it slept.
    pub(crate) fn try_to_wake_up(&mut self, this: CpuIx, task: TaskIx, sync: bool) -> bool {
        if self.tasks[task].state != TaskState::Sleeping {
            return false;
        }
        self.tasks[task].state = TaskState::Running;
        let prev = self.tasks[task].cpu;
        self.rqs[this].overhead += self.work.wake_ns;
        if self.tasks[task].on_rq {
            self.ttwu_runnable(this, task);
            self.ttwu_stat(this, prev);
            self.trace.wake(this, prev, task.0, self.now);
            return true;
        }
        self.record_wakee(this, task);
        let cpu = self.select_task_rq_fair(this, task, prev, sync);
        if cpu != prev {
            self.migrate_task_rq_fair(task, cpu);
        }
        self.ttwu_queue(this, task, cpu);
        self.ttwu_stat(this, cpu);
        self.trace.wake(this, cpu, task.0, self.now);
        true
    }

    /// The task never left its queue: it stays where it is.
    fn ttwu_runnable(&mut self, this: CpuIx, task: TaskIx) {
        let cpu = self.tasks[task].cpu;
        self.charge_remote_queue(this, cpu);
        let se = self.tasks[task].se;
        if self.se[se].sched_delayed {
            // Any group entity above may be delayed too.
            self.enqueue_delayed_branch(task);
        }
        self.tasks[task].queued_at.get_or_insert(self.now);
        if self.rqs[cpu].curr != Some(task) {
            self.check_preempt_wakeup_fair(cpu, task, false);
        }
    }

    fn enqueue_delayed_branch(&mut self, task: TaskIx) {
        let mut at = Some(self.tasks[task].se);
        while let Some(se) = at {
            if self.se[se].sched_delayed {
                self.requeue_delayed_entity(se);
            }
            at = self.se[se].parent;
        }
    }

    fn ttwu_stat(&mut self, this: CpuIx, cpu: CpuIx) {
        self.rqs[this].stat.ttwu_count += 1;
        if this == cpu {
            self.rqs[this].stat.ttwu_local += 1;
            return;
        }
        let at = (self.rqs[this].domains.iter().copied())
            .find(|&sd| self.domains.get(self.sds[sd].id).span.contains(cpu));
        if let Some(sd) = at {
            self.sds[sd].stat.ttwu_wake_remote += 1;
        }
    }

    /// Counts how often the running task of `this` changes the task it wakes.
    fn record_wakee(&mut self, this: CpuIx, wakee: TaskIx) {
        let now = self.now;
        let Some(waker) = self.rqs[this].curr else {
            return;
        };
        let waker = &mut self.tasks[waker];
        if now > waker.wakee_flip_decay + SEC {
            waker.wakee_flips /= 2;
            waker.wakee_flip_decay = now;
        }
        if waker.last_wakee != Some(wakee) {
            waker.last_wakee = Some(wakee);
            waker.wakee_flips += 1;
        }
    }

    /// Moves a task that is on no queue to another CPU (`migrate_task_rq_fair`, `set_task_cpu`).
    pub(crate) fn migrate_task_rq_fair(&mut self, task: TaskIx, cpu: CpuIx) {
        let se = self.tasks[task].se;
        if self.se[se].avg.last_update() != 0 {
            self.remove_entity_load_avg(se);
        }
        let old = self.se[se].cfs_rq;
        if !self.tun.eevdf() && !self.se[se].rel_deadline {
            self.se[se].vruntime -= self.cfs[old].v0;
            self.se[se].rel_deadline = true;
        }
        self.se[se].exec_start = 0;
        self.set_task_cpu(task, cpu);
    }

    /// The task belongs to `cpu` from now on.
    pub(crate) fn set_task_cpu(&mut self, task: TaskIx, cpu: CpuIx) {
        if self.tasks[task].cpu != cpu {
            self.tasks[task].stat.nr_migrations += 1;
        }
        let queue = self.group_cfs_rq(self.tasks[task].group, cpu);
        let se = self.tasks[task].se;
        self.se[se].cfs_rq = queue;
        self.se[se].parent = self.cfs[queue].se;
        self.tasks[task].cpu = cpu;
    }

    /// Whether a wake-up is left to the target CPU.
    fn ttwu_queue_cond(&self, this: CpuIx, cpu: CpuIx) -> bool {
        if !self.feat(Feature::TtwuQueue) {
            return false;
        }
        if !self.cpus_share_cache(this, cpu) {
            return true;
        }
        this != cpu && self.profile.rules.wake_list_if_idle && self.rqs[cpu].nr_running == 0
    }

    fn ttwu_queue(&mut self, this: CpuIx, task: TaskIx, cpu: CpuIx) {
        if self.ttwu_queue_cond(this, cpu) {
            self.ttwu_queue_wakelist(this, task, cpu);
            return;
        }
        self.charge_remote_queue(this, cpu);
        self.ttwu_do_activate(task, cpu, true);
    }

    fn ttwu_queue_wakelist(&mut self, this: CpuIx, task: TaskIx, cpu: CpuIx) {
        self.tasks[task].on_wake_list = true;
        let first = self.rqs[cpu].wake_list.is_empty();
        self.rqs[cpu].wake_list.push(task);
        let line = self.line_ns(this, cpu);
        self.rqs[this].overhead += line;
        if !first {
            return;
        }
        let idle = self.rqs[cpu].curr.is_none();
        let (cost, flight) = if idle {
            (self.idle_wake_cost(this, cpu), self.idle_exit_ns(cpu))
        } else {
            (
                self.ipi_send_ns(this, cpu),
                self.machine.costs.switch.ipi_flight_ns,
            )
        };
        self.rqs[this].overhead += cost;
        self.update_idle_cpu(cpu);
        self.push(self.now + flight, cpu, Event::WakeList);
    }

    /// The target's part of the wake-ups left to it.
    pub(crate) fn sched_ttwu_pending(&mut self, cpu: CpuIx) -> bool {
        let list = std::mem::take(&mut self.rqs[cpu].wake_list);
        if list.is_empty() {
            return false;
        }
        self.rqs[cpu].overhead += self.work.activate_ns * list.len() as u64;
        for task in list {
            self.tasks[task].on_wake_list = false;
            self.ttwu_do_activate(task, cpu, true);
        }
        self.update_idle_cpu(cpu);
        let rq = &self.rqs[cpu];
        if rq.curr.is_none() || (rq.need_resched && rq.segment.active) {
            self.schedule(cpu);
        }
        true
    }

    fn ttwu_do_activate(&mut self, task: TaskIx, cpu: CpuIx, wakeup: bool) {
        let migrated = self.se[self.tasks[task].se].exec_start == 0;
        self.activate_task(
            task,
            Enqueue {
                wakeup,
                migrated,
                initial: false,
            },
        );
        self.wakeup_preempt(cpu, task, false);
        let now = self.now;
        let rq = &mut self.rqs[cpu];
        if let Some(since) = rq.idle_stamp.take() {
            let delta = (now - since) as i64;
            let average = rq.avg_idle as i64;
            rq.avg_idle = (average + (delta - average) / 8).max(0) as u64;
            rq.avg_idle = rq.avg_idle.min(2 * rq.max_idle_balance_cost);
        }
    }

    /// Puts a task on its CPU's queues.
    pub(crate) fn activate_task(&mut self, task: TaskIx, flags: Enqueue) {
        let cpu = self.tasks[task].cpu;
        let limbo = self.tasks[task].throttled;
        self.enqueue_task_fair(task, flags);
        self.tasks[task].on_rq = true;
        if limbo && self.tasks[task].throttled {
            return;
        }
        self.tasks[task].queued_at.get_or_insert(self.now);
        self.rqs[cpu].cfs_tasks.push(task);
        self.update_tick(cpu);
    }

    /// Whether the task that was put on a queue replaces what runs there.
    pub(crate) fn wakeup_preempt(&mut self, cpu: CpuIx, task: TaskIx, fork: bool) {
        if self.rqs[cpu].curr.is_none() {
            if self.rqs[cpu].nr_running > 0 {
                self.resched_curr(cpu);
            }
        } else {
            self.check_preempt_wakeup_fair(cpu, task, fork);
        }
    }

    /// A new task runs for the first time.
    pub(crate) fn wake_up_new_task(&mut self, this: CpuIx, task: TaskIx) {
        self.tasks[task].state = TaskState::Running;
        let prev = self.tasks[task].cpu;
        let cpu = self.select_task_rq_fork(this, task, prev);
        self.tasks[task].recent_used_cpu = prev;
        self.set_task_cpu(task, cpu);
        self.tasks[task].stat.nr_migrations = 0;
        self.tasks[task].warm_cpu = cpu;
        let se = self.tasks[task].se;
        self.post_init_entity_util_avg(se);
        if !self.tun.eevdf() {
            let queue = self.se[se].cfs_rq;
            self.se[se].vruntime = self.cfs[queue].v0;
        }
        self.charge_remote_queue(this, cpu);
        self.activate_task(
            task,
            Enqueue {
                initial: true,
                ..Enqueue::default()
            },
        );
        self.wakeup_preempt(cpu, task, true);
    }

    /// What touching another CPU's queue under its lock costs `this`.
    pub(crate) fn charge_remote_queue(&mut self, this: CpuIx, cpu: CpuIx) {
        let mut cost = self.work.activate_ns;
        if this != cpu {
            cost += self.line_ns(this, cpu) * self.work.queue_lines_count;
            if self.rqs[cpu].curr.is_none() {
                cost += self.idle_wake_cost(this, cpu);
            }
        }
        self.rqs[this].overhead += cost;
    }

    /// A sleeping task's timer runs out: its CPU wakes it.
    pub(crate) fn hrtimer_wakeup(&mut self, task: TaskIx, generation: u32) -> bool {
        if self.tasks[task].sleep_generation != generation {
            return false;
        }
        let cpu = self.tasks[task].cpu;
        let woken = self.try_to_wake_up(cpu, task, false);
        // The interrupt ends on this CPU.
        if self.rqs[cpu].need_resched && self.rqs[cpu].segment.active {
            self.schedule(cpu);
        }
        woken
    }
}
