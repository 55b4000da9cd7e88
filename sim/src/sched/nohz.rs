//! Idle CPUs without a tick: who they are, and the balancing that is done on their behalf.

use super::stat::IdleType;
use crate::cpu::CpuIx;
use crate::mask::CpuMask;
use crate::queue::Event;
use crate::sim::Sim;
use crate::time::{MS, Ns};

/// Idle CPUs whose tick is stopped.
#[derive(Clone, Debug)]
pub(crate) struct Nohz {
    /// Who they are.
    pub idle_cpus: CpuMask,
    /// When the first of them is due.
    pub next_balance: Ns,
    /// A CPU was asked and has not begun yet.
    pub kicked: bool,
}

impl Nohz {
    pub(crate) fn new(cpus: usize) -> Self {
        Nohz {
            idle_cpus: CpuMask::empty(cpus),
            next_balance: 0,
            kicked: false,
        }
    }
}

impl Sim {
    pub(crate) fn nohz_balance_enter_idle(&mut self, cpu: CpuIx) {
        self.rqs[cpu].nohz_tick_stopped = true;
        self.nohz.idle_cpus.insert(cpu);
    }

    /// The kernel takes a CPU out at its first busy tick; here it leaves at once, so a CPU that is
    /// busy for less than a tick is not balanced for meanwhile (LIMITS.md, "nohz mask").
    pub(crate) fn nohz_balance_exit_idle(&mut self, cpu: CpuIx) {
        self.rqs[cpu].nohz_tick_stopped = false;
        self.nohz.idle_cpus.remove(cpu);
    }

    /// At a tick of a busy CPU: asks an idle one to balance where something may be gained.
    pub(crate) fn nohz_balancer_kick(&mut self, cpu: CpuIx) {
        if self.nohz.kicked || self.nohz.idle_cpus.is_empty() || self.now < self.nohz.next_balance {
            return;
        }
        let two = self.rqs[cpu].nr_running >= 2;
        if !two && !self.llc_has_other_busy(cpu) {
            return;
        }
        let Some(target) = self.find_new_ilb() else {
            return;
        };
        self.nohz.kicked = true;
        let cost = self.ipi_send_ns(cpu, target);
        self.rqs[cpu].overhead += cost;
        let at = self.now + self.machine.costs.switch.ipi_flight_ns + self.idle_exit_ns(target);
        self.push(at, target, Event::NohzKick);
    }

    /// More than one busy CPU in the LLC (`nr_busy_cpus`).
    fn llc_has_other_busy(&self, cpu: CpuIx) -> bool {
        let span = &self.llcs[self.rqs[cpu].llc].span;
        span.iter()
            .filter(|&c| self.rqs[c].curr.is_some())
            .take(2)
            .count()
            > 1
    }

    fn find_new_ilb(&self) -> Option<CpuIx> {
        self.nohz.idle_cpus.iter().find(|&cpu| self.idle_cpu(cpu))
    }

    /// An idle CPU balances for all that are idle without a tick, itself last.
    pub(crate) fn nohz_csd_func(&mut self, cpu: CpuIx) -> bool {
        self.nohz.kicked = false;
        if !self.idle_cpu(cpu) {
            return true;
        }
        let start = CpuIx::from_at(cpu.at() + 1);
        let others: Vec<_> = self.nohz.idle_cpus.iter_wrap(start).collect();
        let mut next = self.now + 60 * 1000 * MS;
        for other in others.into_iter().filter(|&c| c != cpu).chain([cpu]) {
            if !self.idle_cpu(other) {
                continue;
            }
            if other != cpu && self.rqs[cpu].need_resched {
                // Work came in: what is left is done at the next kick.
                next = self.now;
                break;
            }
            if self.rqs[other].next_balance <= self.now {
                self.sched_balance_domains(other, IdleType::Idle);
            }
            next = next.min(self.rqs[other].next_balance);
        }
        self.nohz.next_balance = next;
        // Nobody runs here whose time this takes: the CPU was idle.
        if self.rqs[cpu].curr.is_none() {
            self.rqs[cpu].overhead = 0;
        }
        true
    }
}
