//! A run from its command line to its JSON.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::program::{PhaseThread, Program};
use serde_json::{Value, json};

use crate::builtin::clock::Clock;
use crate::builtin::dispatch::version_line;
use crate::builtin::errno::CallError;
use crate::builtin::histogram::{Histogram, Recorder};

use super::args::{self, Config, Request, USAGE};
use super::step::{Actor, Counts, Names};
use super::sync::Barrier;

/// Version of the output's shape.
const FORMAT: u32 = 1;

/// Runs a program and returns its exit status. Threads that still wait for each other when the time
/// is over end with the process.
pub(in crate::builtin) fn run(args: &[String]) -> i32 {
    let config = match args::parse(args) {
        Ok(Request::Run(config)) => config,
        Ok(Request::Help) => {
            print!("{USAGE}");
            return 0;
        }
        Ok(Request::Version) => {
            println!("{}", version_line("phases"));
            return 0;
        }
        Err(err) => {
            eprint!("phases: {err}\n{USAGE}");
            return 1;
        }
    };
    match measure(&config) {
        Ok(json) => {
            println!("{json}");
            0
        }
        Err(err) => {
            eprintln!("phases: unable to start a thread (error: {err})");
            1
        }
    }
}

/// How many threads have not finished.
#[derive(Debug)]
struct Unfinished {
    threads: Mutex<u64>,
    changed: Condvar,
}

impl Unfinished {
    fn one_less(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        *threads -= 1;
        self.changed.notify_one();
    }

    /// Waits until all have finished or the time is over.
    fn wait(&self, time: Duration) {
        let threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        // Either way the caller goes on: it reads what was counted until now.
        let _ = self
            .changed
            .wait_timeout_while(threads, time, |threads| *threads > 0);
    }
}

fn measure(config: &Config) -> io::Result<Value> {
    let Program { threads } = &config.program;
    let total = config.program.thread_count();
    let clock = Clock::start();
    let mut names = Names::of(&config.program);
    // This thread opens the start line when all the others have come to it.
    let start_line = Arc::new(Barrier::new(total as u32 + 1));
    let unfinished = Arc::new(Unfinished {
        threads: Mutex::new(total),
        changed: Condvar::new(),
    });
    let counts: Vec<Arc<Counts>> = threads.iter().map(|_| Arc::default()).collect();
    for (thread, counts) in threads.iter().zip(&counts) {
        for _ in 0..thread.copies {
            let mut steps = names.steps(&thread.actions);
            let (nice, loops) = (thread.nice, thread.loops);
            let (start_line, unfinished) = (Arc::clone(&start_line), Arc::clone(&unfinished));
            let counts = Arc::clone(counts);
            Builder::new().name(thread.name.clone()).spawn(move || {
                if let Err(err) = set_nice(nice) {
                    eprintln!("phases: {err}");
                    std::process::exit(1);
                }
                start_line.wait(clock);
                let actor = Actor {
                    clock,
                    start_ns: clock.now_ns(),
                    counts,
                };
                actor.act(&mut steps, loops);
                unfinished.one_less();
            })?;
        }
    }
    start_line.wait(clock);
    let started = Instant::now();
    unfinished.wait(Duration::from_secs(config.seconds));
    let elapsed = started.elapsed();
    let found: Vec<Value> = threads
        .iter()
        .zip(&counts)
        .map(|(thread, counts)| thread_json(thread, counts))
        .collect();
    Ok(json!({
        "phases": FORMAT,
        "version": version_line("phases"),
        "elapsed_us": elapsed.as_micros() as u64,
        "threads": found,
    }))
}

/// Of this thread alone.
fn set_nice(nice: i8) -> Result<(), CallError> {
    if nice == 0 {
        return Ok(());
    }
    // SAFETY: setpriority has no preconditions; 0 is the calling thread on Linux.
    match unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice.into()) } {
        0 => Ok(()),
        _ => Err(CallError::from_io(
            "setpriority",
            &io::Error::last_os_error(),
        )),
    }
}

/// What the copies of one thread counted together. What has no samples is left out.
fn thread_json(thread: &PhaseThread, counts: &Counts) -> Value {
    let mut value = json!({
        "name": thread.name,
        "copies": thread.copies,
        "loops": counts.loops.load(Ordering::Relaxed),
        "timer_misses": counts.timer_misses.load(Ordering::Relaxed),
    });
    for (key, recorder) in [
        ("wakeup_latency_us", &counts.wakeup_ns),
        ("timer_slack_us", &counts.slack_ns),
    ] {
        if let Some(found) = distribution(recorder) {
            value[key] = found;
        }
    }
    value
}

/// Microseconds of recorded nanoseconds.
fn distribution(recorder: &Recorder) -> Option<Value> {
    let mut histogram = Histogram::default();
    recorder.add_to(&mut histogram);
    let us = |ns: u64| ns as f64 / 1000.0;
    let (min, max) = (us(histogram.min()?), us(histogram.max()?));
    let rows = histogram.percentiles(&[50.0, 99.0]);
    let [median, tail] = rows.as_slice() else {
        return None;
    };
    Some(json!({
        "samples": histogram.total(),
        "min": min,
        "p50": us(median.value),
        "p99": us(tail.value),
        "max": max,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_recorded_is_left_out() {
        let thread = PhaseThread {
            name: "a".into(),
            copies: 1,
            nice: 0,
            loops: None,
            actions: Vec::new(),
        };
        let counts = Counts::default();
        counts.wakeup_ns.record(1500);
        let value = thread_json(&thread, &counts);
        assert_eq!(value["wakeup_latency_us"]["max"], 1.5);
        assert!(value.get("timer_slack_us").is_none());
    }
}
