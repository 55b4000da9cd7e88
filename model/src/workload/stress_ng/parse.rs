//! What stress-ng prints, on standard error (0.15) or standard output (0.19): a table of stressors,
//! then what each measured beside its operations. The rows of the YAML file, which have more digits,
//! are taken where it is there.

use std::collections::BTreeMap;

use crate::workload::resolve::resolved_word;
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, lines};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, stress_ng::DEF};

use super::log::{LogLine, log_line, seconds};
use super::miscellaneous::{Miscellaneous, describe};
use super::yaml;

/// Columns of the table after the stressor's name: `--metrics` adds the last two.
const COLUMNS: [&str; 8] = [
    "bogo-ops",
    "real-time",
    "user-time",
    "system-time",
    "bogo-ops-rate",
    "bogo-ops-rate-cpu",
    "cpu-per-instance",
    "rss-max",
];

/// Keys of the YAML list and the columns they stand for.
const YAML_KEYS: [(&str, &str); 8] = [
    ("bogo-ops", "bogo-ops"),
    ("bogo-ops-per-second-usr-sys-time", "bogo-ops-rate-cpu"),
    ("bogo-ops-per-second-real-time", "bogo-ops-rate"),
    ("wall-clock-time", "real-time"),
    ("user-time", "user-time"),
    ("system-time", "system-time"),
    ("cpu-usage-per-instance", "cpu-per-instance"),
    ("max-rss", "rss-max"),
];

/// A run shorter than this part of its time was interrupted: stress-ng then calls it successful.
const LEAST_SHARE_OF_TIME: f64 = 0.9;

pub(super) fn parse(params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, read(params, output))
}

/// What one stressor printed.
#[derive(Default)]
struct Stressor {
    name: String,
    columns: Vec<(String, f64)>,
    other: Vec<(Miscellaneous, f64)>,
}

#[derive(Default)]
struct Reading {
    runs: Vec<Vec<Stressor>>,
    /// How long each stressor should run.
    asked: Option<f64>,
    table: bool,
    dispatched: bool,
    finished: bool,
    skipped: Vec<String>,
    warnings: Vec<String>,
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let mut reading = Reading::default();
    let mut failed = None;
    for line in lines.iter().filter_map(log_line) {
        reading.line(&line)?;
        failed = failed.or_else(|| failure_of(&line));
    }
    let mut version = None;
    let texts = output.files.values().map(String::as_str);
    for text in texts.chain([output.stdout, output.stderr]) {
        let (stated, stressors) = yaml::read(text)?;
        version = version.or(stated);
        if !stressors.is_empty() {
            reading.take_yaml(&stressors);
            break;
        }
    }
    let asked = resolved_word(params, "stressor");
    if reading.runs.is_empty() {
        return Err(reading.nothing(output, &lines, failed));
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    if let Some(asked) = asked
        && !reading.runs.iter().flatten().any(|s| s.name == asked)
    {
        return Err(reading.nothing(output, &lines, None));
    }
    reading.interrupted(params)?;
    if reading.dispatched && !reading.finished {
        return Err(Failure::Partial {
            message: "the line `successful run completed` is missing".to_owned(),
        });
    }
    if reading.table && !reading.finished {
        reading
            .warnings
            .push("the line `run completed` is missing: something may follow".to_owned());
    }
    reading.warnings.append(&mut reading.skipped);
    let runs = reading.finish(version.as_deref())?;
    Ok((runs, reading.warnings))
}

impl Reading {
    fn line(&mut self, line: &LogLine<'_>) -> Result<(), Failure> {
        let text = line.text;
        if text.starts_with("setting to a") {
            self.asked = seconds(text);
        } else if text.starts_with("dispatching hogs") {
            self.dispatched = true;
        } else if text.starts_with("stressor ") && text.contains("bogo ops") {
            self.table = true;
        } else if text.contains("run completed in") {
            self.finished = true;
        } else if text.contains("stressor will be skipped") || text.starts_with("skipped: ") {
            if !text.starts_with("skipped: 0") {
                self.skipped.push(excerpt(text));
            }
        } else if text.contains("sched_autogroup_enabled is 1") {
            self.warnings.push(
                "sched_autogroup_enabled is 1: it changes how these tasks are scheduled".into(),
            );
        } else if line.level == "warn" || line.level == "error" {
            self.warnings.push(excerpt(text));
        } else if line.level == "metrc" || line.level == "info" {
            self.metrics(line)?;
        }
        Ok(())
    }

