//! Task groups: shares, queues of a group on each CPU, the weight of its entity there.

use super::bandwidth::CfsBandwidth;
use super::entity::{MIN_SHARES, Owner, SchedEntity, scale_load, scale_load_down};
use super::rq::CfsRq;
use crate::cpu::CpuIx;
use crate::kernel::rules::{GroupWeight, LoadTracking};
use crate::sim::Sim;
use crate::table::{CfsRqIx, GroupIx, SeIx};
use crate::time::{MS, Ns};

/// A group.
#[derive(Clone, Debug)]
pub struct TaskGroup {
    /// Relative path; empty at the root.
    pub path: String,
    /// The group it is in; `None` at the root.
    pub parent: Option<GroupIx>,
    /// Scaled shares (`cpu.weight` 100 is 1024).
    pub shares: u64,
    /// Sum of its queues' contributions.
    pub load_avg: u64,
    /// Itself and the groups below, parents first.
    pub(crate) subtree: Vec<GroupIx>,
    /// Its queue on each CPU, made at the first use.
    pub(crate) cfs_rq: Vec<Option<CfsRqIx>>,
    /// Its quota; `None`: no limit.
    pub bandwidth: Option<CfsBandwidth>,
    /// Time its tasks ran, those of groups below included.
    pub usage: Ns,
    /// ... in user mode.
    pub user: Ns,
    /// A CPU wrote `load_avg` last: the owner of its cache line.
    pub(crate) load_line: Option<CpuIx>,
}

impl TaskGroup {
    pub(crate) fn new(path: &str, parent: Option<GroupIx>, shares: u64, cpus: usize) -> Self {
        TaskGroup {
            path: path.to_owned(),
            parent,
            shares,
            load_avg: 0,
            subtree: Vec::new(),
            cfs_rq: vec![None; cpus],
            bandwidth: None,
            usage: 0,
            user: 0,
            load_line: None,
        }
    }
}

/// Shares of a `cpu.weight` (`sched_weight_from_cgroup`), scaled.
pub(crate) fn shares_of_weight(weight: u32) -> u64 {
    scale_load((u64::from(weight) * 1024).div_ceil(100).max(MIN_SHARES))
}

/// Least change of a queue's load that is written to its group: the contribution / 64.
const NO_FORCE: bool = false;

impl Sim {
    /// Adds a group below `parent`.
    pub(crate) fn sched_create_group(
        &mut self,
        path: &str,
        parent: Option<GroupIx>,
        shares: u64,
        bandwidth: Option<CfsBandwidth>,
    ) -> GroupIx {
        let cpus = self.machine.nr_cpus();
        let mut group = TaskGroup::new(path, parent, shares, cpus);
        group.bandwidth = bandwidth;
        let group = self.groups.push(group);
        let mut at = Some(group);
        while let Some(above) = at {
            self.groups[above].subtree.push(group);
            at = self.groups[above].parent;
        }
        group
    }

    /// The queue of `group` on `cpu`, made where there is none.
    pub(crate) fn group_cfs_rq(&mut self, group: GroupIx, cpu: CpuIx) -> CfsRqIx {
        if let Some(queue) = self.groups[group].cfs_rq[cpu.at()] {
            return queue;
        }
        let Some(parent) = self.groups[group].parent else {
            return self.rqs[cpu].cfs;
        };
        let parent_queue = self.group_cfs_rq(parent, cpu);
        let mut queue = CfsRq::new(cpu, group, None);
        queue.avg.set_last_update(self.clock_task(cpu));
        let queue = self.cfs.push(queue);
        let mut entity = SchedEntity::new(
            Owner::Group(queue),
            parent_queue,
            self.cfs[parent_queue].se,
            self.groups[group].shares,
        );
        entity.slice = self.tun.base_slice_ns;
        entity.avg.set_last_update(self.clock_task(cpu));
        entity.avg.align(&self.cfs[parent_queue].avg);
        let entity = self.se.push(entity);
        self.cfs[queue].se = Some(entity);
        self.init_cfs_rq_runtime(group, queue);
        self.groups[group].cfs_rq[cpu.at()] = Some(queue);
        queue
    }

    /// The weight of a group's entity: its queue's part of the shares.
    pub(crate) fn calc_group_shares(&self, queue: CfsRqIx) -> u64 {
        let cfs = &self.cfs[queue];
        let group = &self.groups[cfs.group];
        let shares = group.shares;
        if self.profile.rules.group_weight == GroupWeight::Concur {
            return self.concur_shares(queue);
        }
        let load = scale_load_down(cfs.load_weight).max(cfs.avg.load_avg);
        let total = group.load_avg.saturating_sub(cfs.tg_load_avg_contrib) + load;
        let part = (shares * load).checked_div(total).unwrap_or(shares * load);
        part.clamp(MIN_SHARES, shares)
    }

