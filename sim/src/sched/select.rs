//! Choosing a CPU for a task that wakes or is new: select_task_rq_fair(), wake_affine(), the slow
//! path over domains.

use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::kernel::rules::SlowPathIdle;
use crate::machine::domains::{DomainId, SchedGroup, SdFlags};
use crate::sim::Sim;
use crate::table::{SdIx, TaskIx};
use crate::time::MS;

impl Sim {
    /// Whether two CPUs share the last-level cache.
    #[inline]
    pub(crate) fn cpus_share_cache(&self, a: CpuIx, b: CpuIx) -> bool {
        a == b || self.rqs[a].llc == self.rqs[b].llc
    }

    /// Whether a task may use a CPU.
    #[inline]
    pub(crate) fn allows(&self, task: TaskIx, cpu: CpuIx) -> bool {
        self.tasks[task].allowed.contains(cpu)
    }

    /// The CPU a waking task is put on.
    pub(crate) fn select_task_rq_fair(
        &mut self,
        this: CpuIx,
        task: TaskIx,
        prev: CpuIx,
        sync: bool,
    ) -> CpuIx {
        if self.tasks[task].allowed.len() == 1 {
            return self.tasks[task].allowed.first().unwrap_or(prev);
        }
        let mut target = prev;
        let want_affine = self.allows(task, this) && !self.wake_wide(this, task);
        if want_affine {
            for at in 0..self.rqs[this].domains.len() {
                let sd = self.rqs[this].domains[at];
                let domain = self.domains.get(self.sds[sd].id);
                if domain.flags.has(SdFlags::WAKE_AFFINE) && domain.span.contains(prev) {
                    if this != prev {
                        target = self.wake_affine(sd, task, this, prev, sync);
                    }
                    break;
                }
            }
        }
        let cpu = self.select_idle_sibling(this, task, prev, target);
        self.allowed_or_first(task, cpu)
    }

    /// A task may have been confined while it slept.
    fn allowed_or_first(&self, task: TaskIx, cpu: CpuIx) -> CpuIx {
        if self.allows(task, cpu) {
            cpu
        } else {
            self.tasks[task].allowed.first().unwrap_or(cpu)
        }
    }

    /// One wakes many: they should spread rather than gather around it.
    fn wake_wide(&self, this: CpuIx, task: TaskIx) -> bool {
        let Some(waker) = self.rqs[this].curr else {
            return false;
        };
        let (a, b) = (self.tasks[waker].wakee_flips, self.tasks[task].wakee_flips);
        let (master, slave) = (a.max(b), a.min(b));
        let factor = self.llcs[self.rqs[this].llc].span.len() as u64;
        slave >= factor && master >= slave * factor
    }

    fn wake_affine(
        &mut self,
        sd: SdIx,
        task: TaskIx,
        this: CpuIx,
        prev: CpuIx,
        sync: bool,
    ) -> CpuIx {
        let mut target = None;
        if self.feat(Feature::WaIdle) {
            target = self.wake_affine_idle(this, prev, sync);
        }
        if target.is_none() && self.feat(Feature::WaWeight) {
            target = self.wake_affine_weight(sd, task, this, prev, sync);
        }
        match target {
            Some(cpu) if cpu == this => {
                self.sds[sd].stat.ttwu_move_affine += 1;
                this
            }
            _ => prev,
        }
    }

    fn wake_affine_idle(&self, this: CpuIx, prev: CpuIx, sync: bool) -> Option<CpuIx> {
        if self.idle_cpu(this) && self.cpus_share_cache(this, prev) {
            return Some(if self.idle_cpu(prev) { prev } else { this });
        }
        let rq = &self.rqs[this];
        let delayed = {
            let root = &self.cfs[rq.cfs];
            root.h_nr_queued - root.h_nr_runnable
        };
        if sync && rq.nr_running - delayed.min(rq.nr_running) == 1 {
            return Some(this);
        }
        self.idle_cpu(prev).then_some(prev)
    }

    fn wake_affine_weight(
        &mut self,
        sd: SdIx,
        task: TaskIx,
        this: CpuIx,
        prev: CpuIx,
        sync: bool,
    ) -> Option<CpuIx> {
        let mut this_load = self.cpu_load(this) as i64;
        if sync && let Some(curr) = self.rqs[this].curr {
            let current = self.task_h_load(self.tasks[curr].se) as i64;
            if current > this_load {
                return Some(this);
            }
            this_load -= current;
        }
        let load = self.task_h_load(self.tasks[task].se) as i64;
        this_load += load;
        let bias = self.feat(Feature::WaBias);
        if bias {
            this_load *= 100;
        }
        let mut prev_load = self.cpu_load(prev) as i64 - load;
        if bias {
            let pct = i64::from(self.domains.get(self.sds[sd].id).imbalance_pct);
            prev_load *= 100 + (pct - 100) / 2;
        }
        if sync {
            prev_load += 1;
        }
        (this_load < prev_load).then_some(this)
    }

