//! cyclictest of rt-tests: how late a timer wakes its thread.
//!
//! Text: one row for each thread, `T: 0 (PID) P:80 I:1000 C: 994 Min: 11 Act: 29 Avg: 49 Max: 3091`,
//! redrawn without `-q` (the last row of a thread counts); with a histogram only the `# Min Latencies`
//! lines. JSON, where the file or the output has it. Values of the threads: the least minimum, the
//! mean of the averages weighted by cycles, the largest maximum.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, json_objects, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, ParamDef, ParamError,
    ParamKind, Params, PreflightFinding, ToolDef, WorkloadDef,
};

/// Part of the cycles that a run of the asked length has at least: the slowest thread of a run has
/// intervals 500 us longer for each thread before it, so that only the first one is checked.
const LEAST_SHARE_OF_CYCLES: f64 = 0.5;

/// `Max:%8ld`: fewer characters at the end of an output mean that the number is cut.
const VALUE_WIDTH: usize = 8;

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |params, output| outcome(&DEF, read(params, output)),
    duration_ms,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "cyclictest",
    summary: "how late a timer wakes its thread",
    tool: Some(ToolDef {
        program: "cyclictest",
        package: Some("rt-tests"),
        version_args: &["--help"],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::count(
            "threads",
            1,
            None,
            "threads (-t); left out: the CPUs that may be used",
        ),
        ParamDef::count("seconds", 1, Some("10"), "how long to run (-D)").in_unit("s"),
        ParamDef::count("interval", 1, Some("1000"), "time between wake-ups (-i)").in_unit("us"),
        ParamDef::new(
            "priority",
            ParamKind::Count { min: 0, max: 99 },
            Some("0"),
            "SCHED_FIFO priority (-p); 0: the normal class",
        ),
        ParamDef::new(
            "affinity",
            ParamKind::Switch,
            Some("on"),
            "a thread on each CPU (-a)",
        ),
        ParamDef::new(
            "idle_states",
            ParamKind::Switch,
            Some("on"),
            "leave the idle states as they are (--default-system); `off`: held at 0 us by the tool",
        ),
    ],
    metrics: &[
        MetricDef::lower("latency-min", "us", "the least seen"),
        MetricDef::lower("latency-avg", "us", "mean over threads and cycles").primary(),
        MetricDef::lower("latency-max", "us", "the most seen")
            .over(Aggregate::Max)
            .primary(),
        MetricDef::counted("cycles", "count", "wake-ups of all threads"),
    ],
    simulated: "threads that sleep on timers: wake-up latency of the model; no real-time classes, no \
                interrupt or firmware delays",
};

fn command(
    params: &Params,
    implementation: Implementation,
    machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let cpus = u64::try_from(machine.usable().len()).unwrap_or(1).max(1);
    let threads = reader.count_or("threads", cpus)?;
    let seconds = reader.count("seconds")?;
    let interval = reader.count("interval")?;
    let priority = reader.count("priority")?;
    let mut args: Vec<String> = ["-q", "-t"].map(str::to_owned).into();
    args.push(threads.to_string());
    args.extend(["-D".to_owned(), seconds.to_string()]);
    args.extend(["-i".to_owned(), interval.to_string()]);
    args.extend(["-p".to_owned(), priority.to_string()]);
    if reader.switch("affinity")? {
        args.push("-a".to_owned());
    }
    if reader.switch("idle_states")? {
        args.push("--default-system".to_owned());
    }
    args.push("--json={dir}/cyclictest.json".to_owned());
    let mut command = Command::of("cyclictest", implementation, args);
    command.result_files = vec!["cyclictest.json".to_owned()];
    Ok((command, reader.finish()))
}

fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let threads = resolved_count(params, "threads").unwrap_or(1);
    let need = Need {
        who: format!("cyclictest with {threads} threads"),
        tasks: threads.saturating_add(1).saturating_mul(instances.into()),
        files: 32,
        ..Need::default()
    };
    check(&need, limits)
}

fn duration_ms(params: &Params) -> Option<u64> {
    resolved_count(params, "seconds")?.checked_mul(1000)
}

