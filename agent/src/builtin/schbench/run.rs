//! A run from its command line to its last line.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schedrig_model::id::CpuId;

use crate::builtin::affinity;
use crate::builtin::clock::Clock;
use crate::builtin::dispatch::version_line;
use crate::builtin::errno::CallError;
use crate::builtin::histogram::Histogram;

use super::args::{self, Config, JsonTo, Request, USAGE};
use super::group::{Group, Shared};
use super::pin::Pins;
use super::report::{self, Circumstances, LATENCY_ROWS, PIPE_ROWS, RPS_ROWS};
use super::work::{CpuLocks, Work, shared_part};

const SECOND_NS: u64 = 1_000_000_000;

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Call(#[from] CallError),
    /// The wording is the tool's.
    #[error("error {} from pthread_create", .0.raw_os_error().unwrap_or(0))]
    Thread(#[source] io::Error),
    #[error("unable to open `{path}` for the JSON (error: {source})")]
    JsonFile {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("unable to write the JSON (error: {0})")]
    JsonWrite(#[source] io::Error),
    #[error("a thread panicked")]
    Panicked,
}

/// Runs schbench and returns its exit status.
pub(in crate::builtin) fn run(args: &[String]) -> i32 {
    let config = match args::parse(args) {
        Ok(Request::Run(config)) => config,
        Ok(Request::Help) => {
            eprint!("{}\n{USAGE}", version_line("schbench"));
            return 1;
        }
        Ok(Request::Version) => {
            println!("{}", version_line("schbench"));
            return 0;
        }
        Err(err) => {
            eprint!("schbench: {err}\n{USAGE}");
            return 1;
        }
    };
    let cmdline = format!("schbench {}", args.join(" "));
    match Run::start(&config).and_then(|run| run.measure(&config, cmdline)) {
        Ok(()) => 0,
        Err(err) => {
            eprintln!("{err}");
            1
        }
    }
}

/// A run that is under way.
struct Run {
    shared: Arc<Shared>,
    groups: Vec<Arc<Group>>,
    threads: Vec<JoinHandle<()>>,
    json: Option<Box<dyn io::Write>>,
}

/// What has been counted since the statistics were zeroed last.
struct Since {
    at_ns: u64,
    /// Requests per second, one value for each second.
    rps: Histogram,
    /// When the last of them was taken, and the requests by then.
    sampled_ns: u64,
    sampled: u64,
}

impl Run {
    fn start(config: &Config) -> Result<Self, RunError> {
        let json = open_json(config)?;
        let pins = Pins::choose(config, &affinity::allowed()?);
        let cpus = affinity::configured_cpus()?;
        let workers = config.workers.unwrap_or_else(|| {
            eprintln!("setting worker threads to {cpus}");
            cpus
        });
        let shared = Arc::new(Shared {
            clock: Clock::start(),
            stop: AtomicBool::new(false),
            locks: CpuLocks::new(cpus),
            locking: config.think.locking,
            calibrate: config.calibrate,
            sleep: Duration::from_micros(config.think.sleep_us),
            rps: config.rps.div_ceil(config.message_threads as u64),
            pipe_bytes: config.pipe_bytes,
        });
        let mut run = Self {
            shared,
            groups: Vec::new(),
            threads: Vec::new(),
            json,
        };
        let common = shared_part(&config.think);
        for index in 0..config.message_threads {
            let group = Arc::new(Group::new(workers));
            run.groups.push(Arc::clone(&group));
            let (g, s) = (Arc::clone(&group), Arc::clone(&run.shared));
            run.spawn("schbench-msg", pins.message(index), move || {
                g.message_thread(&s);
            })?;
            for worker in 0..workers {
                let (g, s) = (Arc::clone(&group), Arc::clone(&run.shared));
                let think = config.think.clone();
                let common = common.clone();
                let cpu = pins.worker(index * workers + worker);
                run.spawn("schbench-worker", cpu, move || {
                    g.worker_thread(worker, &Work::new(&think, common), &s);
                })?;
            }
        }
        Ok(run)
    }

    /// Starts a thread; one that cannot be pinned ends the process, since its result would be that
    /// of another placement.
    fn spawn(
        &mut self,
        name: &str,
        cpu: Option<CpuId>,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), RunError> {
        let thread = Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                if let Some(Err(err)) = cpu.map(affinity::pin_to) {
                    eprintln!("{err}");
                    std::process::exit(1);
                }
                body();
            })
            .map_err(RunError::Thread)?;
        self.threads.push(thread);
        Ok(())
    }

    fn measure(mut self, config: &Config, cmdline: String) -> Result<(), RunError> {
        let clock = self.shared.clock;
        let started = clock.now_ns();
        let mut since = Since {
            at_ns: started,
            rps: Histogram::default(),
            sampled_ns: started,
            sampled: 0,
        };
        for second in 1..=config.runtime_s {
            clock.sleep_until(started + second * SECOND_NS);
            let current = self.sample(&mut since);
            if second == config.runtime_s {
                break;
            }
            let zero = config.zero_s > 0 && second % config.zero_s == 0;
            if second == config.warmup_s {
                eprintln!("warmup done, zeroing stats");
                self.zero(&mut since);
            } else if zero {
                self.zero(&mut since);
            }
            if second % config.interval_s == 0 {
                self.print(config, second, &since);
                self.print_sched_delay();
                eprintln!("current rps: {current:.2}");
            }
        }
        let measured_s = clock.now_ns().saturating_sub(since.at_ns) as f64 / SECOND_NS as f64;
        let requests = self.requests();
        // The threads are still there: later their delays cannot be read.
        let delay = self.sched_delay();
        self.stop()?;
        self.print(config, config.runtime_s, &since);
        let rate = requests as f64 / measured_s;
        if config.pipe_bytes > 0 {
            let bytes = report::transfer_rate(rate * config.pipe_bytes as f64);
            eprintln!("avg worker transfer: {rate:.2} ops/sec {bytes}");
        } else {
            eprintln!("average rps: {rate:.2}");
        }
        print_delay(delay);
        self.write_json(config, cmdline, &since)
    }

    /// Takes the requests per second since the last sample.
    fn sample(&self, since: &mut Since) -> f64 {
        let (now, requests) = (self.shared.clock.now_ns(), self.requests());
        let seconds = now.saturating_sub(since.sampled_ns) as f64 / SECOND_NS as f64;
        let rate = requests.saturating_sub(since.sampled) as f64 / seconds;
        since.rps.record(rate as u64);
        (since.sampled_ns, since.sampled) = (now, requests);
        rate
    }

    fn requests(&self) -> u64 {
        let workers = self.groups.iter().flat_map(|g| &g.workers);
        workers.map(|w| w.requests.load(Ordering::Relaxed)).sum()
    }

    fn zero(&self, since: &mut Since) {
        for worker in self.groups.iter().flat_map(|g| &g.workers) {
            worker.wakeup_us.reset();
            worker.request_us.reset();
            worker.requests.store(0, Ordering::Relaxed);
        }
        let now = self.shared.clock.now_ns();
        *since = Since {
            at_ns: now,
            rps: Histogram::default(),
            sampled_ns: now,
            sampled: 0,
        };
    }

    fn latencies(&self) -> (Histogram, Histogram) {
        let (mut wakeups, mut requests) = (Histogram::default(), Histogram::default());
        for worker in self.groups.iter().flat_map(|g| &g.workers) {
            worker.wakeup_us.add_to(&mut wakeups);
            worker.request_us.add_to(&mut requests);
        }
        (wakeups, requests)
    }

    fn print(&self, config: &Config, runtime_s: u64, since: &Since) {
        let (wakeups, requests) = self.latencies();
        if config.pipe_bytes > 0 {
            eprint!(
                "{}",
                report::block("Wakeup", runtime_s, &wakeups, &PIPE_ROWS)
            );
            return;
        }
        eprint!(
            "{}{}{}",
            report::block("Wakeup", runtime_s, &wakeups, &LATENCY_ROWS),
            report::block("Request", runtime_s, &requests, &LATENCY_ROWS),
            report::block("RPS", runtime_s, &since.rps, &RPS_ROWS),
        );
    }

    fn stop(&mut self) -> Result<(), RunError> {
        self.shared.stop.store(true, Ordering::Release);
        for group in &self.groups {
            group.notify();
        }
        for thread in self.threads.drain(..) {
            thread.join().map_err(|_| RunError::Panicked)?;
        }
        Ok(())
    }

    /// Mean time a thread waited for a CPU before it ran, microseconds: message threads, workers.
    /// `None` where the kernel does not say.
    fn sched_delay(&self) -> Option<(u64, u64)> {
        let messages: Vec<&AtomicI32> = self.groups.iter().map(|g| &g.tid).collect();
        let workers: Vec<&AtomicI32> = self
            .groups
            .iter()
            .flat_map(|g| g.workers.iter().map(|w| &w.tid))
            .collect();
        Some((mean_delay_us(&messages)?, mean_delay_us(&workers)?))
    }

    fn print_sched_delay(&self) {
        print_delay(self.sched_delay());
    }

    fn write_json(
        &mut self,
        config: &Config,
        cmdline: String,
        since: &Since,
    ) -> Result<(), RunError> {
        let (wakeups, requests) = self.latencies();
        let Some(out) = &mut self.json else {
            return Ok(());
        };
        let facts = circumstances(config, cmdline);
        let text = report::json(
            &facts,
            config.runtime_s,
            &[
                ("wakeup_latency", &wakeups),
                ("request_latency", &requests),
                ("rps", &since.rps),
            ],
        );
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(RunError::JsonWrite)
    }
}

