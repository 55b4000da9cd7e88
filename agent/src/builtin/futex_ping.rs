//! Pairs of threads that wake each other through a futex, in turns. The output has the grammar of
//! `perf bench futex`, whose benchmarks have no ping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::builtin::clock::sleep;
use crate::builtin::dispatch::version_line;
use crate::builtin::options::{self, OptionError, Spec};
use crate::builtin::parker::Parker;

const USAGE: &str = "\
usage: futex [options]
\t-t (--threads): pairs of threads (def: 1)
\t-r (--runtime): how long to run (seconds, def: 10)
\t--version: print the version
";

const SPECS: &[Spec] = &[
    Spec::value('t', "threads"),
    Spec::value('r', "runtime"),
    Spec::switch('h', "help"),
    Spec::long("version", false),
];

/// The most pairs, and the most seconds (a year).
const MAX_PAIRS: u64 = 50_000;
const MAX_SECONDS: u64 = 31_536_000;

/// What the command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Run { pairs: u64, seconds: u64 },
    Help,
    Version,
}

fn parse(args: &[String]) -> Result<Request, OptionError> {
    let (mut pairs, mut seconds) = (1, 10);
    for option in &options::parse(args, SPECS)?.options {
        let within = |most, expected| {
            let value = option.count(1, expected)?;
            (value <= most)
                .then_some(value)
                .ok_or_else(|| option.bad(expected))
        };
        match option.key {
            "threads" => pairs = within(MAX_PAIRS, "a whole number from 1 to 50000")?,
            "runtime" => seconds = within(MAX_SECONDS, "whole seconds from 1 to a year")?,
            "help" => return Ok(Request::Help),
            _ => return Ok(Request::Version),
        }
    }
    Ok(Request::Run { pairs, seconds })
}

/// Runs the futex ping and returns its exit status.
pub(super) fn run(args: &[String]) -> i32 {
    match parse(args) {
        Ok(Request::Run { pairs, seconds }) => measure(pairs, seconds),
        Ok(Request::Help) => {
            print!("{USAGE}");
            0
        }
        Ok(Request::Version) => {
            println!("{}", version_line("futex"));
            0
        }
        Err(err) => {
            eprint!("futex: {err}\n{USAGE}");
            1
        }
    }
}

/// Two threads and the rounds they made.
#[derive(Debug, Default)]
struct Pair {
    ping: Parker,
    pong: Parker,
    rounds: AtomicU64,
}

fn measure(pairs: u64, seconds: u64) -> i32 {
    let stop = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::new();
    let all: Vec<Arc<Pair>> = (0..pairs).map(|_| Arc::default()).collect();
    for pair in &all {
        if let Err(err) = start(pair, &stop, &mut threads) {
            eprintln!("futex: unable to start a thread: {err}");
            // The others still wake each other.
            std::process::exit(1);
        }
    }
    let started = Instant::now();
    let before: Vec<u64> = rounds(&all);
    sleep(Duration::from_secs(seconds));
    let after: Vec<u64> = rounds(&all);
    let elapsed = started.elapsed().as_secs_f64();
    stop.store(true, Ordering::Release);
    for thread in threads {
        if thread.join().is_err() {
            eprintln!("futex: a thread panicked");
            return 1;
        }
    }
    let rates: Vec<f64> = before
        .iter()
        .zip(&after)
        .map(|(before, after)| (after - before) as f64 / elapsed)
        .collect();
    print!("{}", report(std::process::id(), seconds, &rates));
    0
}

fn rounds(pairs: &[Arc<Pair>]) -> Vec<u64> {
    pairs
        .iter()
        .map(|pair| pair.rounds.load(Ordering::Relaxed))
        .collect()
}

fn start(
    pair: &Arc<Pair>,
    stop: &Arc<AtomicBool>,
    threads: &mut Vec<JoinHandle<()>>,
) -> std::io::Result<()> {
    let (ping, flag) = (Arc::clone(pair), Arc::clone(stop));
    threads.push(
        Builder::new()
            .name("futex-ping".to_owned())
            .spawn(move || {
                while !flag.load(Ordering::Acquire) {
                    ping.pong.post();
                    ping.ping.wait();
                    ping.rounds.fetch_add(1, Ordering::Relaxed);
                }
                // The other one waits for its turn.
                ping.pong.post();
            })?,
    );
    let (pong, flag) = (Arc::clone(pair), Arc::clone(stop));
    threads.push(
        Builder::new()
            .name("futex-pong".to_owned())
            .spawn(move || {
                while !flag.load(Ordering::Acquire) {
                    pong.pong.wait();
                    pong.ping.post();
                }
                pong.ping.post();
            })?,
    );
    Ok(())
}

/// The text of a run; `rates` are round trips per second of each pair.
fn report(pid: u32, seconds: u64, rates: &[f64]) -> String {
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    // As perf prints it: the standard error of the mean in percent of it, 0 for one pair.
    let spread = if rates.len() > 1 && mean > 0.0 {
        100.0 * (squares / (count - 1.0) / count).sqrt() / mean
    } else {
        0.0
    };
    let mut text = format!(
        "# Running 'futex/ping' benchmark:\n\
         Run summary [PID {pid}]: {} pairs waking each other for {seconds} secs.\n\n",
        rates.len()
    );
    for (at, rate) in rates.iter().enumerate() {
        text.push_str(&format!("[pair {at:>2}] [ {rate:.0} ops/sec ]\n"));
    }
    text.push_str(&format!(
        "\nAveraged {mean:.0} operations/sec (+- {spread:.2}%), total secs = {seconds}\n"
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_reads_like_perf_bench() {
        assert_eq!(
            report(7, 2, &[90.0, 110.0]),
            "# Running 'futex/ping' benchmark:\n\
             Run summary [PID 7]: 2 pairs waking each other for 2 secs.\n\n\
             [pair  0] [ 90 ops/sec ]\n[pair  1] [ 110 ops/sec ]\n\n\
             Averaged 100 operations/sec (+- 10.00%), total secs = 2\n"
        );
    }

    #[test]
    fn the_command_line_is_perfs() {
        let read = |words: &[&str]| {
            let args: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            parse(&args)
        };
        assert_eq!(
            read(&["-t", "3", "-r", "4"]),
            Ok(Request::Run {
                pairs: 3,
                seconds: 4
            })
        );
        assert!(read(&["-t", "0"]).is_err());
        assert!(read(&["-r", "x"]).is_err());
    }
}
