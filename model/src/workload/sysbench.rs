//! sysbench: its cpu, threads, memory and mutex tests.

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count, resolved_word};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, ParamDef, ParamError,
    ParamKind, Params, PreflightFinding, ToolDef, WorkloadDef,
};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |params, output| outcome(&DEF, read(params, output)),
    duration_ms,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "sysbench",
    summary: "prime numbers on each CPU, or threads that take turns at a few mutexes",
    tool: Some(ToolDef {
        program: "sysbench",
        package: Some("sysbench"),
        version_args: &["--version"],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::new(
            "test",
            ParamKind::Choice(&["cpu", "threads", "memory", "mutex"]),
            Some("cpu"),
            "the test",
        ),
        ParamDef::count(
            "threads",
            1,
            None,
            "threads (--threads); left out: the CPUs that may be used",
        ),
        ParamDef::count("seconds", 1, Some("10"), "how long to run (--time)").in_unit("s"),
        ParamDef::new(
            "options",
            ParamKind::Words,
            None,
            "further arguments, as they stand",
        ),
    ],
    metrics: &[
        MetricDef::higher("events-rate", "1/s", "events per second").primary(),
        MetricDef::counted("events", "count", "events"),
        MetricDef::lower("total-time", "s", "from start to end").over(Aggregate::Max),
        MetricDef::higher(
            "transfer-rate",
            "MiB/s",
            "memory: what was moved per second",
        ),
        MetricDef::lower("latency-min", "ms", "the least time of an event"),
        MetricDef::lower("latency-avg", "ms", "mean time of an event"),
        MetricDef::lower("latency-max", "ms", "the most").over(Aggregate::Max),
        MetricDef::lower("latency-p95", "ms", "95th percentile of an event's time"),
        MetricDef::lower("latency-p99", "ms", "99th percentile, where asked for"),
    ],
    simulated: "cpu: threads that only run; threads: turns at mutexes with yields; no memory, no mutex",
};

fn command(
    params: &Params,
    implementation: Implementation,
    machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let cpus = u64::try_from(machine.usable().len()).unwrap_or(1).max(1);
    let test = reader.choice("test")?;
    let threads = reader.count_or("threads", cpus)?;
    let seconds = reader.count("seconds")?;
    let mut args = vec![
        test.to_owned(),
        format!("--threads={threads}"),
        format!("--time={seconds}"),
    ];
    args.extend(reader.words("options"));
    args.push("run".to_owned());
    Ok((
        Command::of("sysbench", implementation, args),
        reader.finish(),
    ))
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
        who: format!("sysbench with {threads} threads"),
        tasks: threads.saturating_add(1).saturating_mul(instances.into()),
        files: 16,
        ..Need::default()
    };
    check(&need, limits)
}

/// The mutex test ends when its work is done.
fn duration_ms(params: &Params) -> Option<u64> {
    if resolved_word(params, "test").as_deref() == Some("mutex") {
        return None;
    }
    resolved_count(params, "seconds")?.checked_mul(1000)
}

/// A reading is one run: `General statistics:` begins its end, `execution time` closes it.
#[derive(Default)]
struct Reading {
    run: Run,
    time: Option<f64>,
    events: Option<f64>,
    rate: Option<f64>,
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let mut runs = Vec::new();
    let mut started = 0_usize;
    let mut reading = Reading::default();
    for line in &lines {
        let text = line.text.trim();
        if text.starts_with("Running the test with following options") {
            started += 1;
            reading = Reading::default();
        } else if text.starts_with("execution time (avg/stddev):") {
            runs.push(std::mem::take(&mut reading).finish(params)?);
        } else {
            reading.line(text, line)?;
        }
    }
    if runs.is_empty() {
        return Err(no_result(
            output,
            &lines,
            started > 0,
            "the statistics of a whole run",
        ));
    }
    if started > runs.len() {
        return Err(Failure::Partial {
            message: format!("{started} runs started, {} are whole", runs.len()),
        });
    }
    Ok((runs, Vec::new()))
}

