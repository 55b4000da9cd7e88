//! hackbench: groups of senders that each write to every receiver of their group.

use std::sync::Arc;

use super::program::{Action, Ctx, Program, Step};
use crate::table::{FutexIx, PipeIx, SockIx};
use crate::time::Ns;

/// What a sender and a receiver talk through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Channel {
    Pipe(PipeIx),
    Sock(SockIx),
}

impl Channel {
    fn write(self, bytes: u32) -> Action {
        match self {
            Channel::Pipe(pipe) => Action::PipeWrite { pipe, bytes },
            Channel::Sock(sock) => Action::SockSend { sock, bytes },
        }
    }

    fn read(self, bytes: u32) -> Action {
        match self {
            Channel::Pipe(pipe) => Action::PipeRead { pipe, bytes },
            Channel::Sock(sock) => Action::SockRecv { sock },
        }
    }
}

/// What every task of an instance knows.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub groups: u32,
    pub fds: u32,
    pub loops: u64,
    pub bytes: u32,
    pub threads: bool,
    pub write_ns: Ns,
    pub read_ns: Ns,
    pub fork_ns: Ns,
    pub syscall_ns: Ns,
    /// Channel of each receiver, group by group.
    pub channels: Vec<Channel>,
    /// Children post here when they are ready.
    pub ready: FutexIx,
    /// Children wait here for the start.
    pub start: FutexIx,
}

impl Shape {
    fn tasks(&self) -> u64 {
        2 * u64::from(self.groups) * u64::from(self.fds)
    }
}

/// The first process: starts the others, waits until they are ready, gives the signal.
pub(crate) struct Main {
    shape: Arc<Shape>,
    forked: u64,
    ready: u64,
    started: bool,
}

impl Main {
    pub(crate) fn new(shape: Arc<Shape>) -> Self {
        Main {
            shape,
            forked: 0,
            ready: 0,
            started: false,
        }
    }

    fn child(&self) -> Box<dyn Program> {
        // Receivers of a group first, then its senders, as the tool does.
        let per_group = 2 * u64::from(self.shape.fds);
        let (group, at) = (self.forked / per_group, self.forked % per_group);
        let fds = u64::from(self.shape.fds);
        let first = (group * fds) as usize;
        let shape = Arc::clone(&self.shape);
        if at < fds {
            Box::new(Receiver {
                channel: shape.channels[first + at as usize],
                left: fds * shape.loops,
                stage: Stage::Ready,
                shape,
            })
        } else {
            Box::new(Sender {
                first,
                to: 0,
                round: 0,
                stage: Stage::Ready,
                shape,
            })
        }
    }
}

impl Program for Main {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        let shape = Arc::clone(&self.shape);
        if self.forked < shape.tasks() {
            let child = self.child();
            self.forked += 1;
            return Step::kernel(
                shape.fork_ns,
                Action::Fork {
                    child,
                    thread: shape.threads,
                },
            );
        }
        if self.ready < shape.tasks() {
            self.ready += 1;
            return Step::kernel(shape.syscall_ns, Action::FutexWait(shape.ready));
        }
        if !self.started {
            self.started = true;
            ctx.meter.started = Some(ctx.now);
            let posts = shape.tasks();
            return Step::kernel(
                shape.syscall_ns,
                Action::FutexPost {
                    futex: shape.start,
                    posts,
                },
            );
        }
        // It waits for its children; the meter notes the last one's end.
        Step::kernel(shape.syscall_ns, Action::Exit)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Ready,
    Wait,
    Go,
}

/// What both kinds of children do first.
fn begin(stage: &mut Stage, shape: &Shape) -> Option<Step> {
    match *stage {
        Stage::Ready => {
            *stage = Stage::Wait;
            let post = Action::FutexPost {
                futex: shape.ready,
                posts: 1,
            };
            Some(Step::kernel(shape.syscall_ns, post))
        }
        Stage::Wait => {
            *stage = Stage::Go;
            Some(Step::kernel(
                shape.syscall_ns,
                Action::FutexWait(shape.start),
            ))
        }
        Stage::Go => None,
    }
}

struct Sender {
    shape: Arc<Shape>,
    first: usize,
    to: u32,
    round: u64,
    stage: Stage,
}

impl Program for Sender {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        if let Some(step) = begin(&mut self.stage, &self.shape) {
            return step;
        }
        if self.round == self.shape.loops {
            ctx.meter.task_ended(ctx.now);
            return Step::kernel(self.shape.syscall_ns, Action::Exit);
        }
        let channel = self.shape.channels[self.first + self.to as usize];
        self.to += 1;
        if self.to == self.shape.fds {
            self.to = 0;
            self.round += 1;
        }
        Step::kernel(self.shape.write_ns, channel.write(self.shape.bytes))
    }
}

struct Receiver {
    shape: Arc<Shape>,
    channel: Channel,
    left: u64,
    stage: Stage,
}

impl Program for Receiver {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        if let Some(step) = begin(&mut self.stage, &self.shape) {
            return step;
        }
        if self.left == 0 {
            ctx.meter.task_ended(ctx.now);
            return Step::kernel(self.shape.syscall_ns, Action::Exit);
        }
        self.left -= 1;
        ctx.meter.ops += 1;
        Step::kernel(self.shape.read_ns, self.channel.read(self.shape.bytes))
    }
}
