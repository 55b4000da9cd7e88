//! A barrier that spins for a moment before it sleeps: kernels take milliseconds, a wake-up would
//! show in their time.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::builtin::parker::{wait_while, wake};

/// Looks before it sleeps: some hundred microseconds on today's machines.
const SPINS: u32 = 10_000;

/// Lets `threads` threads go on together, again and again.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: u32,
    arrived: AtomicU32,
    /// Counts the times the barrier has opened.
    round: AtomicU32,
}

impl Barrier {
    pub(super) fn new(threads: u32) -> Self {
        Self {
            threads,
            arrived: AtomicU32::new(0),
            round: AtomicU32::new(0),
        }
    }

    /// Waits for the others.
    pub(super) fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            wake(&self.round, i32::MAX);
            return;
        }
        for _ in 0..SPINS {
            if self.round.load(Ordering::Acquire) != round {
                return;
            }
            spin_loop();
        }
        while self.round.load(Ordering::Acquire) == round {
            wait_while(&self.round, round);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn nobody_passes_before_all_have_come() {
        let barrier = Arc::new(Barrier::new(4));
        let come = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (barrier, come) = (Arc::clone(&barrier), Arc::clone(&come));
                std::thread::spawn(move || {
                    for round in 1..=50 {
                        come.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert_eq!(come.load(Ordering::SeqCst), 4 * round);
                        barrier.wait();
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
