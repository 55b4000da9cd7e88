//! What the tool would have printed, so that the project's own readers take it.

use schedrig_model::workload::Params;

use super::meter::Meter;
use super::start::{Played, count, word};
use crate::sim::Sim;
use crate::time::{Ns, SEC};

/// Both streams of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    pub stdout: String,
    pub stderr: String,
    /// The run was longer than was simulated: how its result was prolonged.
    pub prolonged: Option<String>,
}

fn seconds(ns: Ns) -> f64 {
    ns as f64 / SEC as f64
}

/// The output of an instance; `half` is what it had done half way of the simulated time, and when.
pub(crate) fn print(
    sim: &Sim,
    workload: &str,
    params: &Params,
    played: &Played,
    half: (Ns, u64),
) -> Printed {
    let meter = &sim.meters[played.meter];
    match workload {
        "hackbench" => hackbench(sim.now, params, meter, half),
        "netperf" => netperf(sim.now, params, meter),
        "schbench" => schbench(sim.now, meter),
        _ => stream(params, meter),
    }
}

fn hackbench(now: Ns, params: &Params, meter: &Meter, half: (Ns, u64)) -> Printed {
    let groups = count(params, "groups").unwrap_or(10);
    let fds = count(params, "fds").unwrap_or(20);
    let loops = count(params, "loops").unwrap_or(100);
    let size = count(params, "size").unwrap_or(100);
    let mode = if word(params, "mode") == Some("thread") {
        "threaded"
    } else {
        "process"
    };
    let mut printed = Printed::default();
    let started = meter.started.unwrap_or(now);
    let time = match meter.finished {
        Some(finished) => Some(seconds(finished - started)),
        None => {
            let (done, took) = (meter.ops.saturating_sub(half.1), now.saturating_sub(half.0));
            let left = meter.ops_total.saturating_sub(meter.ops);
            printed.prolonged = Some(format!(
                "simulated {:.3} s and {} of {} messages; the rate of the second half was taken \
                 for the rest",
                seconds(now - started),
                meter.ops,
                meter.ops_total
            ));
            (done > 0).then(|| seconds(now - started) + left as f64 * seconds(took) / done as f64)
        }
    };
    printed.stdout = format!(
        "Running in {mode} mode with {groups} groups using {} file descriptors each (== {} tasks)\n\
         Each sender will pass {loops} messages of {size} bytes\n",
        2 * fds,
        2 * fds * groups
    );
    if let Some(time) = time {
        printed.stdout += &format!("Time: {time:.3}\n");
    }
    printed
}

fn netperf(now: Ns, params: &Params, meter: &Meter) -> Printed {
    let test = match word(params, "test") {
        Some("UDP_RR") => "UDP",
        _ => "TCP",
    };
    let started = meter.started.unwrap_or(now);
    let elapsed = seconds(meter.finished.unwrap_or(now) - started);
    let rate = meter.ops as f64 / elapsed.max(1e-9);
    // The tool states what it was asked to run; the time simulated is in the record.
    let asked = count(params, "seconds").unwrap_or(10);
    Printed {
        stdout: format!(
            "MIGRATED {test} REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to \
             127.0.0.1 () port 0 AF_INET : demo : first burst 0\n\
             THROUGHPUT={rate:.2}\nTHROUGHPUT_UNITS=Trans/s\nELAPSED_TIME={asked}.00\n"
        ),
        ..Printed::default()
    }
}

fn percentile(sorted: &[Ns], permille: usize) -> Ns {
    if sorted.is_empty() {
        return 0;
    }
    let at = (sorted.len() * permille)
        .div_ceil(1000)
        .clamp(1, sorted.len());
    sorted[at - 1]
}

fn schbench(now: Ns, meter: &Meter) -> Printed {
    use std::fmt::Write as _;
    let ran = now.saturating_sub(meter.started.unwrap_or(now));
    let whole = ran / SEC;
    let mut text = String::new();
    for (title, samples) in [("Wakeup", &meter.wake_ns), ("Request", &meter.request_ns)] {
        let mut sorted = samples.clone();
        sorted.sort_unstable();
        let _ = writeln!(
            text,
            "{title} Latencies percentiles (usec) runtime {whole} (s) ({} total samples)",
            sorted.len()
        );
        for (label, permille, star) in [
            ("50.0", 500, ' '),
            ("90.0", 900, ' '),
            ("99.0", 990, '*'),
            ("99.9", 999, ' '),
        ] {
            let value = percentile(&sorted, permille) / 1000;
            let within = sorted.len() * permille / 1000;
            let _ = writeln!(text, "\t{star} {label}th: {value:<10} ({within} samples)");
        }
        let (min, max) = (sorted.first().unwrap_or(&0), sorted.last().unwrap_or(&0));
        let _ = writeln!(text, "\t  min={}, max={}", min / 1000, max / 1000);
    }
    let rps = meter.ops as f64 / seconds(ran).max(1e-9);
    let _ = writeln!(
        text,
        "RPS percentiles (requests) runtime {whole} (s) (1 total samples)"
    );
    for (label, star) in [("20.0", ' '), ("50.0", '*'), ("90.0", ' ')] {
        let _ = writeln!(text, "\t{star} {label}th: {:<10} (1 samples)", rps as u64);
    }
    let _ = writeln!(text, "\t  min={0}, max={0}", rps as u64);
    let _ = writeln!(text, "average rps: {rps:.2}");
    Printed {
        stderr: text,
        ..Printed::default()
    }
}

fn stream(params: &Params, meter: &Meter) -> Printed {
    use std::fmt::Write as _;
    let elements = count(params, "elements").unwrap_or(10_000_000);
    let mut text = format!(
        "-------------------------------------------------------------\n\
         STREAM version $Revision: 5.10 $\n\
         -------------------------------------------------------------\n\
         This system uses 8 bytes per array element.\n\
         -------------------------------------------------------------\n\
         Array size = {elements} (elements), Offset = 0 (elements)\n"
    );
    if let Some(threads) = count(params, "threads") {
        let _ = writeln!(text, "Number of Threads requested = {threads}");
        let _ = writeln!(text, "Number of Threads counted = {threads}");
    }
    let micros = meter.kernel_ns[0].unwrap_or(0) / 1000;
    let _ = writeln!(
        text,
        "Each test below will take on the order of {micros} microseconds."
    );
    let _ = writeln!(text, "   (= {micros} clock ticks)");
    let _ = writeln!(
        text,
        "Function    Best Rate MB/s  Avg time     Min time     Max time"
    );
    for (at, name) in ["Copy:", "Scale:", "Add:", "Triad:"]
        .into_iter()
        .enumerate()
    {
        let Some(best) = meter.kernel_ns[at].filter(|ns| *ns > 0) else {
            return Printed {
                stdout: text,
                ..Printed::default()
            };
        };
        let rate = (elements * super::stream::BYTES[at]) as f64 / best as f64 * 1000.0;
        let time = seconds(best);
        let _ = writeln!(
            text,
            "{name:<12}{rate:>11.1}  {time:>11.6}  {time:>11.6}  {time:>11.6}"
        );
    }
    text.push_str("Solution Validates: avg error less than 1.000000e-13 on all three arrays\n");
    Printed {
        stdout: text,
        ..Printed::default()
    }
}
