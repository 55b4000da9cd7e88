//! schbench's command line.

use schedrig_model::cpuset::CpuSet;

use crate::builtin::options::{self, Given, OptionError, Spec};

/// Where threads may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// Anywhere.
    No,
    /// Chosen from the allowed CPUs: message threads get the first ones, workers the rest.
    Auto,
    /// One after the other from this list, again from its start when it is used up.
    List(CpuSet),
}

/// Where the JSON goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonTo {
    Stdout,
    File(String),
}

/// What a request does between its wake-up and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Think {
    /// Sleep before the computation, microseconds.
    pub(super) sleep_us: u64,
    /// Matrix multiplications.
    pub(super) operations: u64,
    /// Size of the matrices together, KiB.
    pub(super) footprint_kib: u64,
    /// Percent of the footprint each worker has to itself.
    pub(super) private_percent: u64,
    /// Compute for so long instead of multiplying (the old `-c`), microseconds.
    pub(super) spin_us: Option<u64>,
    /// Hold the lock of the CPU while computing.
    pub(super) locking: bool,
}

/// A run as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) message_threads: usize,
    /// Workers of each message thread; `None`: one for each CPU of the machine.
    pub(super) workers: Option<usize>,
    pub(super) runtime_s: u64,
    pub(super) warmup_s: u64,
    pub(super) interval_s: u64,
    /// Zero the statistics so often; 0: never.
    pub(super) zero_s: u64,
    /// Requests per second of all workers; 0: as many as they can.
    pub(super) rps: u64,
    /// Bytes passed with each wake-up instead of computing; 0: compute.
    pub(super) pipe_bytes: usize,
    pub(super) think: Think,
    /// Report the computation alone: no lock, no sleep in the request latency.
    pub(super) calibrate: bool,
    pub(super) message_cpus: Pin,
    pub(super) worker_cpus: Pin,
    pub(super) json: Option<JsonTo>,
    pub(super) job_name: Option<String>,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Run(Box<Config>),
    Help,
    Version,
}

pub(super) const USAGE: &str = "\
schbench usage:
\t-C (--calibrate): report on the computation alone
\t-L (--no-locking): take no CPU lock during the computation (def: locking on)
\t-m (--message-threads): number of message threads (def: 1)
\t-M (--message-cpus): pin message threads to these CPUs 'a-m,n-z' or 'auto' (def: no pinning)
\t-W (--worker-cpus): pin worker threads to these CPUs 'a-m,n-z' or 'auto' (def: no pinning)
\t-t (--threads): worker threads per message thread (def: number of CPUs)
\t-r (--runtime): how long to run (seconds, def: 30)
\t-F (--cache_footprint): cache footprint (KiB, def: 256)
\t-n (--operations): multiplications per request (def: 5)
\t-c (--cputime): compute for so long instead of multiplying (usec, def: multiply)
\t-s (--sleep_usec): sleep per request (usec, def: 100)
\t-p (--pipe): pass so many bytes with each wake-up and do not compute (def: 0)
\t-R (--rps): requests per second (def: 0, as many as possible)
\t-w (--warmuptime): forget what was measured until then (seconds, def: 0)
\t-i (--intervaltime): print latencies so often (seconds, def: 10)
\t-z (--zerotime): zero latencies so often (seconds, def: never)
\t-j (--json) <file>: JSON to a file, or to stdout with '-' (def: none)
\t-J (--jobname) <name>: a name for the JSON (def: none)
\t--split <percent>: percent of the footprint that is private per worker (def: 100)
\t--version: print the version
";

const SPECS: &[Spec] = &[
    Spec::switch('C', "calibrate"),
    Spec::switch('L', "no-locking"),
    Spec::value('m', "message-threads"),
    Spec::value('M', "message-cpus"),
    Spec::value('W', "worker-cpus"),
    Spec::value('t', "threads"),
    Spec::value('r', "runtime"),
    Spec::value('F', "cache_footprint"),
    Spec::value('n', "operations"),
    Spec::value('c', "cputime"),
    Spec::value('s', "sleep_usec"),
    Spec::value('A', "auto-rps"),
    Spec::value('p', "pipe"),
    Spec::value('R', "rps"),
    Spec::value('w', "warmuptime"),
    Spec::value('i', "intervaltime"),
    Spec::value('z', "zerotime"),
    Spec::value('j', "json"),
    Spec::value('J', "jobname"),
    Spec::long("split", true),
    Spec::switch('h', "help"),
    Spec::long("version", false),
];

/// The most threads of a kind.
const MAX_THREADS: u64 = 100_000;
/// The most seconds: a year.
const MAX_SECONDS: u64 = 31_536_000;
/// The largest footprint, KiB (1 GiB), and the most bytes passed with a wake-up.
const MAX_FOOTPRINT_KIB: u64 = 1 << 20;

/// Sleep before the computation when `-s` is not given, microseconds: the tool's.
const SLEEP_US: u64 = 100;

impl Default for Config {
    fn default() -> Self {
        Self {
            message_threads: 1,
            workers: None,
            runtime_s: 30,
            warmup_s: 0,
            interval_s: 10,
            zero_s: 0,
            rps: 0,
            pipe_bytes: 0,
            think: Think {
                sleep_us: SLEEP_US,
                operations: 5,
                footprint_kib: 256,
                private_percent: 100,
                spin_us: None,
                locking: true,
            },
            calibrate: false,
            message_cpus: Pin::No,
            worker_cpus: Pin::No,
            json: None,
            job_name: None,
        }
    }
}

