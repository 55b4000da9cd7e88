//! What CFS and EEVDF share: entities and tasks in and out of the queues of a hierarchy, accounting
//! of the running one.

use super::entity::{Owner, calc_delta_fair};
use super::rq::Slot;
use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::sim::Sim;
use crate::table::{CfsRqIx, SeIx, TaskIx};

/// How a task or entity enters a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Enqueue {
    /// It slept.
    pub wakeup: bool,
    /// It comes from another CPU.
    pub migrated: bool,
    /// It is new.
    pub initial: bool,
}

/// How a task or entity leaves a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dequeue {
    /// It blocks.
    pub sleep: bool,
    /// It may not stay queued with its lag.
    pub special: bool,
    /// It was delayed and leaves now.
    pub delayed: bool,
    /// It moves to another CPU.
    pub migrate: bool,
}

impl Sim {
    /// Puts an entity in its place by key.
    fn enqueue_slot(&mut self, queue: CfsRqIx, se: SeIx) {
        let entity = &self.se[se];
        let key = if self.tun.eevdf() {
            entity.deadline
        } else {
            entity.vruntime
        };
        let slot = Slot {
            key,
            vruntime: entity.vruntime,
            se,
        };
        let slots = &mut self.cfs[queue].queue;
        let at = slots.partition_point(|other| other.key <= key);
        slots.insert(at, slot);
        if self.tun.eevdf() {
            self.avg_vruntime_add(queue, se);
        }
    }

    /// Takes an entity out of its place.
    fn dequeue_slot(&mut self, queue: CfsRqIx, se: SeIx) {
        let entity = &self.se[se];
        let key = if self.tun.eevdf() {
            entity.deadline
        } else {
            entity.vruntime
        };
        let slots = &mut self.cfs[queue].queue;
        let first = slots.partition_point(|other| other.key < key);
        let found = slots[first..].iter().position(|slot| slot.se == se);
        debug_assert!(found.is_some(), "{se:?} is not in {queue:?}");
        if let Some(offset) = found {
            slots.remove(first + offset);
        }
        if self.tun.eevdf() {
            self.avg_vruntime_sub(queue, se);
        }
    }

    /// Accounts the running entity of a queue up to now.
    pub(crate) fn update_curr(&mut self, queue: CfsRqIx) {
        let Some(curr) = self.cfs[queue].curr else {
            return;
        };
        let cpu = self.cfs[queue].cpu;
        let now = self.clock_task(cpu);
        let entity = &mut self.se[curr];
        let delta = now.saturating_sub(entity.exec_start);
        if delta == 0 {
            return;
        }
        entity.exec_start = now;
        entity.sum_exec += delta;
        entity.vruntime += calc_delta_fair(delta, entity.weight) as i64;
        if self.tun.eevdf() {
            if self.update_deadline(curr) && self.cfs[queue].nr_queued > 1 {
                self.resched_curr_lazy(cpu);
            }
        } else {
            self.update_min_vruntime(queue);
        }
        if let Owner::Task(task) = self.se[curr].owner {
            self.account_task_time(cpu, task, delta);
        }
        self.account_cfs_rq_runtime(queue, delta);
    }

    fn account_task_time(&mut self, cpu: CpuIx, task: TaskIx, delta: u64) {
        self.rqs[cpu].stat.rq_cpu_time += delta;
        let in_kernel = self.tasks[task].in_kernel;
        if !in_kernel {
            self.tasks[task].stat.utime += delta;
        }
        let mut at = Some(self.tasks[task].group);
        while let Some(group) = at {
            let tg = &mut self.groups[group];
            tg.usage += delta;
            if !in_kernel {
                tg.user += delta;
            }
            at = tg.parent;
        }
    }

    /// Places an entity that enters a queue.
    fn place_entity(&mut self, queue: CfsRqIx, se: SeIx, flags: Enqueue) {
        if self.tun.eevdf() {
            self.place_entity_eevdf(queue, se, flags.initial);
            if flags.wakeup && self.feat(Feature::PlaceBonus) {
                self.place_bonus(se);
            }
        } else if flags.wakeup || flags.initial {
            self.place_entity_cfs(queue, se, flags.initial);
        }
    }

