//! The program as it stands on the command line.

use serde::Deserialize;

/// A whole program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    /// Its threads, in the order they stand.
    pub(super) threads: Vec<PhaseThread>,
}

/// A thread, or several alike.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PhaseThread {
    /// Unique within the program.
    pub(super) name: String,
    /// How many of it there are.
    pub(super) copies: u32,
    /// -20 to 19.
    pub(super) nice: i8,
    /// Turns through `actions`; `None`: until the program ends.
    pub(super) loops: Option<u64>,
    /// What it does, in this order.
    pub(super) actions: Vec<Action>,
}

/// One thing a thread does. Names are of the program: threads that use the same name share it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    /// CPU time to use, in microseconds: what the thread gets, not what passes.
    RunUs(u64),
    /// Time to sleep, in microseconds.
    SleepUs(u64),
    /// Sleeps to the next multiple of this period since the thread's start, in microseconds. A
    /// period that is over already is missed, and the thread goes on at once.
    TimerUs(u64),
    /// Takes a mutex.
    Lock(String),
    /// Gives it back.
    Unlock(String),
    /// Wakes one thread that waits for this name; remembered where none does.
    Signal(String),
    /// Waits for a signal of this name.
    Wait(String),
    /// Waits until every thread that has this barrier is there.
    Barrier(String),
    /// Calls `sched_yield`.
    Yield,
    /// Does the actions so many times.
    Repeat {
        /// How often.
        times: u64,
        /// What.
        actions: Vec<Action>,
    },
}

impl Program {
    /// Threads with their copies.
    pub(super) fn thread_count(&self) -> u64 {
        self.threads.iter().map(|t| u64::from(t.copies)).sum()
    }
}
