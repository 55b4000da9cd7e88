//! Run queues: one a CPU, and in it one of fair entities a group.

use super::bandwidth::CfsBandwidthRq;
use super::pelt::SchedAvg;
use super::stat::CpuStat;
use crate::cpu::CpuIx;
use crate::table::{CfsRqIx, GroupIx, LlcIx, SdIx, SeIx, TaskIx};
use crate::time::{Ns, TickGrid};

/// A place in a queue: what picking looks at, so that it need not visit the entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Sorted by: deadline (EEVDF) or vruntime (CFS).
    pub key: i64,
    /// Virtual runtime.
    pub vruntime: i64,
    /// Who.
    pub se: SeIx,
}

/// Fair entities of one group on one CPU.
#[derive(Clone, Debug)]
pub struct CfsRq {
    /// Whose CPU.
    pub cpu: CpuIx,
    /// Whose group.
    pub group: GroupIx,
    /// The group's entity in the parent's queue; `None` at the root.
    pub se: Option<SeIx>,
    /// Queued entities but the current one, by key; equal keys in order of arrival.
    pub(crate) queue: Vec<Slot>,
    /// The entity that runs, or whose descendant runs.
    pub curr: Option<SeIx>,
    /// Preferred at the next pick.
    pub next: Option<SeIx>,
    /// Entities on the queue, current included.
    pub nr_queued: u32,
    /// Tasks below, delayed included.
    pub h_nr_queued: u32,
    /// Tasks below that could run.
    pub h_nr_runnable: u32,
    /// Sum of scaled weights, current included.
    pub load_weight: u64,
    /// Zero of the sums below.
    pub(crate) v0: i64,
    /// Sum of load x (vruntime - v0) over `queue`.
    pub(crate) sum_wv: i64,
    /// Sum of loads over `queue`.
    pub(crate) sum_w: i64,
    /// Entities with a slice of their own.
    pub(crate) nr_custom_slice: u32,
    /// Averages.
    pub avg: SchedAvg,
    /// Load of tasks that left while another CPU's queue could not be touched.
    pub(crate) removed: Removed,
    /// What of `avg.load_avg` the group's sum has.
    pub tg_load_avg_contrib: u64,
    /// When that was last written.
    pub last_update_tg_load_avg: Ns,
    /// Bandwidth.
    pub(crate) bw: CfsBandwidthRq,
    /// Load of the hierarchy as tasks of this queue see it, and when it was computed.
    pub(crate) h_load: u64,
    pub(crate) last_h_load_update: Ns,
}

/// Averages of tasks that left.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Removed {
    pub nr: u32,
    pub load_avg: u64,
    pub util_avg: u64,
    pub runnable_avg: u64,
}

impl CfsRq {
    pub(crate) fn new(cpu: CpuIx, group: GroupIx, se: Option<SeIx>) -> Self {
        CfsRq {
            cpu,
            group,
            se,
            queue: Vec::new(),
            curr: None,
            next: None,
            nr_queued: 0,
            h_nr_queued: 0,
            h_nr_runnable: 0,
            load_weight: 0,
            // The kernel starts one second before the wrap of a 64-bit clock, to find wrong
            // comparisons early; signed virtual time has no wrap to find.
            v0: 0,
            sum_wv: 0,
            sum_w: 0,
            nr_custom_slice: 0,
            avg: SchedAvg::default(),
            removed: Removed::default(),
            tg_load_avg_contrib: 0,
            last_update_tg_load_avg: 0,
            bw: CfsBandwidthRq::default(),
            h_load: 0,
            last_h_load_update: 0,
        }
    }
}

/// What a CPU executes at present.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    /// Voids events of earlier segments.
    pub generation: u32,
    /// Since when `left` counts.
    pub since: Ns,
    /// Work left, ns at full rate.
    pub left: Ns,
    /// Progress in 1024ths of wall time: less while the SMT sibling is busy.
    pub rate: u32,
    /// Whether anything is executed.
    pub active: bool,
}

/// A CPU.
#[derive(Clone, Debug)]
pub struct Rq {
    /// Its number.
    pub cpu: CpuIx,
    /// The running task; `None`: idle.
    pub curr: Option<TaskIx>,
    /// The root group's queue.
    pub cfs: CfsRqIx,
    /// Tasks, delayed included (`nr_running`).
    pub nr_running: u32,
    /// Its ticks.
    pub grid: TickGrid,
    /// To be rescheduled at the next chance.
    pub need_resched: bool,
    /// ... at the next tick or return to user mode.
    pub need_resched_lazy: bool,
    pub(crate) resched_generation: u32,
    /// A rescheduling is on its way; when.
    pub(crate) resched_at: Option<Ns>,
    pub(crate) tick_generation: u32,
    pub(crate) tick_at: Option<Ns>,
    /// Woken tasks that this CPU has still to queue.
    pub(crate) wake_list: Vec<TaskIx>,
    /// Queues of this CPU that may run again and wait for its interrupt.
    pub(crate) cfsb_csd_list: Vec<CfsRqIx>,
    /// When it went idle.
    pub idle_stamp: Option<Ns>,
    /// When it last entered idle, for the choice of the idle state.
    pub(crate) idle_since: Ns,
    /// Idle state it is in: 0 polls, n is the n-th of the machine's list.
    pub(crate) idle_state: usize,
    /// Average of recent stays in idle: the governor's guess.
    pub(crate) idle_guess: Ns,
    /// Average idle time as newidle balancing sees it.
    pub avg_idle: Ns,
    /// Longest newidle pass seen, at least the migration cost.
    pub max_idle_balance_cost: Ns,
    /// When periodic balancing is due.
    pub next_balance: Ns,
    /// Idle with its tick stopped.
    pub nohz_tick_stopped: bool,
    /// Its copies of the domains, lowest first.
    pub domains: Vec<SdIx>,
    /// Its last-level cache.
    pub llc: LlcIx,
    /// One of its domains is an L2 cluster below the LLC.
    pub in_cluster_domain: bool,
    /// Tasks on this CPU, most recently queued or run last (`cfs_tasks` from its tail).
    pub cfs_tasks: Vec<TaskIx>,
    /// A stopper is on its way to push a task from here, to this CPU.
    pub(crate) active_balance: Option<(CpuIx, SdIx)>,
    /// Kernel time still to be paid by whatever runs next, ns.
    pub(crate) overhead: Ns,
    pub(crate) segment: Segment,
    /// Counters.
    pub stat: CpuStat,
}