    /// A row of the table, or a value of a stressor that has a row.
    fn metrics(&mut self, line: &LogLine<'_>) -> Result<(), Failure> {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let [name, value, rest @ ..] = words.as_slice() else {
            return Ok(());
        };
        let numbers = words
            .iter()
            .skip(1)
            .take_while(|w| w.parse::<f64>().is_ok())
            .count();
        if self.table && numbers >= 6 && numbers == words.len() - 1 {
            let mut stressor = Stressor {
                name: (*name).to_owned(),
                ..Stressor::default()
            };
            for (column, word) in COLUMNS.iter().zip(&words[1..]) {
                let value = finite(column, word, line.line)?;
                stressor.columns.push(((*column).to_owned(), value));
            }
            self.push(stressor);
        } else if numbers >= 1 && !rest.is_empty() {
            let latest = self.runs.last_mut();
            let row = latest.and_then(|run| run.iter_mut().find(|s| s.name == *name));
            if let Some(stressor) = row {
                let described = describe(&rest.join(" "));
                if described.unknown_aggregation {
                    self.warnings
                        .push(format!("unknown kind of mean: {}", excerpt(line.text)));
                }
                let value = finite(&described.name, value, line.line)?;
                stressor.other.push((described, value));
            }
        } else if numbers > 1 && line.line.cut {
            return Err(Failure::Partial {
                message: "the output ends within a row of the table".to_owned(),
            });
        }
        Ok(())
    }

    /// A stressor that comes again begins the next run.
    fn push(&mut self, stressor: Stressor) {
        match self.runs.last_mut() {
            Some(run) if !run.iter().any(|s| s.name == stressor.name) => run.push(stressor),
            _ => self.runs.push(vec![stressor]),
        }
    }

    /// Replaces the rows of the table by the list of the YAML file; the words of the log, which alone
    /// say the kind of mean, stay.
    fn take_yaml(&mut self, list: &[yaml::Stressor]) {
        let mut by_name: BTreeMap<String, Vec<(Miscellaneous, f64)>> = BTreeMap::new();
        for stressor in self.runs.drain(..).flatten() {
            by_name.insert(stressor.name, stressor.other);
        }
        for stressor in list {
            let mut found = Stressor {
                name: stressor.name.clone(),
                ..Stressor::default()
            };
            for (key, value) in &stressor.values {
                match YAML_KEYS.iter().find(|(k, _)| k == key) {
                    Some((_, column)) => found.columns.push(((*column).to_owned(), *value)),
                    None => found.other.push((describe(&key.replace('-', " ")), *value)),
                }
            }
            if let Some(said) = by_name.remove(&stressor.name).filter(|o| !o.is_empty()) {
                found.other = said;
            }
            self.push(found);
        }
    }

    fn nothing(&self, output: &Captured<'_>, lines: &[Line], failed: Option<Failure>) -> Failure {
        if let Some(failure) = failed {
            return failure;
        }
        if let Some(message) = self.skipped.first() {
            return Failure::Skipped {
                message: message.clone(),
            };
        }
        let seen = lines.iter().any(|l| log_line(l).is_some());
        no_result(output, lines, seen, "the table of bogo operations")
    }

    fn interrupted(&self, params: &Params) -> Result<(), Failure> {
        let longest = self
            .runs
            .iter()
            .flatten()
            .flat_map(|s| &s.columns)
            .filter(|(name, _)| name == "real-time")
            .map(|(_, v)| *v)
            .fold(0.0, f64::max);
        let Some(asked) = self.asked.filter(|_| params.get("ops").is_none()) else {
            return Ok(());
        };
        if longest < asked * LEAST_SHARE_OF_TIME {
            return Err(Failure::Interrupted {
                message: format!("ran {longest} s of {asked} s"),
            });
        }
        Ok(())
    }

    fn finish(&mut self, version: Option<&str>) -> Result<Vec<Run>, Failure> {
        let mut runs = Vec::new();
        for stressors in &self.runs {
            let mut run = Run::default();
            let alone = stressors.len() == 1;
            for stressor in stressors {
                let ops = stressor.columns.iter().find(|(c, _)| c == "bogo-ops");
                if ops.is_some_and(|(_, v)| *v == 0.0) {
                    self.warnings
                        .push(format!("{}: 0 bogo operations, no values", stressor.name));
                    continue;
                }
                let prefix = if alone {
                    String::new()
                } else {
                    format!("{}/", stressor.name)
                };
                for (column, value) in &stressor.columns {
                    run.push(format!("{prefix}{column}"), *value);
                }
                for (other, value) in &stressor.other {
                    let name = format!("{prefix}{}", other.name);
                    run.push_as(name, *value, other.unit.clone(), other.direction);
                }
            }
            if run.values.is_empty() {
                return Err(Failure::ZeroWork {
                    message: "all bogo operation counters are 0".to_owned(),
                });
            }
            let names: Vec<&str> = stressors.iter().map(|s| s.name.as_str()).collect();
            run.says("stressor", names.join(" "));
            if let Some(version) = version {
                run.says("version", version);
            }
            aggregations(&mut run, stressors);
            runs.push(run);
        }
        Ok(runs)
    }
}

