//! What a request computes.

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::builtin::clock::Clock;

use super::args::Think;

/// Cells that may be shared between workers: plain loads and stores, no read-modify-write.
type Cells = Box<[AtomicU64]>;

/// One product: `product = left * right`, square matrices of `side * side` cells in one block.
#[derive(Debug)]
pub(super) struct Matrices {
    side: usize,
    cells: Cells,
}

impl Matrices {
    /// Three matrices that take at most so many bytes together.
    pub(super) fn of_bytes(bytes: u64) -> Self {
        let side = ((bytes / 3 / 8) as f64).sqrt() as usize;
        Self {
            side,
            cells: (0..3 * side * side)
                .map(|at| AtomicU64::new(at as u64))
                .collect(),
        }
    }

    /// Multiplies once: rows by columns, no blocking, every partial sum stored. The time of a
    /// request is one of walking through the footprint, as the tool's is.
    pub(super) fn multiply(&self) {
        let side = self.side;
        if side == 0 {
            return;
        }
        let (left, rest) = self.cells.split_at(side * side);
        let (right, product) = rest.split_at(side * side);
        for (row, results) in left.chunks_exact(side).zip(product.chunks_exact(side)) {
            for (column, result) in results.iter().enumerate() {
                let mut sum = 0_u64;
                for (l, r) in row.iter().zip(right.chunks_exact(side)) {
                    let term = l
                        .load(Ordering::Relaxed)
                        .wrapping_mul(r[column].load(Ordering::Relaxed));
                    sum = sum.wrapping_add(term);
                    result.store(sum, Ordering::Relaxed);
                }
            }
        }
        black_box(&self.cells);
    }
}

/// The computation of one worker.
#[derive(Debug)]
pub(super) struct Work {
    private: Matrices,
    shared: Option<Arc<Matrices>>,
    operations: u64,
    spin_us: Option<u64>,
}

impl Work {
    /// `shared`: what all workers have in common, made by [`shared_part`].
    pub(super) fn new(think: &Think, shared: Option<Arc<Matrices>>) -> Self {
        let bytes = think.footprint_kib * 1024 * think.private_percent / 100;
        Self {
            private: Matrices::of_bytes(bytes),
            shared,
            operations: think.operations,
            spin_us: think.spin_us,
        }
    }

    /// Computes one request.
    pub(super) fn compute(&self, clock: Clock) {
        if let Some(time) = self.spin_us {
            let end = clock.now_ns() + time * 1000;
            while clock.now_ns() < end {
                spin_loop();
            }
            return;
        }
        for _ in 0..self.operations {
            self.private.multiply();
            if let Some(shared) = &self.shared {
                shared.multiply();
            }
        }
    }
}

/// The part of the footprint that is not private.
pub(super) fn shared_part(think: &Think) -> Option<Arc<Matrices>> {
    let percent = 100 - think.private_percent;
    let bytes = think.footprint_kib * 1024 * percent / 100;
    (percent > 0).then(|| Arc::new(Matrices::of_bytes(bytes)))
}

/// A lock on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct CpuLock {
    held: AtomicBool,
}

/// A spin lock for each CPU. Whoever is preempted while holding one makes the next on that CPU
/// spin until it runs again: long time slices and few migrations pay.
#[derive(Debug)]
pub(super) struct CpuLocks {
    locks: Box<[CpuLock]>,
}

impl CpuLocks {
    /// Locks for CPU numbers below `cpus`.
    pub(super) fn new(cpus: usize) -> Self {
        Self {
            locks: (0..cpus.max(1)).map(|_| CpuLock::default()).collect(),
        }
    }

    /// Runs `work` while holding the lock of the CPU that this thread runs on when it gets it.
    pub(super) fn with_this_cpu(&self, work: impl FnOnce()) {
        let lock = loop {
            let lock = &self.locks[this_cpu() % self.locks.len()];
            if !lock.held.swap(true, Ordering::Acquire) {
                break lock;
            }
        };
        work();
        lock.held.store(false, Ordering::Release);
    }
}

fn this_cpu() -> usize {
    // SAFETY: sched_getcpu has no preconditions.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_product() {
        let matrices = Matrices::of_bytes(3 * 4 * 8);
        assert_eq!(matrices.side, 2);
        // left 0 1 2 3, right 4 5 6 7
        matrices.multiply();
        matrices.multiply();
        let product: Vec<u64> = matrices.cells[8..]
            .iter()
            .map(|c| c.load(Ordering::Relaxed))
            .collect();
        assert_eq!(product, [6, 7, 26, 31]);
    }

    #[test]
    fn the_footprint_is_not_exceeded() {
        for kib in [1, 64, 256, 1000] {
            let matrices = Matrices::of_bytes(kib * 1024);
            assert!(matrices.cells.len() as u64 * 8 <= kib * 1024);
            let next = (matrices.side as u64 + 1).pow(2) * 3 * 8;
            assert!(next > kib * 1024);
        }
    }

    #[test]
    fn a_lock_keeps_others_out() {
        let locks = Arc::new(CpuLocks::new(1));
        let inside = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (locks, inside) = (Arc::clone(&locks), Arc::clone(&inside));
                std::thread::spawn(move || {
                    for _ in 0..100 {
                        locks.with_this_cpu(|| {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            inside.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
