//! netperf request/response over the loopback: strict ping-pong of two tasks.

use super::program::{Action, Ctx, Program, Step};
use crate::table::SockIx;
use crate::time::Ns;

/// One end: receives on one direction, sends on the other.
pub(crate) struct End {
    pub receive: SockIx,
    pub send: SockIx,
    pub bytes: u32,
    pub send_ns: Ns,
    pub recv_ns: Ns,
    /// The client sends first and counts.
    pub client: bool,
    pub sends: bool,
    pub fork: Option<Box<dyn Program>>,
    pub fork_ns: Ns,
    /// Time it runs from the first request on.
    pub run_ns: Ns,
}

impl Program for End {
    fn next(&mut self, ctx: &mut Ctx<'_>) -> Step {
        if let Some(child) = self.fork.take() {
            return Step::kernel(
                self.fork_ns,
                Action::Fork {
                    child,
                    thread: false,
                },
            );
        }
        if self.client && ctx.meter.started.is_none() {
            ctx.meter.started = Some(ctx.now);
        }
        let over = ctx
            .meter
            .started
            .is_some_and(|started| ctx.now >= started + self.run_ns);
        let sends = std::mem::replace(&mut self.sends, false);
        if sends {
            if self.client && over {
                ctx.meter.task_ended(ctx.now);
                return Step::kernel(self.recv_ns, Action::Exit);
            }
            let action = Action::SockSend {
                sock: self.send,
                bytes: self.bytes,
            };
            return Step::kernel(self.send_ns, action);
        }
        self.sends = true;
        if self.client {
            ctx.meter.ops += 1;
        }
        Step::kernel(self.recv_ns, Action::SockRecv { sock: self.receive })
    }
}