    /// Load of a CPU as the root queue's average has it.
    pub(crate) fn cpu_load(&self, cpu: CpuIx) -> u64 {
        self.cfs[self.rqs[cpu].cfs].avg.load_avg
    }

    /// Utilisation of a CPU, at most what it has. An idle CPU's is aged as the nohz balancer does
    /// every 32 ms.
    pub(crate) fn cpu_util(&mut self, cpu: CpuIx) -> u64 {
        let queue = self.rqs[cpu].cfs;
        let stale = self
            .clock_task(cpu)
            .saturating_sub(self.cfs[queue].avg.last_update());
        if self.rqs[cpu].curr.is_none() && stale > 32 * MS {
            self.update_blocked_queue(queue);
        }
        self.cfs[queue].avg.util_avg.min(1024)
    }

    /// The CPU a new task is put on.
    pub(crate) fn select_task_rq_fork(&mut self, this: CpuIx, task: TaskIx, prev: CpuIx) -> CpuIx {
        if self.tasks[task].allowed.len() == 1 {
            return self.tasks[task].allowed.first().unwrap_or(prev);
        }
        let highest = (self.rqs[this].domains.iter().rev().copied()).find(|&sd| {
            self.domains
                .get(self.sds[sd].id)
                .flags
                .has(SdFlags::BALANCE_FORK)
        });
        let cpu = match highest {
            Some(sd) => self.sched_balance_find_dst_cpu(sd, task, this, prev),
            None => prev,
        };
        self.allowed_or_first(task, cpu)
    }

    /// Walks down the domains, each time into the idlest group.
    fn sched_balance_find_dst_cpu(
        &mut self,
        start: SdIx,
        task: TaskIx,
        mut cpu: CpuIx,
        prev: CpuIx,
    ) -> CpuIx {
        let mut new_cpu = self.allowed_or_first(task, prev);
        let mut level = self.sds[start].level;
        loop {
            let Some(&sd) = self.rqs[cpu].domains.get(level) else {
                return new_cpu;
            };
            let id = self.sds[sd].id;
            let flagged = self.domains.get(id).flags.has(SdFlags::BALANCE_FORK);
            let group = if flagged {
                self.find_dst_group(id, task, cpu)
            } else {
                None
            };
            let Some(group) = group else {
                if level == 0 {
                    return new_cpu;
                }
                level -= 1;
                continue;
            };
            new_cpu = self.find_dst_group_cpu(id, group, task, cpu);
            let weight = self.domains.get(id).weight;
            cpu = new_cpu;
            // The next level down on the chosen CPU.
            let below = (self.rqs[cpu].domains.iter().enumerate().rev()).find(|&(_, &sd)| {
                let domain = self.domains.get(self.sds[sd].id);
                domain.weight < weight && domain.flags.has(SdFlags::BALANCE_FORK)
            });
            match below {
                Some((at, _)) => level = at,
                None => return new_cpu,
            }
        }
    }

    /// The idlest group of a domain other than the local one; `None`: the local one is as good.
    fn find_dst_group(&mut self, id: DomainId, task: TaskIx, this: CpuIx) -> Option<usize> {
        let local = self.domains.get(id).group_of(this);
        let count = self.domains.get(id).groups.len();
        let mut local_stats = None;
        let mut idlest: Option<(usize, WakeupStats)> = None;
        for at in 0..count {
            if !self.domains.get(id).groups[at]
                .span
                .intersects(&self.tasks[task].allowed)
            {
                continue;
            }
            let stats = self.update_sg_wakeup_stats(id, at, task);
            if Some(at) == local {
                local_stats = Some(stats);
            } else if idlest
                .as_ref()
                .is_none_or(|(_, best)| stats.idler_than(best))
            {
                idlest = Some((at, stats));
            }
        }
        let (at, idlest) = idlest?;
        let Some(local) = local_stats else {
            return Some(at);
        };
        self.idlest_beats_local(id, &local, &idlest, task)
            .then_some(at)
    }

