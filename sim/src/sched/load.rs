//! Load averages of entities and queues, kept up to date when they are touched.

use super::entity::scale_load_down;
use super::pelt::{Held, SchedAvg};
use super::rq::Removed;
use crate::sim::Sim;
use crate::table::{CfsRqIx, SeIx};
use crate::time::Ns;

impl Sim {
    /// The clock of a queue's averages: the task clock, standing still while throttled.
    fn cfs_rq_clock_pelt(&self, queue: CfsRqIx) -> Ns {
        let cfs = &self.cfs[queue];
        let now = cfs
            .bw
            .throttled_clock_pelt
            .unwrap_or(self.clock_task(cfs.cpu));
        now.saturating_sub(cfs.bw.throttled_clock_pelt_time)
    }

    /// Runnable tasks an entity stands for.
    fn se_runnable(&self, se: SeIx) -> u64 {
        let entity = &self.se[se];
        match entity.my_q() {
            Some(queue) => u64::from(self.cfs[queue].h_nr_runnable),
            None => u64::from(entity.on_rq && !entity.sched_delayed),
        }
    }

    /// Brings an entity and its queue up to date.
    pub(crate) fn update_load_avg(&mut self, queue: CfsRqIx, se: SeIx) {
        let now = self.cfs_rq_clock_pelt(queue);
        self.update_load_avg_se(now, queue, se);
        if self.update_cfs_rq_load_avg(now, queue) {
            self.update_tg_load_avg(queue);
        }
    }

    fn update_load_avg_se(&mut self, now: Ns, queue: CfsRqIx, se: SeIx) {
        let on_rq = self.se[se].on_rq;
        let held = Held {
            load: u64::from(on_rq),
            runnable: if on_rq { self.se_runnable(se) } else { 0 },
            running: on_rq && self.cfs[queue].curr == Some(se),
        };
        let load = self.se[se].load();
        let entity = &mut self.se[se];
        if entity.avg.update_sum(now, held) {
            entity.avg.update_avg(load);
        }
        if let Some(own) = entity.my_q() {
            // A group's entity runs when its queue runs: take over what migrations changed there.
            // Its load is left to its own average (see LIMITS.md, "load of group entities").
            let below = &self.cfs[own].avg;
            let (util, util_sum) = (below.util_avg, below.util_sum);
            let entity = &mut self.se[se];
            entity.avg.util_avg = util;
            entity.avg.util_sum = util_sum;
        }
    }

    /// Whether the queue's averages changed.
    pub(crate) fn update_cfs_rq_load_avg(&mut self, now: Ns, queue: CfsRqIx) -> bool {
        let mut changed = false;
        if self.cfs[queue].removed.nr > 0 {
            self.fold_in_removed(queue);
            changed = true;
        }
        let cfs = &mut self.cfs[queue];
        let held = Held {
            load: scale_load_down(cfs.load_weight),
            runnable: u64::from(cfs.h_nr_runnable),
            running: cfs.curr.is_some(),
        };
        if cfs.avg.update_sum(now, held) {
            cfs.avg.update_avg(1);
            changed = true;
        }
        changed
    }

    fn fold_in_removed(&mut self, queue: CfsRqIx) {
        let cfs = &mut self.cfs[queue];
        let removed = std::mem::take(&mut cfs.removed);
        let divider = cfs.avg.divider();
        let gone = SchedAvg {
            load_avg: removed.load_avg,
            load_sum: removed.load_avg * divider,
            runnable_avg: removed.runnable_avg,
            runnable_sum: removed.runnable_avg * divider,
            util_avg: removed.util_avg,
            util_sum: removed.util_avg * divider,
            ..SchedAvg::default()
        };
        cfs.avg.sub(&gone, 1);
    }

    /// Brings a queue up to date, and its group's sum.
    pub(crate) fn update_blocked_queue(&mut self, queue: CfsRqIx) {
        let now = self.cfs_rq_clock_pelt(queue);
        if self.update_cfs_rq_load_avg(now, queue) {
            self.update_tg_load_avg(queue);
        }
    }

    /// As [`Sim::update_load_avg`]; an entity that comes from elsewhere is added to the queue.
    pub(crate) fn update_load_avg_attach(&mut self, queue: CfsRqIx, se: SeIx) {
        let foreign = self.se[se].avg.last_update() == 0;
        if !foreign {
            self.update_load_avg(queue, se);
            return;
        }
        let now = self.cfs_rq_clock_pelt(queue);
        self.update_cfs_rq_load_avg(now, queue);
        self.attach_entity_load_avg(queue, se);
        self.update_tg_load_avg(queue);
    }

