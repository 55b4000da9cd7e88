//! What a task does: a program that is asked for its next step.

use super::meter::Meter;
use crate::table::{FutexIx, PipeIx, SockIx};
use crate::time::Ns;

/// Where a task meets others.
pub(crate) enum Action {
    /// Nowhere.
    None,
    PipeWrite {
        pipe: PipeIx,
        bytes: u32,
    },
    PipeRead {
        pipe: PipeIx,
        bytes: u32,
    },
    SockSend {
        sock: SockIx,
        bytes: u32,
    },
    SockRecv {
        sock: SockIx,
    },
    /// Waits for a post.
    FutexWait(FutexIx),
    /// Wakes up to `posts` waiters; the rest are kept.
    FutexPost {
        futex: FutexIx,
        posts: u64,
    },
    /// Sleeps this long.
    Sleep(Ns),
    /// Starts a task; `thread`: in the same address space.
    Fork {
        child: Box<dyn Program>,
        thread: bool,
    },
    /// Ends.
    Exit,
}

/// A stretch of work, then an action.
pub(crate) struct Step {
    /// Work before the action, ns at full rate.
    pub cost: Ns,
    /// Bytes moved to or from memory meanwhile.
    pub bytes: u64,
    /// Done in user mode.
    pub user: bool,
    /// What follows.
    pub action: Action,
}

impl Step {
    /// Work of the kernel on the task's behalf.
    pub(crate) fn kernel(cost: Ns, action: Action) -> Self {
        Step {
            cost,
            bytes: 0,
            user: false,
            action,
        }
    }

    /// Work of the task itself.
    pub(crate) fn user(cost: Ns) -> Self {
        Step {
            cost,
            bytes: 0,
            user: true,
            action: Action::None,
        }
    }
}

/// What a program sees.
pub(crate) struct Ctx<'a> {
    /// The clock.
    pub now: Ns,
    /// What the task's instance counts.
    pub meter: &'a mut Meter,
}

/// A task's behaviour.
pub(crate) trait Program: Send {
    /// What it does next.
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step;
}

/// A task's program and where it stands.
pub(crate) struct Slot {
    pub program: Box<dyn Program>,
    pub pending: Action,
}
