//! Scheduling entities: what a queue holds and picks.

use super::pelt::SchedAvg;
use crate::table::{CfsRqIx, SeIx, TaskIx};
use crate::time::Ns;

/// Weights carry 10 bits more than the load they stand for (`SCHED_FIXEDPOINT_SHIFT`).
pub(crate) const SCALE_SHIFT: u32 = 10;
/// Weight of nice 0, scaled.
pub(crate) const NICE_0_LOAD: u64 = 1024 << SCALE_SHIFT;
/// The least weight of a group entity, unscaled.
pub(crate) const MIN_SHARES: u64 = 2;

/// Weight by nice -20 to 19: each step is 1.25 (`sched_prio_to_weight`).
pub const PRIO_TO_WEIGHT: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

/// Weight of a task of policy SCHED_IDLE, unscaled.
pub const WEIGHT_IDLE: u64 = 3;

/// `weight` with the scale's bits.
#[inline]
pub(crate) fn scale_load(weight: u64) -> u64 {
    weight << SCALE_SHIFT
}

/// The load a scaled weight stands for, at least [`MIN_SHARES`].
#[inline]
pub(crate) fn scale_load_down(weight: u64) -> u64 {
    if weight == 0 {
        0
    } else {
        (weight >> SCALE_SHIFT).max(MIN_SHARES)
    }
}

/// Virtual time of `delta` ns at `weight`: at nice 0 they are the same.
#[inline]
pub(crate) fn calc_delta_fair(delta: u64, weight: u64) -> u64 {
    if weight == NICE_0_LOAD {
        delta
    } else if delta < 1 << 43 {
        (delta << 20) / weight.max(1)
    } else {
        (u128::from(delta) * u128::from(NICE_0_LOAD) / u128::from(weight.max(1))) as u64
    }
}

/// What an entity stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A task.
    Task(TaskIx),
    /// A group on one CPU, by its queue there.
    Group(CfsRqIx),
}

/// An entity.
#[derive(Clone, Debug)]
pub struct SchedEntity {
    /// Whose it is.
    pub owner: Owner,
    /// The queue it belongs to.
    pub cfs_rq: CfsRqIx,
    /// The entity of the group it is in; `None` at the root.
    pub parent: Option<SeIx>,
    /// Scaled weight.
    pub weight: u64,
    /// Virtual runtime.
    pub vruntime: i64,
    /// Virtual deadline of the present request.
    pub deadline: i64,
    /// Lag when it left the queue.
    pub vlag: i64,
    /// Virtual time until which it is protected from the pick.
    pub vprot: i64,
    /// Length of a request.
    pub slice: u64,
    /// `slice` was asked for, not the default.
    pub custom_slice: bool,
    /// On a queue, delayed included.
    pub on_rq: bool,
    /// Blocked, but queued until its lag is used up.
    pub sched_delayed: bool,
    /// `deadline` is relative: it left the queue without sleeping.
    pub rel_deadline: bool,
    /// When it was last accounted, by the CPU's task clock.
    pub exec_start: Ns,
    /// Time run.
    pub sum_exec: Ns,
    /// `sum_exec` when it was last picked.
    pub prev_sum_exec: Ns,
    /// Averages.
    pub avg: SchedAvg,
}

impl SchedEntity {
    /// An entity off any queue.
    pub(crate) fn new(owner: Owner, cfs_rq: CfsRqIx, parent: Option<SeIx>, weight: u64) -> Self {
        SchedEntity {
            owner,
            cfs_rq,
            parent,
            weight,
            vruntime: 0,
            deadline: 0,
            vlag: 0,
            vprot: 0,
            slice: 0,
            custom_slice: false,
            on_rq: false,
            sched_delayed: false,
            rel_deadline: false,
            exec_start: 0,
            sum_exec: 0,
            prev_sum_exec: 0,
            avg: SchedAvg::default(),
        }
    }

    /// The task, where it is one's.
    pub(crate) fn task(&self) -> Option<TaskIx> {
        match self.owner {
            Owner::Task(task) => Some(task),
            Owner::Group(_) => None,
        }
    }

    /// The queue it owns, where it is a group's.
    pub(crate) fn my_q(&self) -> Option<CfsRqIx> {
        match self.owner {
            Owner::Task(_) => None,
            Owner::Group(queue) => Some(queue),
        }
    }

    /// Weight without the scale's bits.
    #[inline]
    pub(crate) fn load(&self) -> u64 {
        scale_load_down(self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_runs_inversely_to_weight() {
        assert_eq!(calc_delta_fair(1000, NICE_0_LOAD), 1000);
        assert_eq!(calc_delta_fair(1000, scale_load(2048)), 500);
        assert_eq!(
            calc_delta_fair(1_000_000, scale_load(PRIO_TO_WEIGHT[39])),
            68_266_666
        );
        assert_eq!(scale_load_down(1), MIN_SHARES);
    }
}
