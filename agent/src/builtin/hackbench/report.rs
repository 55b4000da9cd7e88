//! What hackbench prints, and its exit status.

use std::io::{self, Write as _};
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::builtin::dispatch::version_line;
use crate::builtin::errno::CallError;

use super::args::{self, Config, Mode, Request};
use super::{processes, threads};

const USAGE: &str = "\
Usage:
hackbench <options>

-f       --fds=NUM         number of fds
-F       --fifo            use SCHED_FIFO for main thread
-g       --groups=NUM      number of groups to be used
-h       --help            print this message
-l       --loops=LOOPS     how many messages each sender passes to each receiver
-p       --pipe            send data via a pipe
-i       --inet            send data via an inet tcp connection
-s       --datasize=SIZE   message size
-T       --threads         use POSIX threads
-P       --process         use fork (default)
         --version         print the version
";

/// Why a run has no time.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// A call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A task could not be started.
    #[error("{source}\n{started} children started.  Expected {expected}")]
    Fork {
        source: CallError,
        started: usize,
        expected: usize,
    },
    /// A child said why and exited.
    #[error("a child exited with status {status}")]
    ChildFailed { status: i32 },
    /// Somebody, or the kernel for want of memory, killed a child.
    #[error("a child was killed by {signal}")]
    ChildKilled { signal: Signal },
    /// A defect.
    #[error("a thread panicked")]
    ThreadPanicked,
}

/// Runs hackbench and returns its exit status.
pub(in crate::builtin) fn run(args: &[String]) -> i32 {
    let config = match args::parse(args) {
        Ok(Request::Run(config)) => config,
        Ok(Request::Help) => return print(&format!("{}\n{USAGE}", version_line("hackbench"))),
        Ok(Request::Version) => return print(&format!("{}\n", version_line("hackbench"))),
        Err(err) => {
            eprintln!("hackbench: {err}");
            print(&format!("{}\n{USAGE}", version_line("hackbench")));
            return 1;
        }
    };
    if print(&header(&config)) != 0 {
        return 1;
    }
    match measure(&config) {
        Ok(time) => print(&format!("Time: {:.3}\n", time.as_secs_f64())),
        Err(err) => {
            eprintln!("{err}");
            1
        }
    }
}

fn measure(config: &Config) -> Result<Duration, RunError> {
    if config.fifo {
        fifo()?;
    }
    match config.mode {
        Mode::Process => processes::run(config),
        Mode::Thread => threads::run(config),
    }
}

/// Puts the main task under SCHED_FIFO at the lowest priority; tasks inherit it.
fn fifo() -> Result<(), CallError> {
    let param = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure lives through the call; pid 0 is this thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const param) } {
        0 => Ok(()),
        _ => Err(CallError::from_io(
            "sched_setscheduler",
            &io::Error::last_os_error(),
        )),
    }
}

/// The two lines before the work. They are on their way before the first fork, so no child can
/// print them again.
fn header(config: &Config) -> String {
    let mode = match config.mode {
        Mode::Process => "process",
        Mode::Thread => "threaded",
    };
    format!(
        "Running in {mode} mode with {} groups using {} file descriptors each (== {} tasks)\n\
         Each sender will pass {} messages of {} bytes\n",
        config.groups,
        2 * config.fds,
        config.tasks(),
        config.loops,
        config.size
    )
}

/// Writes and flushes; 1 if nobody takes it.
fn print(text: &str) -> i32 {
    let mut out = io::stdout().lock();
    i32::from(
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_err(),
    )
}