impl Reading {
    fn line(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        let value = |key: &str| word_after(text, key);
        if let Some(n) = value("Number of threads:") {
            self.run.says("threads", n);
        } else if let Some(n) = value("Prime numbers limit:") {
            self.run.says("test", "cpu");
            self.run.says("limit", n);
        } else if let Some(n) = value("block size:") {
            self.run.says("test", "memory");
            self.run.says("block", n);
        } else if let Some(n) = value("operation:") {
            self.run.says("operation", n);
        } else if let Some(n) = value("events per second:") {
            self.rate = Some(finite("events-rate", n, line)?);
        } else if text.starts_with("Total operations:") {
            let rate = text.split_once('(').map_or("", |(_, r)| r);
            let rate = rate.split_whitespace().next().unwrap_or("");
            self.rate = Some(finite("events-rate", rate, line)?);
        } else if text.contains("MiB transferred (") {
            let rate = word_after(text, "transferred (").unwrap_or("");
            self.run
                .push("transfer-rate", finite("transfer-rate", rate, line)?);
        } else if let Some(n) = value("total time:") {
            let seconds = n
                .strip_suffix('s')
                .ok_or_else(|| unreadable(line, "a time in s"))?;
            self.time = Some(finite("total-time", seconds, line)?);
        } else if let Some(n) = value("total number of events:") {
            self.events = Some(finite("events", n, line)?);
        } else {
            self.latency(text, line)?;
        }
        Ok(())
    }

    fn latency(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        let Some((key, value)) = text.split_once(':') else {
            return Ok(());
        };
        let name = match key {
            "min" | "avg" | "max" => format!("latency-{key}"),
            _ => match key.strip_suffix("th percentile") {
                Some(percent) => format!("latency-p{percent}"),
                None => return Ok(()),
            },
        };
        if self.time.is_some() && DEF.metric(&name).is_some() {
            let value = finite(&name, value, line)?;
            // 0.00 is a time below the printed step of 0.01 ms, not a time of nothing.
            if value > 0.0 {
                self.run.push(name, value);
            }
        }
        Ok(())
    }

    /// Rates are computed where the test prints none (threads, mutex).
    fn finish(mut self, params: &Params) -> Result<Run, Failure> {
        let (Some(time), Some(events)) = (self.time, self.events) else {
            return Err(Failure::Partial {
                message: "`total time` or `total number of events` is missing".to_owned(),
            });
        };
        if events <= 0.0 || time <= 0.0 {
            return Err(Failure::ZeroWork {
                message: format!("{events} events in {time} s"),
            });
        }
        let rate = self.rate.unwrap_or(events / time);
        if rate <= 0.0 {
            return Err(Failure::ZeroWork {
                message: "0 events per second".to_owned(),
            });
        }
        if let (Some(asked), Some(found)) =
            (resolved_word(params, "test"), self.run.resolved.get("test"))
            && asked != *found
        {
            return Err(Failure::WrongTest {
                asked,
                found: excerpt(found),
            });
        }
        self.run.push("events-rate", rate);
        self.run.push("events", events);
        self.run.push("total-time", time);
        Ok(self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_its_last_line_is_partial() {
        let text = "Running the test with following options:\nNumber of threads: 2\nGeneral statistics:\n    total time:  2.0s\n    total number of events:  30\n";
        let failure = read(&Params::default(), &Captured::from_stdout(text)).unwrap_err();
        assert!(matches!(failure, Failure::Partial { .. }), "{failure}");
        let whole = format!("{text}    execution time (avg/stddev):   1.9/0.0\n");
        let (runs, _) = read(&Params::default(), &Captured::from_stdout(&whole)).unwrap();
        assert_eq!(runs[0].values[0], ("events-rate".to_owned(), 15.0));
    }
}
