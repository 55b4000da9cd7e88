//! schbench: message threads that wake workers; each request of a worker is a sleep and some
//! matrix operations.

use std::sync::Arc;

use super::program::{Action, Ctx, Program, Step};
use crate::table::FutexIx;
use crate::time::Ns;

/// What every thread of an instance knows.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub message_threads: u32,
    /// Workers of each message thread.
    pub workers: u32,
    pub operations: u64,
    pub operation_ns: Ns,
    pub sleep_ns: Ns,
    pub run_ns: Ns,
    pub fork_ns: Ns,
    pub syscall_ns: Ns,
    /// Workers post here when they want to be woken, by message thread.
    pub inbox: Vec<FutexIx>,
    /// A worker waits here, by worker.
    pub own: Vec<FutexIx>,
}

/// Starts the message threads.
pub(crate) struct Main {
    pub shape: Arc<Shape>,
    pub forked: u32,
}

impl Program for Main {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        if self.forked == 0 {
            ctx.meter.posted = vec![0; self.shape.own.len()];
            ctx.meter.started = Some(ctx.now);
        }
        if self.forked == self.shape.message_threads {
            return Step::kernel(self.shape.syscall_ns, Action::Exit);
        }
        let shape = Arc::clone(&self.shape);
        let child = Box::new(Messenger {
            number: self.forked,
            forked: 0,
            turn: 0,
            waits: true,
            shape,
        });
        self.forked += 1;
        Step::kernel(
            self.shape.fork_ns,
            Action::Fork {
                child,
                thread: true,
            },
        )
    }
}

struct Messenger {
    shape: Arc<Shape>,
    number: u32,
    forked: u32,
    turn: u32,
    waits: bool,
}

impl Program for Messenger {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        let shape = Arc::clone(&self.shape);
        let first = self.number * shape.workers;
        if self.forked < shape.workers {
            let worker = (first + self.forked) as usize;
            self.forked += 1;
            let inbox = shape.inbox[self.number as usize];
            let fork_ns = shape.fork_ns;
            let child = Box::new(Worker {
                worker,
                inbox,
                stage: WorkerStage::Ask,
                began: 0,
                shape,
            });
            return Step::kernel(
                fork_ns,
                Action::Fork {
                    child,
                    thread: true,
                },
            );
        }
        // One post of a worker is answered by one wake-up; workers ask in turn.
        if std::mem::replace(&mut self.waits, false) {
            return Step::kernel(
                shape.syscall_ns,
                Action::FutexWait(shape.inbox[self.number as usize]),
            );
        }
        self.waits = true;
        let asking = (0..shape.workers)
            .map(|n| (first + (self.turn + n) % shape.workers) as usize)
            .find(|&w| ctx.meter.posted[w] == Ns::MAX);
        let Some(worker) = asking else {
            return Step::user(1);
        };
        self.turn = (worker as u32 - first + 1) % shape.workers;
        ctx.meter.posted[worker] = ctx.now;
        Step::kernel(
            shape.syscall_ns,
            Action::FutexPost {
                futex: shape.own[worker],
                posts: 1,
            },
        )
    }
}

#[derive(Clone, Copy)]
enum WorkerStage {
    Ask,
    Wait,
    Woken,
    Think,
    Done,
}

struct Worker {
    shape: Arc<Shape>,
    worker: usize,
    inbox: FutexIx,
    stage: WorkerStage,
    began: Ns,
}

impl Program for Worker {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        let shape = Arc::clone(&self.shape);
        let syscall = shape.syscall_ns;
        match self.stage {
            WorkerStage::Ask => {
                if ctx
                    .meter
                    .started
                    .is_some_and(|started| ctx.now >= started + shape.run_ns)
                {
                    ctx.meter.task_ended(ctx.now);
                    return Step::kernel(syscall, Action::Exit);
                }
                ctx.meter.posted[self.worker] = Ns::MAX;
                self.stage = WorkerStage::Wait;
                Step::kernel(
                    syscall,
                    Action::FutexPost {
                        futex: self.inbox,
                        posts: 1,
                    },
                )
            }
            WorkerStage::Wait => {
                self.stage = WorkerStage::Woken;
                Step::kernel(syscall, Action::FutexWait(shape.own[self.worker]))
            }
            WorkerStage::Woken => {
                let asked = ctx.meter.posted[self.worker];
                if asked != Ns::MAX {
                    ctx.meter.push_wake(ctx.now.saturating_sub(asked));
                }
                self.began = ctx.now;
                self.stage = WorkerStage::Think;
                Step::kernel(syscall, Action::Sleep(shape.sleep_ns))
            }
            WorkerStage::Think => {
                self.stage = WorkerStage::Done;
                Step::user(shape.operations * shape.operation_ns)
            }
            WorkerStage::Done => {
                ctx.meter.push_request(ctx.now - self.began);
                self.stage = WorkerStage::Ask;
                Step::user(1)
            }
        }
    }
}