    fn attach_entity_load_avg(&mut self, queue: CfsRqIx, se: SeIx) {
        let divider = self.cfs[queue].avg.divider();
        let load = self.se[se].load();
        let queue_avg = self.cfs[queue].avg;
        let avg = &mut self.se[se].avg;
        avg.align(&queue_avg);
        // Position 0 would mean "comes from elsewhere" again.
        if avg.last_update() == 0 {
            avg.set_last_update(1 << 10);
        }
        avg.util_sum = avg.util_avg * divider;
        avg.runnable_sum = avg.runnable_avg * divider;
        avg.load_sum = avg.load_avg * divider / load.max(1);
        let avg = *avg;
        self.for_each_queue_above(queue, |cfs, own| {
            let part = if own { avg } else { only_util(&avg) };
            cfs.avg.add(&part, load);
        });
    }

    /// Takes an entity's averages out of its queue.
    pub(crate) fn detach_entity_load_avg(&mut self, queue: CfsRqIx, se: SeIx) {
        let load = self.se[se].load();
        let avg = self.se[se].avg;
        self.for_each_queue_above(queue, |cfs, own| {
            let part = if own { avg } else { only_util(&avg) };
            cfs.avg.sub(&part, load);
        });
        self.update_tg_load_avg(queue);
        self.se[se].avg.set_last_update(0);
    }

    fn for_each_queue_above(
        &mut self,
        queue: CfsRqIx,
        mut change: impl FnMut(&mut super::rq::CfsRq, bool),
    ) {
        let mut at = queue;
        loop {
            change(&mut self.cfs[at], at == queue);
            match self.cfs[at].se {
                Some(se) => at = self.se[se].cfs_rq,
                None => break,
            }
        }
    }

    /// A sleeping task moves away: its queue learns of it at its next update.
    pub(crate) fn remove_entity_load_avg(&mut self, se: SeIx) {
        let queue = self.se[se].cfs_rq;
        // Age the sleeper to the queue's clock first, as the kernel does.
        let now = self.cfs[queue].avg.last_update();
        self.update_load_avg_se(now, queue, se);
        let avg = self.se[se].avg;
        let mut own = true;
        let mut at = queue;
        loop {
            let removed: &mut Removed = &mut self.cfs[at].removed;
            removed.nr += 1;
            removed.util_avg += avg.util_avg;
            if own {
                removed.load_avg += avg.load_avg;
                removed.runnable_avg += avg.runnable_avg;
            }
            own = false;
            match self.cfs[at].se {
                Some(se) => at = self.se[se].cfs_rq,
                None => break,
            }
        }
        self.se[se].avg.set_last_update(0);
    }

    /// Averages of a new task: full load, half of what the CPU has to spare.
    pub(crate) fn post_init_entity_util_avg(&mut self, se: SeIx) {
        let queue = self.se[se].cfs_rq;
        let cfs = &self.cfs[queue].avg;
        let load = self.se[se].load();
        let cap = 1024_u64.saturating_sub(cfs.util_avg) / 2;
        let util = if cfs.util_avg != 0 {
            (cfs.util_avg * load / (cfs.load_avg + 1)).min(cap)
        } else {
            cap
        };
        let mut avg = SchedAvg::new(0, load);
        avg.util_avg = util;
        avg.runnable_avg = util;
        self.se[se].avg = avg;
    }

    /// Changes an entity's part of its queue's load to another weight.
    pub(crate) fn reweight_avg(&mut self, queue: CfsRqIx, se: SeIx, weight: u64) {
        let new_load = scale_load_down(weight);
        let old_load = self.se[se].load();
        let avg = &mut self.se[se].avg;
        let (old_avg, load_sum) = (avg.load_avg, avg.load_sum);
        avg.load_avg = new_load * load_sum / avg.divider();
        let new_avg = avg.load_avg;
        let cfs = &mut self.cfs[queue].avg;
        cfs.load_avg = cfs.load_avg.saturating_sub(old_avg) + new_avg;
        cfs.load_sum = (cfs.load_sum.saturating_sub(old_load * load_sum)) + new_load * load_sum;
    }
}

/// What queues above an entity's own take over of a move: utilisation.
fn only_util(avg: &SchedAvg) -> SchedAvg {
    SchedAvg {
        util_avg: avg.util_avg,
        util_sum: avg.util_sum,
        ..SchedAvg::default()
    }
}