/// `aggregation` where all agree, else `aggregation of METRIC` for each.
fn aggregations(run: &mut Run, stressors: &[Stressor]) {
    let all: Vec<(&Stressor, &Miscellaneous)> = stressors
        .iter()
        .flat_map(|s| s.other.iter().map(move |(o, _)| (s, o)))
        .filter(|(_, o)| o.aggregation.is_some())
        .collect();
    let Some((_, first)) = all.first() else {
        return;
    };
    if all.iter().all(|(_, o)| o.aggregation == first.aggregation) {
        run.says("aggregation", first.aggregation.as_deref().unwrap_or(""));
    } else {
        for (stressor, other) in &all {
            let key = format!("aggregation of {}/{}", stressor.name, other.name);
            run.says(&key, other.aggregation.as_deref().unwrap_or(""));
        }
    }
    if let Some(instances) = first.instances
        && all.iter().all(|(_, o)| o.instances == first.instances)
    {
        run.says("instances", instances);
    }
}

/// A line that makes the whole run worthless.
fn failure_of(line: &LogLine<'_>) -> Option<Failure> {
    let text = line.text;
    if text.contains("bogo-op counters are zero") || text.contains("bogo-op counter is zero") {
        return Some(Failure::ZeroWork {
            message: excerpt(text),
        });
    }
    let counted = |prefix: &str| {
        let count = text.strip_prefix(prefix)?.trim_start();
        (!count.starts_with('0')).then_some(())
    };
    if counted("failed: ").is_some()
        || counted("metrics untrustworthy: ").is_some()
        || text.contains("unsuccessful run completed")
    {
        return Some(Failure::Validation {
            message: excerpt(text),
        });
    }
    (line.level == "fail").then(|| Failure::ToolError {
        message: excerpt(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "stress-ng: metrc: [1] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s\n";

    fn found(text: &str) -> Result<(Vec<Run>, Vec<String>), Failure> {
        read(&Params::default(), &Captured::from_stdout(text))
    }

    // Case B1: the line with the bracket that nobody closed keeps its value and its mean.
    #[test]
    fn the_value_beside_an_open_bracket_is_kept() {
        let text = format!(
            "{HEAD}stress-ng: metrc: [1] futex  100  60.00  1.00  1.00  1.66  50.00\n\
             stress-ng: metrc: [1] miscellaneous metrics:\n\
             stress-ng: metrc: [1] futex  120.82 nanosecs per wait (excluding test overhead (harmonic mean of 224 instances)\n\
             stress-ng: info:  [1] successful run completed in 1 min, 0.00 secs\n"
        );
        let (runs, warnings) = found(&text).unwrap();
        let value = runs[0].values.iter().find(|(n, _)| n.starts_with("wait"));
        assert_eq!(value.unwrap().1, 120.82);
        assert_eq!(runs[0].resolved["aggregation"], "harmonic");
        assert_eq!(runs[0].resolved["instances"], "224");
        assert!(warnings.is_empty(), "{warnings:?}");
        let odd = text.replace("harmonic mean of", "median of");
        let (runs, warnings) = found(&odd).unwrap();
        assert!(
            warnings[0].contains("median of 224 instances"),
            "{warnings:?}"
        );
        assert_eq!(runs[0].resolved["aggregation"], "median");
    }

    // Case B2: no operation at all is no result, whatever the exit status.
    #[test]
    fn zero_operations_are_named() {
        let text = format!("{HEAD}stress-ng: metrc: [1] vm  0  2.00  0.00  0.00  0.00  0.00\n");
        assert!(matches!(found(&text), Err(Failure::ZeroWork { .. })));
        let said = format!(
            "{HEAD}stress-ng: metrc: [1] cpu  9  2.00  0.00  0.00  4.50  4.50\n\
             stress-ng: warn: [1] metrics-check: all bogo-op counters are zero, data may be incorrect\n\
             stress-ng: fail: [1] x: all bogo-op counters are zero\n"
        );
        assert!(matches!(found(&said), Err(Failure::ZeroWork { .. })));
    }

    #[test]
    fn one_of_several_without_operations_is_absent() {
        let text = format!(
            "{HEAD}stress-ng: metrc: [1] bad-ioctl  0  2.00  0.00  0.00  0.00  0.00\n\
             stress-ng: metrc: [1] cpu  9  2.00  0.00  0.00  4.50  4.50\n"
        );
        let (runs, warnings) = found(&text).unwrap();
        assert!(runs[0].values.iter().all(|(n, _)| n.starts_with("cpu/")));
        assert!(warnings.iter().any(|w| w.contains("bad-ioctl")));
    }
}