    /// Shares for each CPU the group can keep busy, then split as above.
    fn concur_shares(&self, queue: CfsRqIx) -> u64 {
        let cfs = &self.cfs[queue];
        let group = &self.groups[cfs.group];
        let runnable: u64 = (group.cfs_rq.iter().flatten())
            .map(|&q| self.cfs[q].avg.runnable_avg)
            .sum();
        let tasks = (runnable / 1024).clamp(1, self.machine.nr_cpus() as u64);
        let shares = group.shares * tasks;
        let load = scale_load_down(cfs.load_weight).max(cfs.avg.load_avg);
        let total = group.load_avg.saturating_sub(cfs.tg_load_avg_contrib) + load;
        let part = (shares * load).checked_div(total).unwrap_or(shares * load);
        part.clamp(MIN_SHARES, shares)
    }

    /// Brings the weight of a group's entity up to date.
    pub(crate) fn update_cfs_group(&mut self, se: SeIx) {
        let Some(queue) = self.se[se].my_q() else {
            return;
        };
        if self.cfs[queue].load_weight == 0 {
            return;
        }
        let shares = self.calc_group_shares(queue);
        if shares != self.se[se].weight {
            self.reweight_entity(se, shares);
        }
    }

    /// Writes a queue's load to its group, where the rules say that it is worth a write.
    pub(crate) fn update_tg_load_avg(&mut self, queue: CfsRqIx) {
        self.update_tg_load_avg_forced(queue, NO_FORCE);
    }

    pub(crate) fn update_tg_load_avg_forced(&mut self, queue: CfsRqIx, force: bool) {
        let cfs = &self.cfs[queue];
        let (cpu, group) = (cfs.cpu, cfs.group);
        if cfs.se.is_none() {
            return;
        }
        let constants = &self.profile.constants.group_load;
        if let Some(interval) = constants.update_interval_ns
            && self.now < cfs.last_update_tg_load_avg + interval
            && cfs.last_update_tg_load_avg != 0
        {
            return;
        }
        let contrib = cfs.tg_load_avg_contrib;
        let delta = cfs.avg.load_avg as i64 - contrib as i64;
        if delta == 0 && !self.profile.rules.tg_zero_delta_writes {
            return;
        }
        let threshold = contrib >> constants.contrib_shift_count;
        if !force && delta.unsigned_abs() <= threshold && delta != 0 {
            return;
        }
        if !force && delta == 0 && threshold > 0 {
            return;
        }
        let cost = self.write_group_line(group, cpu);
        self.rqs[cpu].overhead += cost;
        let tg = &mut self.groups[group];
        tg.load_avg = tg.load_avg.saturating_add_signed(delta);
        let cfs = &mut self.cfs[queue];
        cfs.tg_load_avg_contrib = cfs.avg.load_avg;
        cfs.last_update_tg_load_avg = self.now;
    }

    /// What a tick does for each group queue of the running task, where the old tracking forces
    /// contributions out.
    pub(crate) fn force_group_load(&mut self, queue: CfsRqIx) {
        let rules = &self.profile.rules;
        if rules.load_tracking == LoadTracking::BlockedLoad && rules.tg_force_update {
            self.update_tg_load_avg_forced(queue, true);
        }
    }

    /// Load of `queue` as its tasks see it from the root, refreshed once a millisecond.
    pub(crate) fn update_cfs_rq_h_load(&mut self, queue: CfsRqIx) -> u64 {
        let fresh = self.cfs[queue].last_h_load_update;
        if fresh != 0 && self.now < fresh + MS {
            return self.cfs[queue].h_load;
        }
        let h_load = match self.cfs[queue].se {
            None => self.cfs[queue].avg.load_avg,
            Some(se) => {
                let parent = self.se[se].cfs_rq;
                let above = self.update_cfs_rq_h_load(parent);
                above * self.se[se].avg.load_avg / (self.cfs[parent].avg.load_avg + 1)
            }
        };
        let cfs = &mut self.cfs[queue];
        cfs.h_load = h_load;
        cfs.last_h_load_update = self.now.max(1);
        h_load
    }

    /// A task's load as its CPU's root sees it.
    pub(crate) fn task_h_load(&mut self, se: SeIx) -> u64 {
        let queue = self.se[se].cfs_rq;
        let load = self.se[se].avg.load_avg;
        if self.cfs[queue].se.is_none() {
            return load;
        }
        let h_load = self.update_cfs_rq_h_load(queue);
        load * h_load / (self.cfs[queue].avg.load_avg + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::entity::NICE_0_LOAD;

    #[test]
    fn the_default_weight_is_1024_shares() {
        assert_eq!(shares_of_weight(100), NICE_0_LOAD);
        assert_eq!(scale_load_down(shares_of_weight(1)), 11);
        assert_eq!(scale_load_down(shares_of_weight(10_000)), 102_400);
    }
}
