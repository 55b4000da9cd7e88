//! The search for an idle CPU near a wake-up's target: select_idle_sibling() and its scans.

use crate::cpu::CpuIx;
use crate::kernel::Feature;
use crate::kernel::rules::ClusterScan;
use crate::sim::Sim;
use crate::table::TaskIx;

/// What a scan came to.
enum Scan {
    Found(CpuIx),
    /// Nothing in this part.
    Nothing,
    /// The budget of probes is used up: no further part is looked at.
    Exhausted,
}

impl Sim {
    /// Whether two CPUs are under one L2 where the kernel's cluster scan knows of it.
    fn cpus_share_resources(&self, a: CpuIx, b: CpuIx) -> bool {
        if !self.cluster_active(a) {
            return self.cpus_share_cache(a, b);
        }
        self.machine.place(a).cluster == self.machine.place(b).cluster
    }

    /// Whether the wake-up scan looks at the cluster of a CPU first (`sched_cluster_active`).
    fn cluster_active(&self, cpu: CpuIx) -> bool {
        self.profile.rules.cluster_scan != ClusterScan::Off && self.rqs[cpu].in_cluster_domain
    }

    /// An idle CPU that shares the cache with `target`, or `target`.
    pub(crate) fn select_idle_sibling(
        &mut self,
        this: CpuIx,
        task: TaskIx,
        prev: CpuIx,
        target: CpuIx,
    ) -> CpuIx {
        self.probe(this, 1);
        if self.idle_cpu(target) && self.allows(task, target) {
            return target;
        }
        let mut remembered_prev = None;
        if prev != target && self.cpus_share_cache(prev, target) {
            self.probe(this, 1);
            if self.idle_cpu(prev) && self.allows(task, prev) {
                if !self.cluster_active(target) || self.cpus_share_resources(prev, target) {
                    return prev;
                }
                remembered_prev = Some(prev);
            }
        }
        let mut remembered_recent = None;
        if self.profile.rules.recent_used_cpu {
            let recent = self.tasks[task].recent_used_cpu;
            self.tasks[task].recent_used_cpu = prev;
            if recent != prev && recent != target && self.cpus_share_cache(recent, target) {
                self.probe(this, 1);
                if self.idle_cpu(recent) && self.allows(task, recent) {
                    if !self.cluster_active(target) || self.cpus_share_resources(recent, target) {
                        return recent;
                    }
                    remembered_recent = Some(recent);
                }
            }
        }
        let has_idle_core = self.test_idle_cores(target);
        if self.has_smt(target)
            && !has_idle_core
            && self.cpus_share_cache(prev, target)
            && let Some(cpu) = self.select_idle_smt(task, prev)
        {
            return cpu;
        }
        if let Some(cpu) = self.select_idle_cpu(this, task, has_idle_core, target) {
            return cpu;
        }
        let fallback = match self.profile.rules.cluster_scan {
            ClusterScan::Fallback => remembered_prev.or(remembered_recent),
            ClusterScan::NoFallback | ClusterScan::Off => None,
        };
        fallback.unwrap_or(target)
    }

    /// Charges the waker for looking at `count` CPUs.
    fn probe(&mut self, this: CpuIx, count: u64) {
        self.rqs[this].overhead += self.machine.costs.switch.probe_ns * count;
    }

    fn has_smt(&self, cpu: CpuIx) -> bool {
        self.machine.siblings(cpu).len() > 1
    }

    /// Whether a core of the LLC is believed to be idle.
    fn test_idle_cores(&self, cpu: CpuIx) -> bool {
        self.has_smt(cpu) && self.llcs[self.rqs[cpu].llc].has_idle_cores
    }

    /// A CPU went idle: where its siblings are idle too, the LLC has an idle core.
    pub(crate) fn update_idle_core(&mut self, cpu: CpuIx) {
        let llc = self.rqs[cpu].llc;
        if self.llcs[llc].has_idle_cores || !self.has_smt(cpu) {
            return;
        }
        let others_idle = (self.machine.siblings(cpu).iter())
            .all(|sibling| sibling == cpu || self.idle_cpu(sibling));
        if others_idle {
            self.llcs[llc].has_idle_cores = true;
        }
    }

    fn select_idle_smt(&self, task: TaskIx, prev: CpuIx) -> Option<CpuIx> {
        (self.machine.siblings(prev).iter())
            .find(|&cpu| cpu != prev && self.allows(task, cpu) && self.idle_cpu(cpu))
    }

