//! Thread mode: every task is a thread, all pairs of all groups are open at once.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::unistd::read;

use crate::builtin::errno::CallError;

use super::args::Config;
use super::fdpair::FdPair;
use super::message::{Exchange, StartLine, receive_all, send_all, send_token};
use super::report::RunError;

/// Stack of a task, bytes: the loops need little, and thousands of tasks must fit.
const STACK: usize = 64 * 1024;

/// What every thread shares.
struct Shared {
    ready: FdPair,
    go: FdPair,
    exchange: Exchange,
}

impl Shared {
    fn start_line(&self) -> StartLine<'_> {
        StartLine {
            ready: self.ready.write.as_fd(),
            go: self.go.read.as_fd(),
        }
    }
}

/// The threads that were started.
struct Tasks {
    handles: Vec<JoinHandle<()>>,
    expected: usize,
}

impl Tasks {
    /// Starts a task. One that fails ends the process: the others wait for it forever.
    fn start(
        &mut self,
        work: impl FnOnce() -> Result<(), CallError> + Send + 'static,
    ) -> Result<(), RunError> {
        let handle = Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                if let Err(err) = work() {
                    eprintln!("{err}");
                    std::process::exit(1);
                }
            })
            .map_err(|err| RunError::Fork {
                source: CallError::from_io("pthread_create()", &err),
                started: self.handles.len(),
                expected: self.expected,
            })?;
        self.handles.push(handle);
        Ok(())
    }
}

/// Runs the exchange; the time from the start signal until the last thread has ended. After an
/// error threads may still wait at the start line: the caller ends the process.
pub(super) fn run(config: &Config) -> Result<Duration, RunError> {
    let shared = Arc::new(Shared {
        ready: FdPair::new(config.transport)?,
        go: FdPair::new(config.transport)?,
        exchange: Exchange {
            fds: config.fds,
            loops: config.loops,
            size: config.size,
        },
    });
    let mut tasks = Tasks {
        handles: Vec::with_capacity(config.tasks()),
        expected: config.tasks(),
    };
    for _ in 0..config.groups {
        start_group(config, &shared, &mut tasks)?;
    }
    await_ready(&shared, config.tasks())?;
    let started = Instant::now();
    send_token(shared.go.write.as_fd())
        .map_err(|errno| CallError::new("Writing to start senders", errno))?;
    for handle in tasks.handles {
        if handle.join().is_err() {
            return Err(RunError::ThreadPanicked);
        }
    }
    Ok(started.elapsed())
}

fn start_group(config: &Config, shared: &Arc<Shared>, tasks: &mut Tasks) -> Result<(), RunError> {
    let mut writers: Vec<OwnedFd> = Vec::with_capacity(config.fds);
    for _ in 0..config.fds {
        let FdPair { read, write } = FdPair::new(config.transport)?;
        writers.push(write);
        let shared = Arc::clone(shared);
        tasks.start(move || {
            shared.start_line().wait()?;
            receive_all(&shared.exchange, &read)
        })?;
    }
    let writers = Arc::new(writers);
    for _ in 0..config.fds {
        let (shared, writers) = (Arc::clone(shared), Arc::clone(&writers));
        tasks.start(move || {
            shared.start_line().wait()?;
            send_all(&shared.exchange, &writers)
        })?;
    }
    Ok(())
}

fn await_ready(shared: &Shared, tasks: usize) -> Result<(), RunError> {
    let mut waiting = tasks;
    let mut tokens = [0_u8; 256];
    while waiting > 0 {
        let most = waiting.min(tokens.len());
        match read(shared.ready.read.as_fd(), &mut tokens[..most]) {
            Ok(got) => waiting -= got,
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(CallError::new("Reading for readyfds", errno).into()),
        }
    }
    Ok(())
}
