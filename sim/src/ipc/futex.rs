//! A futex used as a semaphore: posts are not lost.

use std::collections::VecDeque;

use crate::table::TaskIx;

/// A futex word and who waits on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Futex {
    /// Posts nobody waited for.
    pub tokens: u64,
    /// Who waits, first first.
    pub waiters: VecDeque<TaskIx>,
}
