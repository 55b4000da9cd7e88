//! Tasks.

use std::sync::Arc;

use crate::cpu::CpuIx;
use crate::mask::CpuMask;
use crate::table::{GroupIx, MeterIx, MmIx, SeIx};
use crate::time::Ns;

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Made, not yet woken.
    New,
    /// Runnable or running.
    Running,
    /// Blocked.
    Sleeping,
    /// Ended.
    Dead,
}

/// How the scheduler treats a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskPolicy {
    /// SCHED_OTHER.
    #[default]
    Normal,
    /// SCHED_BATCH: never preempts.
    Batch,
    /// SCHED_IDLE.
    Idle,
}

/// Counters of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskStat {
    /// Time it waited for a CPU.
    pub run_delay: Ns,
    /// Times it got one.
    pub pcount: u64,
    /// Voluntary switches.
    pub nvcsw: u64,
    /// Involuntary switches.
    pub nivcsw: u64,
    /// Moves to another CPU.
    pub nr_migrations: u64,
    /// Time in user mode.
    pub utime: Ns,
}

/// A task.
#[derive(Clone, Debug)]
pub struct Task {
    /// For traces.
    pub comm: &'static str,
    /// Its life.
    pub state: TaskState,
    /// How the scheduler treats it.
    pub policy: TaskPolicy,
    /// The CPU it is on or was last.
    pub cpu: CpuIx,
    /// On a run queue (not in a throttled group's limbo).
    pub on_rq: bool,
    /// CPUs it may use.
    pub allowed: Arc<CpuMask>,
    /// Its entity.
    pub se: SeIx,
    /// Its group.
    pub group: GroupIx,
    /// Its address space.
    pub mm: MmIx,
    /// Who counts its work.
    pub meter: MeterIx,
    /// The CPU it used before.
    pub recent_used_cpu: CpuIx,
    /// How often it woke another task than the last one.
    pub wakee_flips: u64,
    /// Whom it woke last.
    pub last_wakee: Option<crate::table::TaskIx>,
    /// When flips were last halved.
    pub wakee_flip_decay: Ns,
    /// When it was queued; `None`: not waiting.
    pub queued_at: Option<Ns>,
    /// When it last got a CPU.
    pub arrived_at: Ns,
    /// Throttled on its own (task model).
    pub throttled: bool,
    /// It throttles itself on its way to user mode.
    pub throttle_work: bool,
    /// In the wake list of a CPU.
    pub on_wake_list: bool,
    /// In the kernel: no throttling until it returns to user mode.
    pub in_kernel: bool,
    /// It moves memory as fast as it can.
    pub streaming: bool,
    /// Of its last sleep.
    pub sleep_generation: u32,
    /// Rest of its present segment, in ns of its own work.
    pub segment_left: Ns,
    /// Bytes it uses again and again.
    pub working_set: u64,
    /// CPU whose caches hold its working set.
    pub warm_cpu: CpuIx,
    /// Its counters.
    pub stat: TaskStat,
}