    fn idlest_beats_local(
        &self,
        id: DomainId,
        local: &WakeupStats,
        idlest: &WakeupStats,
        task: TaskIx,
    ) -> bool {
        if local.kind != idlest.kind {
            return local.kind > idlest.kind;
        }
        let domain = self.domains.get(id);
        match local.kind {
            WakeupKind::Overloaded | WakeupKind::FullyBusy => {
                // A fixed part of the task's weight keeps small differences from moving tasks.
                let imbalance = 1024 * (u64::from(domain.imbalance_pct) - 100) / 100;
                if idlest.avg_load >= local.avg_load + imbalance {
                    return false;
                }
                if domain.flags.has(SdFlags::NUMA) && idlest.avg_load + imbalance >= local.avg_load
                {
                    return false;
                }
                100 * local.avg_load > u64::from(domain.imbalance_pct) * idlest.avg_load
            }
            WakeupKind::HasSpare => {
                if domain.flags.has(SdFlags::NUMA) {
                    let allowed = self.tasks[task].allowed.len() as u32;
                    let imb_numa_nr = match allowed {
                        _ if allowed >= domain.weight => domain.imb_numa_nr,
                        _ => domain.imb_numa_nr.min(allowed),
                    };
                    let imbalance = local.idle_cpus.abs_diff(idlest.idle_cpus);
                    if local.nr_running < imb_numa_nr && imbalance <= 2 {
                        return false;
                    }
                }
                local.idle_cpus < idlest.idle_cpus
            }
        }
    }

    fn update_sg_wakeup_stats(&mut self, id: DomainId, at: usize, task: TaskIx) -> WakeupStats {
        let cpus: Vec<CpuIx> = {
            let group: &SchedGroup = &self.domains.get(id).groups[at];
            let allowed = &self.tasks[task].allowed;
            group.span.iter().filter(|&c| allowed.contains(c)).collect()
        };
        let mut stats = WakeupStats::default();
        let (mut load, mut util, mut runnable) = (0, 0, 0);
        for &cpu in &cpus {
            load += self.cpu_load(cpu);
            util += self.cpu_util(cpu);
            runnable += self.cfs[self.rqs[cpu].cfs].avg.runnable_avg;
            let root = &self.cfs[self.rqs[cpu].cfs];
            stats.nr_running += root.h_nr_runnable;
            stats.idle_cpus += u32::from(self.idle_cpu(cpu));
        }
        let weight = cpus.len() as u32;
        let capacity = 1024 * u64::from(weight);
        let pct = u64::from(self.domains.get(id).imbalance_pct);
        stats.kind = if stats.nr_running > weight
            && (capacity * 100 < util * pct || capacity * pct < runnable * 100)
        {
            WakeupKind::Overloaded
        } else if stats.nr_running < weight
            || (capacity * pct >= runnable * 100 && capacity * 100 > util * pct)
        {
            WakeupKind::HasSpare
        } else {
            WakeupKind::FullyBusy
        };
        stats.avg_load = load * 1024 / capacity.max(1);
        stats
    }

    /// The idlest CPU of a group: an idle one with the shortest way out, else the least loaded.
    fn find_dst_group_cpu(&mut self, id: DomainId, at: usize, task: TaskIx, this: CpuIx) -> CpuIx {
        let cpus: Vec<CpuIx> = {
            let group: &SchedGroup = &self.domains.get(id).groups[at];
            let allowed = &self.tasks[task].allowed;
            group.span.iter().filter(|&c| allowed.contains(c)).collect()
        };
        let idle = cpus.iter().copied().filter(|&c| self.idle_cpu(c));
        let shallowest = idle.clone().map(|c| self.rqs[c].idle_state).min();
        if let Some(state) = shallowest {
            let best: Vec<_> = idle.filter(|&c| self.rqs[c].idle_state == state).collect();
            return match self.profile.rules.slow_path_idle {
                SlowPathIdle::Random => {
                    let pick = self.streams.place.below(best.len() as u64);
                    best[pick as usize]
                }
                SlowPathIdle::MostRecent => {
                    let latest = best.iter().rev().max_by_key(|&&c| self.rqs[c].idle_since);
                    latest.copied().unwrap_or(this)
                }
            };
        }
        let least = cpus.iter().copied().min_by_key(|&c| self.cpu_load(c));
        least.unwrap_or(this)
    }
}

/// What a group looks like to a task that seeks a CPU. Ordered from idle to busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum WakeupKind {
    #[default]
    HasSpare,
    FullyBusy,
    Overloaded,
}

#[derive(Clone, Copy, Debug, Default)]
struct WakeupStats {
    kind: WakeupKind,
    avg_load: u64,
    idle_cpus: u32,
    nr_running: u32,
}

impl WakeupStats {
    fn idler_than(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return self.kind < other.kind;
        }
        match self.kind {
            WakeupKind::HasSpare => self.idle_cpus > other.idle_cpus,
            WakeupKind::FullyBusy | WakeupKind::Overloaded => self.avg_load < other.avg_load,
        }
    }
}