/// What one thread measured, in the unit of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Thread {
    cycles: f64,
    min: f64,
    avg: f64,
    max: f64,
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    if let Some(line) = lines.iter().find(|l| l.text.contains("# Break value:")) {
        return Err(Failure::Interrupted {
            message: excerpt(line.text.trim_start_matches(['#', ' '])),
        });
    }
    let mut run = Run::default();
    let mut threads = from_json(output, &mut run)?;
    if threads.is_empty() {
        threads = rows(&lines)?;
    }
    if threads.is_empty() {
        threads = summary(&lines)?;
    }
    if threads.is_empty() {
        let seen = lines
            .iter()
            .any(|l| l.text.contains("/dev/cpu_dma_latency set"));
        return Err(no_result(
            output,
            &lines,
            seen,
            "the row `T: 0 (PID) ...` of a thread",
        ));
    }
    if threads.iter().any(|t| t.cycles <= 0.0) {
        return Err(Failure::ZeroWork {
            message: "a thread has 0 cycles".to_owned(),
        });
    }
    if let Some(asked) = resolved_count(params, "threads").filter(|n| *n > threads.len() as u64) {
        return Err(Failure::Partial {
            message: format!("asked for {asked} threads, found {}", threads.len()),
        });
    }
    interrupted(params, &threads)?;
    let mut warnings = Vec::new();
    let scale = scale(&lines, &threads, &mut warnings);
    let cycles: f64 = threads.iter().map(|t| t.cycles).sum();
    let weighted: f64 = threads.iter().map(|t| t.avg * t.cycles).sum();
    let least = threads.iter().map(|t| t.min).fold(f64::INFINITY, f64::min);
    let most = threads.iter().map(|t| t.max).fold(0.0, f64::max);
    run.push("latency-min", least * scale);
    run.push("latency-avg", weighted / cycles * scale);
    run.push("latency-max", most * scale);
    run.push("cycles", cycles);
    run.says("threads", threads.len());
    Ok((vec![run], warnings))
}

/// A run that SIGTERM ended looks like any other, with fewer cycles.
fn interrupted(params: &Params, threads: &[Thread]) -> Result<(), Failure> {
    let (Some(seconds), Some(interval), Some(first)) = (
        resolved_count(params, "seconds"),
        resolved_count(params, "interval"),
        threads.first(),
    ) else {
        return Ok(());
    };
    let asked = seconds as f64 * 1e6 / interval as f64;
    if first.cycles < asked * LEAST_SHARE_OF_CYCLES {
        return Err(Failure::Interrupted {
            message: format!("thread 0 has {} cycles of {asked}", first.cycles),
        });
    }
    Ok(())
}

/// Factor to microseconds: `-N` prints nanoseconds and says so nowhere in the rows. The command line
/// in the JSON says it; without it, a minimum of 10 000 or more in every thread is taken for them.
fn scale(lines: &[Line], threads: &[Thread], warnings: &mut Vec<String>) -> f64 {
    let stated = lines
        .iter()
        .any(|l| l.text.contains("\"cmdline:\"") && nanoseconds(&l.text));
    let large = threads.iter().all(|t| t.min >= 10_000.0);
    if stated {
        return 1e-3;
    }
    if large {
        warnings.push("minima of 10000 or more: read as nanoseconds (-N)".to_owned());
        return 1e-3;
    }
    1.0
}

fn nanoseconds(command: &str) -> bool {
    command
        .split([' ', '"'])
        .any(|w| w == "-N" || w == "--nsecs")
}

fn rows(lines: &[Line]) -> Result<Vec<Thread>, Failure> {
    let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
    for line in lines {
        let text = line.text.trim();
        let cut = line.cut && (!threads.is_empty() || text.starts_with("T:"));
        let value_width = text.rsplit_once("Max:").map_or(0, |(_, v)| v.len());
        if cut && value_width < VALUE_WIDTH && !text.starts_with('#') {
            return Err(Failure::Partial {
                message: "the output ends within the row of a thread".to_owned(),
            });
        }
        let Some(rest) = text.strip_prefix("T:") else {
            continue;
        };
        let index = rest.split_whitespace().next().and_then(|w| w.parse().ok());
        let value = |key: &str| word_after(text, key);
        let (Some(index), Some(cycles), Some(min), Some(avg), Some(max)) = (
            index,
            value("C:"),
            value("Min:"),
            value("Avg:"),
            value("Max:"),
        ) else {
            return Err(unreadable(
                line,
                "`T: N (PID) P:PRIO I:INTERVAL C:CYCLES Min:A Act:B Avg:C Max:D`",
            ));
        };
        let thread = Thread {
            cycles: finite("cycles", cycles, line)?,
            min: finite("latency-min", min, line)?,
            avg: finite("latency-avg", avg, line)?,
            max: finite("latency-max", max, line)?,
        };
        threads.insert(index, thread);
    }
    Ok(threads.into_values().collect())
}

