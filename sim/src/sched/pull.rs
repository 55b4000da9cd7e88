//! Moving tasks from one queue to another: can_migrate_task(), detach_tasks(), the stopper.

use super::balance::{Imbalance, MigrationType};
use super::fair::{Dequeue, Enqueue};
use super::stat::IdleType;
use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::kernel::rules::{MigrationScope, ThrottleModel, ThrottledLb};
use crate::machine::domains::SdFlags;
use crate::sim::Sim;
use crate::table::{SdIx, TaskIx};

/// What was moved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    pub count: u32,
    /// Affinity kept every task where it is.
    pub pinned: bool,
}

/// Whether a task may be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Move,
    MoveHot,
    Pinned,
    Stay,
}

impl Sim {
    /// Pulls tasks from `src` to `dst`.
    pub(crate) fn pull(
        &mut self,
        dst: CpuIx,
        src: CpuIx,
        sd: SdIx,
        idle: IdleType,
        imbalance: Imbalance,
    ) -> Moved {
        let mut moved = Moved::default();
        let tasks = self.detach_tasks(dst, src, sd, idle, imbalance, &mut moved.pinned);
        moved.count = tasks.len() as u32;
        for task in tasks {
            self.attach_task(task, dst);
        }
        self.sds[sd].stat.lb(idle).gained += u64::from(moved.count);
        moved
    }

    fn detach_tasks(
        &mut self,
        dst: CpuIx,
        src: CpuIx,
        sd: SdIx,
        idle: IdleType,
        imbalance: Imbalance,
        all_pinned: &mut bool,
    ) -> Vec<TaskIx> {
        let mut left = imbalance.amount as i64;
        let mut detached = Vec::new();
        let most = self.tun.nr_migrate.min(self.rqs[src].nr_running);
        *all_pinned = true;
        // From the tail of the list: what has not run for longest.
        let candidates: Vec<_> = (self.rqs[src].cfs_tasks.iter().copied())
            .take(most as usize)
            .collect();
        for task in candidates {
            if left <= 0 || (idle != IdleType::Busy && self.rqs[src].nr_running <= 1) {
                *all_pinned &= self.rqs[src].nr_running > 1;
                break;
            }
            let verdict = self.can_migrate_task(task, dst, src, sd);
            if verdict != Verdict::Pinned {
                *all_pinned = false;
            }
            if !matches!(verdict, Verdict::Move | Verdict::MoveHot) {
                continue;
            }
            let se = self.tasks[task].se;
            let failed = self.sds[sd].nr_balance_failed;
            match imbalance.kind {
                MigrationType::Load => {
                    let load = self.task_h_load(se).max(1) as i64;
                    if load >> failed.min(62) > left {
                        continue;
                    }
                    left -= load;
                }
                MigrationType::Util => {
                    let util = self.se[se].avg.util_avg as i64;
                    if util >> failed.min(62) > left {
                        continue;
                    }
                    left -= util.max(1);
                }
                MigrationType::Task => left -= 1,
            }
            if verdict == Verdict::MoveHot {
                self.sds[sd].stat.lb(idle).hot_gained += 1;
            }
            self.detach_task(task, dst);
            detached.push(task);
            if idle == IdleType::NewlyIdle {
                break;
            }
        }
        detached
    }

    fn can_migrate_task(&mut self, task: TaskIx, dst: CpuIx, src: CpuIx, sd: SdIx) -> Verdict {
        let se = self.tasks[task].se;
        if self.se[se].sched_delayed || self.throttled_lb(task, dst) {
            return Verdict::Stay;
        }
        if !self.allows(task, dst) {
            return Verdict::Pinned;
        }
        let flags = self.domains.get(self.sds[sd].id).flags;
        if self.profile.rules.migration_scope == MigrationScope::WithinLlc
            && !flags.has(SdFlags::SHARE_LLC)
        {
            return Verdict::Stay;
        }
        if self.rqs[src].curr == Some(task) {
            return Verdict::Stay;
        }
        if !self.task_hot(task, src, sd) {
            return Verdict::Move;
        }
        let tries = self.domains.get(self.sds[sd].id).cache_nice_tries;
        if self.sds[sd].nr_balance_failed > tries {
            Verdict::MoveHot
        } else {
            Verdict::Stay
        }
    }

    /// Whether throttling keeps a task from being moved.
    fn throttled_lb(&mut self, task: TaskIx, dst: CpuIx) -> bool {
        let group = self.tasks[task].group;
        let there = self.group_cfs_rq(group, dst);
        let here = self.se[self.tasks[task].se].cfs_rq;
        let pair = self.profile.rules.throttled_lb == ThrottledLb::Pair;
        self.throttled_hierarchy(there)
            || (pair && self.throttled_hierarchy(here))
            || (self.tun.throttle == ThrottleModel::Task && self.tasks[task].throttled)
    }

    fn task_hot(&self, task: TaskIx, src: CpuIx, sd: SdIx) -> bool {
        let flags = self.domains.get(self.sds[sd].id).flags;
        if flags.has(SdFlags::SHARE_CPUCAPACITY) {
            return false;
        }
        let se = self.tasks[task].se;
        let buddy = self.cfs[self.se[se].cfs_rq].next == Some(se);
        if buddy && self.feat(Feature::CacheHotBuddy) {
            return true;
        }
        let ran = self.se[se].exec_start;
        let since = self.clock_task(src).saturating_sub(ran);
        ran != 0 && since < self.tun.migration_cost_ns
    }

    /// Takes a task off its queue, towards another CPU.
    fn detach_task(&mut self, task: TaskIx, dst: CpuIx) {
        let flags = Dequeue {
            migrate: true,
            ..Dequeue::default()
        };
        self.dequeue_task_fair(task, flags);
        self.block_task(task);
        let se = self.tasks[task].se;
        self.se[se].exec_start = 0;
        self.set_task_cpu(task, dst);
    }

    fn attach_task(&mut self, task: TaskIx, dst: CpuIx) {
        self.activate_task(
            task,
            Enqueue {
                migrated: true,
                ..Enqueue::default()
            },
        );
        if self.rqs[dst].curr.is_some() {
            self.wakeup_preempt(dst, task, false);
        }
    }

    /// The stopper of a busy CPU pushes a task to the CPU that asked.
    pub(crate) fn active_load_balance_cpu_stop(&mut self, cpu: CpuIx) -> bool {
        let Some((dst, sd)) = self.rqs[cpu].active_balance.take() else {
            return false;
        };
        if self.rqs[cpu].nr_running <= 1 {
            return true;
        }
        self.sds[sd].stat.alb_count += 1;
        // The stopper runs in place of the current task, so that one may be moved too; here only
        // tasks that wait are (LIMITS.md, "active balance").
        let candidates = self.rqs[cpu].cfs_tasks.clone();
        let found = candidates.into_iter().find(|&task| {
            let verdict = self.can_migrate_task(task, dst, cpu, sd);
            matches!(verdict, Verdict::Move | Verdict::MoveHot)
        });
        match found {
            Some(task) => {
                self.detach_task(task, dst);
                self.attach_task(task, dst);
                let state = &mut self.sds[sd];
                state.stat.alb_pushed += 1;
                state.stat.idle.gained += 1;
                state.nr_balance_failed = 0;
                if self.rqs[dst].curr.is_none() {
                    self.resched_curr(dst);
                }
            }
            None => self.sds[sd].stat.alb_failed += 1,
        }
        self.rqs[cpu].overhead += 2 * self.machine.costs.switch.thread_ns;
        true
    }
}
