//! What `perf bench` prints: a header `# Running 'COLLECTION/BENCHMARK' benchmark:`, then values with
//! their units. With `-f simple` a number alone, which means something only where the benchmark is
//! known.

use schedrig_stats::{Direction, Unit};

use crate::workload::resolve::resolved_word;
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, perf_bench::DEF};

pub(super) fn parse(params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, read(params, output))
}

/// A run from its header to the next one.
#[derive(Default)]
struct Reading {
    runs: Vec<Run>,
    run: Run,
    /// Headers seen.
    started: usize,
    /// What the next values are of: a function of `mem`, a system call.
    part: Option<String>,
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let asked = resolved_word(params, "bench");
    let mut reading = Reading::default();
    for line in &lines {
        let text = line.text.trim();
        if let Some(name) = header(text) {
            if let Some(asked) = asked.as_ref().filter(|a| **a != name) {
                return Err(Failure::WrongTest {
                    asked: asked.clone(),
                    found: name,
                });
            }
            reading.begin(&name);
        } else if text.starts_with('#') {
            reading.comment(text);
        } else {
            reading.value(text, line, asked.as_deref())?;
        }
    }
    let started = reading.started;
    reading.close();
    if reading.runs.is_empty() {
        return Err(no_result(
            output,
            &lines,
            started > 0,
            "the value with its unit",
        ));
    }
    let incomplete = |run: &&Run| {
        let bench = run.resolved.get("bench").map_or("", String::as_str);
        let rated = ["sched-pipe", "sched-seccomp-notify", "syscall-"];
        let rate = run
            .values
            .iter()
            .any(|(name, _)| name.ends_with("ops-rate"));
        rated.iter().any(|r| bench.starts_with(r)) && !rate
    };
    if reading.runs.iter().any(|run| incomplete(&run)) {
        return Err(Failure::Partial {
            message: "the line `N ops/sec` is missing".to_owned(),
        });
    }
    if started > reading.runs.len() {
        return Err(Failure::Partial {
            message: format!(
                "{started} benchmarks started, {} printed a result",
                reading.runs.len()
            ),
        });
    }
    Ok((reading.runs, Vec::new()))
}

/// `sched-messaging` for `# Running 'sched/messaging' benchmark:`.
fn header(text: &str) -> Option<String> {
    let rest = text.strip_prefix("# Running '")?;
    let (name, _) = rest.split_once('\'')?;
    Some(name.replace('/', "-"))
}

impl Reading {
    fn begin(&mut self, name: &str) {
        self.close();
        self.started += 1;
        self.run.says("bench", name);
    }

    fn close(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.values.is_empty() {
            self.runs.push(run);
        }
        self.part = None;
    }

    fn push(&mut self, metric: &str, value: f64) {
        match &self.part {
            Some(part) => self.run.push(format!("{part}/{metric}"), value),
            None => self.run.push(metric, value),
        }
    }

    fn comment(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["#", "function", name, ..] => self.part = Some(name.trim_matches('\'').to_owned()),
            ["#", fds, "sender", "and", "receiver", mode, ..] => {
                self.run.says("fds", fds);
                self.run.says("mode", singular(mode));
            }
            ["#", groups, "groups", "==", ..] => self.run.says("groups", groups),
            ["#", "Executed", loops, call, "calls"] => {
                self.run.says("loops", loops);
                // `syscall` with all its calls prints them one after the other.
                if self.started == 0 {
                    self.part = Some(call.trim_end_matches("()").to_owned());
                }
            }
            [
                "#",
                "Executed",
                loops,
                "pipe",
                "operations",
                "between",
                "two",
                mode,
            ] => {
                self.run.says("loops", loops);
                self.run.says("mode", singular(mode));
            }
            ["#", "Copying", size, ..] => self.run.says("size", size),
            _ => {}
        }
    }

    fn value(&mut self, text: &str, line: &Line, asked: Option<&str>) -> Result<(), Failure> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(rate) = averaged(text, line)? {
            self.push("ops-rate", positive("ops-rate", rate, text)?);
        } else if let Some(time) = word_after(text, "Total time:") {
            if line.cut && !text.ends_with("[sec]") {
                return Err(cut());
            }
            let time = finite("total-time", time, line)?;
            self.push("total-time", positive("total-time", time, text)?);
        } else if let [value, unit] = words.as_slice() {
            self.with_unit(value, unit, line)?;
        } else if text.starts_with("[Run ") || text.starts_with("[thread") {
            // One of ten runs, or one thread: the line after them has the mean.
        } else if let Some(latency) = milliseconds(text, line)? {
            self.push("latency", positive("latency", latency, text)?);
        } else if text.starts_with("main,") {
            self.numa(text, line)?;
        } else if let [value] = words.as_slice() {
            self.simple(value, line, asked)?;
        } else if let Some(threads) = text.strip_prefix("Run summary [PID ").and_then(threads_of) {
            self.run.says("threads", threads);
        }
        Ok(())
    }

    fn with_unit(&mut self, value: &str, unit: &str, line: &Line) -> Result<(), Failure> {
        let metric = match unit {
            "usecs/op" => "time-per-op",
            "ops/sec" => "ops-rate",
            // The divisor is 1024 for each step, whatever the letter says.
            "GB/sec" | "MB/sec" | "KB/sec" | "bytes/sec" => "bandwidth",
            _ => return Ok(()),
        };
        let factor = match unit {
            "MB/sec" => 1.0 / 1024.0,
            "KB/sec" => 1.0 / 1_048_576.0,
            "bytes/sec" => 1.0 / 1_073_741_824.0,
            _ => 1.0,
        };
        let value = finite(metric, value, line)? * factor;
        self.push(metric, positive(metric, value, &line.text)?);
        Ok(())
    }

    /// `main,  6.801, secs,  NUMA-convergence-latency`.
    fn numa(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let ["main", value, unit, name] = cells.as_slice() else {
            return Err(unreadable(line, "`main, VALUE, UNIT, NAME`"));
        };
        let (unit, direction) = match *unit {
            "secs" => ("s", Direction::LowerIsBetter),
            "nsecs" => ("ns", Direction::LowerIsBetter),
            "%" => ("%", Direction::LowerIsBetter),
            "GB/sec" => ("GB/s", Direction::HigherIsBetter),
            other => (other, Direction::Unknown),
        };
        let name = name.to_lowercase().replace('/', "-per-");
        let value = finite(&name, value, line)?;
        self.run.push_as(name, value, Unit::new(unit), direction);
        Ok(())
    }

    fn simple(&mut self, value: &str, line: &Line, asked: Option<&str>) -> Result<(), Failure> {
        if value.parse::<f64>().is_err() {
            return Ok(());
        }
        if self.started > 0 {
            // The other format has a unit beside each number.
            return if line.cut { Err(cut()) } else { Ok(()) };
        }
        let value = finite("value", value, line)?;
        match (asked, &self.part) {
            (Some("sched-messaging" | "sched-pipe" | "syscall-basic"), _) => {
                self.push("total-time", positive("total-time", value, &line.text)?);
            }
            // A function was named: `mem` prints bytes per second.
            (_, Some(_)) => {
                let value = value / 1_073_741_824.0;
                self.push("bandwidth", positive("bandwidth", value, &line.text)?);
            }
            _ => {
                return Err(unreadable(
                    line,
                    "a value with its benchmark: a bare number has no unit",
                ));
            }
        }
        Ok(())
    }
}

