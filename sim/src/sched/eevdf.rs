//! Earliest eligible virtual deadline first: virtual time of a queue, lag, placement, pick,
//! protection of the running entity.

use super::entity::calc_delta_fair;
use super::rq::Slot;
use crate::kernel::Feature;
use crate::kernel::rules::{LagLimit, Protection};
use crate::sim::Sim;
use crate::table::{CfsRqIx, SeIx};

/// Beyond this the sums of a queue are moved to a nearer zero, long before they could overflow.
const RECENTRE_ABOVE: i64 = 1 << 50;

impl Sim {
    /// Adds an entity that is not current to the sums.
    pub(crate) fn avg_vruntime_add(&mut self, queue: CfsRqIx, se: SeIx) {
        let (load, vruntime) = (self.se[se].load() as i64, self.se[se].vruntime);
        let cfs = &mut self.cfs[queue];
        cfs.sum_wv += load * (vruntime - cfs.v0);
        cfs.sum_w += load;
        if cfs.sum_wv.abs() > RECENTRE_ABOVE {
            let by = cfs.sum_wv.div_euclid(cfs.sum_w);
            cfs.v0 += by;
            cfs.sum_wv -= by * cfs.sum_w;
        }
    }

    /// Takes an entity that is not current out of the sums.
    pub(crate) fn avg_vruntime_sub(&mut self, queue: CfsRqIx, se: SeIx) {
        let (load, vruntime) = (self.se[se].load() as i64, self.se[se].vruntime);
        let cfs = &mut self.cfs[queue];
        cfs.sum_wv -= load * (vruntime - cfs.v0);
        cfs.sum_w -= load;
    }

    /// Sums over every entity, current included.
    fn sums(&self, queue: CfsRqIx) -> (i64, i64) {
        let cfs = &self.cfs[queue];
        match cfs.curr {
            Some(curr) if self.se[curr].on_rq => {
                let curr = &self.se[curr];
                let load = curr.load() as i64;
                (
                    cfs.sum_wv + load * (curr.vruntime - cfs.v0),
                    cfs.sum_w + load,
                )
            }
            _ => (cfs.sum_wv, cfs.sum_w),
        }
    }

    /// Virtual time of a queue, rounded towards minus infinity so that it is itself eligible.
    pub(crate) fn avg_vruntime(&self, queue: CfsRqIx) -> i64 {
        let (sum_wv, sum_w) = self.sums(queue);
        let v0 = self.cfs[queue].v0;
        if sum_w == 0 {
            v0
        } else {
            v0 + sum_wv.div_euclid(sum_w)
        }
    }

    /// Whether an entity has not had more than its share. Comparing with the rounded virtual time is
    /// the kernel's comparison of products: virtual runtimes are whole.
    pub(crate) fn entity_eligible(&self, queue: CfsRqIx, se: SeIx) -> bool {
        self.se[se].vruntime <= self.avg_vruntime(queue)
    }

    /// The zero of a queue that lost its last entity: there virtual time stands still.
    pub(crate) fn settle_v0(&mut self, queue: CfsRqIx, vruntime: i64) {
        let cfs = &mut self.cfs[queue];
        cfs.v0 = cfs.v0.max(vruntime);
    }

    /// Stores how much service an entity is owed, within the limit.
    pub(crate) fn update_entity_lag(&mut self, queue: CfsRqIx, se: SeIx) {
        let lag = self.avg_vruntime(queue) - self.se[se].vruntime;
        let entity = &self.se[se];
        let limit = match self.profile.rules.lag_limit {
            LagLimit::None => u64::MAX >> 1,
            LagLimit::TwiceOwnSlice => (2 * entity.slice).max(self.tun.tick_ns),
            LagLimit::MaxSlicePlusTick => self.cfs_rq_max_slice(queue, se) + self.tun.tick_ns,
        };
        let limit = calc_delta_fair(limit, entity.weight) as i64;
        self.se[se].vlag = lag.clamp(-limit, limit);
    }

    fn cfs_rq_max_slice(&self, queue: CfsRqIx, se: SeIx) -> u64 {
        let own = self.se[se].slice;
        if self.cfs[queue].nr_custom_slice == 0 {
            return own.max(self.tun.base_slice_ns);
        }
        (self.cfs[queue].queue.iter())
            .map(|slot| self.se[slot.se].slice)
            .fold(own, u64::max)
    }

    fn cfs_rq_min_slice(&self, queue: CfsRqIx) -> u64 {
        let cfs = &self.cfs[queue];
        if cfs.nr_custom_slice == 0 {
            return self.tun.base_slice_ns;
        }
        (cfs.queue.iter().map(|slot| slot.se).chain(cfs.curr))
            .map(|se| self.se[se].slice)
            .min()
            .unwrap_or(self.tun.base_slice_ns)
    }

