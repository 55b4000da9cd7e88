//! What threads of a program share by name: mutexes, signals, barriers. All block in the kernel and
//! spin nowhere.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::builtin::clock::Clock;
use crate::builtin::parker::{wait_while, wake};

/// Nobody holds it.
const FREE: u32 = 0;
/// Somebody holds it.
const HELD: u32 = 1;
/// Somebody holds it and others may sleep.
const CONTENDED: u32 = 2;

/// A mutex whose lock and unlock are actions of their own.
#[derive(Debug, Default)]
pub(super) struct Lock {
    word: AtomicU32,
}

impl Lock {
    pub(super) fn lock(&self) {
        let free = self
            .word
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if free.is_ok() {
            return;
        }
        while self.word.swap(CONTENDED, Ordering::Acquire) != FREE {
            wait_while(&self.word, CONTENDED);
        }
    }

    pub(super) fn unlock(&self) {
        if self.word.swap(FREE, Ordering::Release) == CONTENDED {
            wake(&self.word, 1);
        }
    }
}

/// A signal: one thread goes on for each time it was sent.
#[derive(Debug, Default)]
pub(super) struct Signal {
    /// Sent and not taken.
    pending: AtomicU32,
    /// When it was sent last.
    sent_ns: AtomicU64,
}

impl Signal {
    pub(super) fn send(&self, clock: Clock) {
        self.sent_ns.store(clock.now_ns(), Ordering::Release);
        // More than a billion pending signals are as good as a billion.
        if self.pending.load(Ordering::Relaxed) < 1 << 30 {
            self.pending.fetch_add(1, Ordering::Release);
        }
        wake(&self.pending, 1);
    }

    /// Takes one; when it was sent, if this thread had to wait for it.
    pub(super) fn take(&self) -> Option<u64> {
        let mut waited = false;
        loop {
            let pending = self.pending.load(Ordering::Acquire);
            if pending == 0 {
                waited = true;
                wait_while(&self.pending, 0);
                continue;
            }
            let taken = self.pending.compare_exchange(
                pending,
                pending - 1,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if taken.is_ok() {
                return waited.then(|| self.sent_ns.load(Ordering::Acquire));
            }
        }
    }
}

/// A barrier of the threads that have it in their actions.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: u32,
    arrived: AtomicU32,
    /// Counts the times it has opened.
    round: AtomicU32,
    opened_ns: AtomicU64,
}

impl Barrier {
    pub(super) fn new(threads: u32) -> Self {
        Self {
            threads,
            arrived: AtomicU32::new(0),
            round: AtomicU32::new(0),
            opened_ns: AtomicU64::new(0),
        }
    }

    /// Waits for the others; when the barrier opened, if this thread had to wait.
    pub(super) fn wait(&self, clock: Clock) -> Option<u64> {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.opened_ns.store(clock.now_ns(), Ordering::Release);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            wake(&self.round, i32::MAX);
            return None;
        }
        while self.round.load(Ordering::Acquire) == round {
            wait_while(&self.round, round);
        }
        Some(self.opened_ns.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_lock_keeps_others_out() {
        let lock = Arc::new(Lock::default());
        let inside = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (lock, inside) = (Arc::clone(&lock), Arc::clone(&inside));
                std::thread::spawn(move || {
                    for _ in 0..500 {
                        lock.lock();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.unlock();
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    fn every_signal_lets_one_thread_go_on() {
        let (signal, clock) = (Arc::new(Signal::default()), Clock::start());
        signal.send(clock);
        assert_eq!(signal.take(), None, "nobody had to wait");
        let waiting = Arc::clone(&signal);
        let thread = std::thread::spawn(move || {
            for _ in 0..200 {
                waiting.take();
            }
        });
        for _ in 0..200 {
            signal.send(clock);
        }
        thread.join().unwrap();
        assert_eq!(signal.pending.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_barrier_tells_when_it_opened() {
        let (barrier, clock) = (Arc::new(Barrier::new(2)), Clock::start());
        let other = Arc::clone(&barrier);
        let thread = std::thread::spawn(move || other.wait(clock));
        let own = barrier.wait(clock);
        let others = thread.join().unwrap();
        // One opened it, the other waited.
        assert_eq!([own, others].iter().flatten().count(), 1);
        assert_eq!(Barrier::new(1).wait(clock), None);
    }
}
