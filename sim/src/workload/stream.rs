//! STREAM: threads that move their part of three arrays, kernel by kernel, with a barrier between.

use std::sync::Arc;

use super::program::{Action, Ctx, Program, Step};
use crate::table::FutexIx;
use crate::time::Ns;

/// Bytes each kernel moves for an element: two or three doubles.
pub(crate) const BYTES: [u64; 4] = [16, 16, 24, 24];
/// Bytes moved between two looks at who else moves some.
const CHUNK: u64 = 1 << 20;

/// What every thread of an instance knows.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub elements: u64,
    pub ntimes: u32,
    pub threads: u32,
    pub fork_ns: Ns,
    pub syscall_ns: Ns,
    /// Workers post here at the barrier.
    pub arrived: FutexIx,
    /// Each worker is let go here.
    pub go: Vec<FutexIx>,
}

/// One thread; number 0 starts the others and is the barrier.
pub(crate) struct Thread {
    shape: Arc<Shape>,
    number: u32,
    forked: u32,
    turn: u32,
    bytes_left: u64,
    barrier: Barrier,
    began: Ns,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Barrier {
    /// In the kernel's work.
    Work,
    /// Collecting (0) or arriving (others).
    Arrive(u32),
    /// Letting go (0) or waiting (others).
    Leave(u32),
}

impl Thread {
    pub(crate) fn new(shape: Arc<Shape>, number: u32) -> Self {
        let bytes_left = Self::part(&shape, 0);
        Thread {
            shape,
            number,
            forked: 1,
            turn: 0,
            bytes_left,
            barrier: Barrier::Work,
            began: 0,
        }
    }

    fn part(shape: &Shape, turn: u32) -> u64 {
        shape.elements / u64::from(shape.threads) * BYTES[turn as usize % 4]
    }

    /// The kernel is over everywhere.
    fn next_kernel(&mut self, ctx: &mut Ctx<'_>) {
        if self.number == 0 {
            let took = ctx.now - self.began;
            let best = &mut ctx.meter.kernel_ns[self.turn as usize % 4];
            // The first iteration does not count.
            if self.turn >= 4 {
                *best = Some(best.map_or(took, |b| b.min(took)));
            }
        }
        self.turn += 1;
        self.bytes_left = Self::part(&self.shape, self.turn);
        self.barrier = Barrier::Work;
        self.began = ctx.now;
    }
}

impl Program for Thread {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        let shape = Arc::clone(&self.shape);
        if self.number == 0 && self.forked < shape.threads {
            let child = Box::new(Thread::new(Arc::clone(&shape), self.forked));
            self.forked += 1;
            return Step::kernel(
                shape.fork_ns,
                Action::Fork {
                    child,
                    thread: true,
                },
            );
        }
        if self.turn == 0 && ctx.meter.started.is_none() {
            ctx.meter.started = Some(ctx.now);
            self.began = ctx.now;
        }
        if self.turn == 4 * shape.ntimes {
            ctx.meter.task_ended(ctx.now);
            return Step::kernel(shape.syscall_ns, Action::Exit);
        }
        match self.barrier {
            Barrier::Work if self.bytes_left > 0 => {
                let bytes = self.bytes_left.min(CHUNK);
                self.bytes_left -= bytes;
                Step {
                    cost: 0,
                    bytes,
                    user: true,
                    action: Action::None,
                }
            }
            Barrier::Work => {
                ctx.meter.ops += 1;
                self.barrier = Barrier::Arrive(1);
                Step::user(1)
            }
            Barrier::Arrive(n) if self.number == 0 => {
                if n < shape.threads {
                    self.barrier = Barrier::Arrive(n + 1);
                    return Step::kernel(shape.syscall_ns, Action::FutexWait(shape.arrived));
                }
                self.barrier = Barrier::Leave(1);
                Step::user(1)
            }
            Barrier::Leave(n) if self.number == 0 => {
                if n < shape.threads {
                    self.barrier = Barrier::Leave(n + 1);
                    let futex = shape.go[n as usize];
                    return Step::kernel(shape.syscall_ns, Action::FutexPost { futex, posts: 1 });
                }
                self.next_kernel(ctx);
                Step::user(1)
            }
            Barrier::Arrive(_) => {
                self.barrier = Barrier::Leave(0);
                let post = Action::FutexPost {
                    futex: shape.arrived,
                    posts: 1,
                };
                Step::kernel(shape.syscall_ns, post)
            }
            Barrier::Leave(0) => {
                self.barrier = Barrier::Leave(1);
                let go = shape.go[self.number as usize];
                Step::kernel(shape.syscall_ns, Action::FutexWait(go))
            }
            Barrier::Leave(_) => {
                self.next_kernel(ctx);
                Step::user(1)
            }
        }
    }
}
