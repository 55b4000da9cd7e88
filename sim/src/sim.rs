//! The state of a simulation. What it does is in the modules named after the kernel's parts.

use std::sync::Arc;

use crate::cpu::CpuIx;
use crate::ipc::Ipc;
use crate::kernel::Profile;
use crate::machine::Machine;
use crate::machine::domains::SchedDomains;
use crate::mask::CpuMask;
use crate::mem::Memory;
use crate::queue::{Event, EventQueue};
use crate::rng::Stream;
use crate::sched::domain::{LlcShared, SdState};
use crate::sched::entity::SchedEntity;
use crate::sched::group::TaskGroup;
use crate::sched::nohz::Nohz;
use crate::sched::rq::{CfsRq, Rq};
use crate::sched::task::Task;
use crate::sched::tunables::Tunables;
use crate::table::{CfsRqIx, GroupIx, LlcIx, MeterIx, SdIx, SeIx, Table, TaskIx};
use crate::time::Ns;
use crate::trace::Trace;
use crate::workload::meter::Meter;
use crate::workload::program::Slot;
use crate::workload_costs::WorkloadCosts;

/// Streams of chance, one a purpose.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    /// Service times.
    pub service: Stream,
    /// newidle's draw.
    pub newidle: Stream,
    /// Choice among equal idle CPUs.
    pub place: Stream,
    /// Phases of ticks and period timers.
    pub phase: Stream,
}

/// How much was simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Events handled, void ones excluded.
    pub events: u64,
    /// Events that were void when they came up.
    pub void: u64,
    /// Most events pending at once.
    pub pending_max: u64,
}

/// A simulation.
pub struct Sim {
    /// The clock.
    pub now: Ns,
    pub(crate) events: EventQueue,
    pub(crate) machine: Arc<Machine>,
    pub(crate) profile: Profile,
    pub(crate) domains: SchedDomains,
    pub(crate) tun: Tunables,
    pub(crate) rqs: Table<CpuIx, Rq>,
    pub(crate) tasks: Table<TaskIx, Task>,
    pub(crate) se: Table<SeIx, SchedEntity>,
    pub(crate) cfs: Table<CfsRqIx, CfsRq>,
    pub(crate) groups: Table<GroupIx, TaskGroup>,
    pub(crate) sds: Table<SdIx, SdState>,
    pub(crate) llcs: Table<LlcIx, LlcShared>,
    pub(crate) nohz: Nohz,
    /// CPUs for which `idle_cpu()` holds.
    pub(crate) idle: CpuMask,
    /// CPUs with two tasks or more.
    pub(crate) overloaded: CpuMask,
    pub(crate) programs: Table<TaskIx, Slot>,
    pub(crate) meters: Table<MeterIx, Meter>,
    pub(crate) ipc: Ipc,
    pub(crate) mem: Memory,
    pub(crate) streams: Streams,
    pub(crate) effort: Effort,
    pub(crate) trace: Trace,
    pub(crate) work: WorkloadCosts,
    pub(crate) next_mm: u32,
    /// Tasks that have not ended.
    pub(crate) alive: u32,
    /// A NUMA balance is going on (`sched_balance_running`).
    pub(crate) balance_running: bool,
}

impl Sim {
    /// How much was simulated.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    pub(crate) fn push(&mut self, at: Ns, cpu: CpuIx, event: Event) {
        debug_assert!(
            at >= self.now,
            "{event:?} of {cpu} at {at} is before {}",
            self.now
        );
        self.events.push(at, cpu, event);
        self.effort.pending_max = self.effort.pending_max.max(self.events.len() as u64);
    }

    /// Time without what ticks take: what tasks are charged (`rq_clock_task`).
    pub(crate) fn clock_task(&self, cpu: CpuIx) -> Ns {
        self.clock_task_at(cpu, self.now)
    }

    pub(crate) fn clock_task_at(&self, cpu: CpuIx, at: Ns) -> Ns {
        // Every grid point is charged, also while idle: only differences within one stay on the CPU
        // are ever used.
        at - self.rqs[cpu].grid.count(at) * self.tun.tick_cost_ns
    }

    /// Handles events up to `until`, or until no task is left. Whether any task is left.
    pub fn run_until(&mut self, until: Ns) -> bool {
        while self.alive > 0 && self.events.next_at().is_some_and(|at| at <= until) {
            let Some((at, cpu, event)) = self.events.pop() else {
                break;
            };
            self.now = at;
            self.handle(cpu, event);
            #[cfg(debug_assertions)]
            self.check_event(cpu);
        }
        if self.alive > 0 {
            self.now = self.now.max(until);
        }
        self.alive > 0
    }

    fn handle(&mut self, cpu: CpuIx, event: Event) {
        let fresh = match event {
            Event::WakeList => self.sched_ttwu_pending(cpu),
            Event::Resched { generation } => self.resched_event(cpu, generation),
            Event::NohzKick => self.nohz_csd_func(cpu),
            Event::Stopper => self.active_load_balance_cpu_stop(cpu),
            Event::TimerWake { task, generation } => self.hrtimer_wakeup(task, generation),
            Event::PeriodTimer { group } => self.sched_cfs_period_timer(group),
            Event::SlackTimer { group } => self.sched_cfs_slack_timer(group),
            Event::UnthrottleIpi => self.cfsb_csd_unthrottle(cpu),
            Event::Tick { generation } => self.tick_event(cpu, generation),
            Event::SegmentEnd { generation } => self.segment_end(cpu, generation),
        };
        if fresh {
            self.effort.events += 1;
        } else {
            self.effort.void += 1;
        }
    }
}