    /// An entity enters its queue.
    pub(crate) fn enqueue_entity(&mut self, queue: CfsRqIx, se: SeIx, flags: Enqueue) {
        let is_curr = self.cfs[queue].curr == Some(se);
        if !self.tun.eevdf() && self.se[se].rel_deadline {
            // CFS keeps the virtual runtime relative to its queue while an entity migrates.
            self.se[se].rel_deadline = false;
            self.se[se].vruntime += self.cfs[queue].v0;
        }
        if is_curr {
            self.place_entity(queue, se, flags);
        }
        self.update_curr(queue);
        self.update_load_avg_attach(queue, se);
        self.update_cfs_group(se);
        if !is_curr {
            self.place_entity(queue, se, flags);
        }
        self.account_entity_enqueue(queue, se);
        if flags.migrated {
            self.se[se].exec_start = 0;
        }
        self.se[se].on_rq = true;
        if !is_curr {
            self.enqueue_slot(queue, se);
        }
        if self.cfs[queue].nr_queued == 1 {
            self.check_enqueue_throttle(queue);
        }
    }

    fn account_entity_enqueue(&mut self, queue: CfsRqIx, se: SeIx) {
        let (weight, custom) = (self.se[se].weight, self.se[se].custom_slice);
        let cfs = &mut self.cfs[queue];
        cfs.load_weight += weight;
        cfs.nr_queued += 1;
        cfs.nr_custom_slice += u32::from(custom);
    }

    fn account_entity_dequeue(&mut self, queue: CfsRqIx, se: SeIx) {
        let (weight, custom) = (self.se[se].weight, self.se[se].custom_slice);
        let cfs = &mut self.cfs[queue];
        cfs.load_weight -= weight;
        cfs.nr_queued -= 1;
        cfs.nr_custom_slice -= u32::from(custom);
    }

    /// An entity leaves its queue. False: it stays, delayed.
    pub(crate) fn dequeue_entity(&mut self, queue: CfsRqIx, se: SeIx, flags: Dequeue) -> bool {
        self.update_curr(queue);
        let eevdf = self.tun.eevdf();
        if !flags.delayed
            && flags.sleep
            && !flags.special
            && eevdf
            && self.feat(Feature::DelayDequeue)
            && !self.entity_eligible(queue, se)
        {
            self.update_load_avg(queue, se);
            self.update_entity_lag(queue, se);
            self.set_delayed(se);
            return false;
        }
        self.update_load_avg(queue, se);
        if flags.migrate && self.se[se].task().is_some() {
            self.detach_entity_load_avg(queue, se);
        }
        if self.cfs[queue].next == Some(se) {
            self.cfs[queue].next = None;
        }
        if eevdf {
            self.update_entity_lag(queue, se);
        }
        if self.cfs[queue].curr != Some(se) {
            self.dequeue_slot(queue, se);
        }
        let entity = &mut self.se[se];
        if eevdf && !flags.sleep && self.profile.on(Feature::PlaceRelDeadline) {
            entity.deadline -= entity.vruntime;
            entity.rel_deadline = true;
        }
        entity.on_rq = false;
        let vruntime = entity.vruntime;
        self.account_entity_dequeue(queue, se);
        if eevdf && self.cfs[queue].nr_queued == 0 {
            self.settle_v0(queue, vruntime);
        }
        if !eevdf && !flags.sleep {
            self.se[se].vruntime -= self.cfs[queue].v0;
            self.se[se].rel_deadline = true;
        }
        self.return_cfs_rq_runtime(queue);
        self.update_cfs_group(se);
        if !eevdf {
            self.update_min_vruntime(queue);
        }
        if flags.delayed {
            self.finish_delayed_dequeue_entity(se);
        }
        true
    }

    fn finish_delayed_dequeue_entity(&mut self, se: SeIx) {
        self.clear_delayed(se);
        if self.feat(Feature::DelayZero) && self.se[se].vlag > 0 {
            self.se[se].vlag = 0;
        }
    }

    /// The entity blocks but stays queued: it counts as queued, not as runnable.
    fn set_delayed(&mut self, se: SeIx) {
        self.se[se].sched_delayed = true;
        self.count_runnable_of_delayed(se, -1);
    }

    fn clear_delayed(&mut self, se: SeIx) {
        self.se[se].sched_delayed = false;
        self.count_runnable_of_delayed(se, 1);
    }

    fn count_runnable_of_delayed(&mut self, se: SeIx, change: i32) {
        // A delayed group entity has no runnable task below.
        if self.se[se].task().is_none() {
            return;
        }
        let mut at = Some(se);
        while let Some(se) = at {
            let queue = self.se[se].cfs_rq;
            let cfs = &mut self.cfs[queue];
            cfs.h_nr_runnable = cfs.h_nr_runnable.wrapping_add_signed(change);
            if self.cfs_rq_throttled(queue) {
                break;
            }
            at = self.se[se].parent;
        }
    }