/// Opens the file before the run: half an hour later is too late to learn that it cannot be written.
fn open_json(config: &Config) -> Result<Option<Box<dyn io::Write>>, RunError> {
    Ok(match &config.json {
        None => None,
        Some(JsonTo::Stdout) => Some(Box::new(io::stdout())),
        Some(JsonTo::File(path)) => {
            let file = File::create(path).map_err(|source| RunError::JsonFile {
                path: path.clone(),
                source,
            })?;
            Some(Box::new(file))
        }
    })
}

fn circumstances(config: &Config, cmdline: String) -> Circumstances {
    let names = nix::sys::utsname::uname().ok();
    let name = |part: Option<&std::ffi::OsStr>| {
        part.map_or_else(
            || "unknown".to_owned(),
            |n| n.to_string_lossy().into_owned(),
        )
    };
    Circumstances {
        kernel: name(names.as_ref().map(|n| n.release())),
        job_name: config.job_name.clone(),
        hostname: name(names.as_ref().map(|n| n.nodename())),
        sched_ext: fs::read_to_string("/sys/kernel/sched_ext/state")
            .map_or_else(|_| "disabled".to_owned(), |state| state.trim().to_owned()),
        cmdline,
        time: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    }
}

fn print_delay(delay: Option<(u64, u64)>) {
    if let Some((message, worker)) = delay {
        eprintln!("sched delay: message {message} (usec) worker {worker} (usec)");
    }
}

/// From `/proc/self/task/TID/schedstat`: time on CPU, time waiting for one (both ns), time slices.
fn mean_delay_us(tids: &[&AtomicI32]) -> Option<u64> {
    let (mut delay_ns, mut slices) = (0_u64, 0_u64);
    for tid in tids {
        let tid = tid.load(Ordering::Relaxed);
        let text = fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
        let mut fields = text.split_whitespace().skip(1);
        delay_ns += fields.next()?.parse::<u64>().ok()?;
        slices += fields.next()?.parse::<u64>().ok()?;
    }
    (slices > 0).then(|| delay_ns / slices / 1000)
}