/// Reads the command line.
pub(super) fn parse(args: &[String]) -> Result<Request, OptionError> {
    let line = options::parse(args, SPECS)?;
    let mut config = Config::default();
    for option in &line.options {
        match option.key {
            "help" => return Ok(Request::Help),
            "version" => return Ok(Request::Version),
            _ => apply(&mut config, option)?,
        }
    }
    if config.warmup_s >= config.runtime_s {
        return Err(OptionError::Value {
            key: "warmuptime",
            expected: "less than the runtime",
            found: config.warmup_s.to_string(),
        });
    }
    Ok(Request::Run(Box::new(config)))
}

fn apply(config: &mut Config, option: &Given) -> Result<(), OptionError> {
    let seconds = "whole seconds, at most a year";
    match option.key {
        "calibrate" => config.calibrate = true,
        "no-locking" => config.think.locking = false,
        "message-threads" => config.message_threads = threads(option)?,
        "threads" => config.workers = Some(threads(option)?),
        "message-cpus" => config.message_cpus = pin(option)?,
        "worker-cpus" => config.worker_cpus = pin(option)?,
        "runtime" => config.runtime_s = within(option, 1, MAX_SECONDS, seconds)?,
        "warmuptime" => config.warmup_s = within(option, 0, MAX_SECONDS, seconds)?,
        "intervaltime" => config.interval_s = within(option, 1, MAX_SECONDS, seconds)?,
        "zerotime" => config.zero_s = within(option, 0, MAX_SECONDS, seconds)?,
        "cache_footprint" => {
            let expected = "a whole number of KiB from 1 to 1048576";
            config.think.footprint_kib = within(option, 1, MAX_FOOTPRINT_KIB, expected)?;
        }
        "operations" => config.think.operations = option.count(0, "a whole number")?,
        "cputime" => {
            let expected = "a whole number of microseconds";
            config.think.spin_us = Some(within(option, 0, MAX_SECONDS * 1_000_000, expected)?);
        }
        "sleep_usec" => {
            let expected = "a whole number of microseconds";
            config.think.sleep_us = within(option, 0, MAX_SECONDS * 1_000_000, expected)?;
        }
        "pipe" => {
            let expected = "a whole number of bytes, at most 1 GiB";
            config.pipe_bytes = within(option, 0, MAX_FOOTPRINT_KIB * 1024, expected)? as usize;
        }
        "rps" => config.rps = within(option, 0, 1_000_000_000, "a whole number")?,
        "split" => {
            config.think.private_percent = within(option, 0, 100, "percent from 0 to 100")?;
        }
        "json" if option.value == "-" => config.json = Some(JsonTo::Stdout),
        "json" => config.json = Some(JsonTo::File(option.value.clone())),
        "jobname" => config.job_name = Some(option.value.clone()),
        _ => return Err(option.bad("nothing: the builtin cannot search for a rate, use --rps")),
    }
    Ok(())
}

fn threads(option: &Given) -> Result<usize, OptionError> {
    within(option, 1, MAX_THREADS, "a whole number from 1 to 100000").map(|n| n as usize)
}

fn within(
    option: &Given,
    least: u64,
    most: u64,
    expected: &'static str,
) -> Result<u64, OptionError> {
    let value = option.count(least, expected)?;
    (value <= most)
        .then_some(value)
        .ok_or_else(|| option.bad(expected))
}

fn pin(option: &Given) -> Result<Pin, OptionError> {
    if option.value == "auto" {
        return Ok(Pin::Auto);
    }
    CpuSet::parse_list(&option.value)
        .ok()
        .filter(|cpus| !cpus.is_empty())
        .map(Pin::List)
        .ok_or_else(|| option.bad("a CPU list as `0-3,8` or `auto`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Request, OptionError> {
        let args: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        parse(&args)
    }

    fn config(words: &[&str]) -> Config {
        match read(words) {
            Ok(Request::Run(config)) => *config,
            other => panic!("{words:?} gave {other:?}"),
        }
    }

    #[test]
    fn defaults_are_the_tools() {
        let plain = config(&[]);
        assert_eq!(plain, Config::default());
        assert_eq!((plain.message_threads, plain.workers), (1, None));
        assert_eq!((plain.runtime_s, plain.interval_s), (30, 10));
        assert_eq!(
            (plain.think.footprint_kib, plain.think.operations),
            (256, 5)
        );
    }

    #[test]
    fn letters_and_long_names_mean_the_same() {
        assert_eq!(
            config(&[
                "-m", "2", "-t", "3", "-r", "4", "-w", "1", "-i", "2", "-F", "64", "-n", "7", "-L",
                "-R", "50", "-j", "-", "-J", "job", "-M", "0", "-W", "1-2"
            ]),
            config(&[
                "--message-threads=2",
                "--threads=3",
                "--runtime=4",
                "--warmuptime=1",
                "--intervaltime=2",
                "--cache_footprint=64",
                "--operations=7",
                "--no-locking",
                "--rps=50",
                "--json=-",
                "--jobname=job",
                "--message-cpus=0",
                "--worker-cpus=1,2",
            ])
        );
    }

    #[test]
    fn the_old_compute_time_replaces_the_matrices() {
        assert_eq!(config(&["-c", "3000"]).think.spin_us, Some(3000));
    }

    #[test]
    fn values_the_tool_would_silently_replace_are_errors() {
        for words in [
            &["-t", "abc"][..],
            &["-t", "0"],
            &["-r", "0"],
            &["-W", "x"],
            &["-W", ""],
            &["--split", "101"],
            &["-r", "2", "-w", "2"],
            &["-A", "20"],
            &["-Q"],
        ] {
            assert!(read(words).is_err(), "{words:?}");
        }
    }
}