    /// A delayed entity is wanted again: it is no longer about to leave.
    pub(crate) fn requeue_delayed_entity(&mut self, se: SeIx) {
        let queue = self.se[se].cfs_rq;
        if self.feat(Feature::DelayZero) {
            self.update_entity_lag(queue, se);
            if self.se[se].vlag > 0 {
                let is_curr = self.cfs[queue].curr == Some(se);
                self.cfs[queue].nr_queued -= 1;
                if !is_curr {
                    self.dequeue_slot(queue, se);
                }
                self.se[se].vlag = 0;
                self.place_entity_eevdf(queue, se, false);
                if !is_curr {
                    self.enqueue_slot(queue, se);
                }
                self.cfs[queue].nr_queued += 1;
            }
        }
        self.update_load_avg(queue, se);
        self.clear_delayed(se);
    }

    /// Changes the weight of an entity, keeping its lag and its place towards its deadline.
    pub(crate) fn reweight_entity(&mut self, se: SeIx, weight: u64) {
        let queue = self.se[se].cfs_rq;
        let on_rq = self.se[se].on_rq;
        let is_curr = self.cfs[queue].curr == Some(se);
        let eevdf = self.tun.eevdf();
        if on_rq {
            self.update_curr(queue);
            if eevdf {
                self.update_entity_lag(queue, se);
            }
            if !is_curr {
                self.dequeue_slot(queue, se);
            }
            if eevdf {
                let entity = &mut self.se[se];
                entity.deadline -= entity.vruntime;
                entity.rel_deadline = true;
            }
            let old = self.se[se].weight;
            let cfs = &mut self.cfs[queue];
            cfs.load_weight = cfs.load_weight - old + weight;
            cfs.nr_queued -= 1;
        }
        self.reweight_avg(queue, se, weight);
        let entity = &mut self.se[se];
        if eevdf {
            let scale =
                |v: i64| (i128::from(v) * i128::from(entity.weight) / i128::from(weight)) as i64;
            let (vlag, deadline) = (scale(entity.vlag), scale(entity.deadline));
            entity.vlag = vlag;
            if entity.rel_deadline {
                entity.deadline = deadline;
            }
        }
        entity.weight = weight;
        if on_rq {
            if eevdf {
                // The current entity is not in the sums while it is placed.
                self.se[se].on_rq = false;
                self.place_with_relative_deadline(queue, se);
                self.se[se].on_rq = true;
            }
            self.cfs[queue].nr_queued += 1;
            if !is_curr {
                self.enqueue_slot(queue, se);
            }
        }
    }

    fn place_with_relative_deadline(&mut self, queue: CfsRqIx, se: SeIx) {
        let deadline = self.se[se].deadline;
        self.place_entity_eevdf(queue, se, false);
        let entity = &mut self.se[se];
        // A kernel without PLACE_REL_DEADLINE still keeps the deadline over a change of weight.
        if entity.rel_deadline {
            entity.deadline = entity.vruntime + deadline;
            entity.rel_deadline = false;
        }
    }

    /// The entity becomes the running one of its queue.
    pub(crate) fn set_next_entity(&mut self, queue: CfsRqIx, se: SeIx) {
        if self.cfs[queue].next == Some(se) {
            self.cfs[queue].next = None;
        }
        if self.se[se].on_rq {
            self.dequeue_slot(queue, se);
            self.update_load_avg(queue, se);
            if self.tun.eevdf() {
                self.set_protect_slice(queue, se);
            }
        }
        let now = self.clock_task(self.cfs[queue].cpu);
        self.cfs[queue].curr = Some(se);
        let entity = &mut self.se[se];
        entity.exec_start = now;
        entity.prev_sum_exec = entity.sum_exec;
    }

    /// The running entity of a queue stops running.
    pub(crate) fn put_prev_entity(&mut self, queue: CfsRqIx, se: SeIx) {
        if self.se[se].on_rq {
            self.update_curr(queue);
        }
        self.check_cfs_rq_runtime(queue);
        // Throttling above may have dequeued the entity.
        if self.se[se].on_rq {
            self.update_load_avg(queue, se);
        }
        self.cfs[queue].curr = None;
        if self.se[se].on_rq {
            self.enqueue_slot(queue, se);
        }
    }
}
