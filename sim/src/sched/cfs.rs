//! The completely fair scheduler of kernels before 6.6: least virtual runtime first.

use super::entity::calc_delta_fair;
use crate::kernel::Feature;
use crate::sim::Sim;
use crate::table::{CfsRqIx, SeIx};
use crate::time::Ns;

impl Sim {
    /// Raises a queue's least virtual runtime; it never falls.
    pub(crate) fn update_min_vruntime(&mut self, queue: CfsRqIx) {
        let cfs = &self.cfs[queue];
        let curr = cfs.curr.filter(|&c| self.se[c].on_rq);
        let curr = curr.map(|c| self.se[c].vruntime);
        let leftmost = cfs.queue.first().map(|slot| slot.vruntime);
        let least = match (curr, leftmost) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => return,
        };
        let cfs = &mut self.cfs[queue];
        cfs.v0 = cfs.v0.max(least);
    }

    /// Places an entity that enters a queue: a new one a slice behind, a woken one at most half a
    /// latency period ahead.
    pub(crate) fn place_entity_cfs(&mut self, queue: CfsRqIx, se: SeIx, initial: bool) {
        let mut vruntime = self.cfs[queue].v0;
        if initial {
            if self.feat(Feature::StartDebit) {
                vruntime += self.sched_vslice(queue, se) as i64;
            }
        } else {
            let mut credit = self.tun.latency_ns;
            if self.feat(Feature::GentleFairSleepers) {
                credit /= 2;
            }
            vruntime -= credit as i64;
        }
        let entity = &mut self.se[se];
        entity.vruntime = entity.vruntime.max(vruntime);
    }

    fn sched_period(&self, nr_running: u64) -> Ns {
        if nr_running > self.tun.nr_latency {
            nr_running * self.tun.min_granularity_ns
        } else {
            self.tun.latency_ns
        }
    }

    /// The stretch an entity may run: its weight's part of the period, at every level above too.
    pub(crate) fn sched_slice(&self, queue: CfsRqIx, se: SeIx) -> Ns {
        let nr = if self.feat(Feature::AltPeriod) {
            u64::from(self.cfs[self.rqs[self.cfs[queue].cpu].cfs].h_nr_queued)
        } else {
            u64::from(self.cfs[queue].nr_queued)
        };
        let extra = u64::from(!self.se[se].on_rq);
        let mut slice = self.sched_period(nr + extra);
        let mut at = Some(se);
        while let Some(se) = at {
            let entity = &self.se[se];
            let mut total = self.cfs[entity.cfs_rq].load_weight;
            if !entity.on_rq {
                total += entity.weight;
            }
            slice =
                (u128::from(slice) * u128::from(entity.weight) / u128::from(total.max(1))) as u64;
            at = entity.parent;
        }
        if self.feat(Feature::BaseSlice) {
            slice = slice.max(self.tun.min_granularity_ns);
        }
        slice
    }

    fn sched_vslice(&self, queue: CfsRqIx, se: SeIx) -> u64 {
        calc_delta_fair(self.sched_slice(queue, se), self.se[se].weight)
    }

    /// How far `curr` is ahead of `se`: above the wake-up granularity 1, ahead 0, behind -1.
    pub(crate) fn wakeup_preempt_entity(&self, curr: SeIx, se: SeIx) -> i32 {
        let ahead = self.se[curr].vruntime - self.se[se].vruntime;
        if ahead <= 0 {
            return -1;
        }
        let granularity = calc_delta_fair(self.tun.wakeup_granularity_ns, self.se[se].weight);
        i32::from(ahead > granularity as i64)
    }

    /// The entity that runs next: the leftmost, or the next buddy unless that is too unfair.
    pub(crate) fn pick_next_entity_cfs(&self, queue: CfsRqIx) -> Option<SeIx> {
        let cfs = &self.cfs[queue];
        let leftmost = cfs.queue.first().map(|slot| slot.se);
        let curr = cfs.curr.filter(|&c| self.se[c].on_rq);
        let left = match (leftmost, curr) {
            (Some(left), Some(curr)) if self.se[curr].vruntime < self.se[left].vruntime => curr,
            (Some(left), _) => left,
            (None, curr) => return curr,
        };
        match cfs.next {
            Some(next) if self.se[next].on_rq && self.wakeup_preempt_entity(next, left) < 1 => {
                Some(next)
            }
            _ => Some(left),
        }
    }

    /// Whether the tick ends the running entity's stretch.
    pub(crate) fn check_preempt_tick(&self, queue: CfsRqIx, curr: SeIx) -> bool {
        let ideal = self.sched_slice(queue, curr);
        let entity = &self.se[curr];
        let ran = entity.sum_exec - entity.prev_sum_exec;
        if ran > ideal {
            return true;
        }
        if ran < self.tun.min_granularity_ns {
            return false;
        }
        let leftmost = self.cfs[queue].queue.first();
        leftmost.is_some_and(|slot| entity.vruntime - slot.vruntime > ideal as i64)
    }
}
