//! A run from its command line to its verdict.

use std::collections::TryReserveError;
use std::io::{self, Write as _};
use std::sync::Mutex;
use std::thread::{Builder, Scope};
use std::time::Instant;

use schedrig_model::id::CpuId;

use crate::builtin::affinity;
use crate::builtin::dispatch::version_line;
use crate::builtin::errno::CallError;

use super::args::{self, Config, Request, USAGE};
use super::arrays::{Arrays, KERNELS, Kernel, parts};
use super::barrier::Barrier;
use super::report;

/// Why a run has no table.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("no memory for three arrays of {elements} elements")]
    Memory {
        elements: usize,
        #[source]
        source: TryReserveError,
    },
    #[error("thread creation failed (error: {0})")]
    Thread(#[source] io::Error),
    #[error("unable to write the results (error: {0})")]
    Output(#[from] io::Error),
    #[error("the arrays do not hold what they should")]
    Invalid,
}

/// Runs STREAM and returns its exit status.
pub(in crate::builtin) fn run(args: &[String]) -> i32 {
    let config = match args::parse(args) {
        Ok(Request::Run(config)) => config,
        Ok(Request::Help) => {
            print!("{USAGE}");
            return 0;
        }
        Ok(Request::Version) => {
            println!("{}", version_line("stream"));
            return 0;
        }
        Err(err) => {
            eprint!("stream: {err}\n{USAGE}");
            return 1;
        }
    };
    match measure(&config) {
        Ok(()) => 0,
        Err(err) => {
            eprintln!("stream: {err}");
            1
        }
    }
}

/// What the threads share.
struct Team {
    barrier: Barrier,
    ntimes: usize,
    /// Sums of the errors of a, b and c.
    errors: Mutex<[f64; 3]>,
}

/// What was measured.
struct Times {
    /// One run of Copy, microseconds.
    kernel_us: u64,
    /// Seconds by run, then by kernel.
    runs: Vec<[f64; 4]>,
}

fn measure(config: &Config) -> Result<(), RunError> {
    let allowed: Vec<CpuId> = affinity::allowed()?.iter().collect();
    let threads = config.threads.unwrap_or(allowed.len()).max(1);
    let mut arrays = Vec::with_capacity(threads);
    for elements in parts(config.elements, threads) {
        arrays.push(
            Arrays::reserve(elements).map_err(|source| RunError::Memory {
                elements: config.elements,
                source,
            })?,
        );
    }
    print(&report::banner(
        &version_line("stream"),
        config.elements,
        config.ntimes,
        threads,
    ))?;
    let team = Team {
        barrier: Barrier::new(threads as u32),
        ntimes: config.ntimes,
        errors: Mutex::new([0.0; 3]),
    };
    let cpus = if config.bind { allowed } else { Vec::new() };
    let times = std::thread::scope(|scope| run_team(scope, arrays, &team, &cpus));
    print(&report::clock_note(clock_step_us(), times.kernel_us))?;
    print(&report::table(config.elements, &times.runs))?;
    let sums = *team.errors.lock().unwrap_or_else(|e| e.into_inner());
    let (text, valid) = report::validation(config.elements, config.ntimes, sums);
    print(&text)?;
    if valid {
        Ok(())
    } else {
        Err(RunError::Invalid)
    }
}

/// Starts all threads but the first, which is this one and takes the times.
fn run_team<'s, 'e>(
    scope: &'s Scope<'s, 'e>,
    arrays: Vec<Arrays>,
    team: &'e Team,
    cpus: &'e [CpuId],
) -> Times {
    let mut own = Arrays::default();
    for (n, part) in arrays.into_iter().enumerate() {
        if n == 0 {
            own = part;
            continue;
        }
        let started = Builder::new()
            .name("stream".to_owned())
            .spawn_scoped(scope, move || {
                bind(cpus, n);
                follow(part, team);
            });
        if let Err(err) = started {
            // Those that were started wait at the barrier for good.
            eprintln!("stream: {}", RunError::Thread(err));
            std::process::exit(1);
        }
    }
    bind(cpus, 0);
    lead(own, team)
}

fn bind(cpus: &[CpuId], thread: usize) {
    if cpus.is_empty() {
        return;
    }
    if let Err(err) = affinity::pin_to(cpus[thread % cpus.len()]) {
        eprintln!("stream: {err}");
        std::process::exit(1);
    }
}

fn follow(mut arrays: Arrays, team: &Team) {
    arrays.touch();
    team.barrier.wait();
    arrays.run(Kernel::Copy);
    team.barrier.wait();
    for _ in 0..team.ntimes {
        for kernel in KERNELS {
            team.barrier.wait();
            arrays.run(kernel);
            team.barrier.wait();
        }
    }
    add_errors(&arrays, team);
}

/// Takes the times and prints nothing: the others wait for this thread.
fn lead(mut arrays: Arrays, team: &Team) -> Times {
    arrays.touch();
    team.barrier.wait();
    // One run to tell how long a kernel takes; `c` is written again before it is read.
    let started = Instant::now();
    arrays.run(Kernel::Copy);
    team.barrier.wait();
    let kernel_us = started.elapsed().as_micros() as u64;
    let mut times = Vec::with_capacity(team.ntimes);
    for _ in 0..team.ntimes {
        let mut run = [0.0; 4];
        for (time, kernel) in run.iter_mut().zip(KERNELS) {
            let started = Instant::now();
            team.barrier.wait();
            arrays.run(kernel);
            team.barrier.wait();
            *time = started.elapsed().as_secs_f64();
        }
        times.push(run);
    }
    add_errors(&arrays, team);
    Times {
        kernel_us,
        runs: times,
    }
}

fn add_errors(arrays: &Arrays, team: &Team) {
    let errors = arrays.errors(team.ntimes);
    let mut sums = team.errors.lock().unwrap_or_else(|e| e.into_inner());
    for (sum, error) in sums.iter_mut().zip(errors) {
        *sum += error;
    }
}

/// The least step between readings of the clock, whole microseconds.
fn clock_step_us() -> u64 {
    let mut least = u128::MAX;
    for _ in 0..20 {
        let before = Instant::now();
        let step = loop {
            let step = before.elapsed().as_nanos();
            if step > 0 {
                break step;
            }
        };
        least = least.min(step);
    }
    u64::try_from(least / 1000).unwrap_or(u64::MAX)
}

fn print(text: &str) -> Result<(), io::Error> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
