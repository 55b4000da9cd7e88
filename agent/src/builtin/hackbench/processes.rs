//! Process mode: one child per task, made by fork before any thread exists.
//!
//! No child outlives the run: each asks to be killed when its parent dies, and every way out of
//! [`run`] but success kills and reaps those that live.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, read};

use crate::builtin::errno::CallError;

use super::args::Config;
use super::fdpair::FdPair;
use super::message::{Exchange, StartLine, receive_all, send_all, send_token};
use super::report::RunError;

/// How often the parent looks for dead children while it waits for them to report ready,
/// milliseconds.
const LOOK_MS: u16 = 100;

/// The children that were started and not reaped.
struct Children {
    alive: Vec<Pid>,
    parent: Pid,
    /// How many the run needs.
    expected: usize,
}

impl Children {
    /// Forks. `Some` in the child, which must leave through [`Child::finish`].
    fn fork(&mut self) -> Result<Option<Child>, RunError> {
        // SAFETY: this process has one thread (see `builtin::main`), so the child may allocate and
        // lock like any process.
        match unsafe { fork() } {
            Ok(ForkResult::Parent { child }) => {
                self.alive.push(child);
                Ok(None)
            }
            Ok(ForkResult::Child) => Ok(Some(Child {
                parent: self.parent,
            })),
            Err(errno) => Err(RunError::Fork {
                source: CallError::new("fork()", errno),
                started: self.alive.len(),
                expected: self.expected,
            }),
        }
    }

    /// Takes one finished child; `Ok(false)`: none has finished.
    fn reap(&mut self, flags: WaitPidFlag) -> Result<bool, RunError> {
        match waitpid(None, Some(flags)) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => Ok(false),
            Ok(WaitStatus::Exited(pid, 0)) => {
                self.forget(pid);
                Ok(true)
            }
            Ok(WaitStatus::Exited(pid, status)) => {
                self.forget(pid);
                Err(RunError::ChildFailed { status })
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) => {
                self.forget(pid);
                Err(RunError::ChildKilled { signal })
            }
            Ok(_) => Ok(true),
            Err(errno) => Err(RunError::Call(CallError::new("wait()", errno))),
        }
    }

    fn forget(&mut self, pid: Pid) {
        if let Some(at) = self.alive.iter().position(|p| *p == pid) {
            self.alive.swap_remove(at);
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for pid in &self.alive {
            // It may have ended already; it is ours until it is reaped below.
            let _ = kill(*pid, Signal::SIGKILL);
        }
        for pid in &self.alive {
            let _ = waitpid(*pid, None);
        }
    }
}

/// This process is a child.
struct Child {
    parent: Pid,
}

impl Child {
    /// Does the work and exits: 0, or 1 after saying what failed.
    fn finish(self, work: impl FnOnce() -> Result<(), CallError>) -> ! {
        let status = match die_with(self.parent).and_then(|()| work()) {
            Ok(()) => 0,
            Err(err) => {
                eprintln!("{err}");
                1
            }
        };
        // SAFETY: _exit ends the process without running the parent's exit handlers.
        unsafe { libc::_exit(status) }
    }
}

/// Asks the kernel to kill this child when its parent dies, and makes sure it has not died yet.
fn die_with(parent: Pid) -> Result<(), CallError> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(|errno| CallError::new("prctl", errno))?;
    if getppid() == parent {
        Ok(())
    } else {
        Err(CallError::new("parent", Errno::ESRCH))
    }
}

/// Runs the exchange; the time from the start signal until the last child has ended.
pub(super) fn run(config: &Config) -> Result<Duration, RunError> {
    let ready = FdPair::new(config.transport)?;
    let go = FdPair::new(config.transport)?;
    let start_line = StartLine {
        ready: ready.write.as_fd(),
        go: go.read.as_fd(),
    };
    let mut children = Children {
        alive: Vec::with_capacity(config.tasks()),
        parent: getpid(),
        expected: config.tasks(),
    };
    for _ in 0..config.groups {
        start_group(config, start_line, &mut children)?;
    }
    await_ready(ready.read.as_fd(), &mut children)?;
    let started = Instant::now();
    send_token(go.write.as_fd())
        .map_err(|errno| CallError::new("Writing to start senders", errno))?;
    while !children.alive.is_empty() {
        children.reap(WaitPidFlag::empty())?;
    }
    Ok(started.elapsed())
}

/// Starts the receivers, then the senders. Of each pair the parent keeps what the next children
/// need: a receiver alone has the end it reads from.
fn start_group(
    config: &Config,
    start_line: StartLine<'_>,
    children: &mut Children,
) -> Result<(), RunError> {
    let exchange = Exchange {
        fds: config.fds,
        loops: config.loops,
        size: config.size,
    };
    let mut writers: Vec<OwnedFd> = Vec::with_capacity(config.fds);
    for _ in 0..config.fds {
        let FdPair { read, write } = FdPair::new(config.transport)?;
        if let Some(child) = children.fork()? {
            child.finish(|| {
                drop(write);
                start_line.wait()?;
                receive_all(&exchange, &read)
            });
        }
        writers.push(write);
    }
    for _ in 0..config.fds {
        if let Some(child) = children.fork()? {
            child.finish(|| {
                start_line.wait()?;
                send_all(&exchange, &writers)
            });
        }
    }
    Ok(())
}

/// Waits for every child's token; a child that ends before the start ends the run.
fn await_ready(from: BorrowedFd<'_>, children: &mut Children) -> Result<(), RunError> {
    let mut waiting = children.expected;
    let mut tokens = [0_u8; 256];
    while waiting > 0 {
        let mut fds = [PollFd::new(from, PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(LOOK_MS)) {
            Ok(0) | Err(Errno::EINTR) => {
                children.reap(WaitPidFlag::WNOHANG)?;
            }
            Ok(_) => {
                let most = waiting.min(tokens.len());
                let got = read(from, &mut tokens[..most])
                    .map_err(|errno| CallError::new("Reading for readyfds", errno))?;
                waiting -= got;
            }
            Err(errno) => return Err(RunError::Call(CallError::new("poll", errno))),
        }
    }
    Ok(())
}