    /// Scans the LLC of `target`, its cluster first where the kernel does.
    fn select_idle_cpu(
        &mut self,
        this: CpuIx,
        task: TaskIx,
        has_idle_core: bool,
        target: CpuIx,
    ) -> Option<CpuIx> {
        let mut nr = self.scan_depth(this, target, has_idle_core)?;
        let llc = self.rqs[target].llc;
        let machine = std::sync::Arc::clone(&self.machine);
        let mut rest = self.llcs[llc].span.clone();
        rest.intersect_with(&self.tasks[task].allowed);
        let mut idle_thread = None;
        if self.cluster_active(target) {
            let mut near = rest.clone();
            near.intersect_with(machine.cluster(target));
            match self.scan(
                this,
                &near,
                target,
                has_idle_core,
                &mut nr,
                &mut idle_thread,
            ) {
                Scan::Found(cpu) => return Some(cpu),
                Scan::Exhausted => return None,
                Scan::Nothing => {}
            }
            rest.subtract(machine.cluster(target));
        }
        match self.scan(
            this,
            &rest,
            target,
            has_idle_core,
            &mut nr,
            &mut idle_thread,
        ) {
            Scan::Found(cpu) => return Some(cpu),
            Scan::Exhausted => return None,
            Scan::Nothing => {}
        }
        if has_idle_core {
            self.llcs[llc].has_idle_cores = false;
        }
        idle_thread
    }

    /// How many CPUs may be probed; `None`: not worth a scan.
    fn scan_depth(&mut self, this: CpuIx, target: CpuIx, has_idle_core: bool) -> Option<u64> {
        let llc = &self.llcs[self.rqs[target].llc];
        let size = llc.span.len() as u64;
        if has_idle_core {
            return Some(u64::MAX);
        }
        if self.feat(Feature::SisUtil) {
            return match llc.nr_idle_scan {
                None => Some(u64::MAX),
                // One probe would be the target, which is known to be busy.
                Some(0) => None,
                Some(nr) => Some(nr + 1),
            };
        }
        if self.feat(Feature::SisProp) {
            // What the CPU can spare of its average idle time against what a full scan takes.
            let cost = self.machine.costs.switch.probe_ns.max(1) * size;
            let spare = size * (self.rqs[this].avg_idle / 512);
            return Some(if spare > 4 * cost { spare / cost } else { 4 });
        }
        Some(u64::MAX)
    }

    /// Probes the CPUs of `span` from the one after `target`, wrapping.
    fn scan(
        &mut self,
        this: CpuIx,
        span: &crate::mask::CpuMask,
        target: CpuIx,
        has_idle_core: bool,
        nr: &mut u64,
        idle_thread: &mut Option<CpuIx>,
    ) -> Scan {
        let start = CpuIx::from_at(target.at() + 1);
        let mut cores_left = span.clone();
        let mut probed = 0;
        let mut result = Scan::Nothing;
        for cpu in span.iter_wrap(start) {
            if has_idle_core {
                let siblings = self.machine.siblings(cpu);
                if !cores_left.contains(cpu) {
                    continue;
                }
                cores_left.subtract(siblings);
                probed += siblings.len() as u64;
                if siblings.iter().all(|s| self.idle_cpu(s)) {
                    result = Scan::Found(cpu);
                    break;
                }
                if idle_thread.is_none() {
                    *idle_thread = siblings
                        .iter()
                        .find(|&s| self.idle_cpu(s) && span.contains(s));
                }
                continue;
            }
            *nr = nr.saturating_sub(1);
            if *nr == 0 {
                result = Scan::Exhausted;
                break;
            }
            probed += 1;
            if self.idle_cpu(cpu) {
                result = Scan::Found(cpu);
                break;
            }
        }
        self.probe(this, probed);
        result
    }
}

/// Probes an LLC is worth at a utilisation (`SIS_UTIL`, `update_idle_cpu_scan`): none above 85 %.
pub(crate) fn nr_idle_scan(sum_util: u64, llc_weight: u64, imbalance_pct: u64) -> u64 {
    let x = sum_util / llc_weight.max(1);
    let y = (x * x * imbalance_pct * imbalance_pct / (10_000 * 1024)).min(1024);
    (1024 - y) * llc_weight / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    // Case G1.
    #[test]
    fn the_depth_of_the_scan_falls_with_utilisation() {
        let depth = |percent: u64, cpus: u64| {
            let x = percent * 1024 / 100;
            nr_idle_scan(x * cpus, cpus, 117)
        };
        let at = [0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 86];
        assert_eq!(
            at.map(|p| depth(p, 112)),
            [112, 111, 108, 102, 93, 81, 65, 47, 25, 1, 0]
        );
        assert_eq!(
            at.map(|p| depth(p, 16)),
            [16, 15, 15, 14, 13, 11, 9, 6, 3, 0, 0]
        );
        assert_eq!(nr_idle_scan(7 * 1024, 8, 117), 0);
    }
}