/// With `-h` the rows are absent and these lines have a column for each thread.
fn summary(lines: &[Line]) -> Result<Vec<Thread>, Failure> {
    let columns = |key: &str| -> Result<Vec<f64>, Failure> {
        let Some(line) = lines.iter().find(|l| l.text.starts_with(key)) else {
            return Ok(Vec::new());
        };
        line.text[key.len()..]
            .split_whitespace()
            // `%05lu`.
            .filter(|w| !line.cut || w.len() >= 5)
            .map(|w| finite(key.trim_matches(['#', ' ', ':']), w, line))
            .collect()
    };
    let min = columns("# Min Latencies:")?;
    let avg = columns("# Avg Latencies:")?;
    let max = columns("# Max Latencies:")?;
    let total = columns("# Total:")?;
    let overflow = columns("# Histogram Overflows:")?;
    if min.is_empty() {
        return Ok(Vec::new());
    }
    if [&avg, &max, &total, &overflow]
        .iter()
        .any(|c| c.len() != min.len())
    {
        return Err(Failure::Partial {
            message: "the summary of the histogram is not whole".to_owned(),
        });
    }
    Ok((0..min.len())
        .map(|i| Thread {
            cycles: total[i] + overflow[i],
            min: min[i],
            avg: avg[i],
            max: max[i],
        })
        .collect())
}

/// The JSON file; two of its keys have a colon inside.
fn from_json(output: &Captured<'_>, run: &mut Run) -> Result<Vec<Thread>, Failure> {
    let texts = output.files.values().map(String::as_str);
    let texts = texts.chain([output.stdout, output.stderr]);
    let Some(object) = texts
        .flat_map(json_objects)
        .find(|v| v.get("thread").is_some())
    else {
        return Ok(Vec::new());
    };
    let either = |key: &str| {
        object
            .get(format!("{key}:"))
            .or_else(|| object.get(key))
            .and_then(Value::as_str)
    };
    if let Some(version) = either("rt_test_version") {
        run.says("version", version);
    }
    if let Some(code) = object
        .get("return_code")
        .and_then(Value::as_i64)
        .filter(|c| *c != 0)
    {
        return Err(Failure::ToolError {
            message: format!("return_code {code} in the JSON object"),
        });
    }
    let factor = if either("cmdline").is_some_and(nanoseconds) {
        1e-3
    } else {
        1.0
    };
    let Some(Value::Object(threads)) = object.get("thread") else {
        return Ok(Vec::new());
    };
    threads
        .iter()
        .map(|(index, thread)| {
            let value = |key: &str| {
                thread
                    .get(key)
                    .and_then(Value::as_f64)
                    .ok_or_else(|| Failure::Partial {
                        message: format!("thread {index} of the JSON object has no number `{key}`"),
                    })
            };
            Ok(Thread {
                cycles: value("cycles")?,
                min: value("min")? * factor,
                avg: value("avg")? * factor,
                max: value("max")? * factor,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;

    const ROW: &str =
        "T: 0 (28715) P:80 I:1000 C:    994 Min:     11 Act:   29 Avg:   49 Max:    3091\n";

    #[test]
    fn the_last_row_of_a_thread_counts() {
        let drawn = format!("{}\u{1b}[3A{ROW}", ROW.replace("3091", "70"));
        let (runs, _) = read(&Params::default(), &Captured::from_stdout(&drawn)).unwrap();
        assert_eq!(runs[0].values[2], ("latency-max".to_owned(), 3091.0));
    }

    #[test]
    fn a_run_with_too_few_cycles_was_interrupted() {
        let asked = Params(
            [
                ("seconds".to_owned(), ParamValue::Int(10)),
                ("interval".to_owned(), ParamValue::Int(1000)),
            ]
            .into(),
        );
        let failure = read(&asked, &Captured::from_stdout(ROW)).unwrap_err();
        assert!(matches!(failure, Failure::Interrupted { .. }), "{failure}");
    }

    #[test]
    fn a_thread_that_never_woke_is_zero_work() {
        let never = ROW.replace("C:    994", "C:      0");
        let failure = read(&Params::default(), &Captured::from_stdout(&never)).unwrap_err();
        assert!(matches!(failure, Failure::ZeroWork { .. }), "{failure}");
    }
}