    /// Gives an entity that enters a queue its place in virtual time and its deadline.
    pub(crate) fn place_entity_eevdf(&mut self, queue: CfsRqIx, se: SeIx, initial: bool) {
        if !self.se[se].custom_slice {
            self.se[se].slice = self.tun.base_slice_ns;
        }
        let mut vslice = calc_delta_fair(self.se[se].slice, self.se[se].weight) as i64;
        let v = self.avg_vruntime(queue);
        let entity = &self.se[se];
        let mut lag = 0;
        if self.feat(Feature::PlaceLag) && self.cfs[queue].nr_queued > 0 && entity.vlag != 0 {
            // Entering moves the average towards the entity: scale the lag so that afterwards it
            // is what it was.
            let (_, sum_w) = self.sums(queue);
            let load = i128::from(sum_w);
            let own = entity.load() as i128;
            lag = (i128::from(entity.vlag) * (load + own) / load.max(1)) as i64;
        }
        let relative = self.feat(Feature::PlaceRelDeadline) && entity.rel_deadline;
        let halved = self.feat(Feature::PlaceDeadlineInitial) && initial;
        let entity = &mut self.se[se];
        entity.vruntime = v - lag;
        if relative {
            entity.deadline += entity.vruntime;
            entity.rel_deadline = false;
            return;
        }
        if halved {
            vslice /= 2;
        }
        entity.deadline = entity.vruntime + vslice;
    }

    /// A waking entity with the bonus of CFS: half a slice ahead of the queue (the proposal
    /// PLACE_BONUS; no kernel has it on).
    pub(crate) fn place_bonus(&mut self, se: SeIx) {
        let bonus = calc_delta_fair(self.se[se].slice / 2, self.se[se].weight) as i64;
        let entity = &mut self.se[se];
        entity.vruntime -= bonus;
        entity.deadline -= bonus;
    }

    /// Begins a new request when the present one is served. Whether it did.
    pub(crate) fn update_deadline(&mut self, se: SeIx) -> bool {
        let base = self.tun.base_slice_ns;
        let entity = &mut self.se[se];
        if entity.vruntime < entity.deadline {
            return false;
        }
        if !entity.custom_slice {
            entity.slice = base;
        }
        entity.deadline = entity.vruntime + calc_delta_fair(entity.slice, entity.weight) as i64;
        true
    }

    /// Protects an entity that was just picked.
    pub(crate) fn set_protect_slice(&mut self, queue: CfsRqIx, se: SeIx) {
        let parity = self.feat(Feature::RunToParity);
        let vprot = match self.profile.rules.protection {
            Protection::None => i64::MIN,
            Protection::UntilDeadline if parity => self.se[se].deadline,
            Protection::UntilDeadline => i64::MIN,
            Protection::Vprot => {
                let slice = if parity {
                    self.cfs_rq_min_slice(queue)
                } else {
                    self.tun.base_slice_unscaled_ns
                };
                let entity = &self.se[se];
                let short = entity.vruntime + calc_delta_fair(slice, entity.weight) as i64;
                if slice == entity.slice {
                    entity.deadline
                } else {
                    entity.deadline.min(short)
                }
            }
        };
        self.se[se].vprot = vprot;
    }

    /// A wake-up did not preempt: where its slice is shorter, the protection ends sooner.
    pub(crate) fn update_protect_slice(&mut self, queue: CfsRqIx, se: SeIx) {
        if self.profile.rules.protection != Protection::Vprot {
            return;
        }
        let slice = self.cfs_rq_min_slice(queue);
        let entity = &self.se[se];
        if slice < entity.slice {
            let short = entity.vruntime + calc_delta_fair(slice, entity.weight) as i64;
            let v = self.avg_vruntime(queue);
            let entity = &mut self.se[se];
            entity.vprot = entity.vprot.min(short).min(v.max(entity.vruntime));
        }
    }

    /// Whether the running entity may not be replaced yet.
    pub(crate) fn protect_slice(&self, se: SeIx) -> bool {
        let entity = &self.se[se];
        match self.profile.rules.protection {
            Protection::None => false,
            // The deadline moves when the request is served, and with it the protection ends.
            Protection::UntilDeadline => entity.vprot == entity.deadline,
            Protection::Vprot => entity.vprot > entity.vruntime,
        }
    }

    /// The entity that runs next; `protect`: the running one may insist.
    pub(crate) fn pick_eevdf(&self, queue: CfsRqIx, protect: bool) -> Option<SeIx> {
        let cfs = &self.cfs[queue];
        let mut curr = cfs.curr.filter(|&c| self.se[c].on_rq);
        if cfs.nr_queued == 1 {
            return curr.or_else(|| cfs.queue.first().map(|slot| slot.se));
        }
        let v = self.avg_vruntime(queue);
        if protect
            && self.feat(Feature::PickBuddy)
            && let Some(next) = cfs.next
            && self.se[next].on_rq
            && self.se[next].vruntime <= v
        {
            return Some(next);
        }
        curr = curr.filter(|&c| self.se[c].vruntime <= v);
        if let Some(curr) = curr
            && protect
            && self.protect_slice(curr)
        {
            return Some(curr);
        }
        let best = first_eligible(&cfs.queue, v);
        match (best, curr) {
            (Some(best), Some(curr)) if self.se[curr].deadline < best.key => Some(curr),
            (Some(best), _) => Some(best.se),
            (None, curr) => curr,
        }
    }
}

/// The slot with the earliest deadline among those with a virtual runtime of at most `v`.
fn first_eligible(queue: &[Slot], v: i64) -> Option<&Slot> {
    queue.iter().find(|slot| slot.vruntime <= v)
}