fn cut() -> Failure {
    Failure::Partial {
        message: "the output ends within a value".to_owned(),
    }
}

/// The parameter's word for what the tool counts.
fn singular(mode: &str) -> &str {
    match mode {
        "threads" => "thread",
        "processes" => "process",
        other => other,
    }
}

/// The rate of `Averaged 286509 operations/sec (+- 10.24%), total secs = 1`.
pub(in crate::workload) fn averaged(text: &str, line: &Line) -> Result<Option<f64>, Failure> {
    if !text.contains("operations/sec") {
        return Ok(None);
    }
    match word_after(text, "Averaged ") {
        Some(rate) => finite("ops-rate", rate, line).map(Some),
        None => Ok(None),
    }
}

/// `Wokeup 8 of 8 threads in 0.3360 ms (+-15.25%)`; fewer than all is no result.
fn milliseconds(text: &str, line: &Line) -> Result<Option<f64>, Failure> {
    let Some((before, after)) = text.split_once(" in ") else {
        return Ok(None);
    };
    let mut words = after.split_whitespace();
    let (Some(value), Some("ms")) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let counts: Vec<&str> = before.split_whitespace().collect();
    if let [_, woken, "of", all, "threads"] = counts.as_slice()
        && woken != all
    {
        return Err(Failure::Validation {
            message: excerpt(text),
        });
    }
    finite("latency", value, line).map(Some)
}

/// `8` in `3042]: 8 threads, ...` and in `3043]: blocking on 8 threads ...`.
fn threads_of(summary: &str) -> Option<&str> {
    let words: Vec<&str> = summary.split_whitespace().collect();
    let at = words.iter().position(|w| w.starts_with("threads"))?;
    let count = words.get(at.checked_sub(1)?)?;
    count.parse::<u64>().ok().map(|_| *count)
}

/// 0 is a time below the printed step, or no work.
fn positive(metric: &str, value: f64, text: &str) -> Result<f64, Failure> {
    if value > 0.0 {
        return Ok(value);
    }
    Err(Failure::ZeroWork {
        message: format!("{metric}: {}", excerpt(text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;

    // Case B7: a German locale prints `11,902000 usecs/op`.
    #[test]
    fn a_decimal_comma_is_refused() {
        let text = "# Running 'sched/pipe' benchmark:\n# Executed 2 pipe operations between two processes\n\n     Total time: 0,238 [sec]\n\n      11,902000 usecs/op\n";
        let failure = read(&Params::default(), &Captured::from_stdout(text)).unwrap_err();
        assert!(failure.to_string().contains("decimal comma"), "{failure}");
    }

    #[test]
    fn a_bare_number_needs_its_benchmark() {
        let output = Captured::from_stdout("0.137\n");
        assert!(read(&Params::default(), &output).is_err());
        let asked = ParamValue::Text("sched-messaging".to_owned());
        let params = Params([("bench".to_owned(), asked)].into());
        let (runs, _) = read(&params, &output).unwrap();
        assert_eq!(runs[0].values, [("total-time".to_owned(), 0.137)]);
    }

    #[test]
    fn threads_that_did_not_wake_make_the_run_invalid() {
        let text =
            "# Running 'futex/wake' benchmark:\nWokeup 7 of 8 threads in 0.3360 ms (+-15.25%)\n";
        let failure = read(&Params::default(), &Captured::from_stdout(text)).unwrap_err();
        assert!(matches!(failure, Failure::Validation { .. }), "{failure}");
    }
}
