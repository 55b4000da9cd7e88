//! What schbench prints, all of it on standard error but for JSON and the pipe mode's last line.
//!
//! Blocks `<What> percentiles (usec|requests) ...` of rows `50.0th: V (n samples)` and a last row
//! `min=A, max=B` are repeated every interval and once at the end. In the current format the final
//! set is the one before `average rps:` (or `final rps goal was`, or the transfer line of the pipe
//! mode): only that one counts, and each such set is one run. The old format has no mark of its end:
//! the last complete set counts, so that an old output which was cut at an interval cannot be told
//! from a whole one.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::workload::runs::{Run, outcome};
use crate::workload::text::{
    Line, excerpt, finite, fixed, json_objects, lines, unreadable, word_after,
};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, schbench::DEF};

pub(super) fn parse(_params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, read(output))
}

/// One block of percentiles.
#[derive(Clone, Debug, Default, PartialEq)]
struct Block {
    /// `wakeup-latency`, `request-latency` or `rps`.
    what: &'static str,
    /// `(N total samples)`; old formats do not say it.
    samples: Option<u64>,
    /// Suffix of the metric and value.
    rows: Vec<(String, f64)>,
    /// The row `min=, max=` was seen.
    complete: bool,
}

#[derive(Default)]
struct Reading {
    /// Blocks since the last final set; a block of a kind that is there replaces it.
    set: Vec<Block>,
    runs: Vec<Run>,
    warnings: Vec<String>,
    transfer: Option<(f64, f64)>,
    old_rps: Option<f64>,
    delay: Option<(f64, f64)>,
    workers: Option<String>,
}

fn read(output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    // The program goes on unpinned after this one: not the run that was asked for.
    if let Some(line) = lines
        .iter()
        .find(|l| l.text.contains("unable to set CPU affinity"))
    {
        return Err(Failure::ToolError {
            message: excerpt(&line.text),
        });
    }
    let mut reading = Reading::default();
    for line in &lines {
        reading.line(line)?;
    }
    reading.end()?;
    if reading.runs.is_empty()
        && let Some(run) = json_run(output)?
    {
        reading.runs.push(run);
    }
    if reading.runs.is_empty() {
        let seen = !reading.set.is_empty();
        return Err(no_result(
            output,
            &lines,
            seen,
            "the final set of percentiles before `average rps`",
        ));
    }
    Ok((reading.runs, reading.warnings))
}

impl Reading {
    fn line(&mut self, line: &Line) -> Result<(), Failure> {
        let text = line.text.trim_start();
        if let Some(block) = block_header(text) {
            self.set.retain(|b| b.what != block.what);
            // The old format's only block replaces the set.
            self.set.push(block);
        } else if let Some(text) = percentile_row(text) {
            self.percentile(text, line)?;
        } else if text.starts_with("min=") {
            self.min_max(text, line)?;
        } else if let Some(value) = word_after(text, "average rps:") {
            let rps = fixed("rps", value, 2, line)?;
            self.finish_run(Some(rps))?;
        } else if text.starts_with("final rps goal was") {
            self.finish_run(None)?;
        } else if let Some(value) = word_after(text, "avg worker transfer:") {
            self.transfer(text, value, line)?;
        } else if text.starts_with("rps:") && text.contains("p95 (usec)") {
            let value = word_after(text, "rps:").unwrap_or("");
            self.old_rps = Some(finite("rps", value, line)?);
        } else if text.starts_with("sched delay:") {
            self.delay(text, line)?;
        } else if let Some(n) = word_after(text, "setting worker threads to") {
            self.workers = Some(n.to_owned());
        } else if let Some(value) = word_after(text, "current rps:") {
            // Only whether it is a number: an interval of length 0 printed `inf` once.
            finite("rps", value, line).map(|_| ())?;
        }
        Ok(())
    }

    fn percentile(&mut self, row: &str, line: &Line) -> Result<(), Failure> {
        let expected = "`PERCENTILEth: VALUE (N samples)` in a block of percentiles";
        let (Some((percent, value)), Some(block)) = (row.split_once("th:"), self.set.last_mut())
        else {
            return Err(unreadable(line, expected));
        };
        let percent: f64 = percent
            .trim()
            .parse()
            .map_err(|_| unreadable(line, expected))?;
        let value = value.split_whitespace().next().unwrap_or("");
        let suffix = format!("p{percent}");
        let value = finite(&format!("{}-{suffix}", block.what), value, line)?;
        block.rows.push((suffix, value));
        Ok(())
    }

    fn min_max(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        let Some(block) = self.set.last_mut() else {
            return Ok(());
        };
        let expected = "`min=A, max=B`";
        let min = word_after(text, "min=").map(|w| w.trim_end_matches(','));
        let (Some(min), Some(max)) = (min, word_after(text, "max=")) else {
            return Err(unreadable(line, expected));
        };
        block.rows.push(("min".into(), finite("min", min, line)?));
        block.rows.push(("max".into(), finite("max", max, line)?));
        block.complete = true;
        Ok(())
    }

    /// `avg worker transfer: 145155.02 ops/sec 567.01KB/s`; the sizes are powers of 1024.
    fn transfer(&mut self, text: &str, rate: &str, line: &Line) -> Result<(), Failure> {
        let rate = finite("worker-transfer-rate", rate, line)?;
        let rest: String = word_rest(text, "ops/sec").split_whitespace().collect();
        let split = rest
            .find(|c: char| c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let (number, unit) = rest.split_at(split);
        let factor = match unit {
            "B/s" => 1.0 / 1024.0,
            "KB/s" => 1.0,
            "MB/s" => 1024.0,
            "GB/s" => 1024.0 * 1024.0,
            _ => return Err(unreadable(line, "a bandwidth in B/s, KB/s, MB/s or GB/s")),
        };
        let bandwidth = finite("worker-transfer-bandwidth", number, line)? * factor;
        self.transfer = Some((rate, bandwidth));
        Ok(())
    }

    /// `sched delay: message 44 (usec) worker 1154 (usec)`. The final one is 0 and 0: the threads are
    /// gone when it is collected; the last interval's stays.
    fn delay(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        let message = finite(
            "sched-delay-message",
            word_after(text, "message").unwrap_or(""),
            line,
        )?;
        let worker = finite(
            "sched-delay-worker",
            word_after(text, "worker").unwrap_or(""),
            line,
        )?;
        if message > 0.0 || worker > 0.0 {
            self.delay = Some((message, worker));
        }
        Ok(())
    }

    /// The set that stands now is a final one.
    fn finish_run(&mut self, rps: Option<f64>) -> Result<(), Failure> {
        let set = std::mem::take(&mut self.set);
        if set.is_empty() {
            return Err(Failure::Partial {
                message: "the percentiles before `average rps` are missing".to_owned(),
            });
        }
        let mut run = self.run_of(&set)?;
        if let Some(rps) = rps {
            if rps <= 0.0 {
                return Err(Failure::ZeroWork {
                    message: format!("average rps: {rps}"),
                });
            }
            run.push("rps", rps);
        }
        run.says("format", "current");
        self.runs.push(run);
        Ok(())
    }

    /// At the end of the text: the old format and the pipe mode have no final mark before it.
    fn end(&mut self) -> Result<(), Failure> {
        let has = |what: &str| self.set.iter().any(|b| b.what == what);
        let old = has("latency");
        if self.set.is_empty() || !(old || self.transfer.is_some()) {
            return Ok(());
        }
        let set = std::mem::take(&mut self.set);
        let mut run = self.run_of(&set)?;
        if let Some(rps) = self.old_rps {
            run.push("rps", rps);
        }
        run.says("format", if old { "old" } else { "current" });
        self.runs.push(run);
        Ok(())
    }

    fn run_of(&mut self, set: &[Block]) -> Result<Run, Failure> {
        let mut run = Run::default();
        for block in set {
            let what = metric_prefix(block.what);
            if !block.complete || block.rows.len() < 3 {
                return Err(Failure::Partial {
                    message: format!("the {what} percentiles are cut off"),
                });
            }
            if block.samples == Some(0) {
                self.warnings.push(format!("{what}: 0 samples, no values"));
                continue;
            }
            for (suffix, value) in &block.rows {
                run.push(format!("{what}-{suffix}"), *value);
            }
        }
        let latency = |name: &String| name.contains("latency");
        if !run.values.iter().any(|(name, _)| latency(name)) {
            return Err(Failure::ZeroWork {
                message: "0 samples in every latency block".to_owned(),
            });
        }
        if let Some((rate, bandwidth)) = self.transfer.take() {
            run.push("worker-transfer-rate", rate);
            run.push("worker-transfer-bandwidth", bandwidth);
        }
        if let Some((message, worker)) = self.delay.take() {
            run.push("sched-delay-message", message);
            run.push("sched-delay-worker", worker);
        }
        if let Some(workers) = &self.workers {
            run.says("workers", workers);
        }
        Ok(run)
    }
}

/// The old format's only block measures what the current one calls wake-up latency.
fn metric_prefix(what: &'static str) -> &'static str {
    if what == "latency" {
        "wakeup-latency"
    } else {
        what
    }
}

fn block_header(text: &str) -> Option<Block> {
    if !text.contains(" percentiles (") {
        return None;
    }
    // JSON without a line end may stand before the first header of a mixed output.
    let what = [
        ("Wakeup Latencies percentiles", "wakeup-latency"),
        ("Request Latencies percentiles", "request-latency"),
        ("RPS percentiles", "rps"),
        ("Latency percentiles", "latency"),
    ];
    let what = what.iter().find(|(words, _)| text.contains(words))?.1;
    let samples = text.rsplit_once('(').and_then(|(_, tail)| {
        let count = tail.strip_suffix(" total samples)")?;
        count.parse().ok()
    });
    Some(Block {
        what,
        samples,
        ..Block::default()
    })
}

/// The row without its mark of the percentile of interest, if it is one: `50.0th: 12 (3 samples)`.
fn percentile_row(text: &str) -> Option<&str> {
    let row = text.trim_start_matches('*').trim_start();
    let (percent, _) = row.split_once("th:")?;
    let is_number = !percent.is_empty() && percent.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_number.then_some(row)
}

fn word_rest<'t>(text: &'t str, key: &str) -> &'t str {
    text.split_once(key).map_or("", |(_, rest)| rest)
}

/// The object that `-j` prints at the end of a run. It has no average rate.
fn json_run(output: &Captured<'_>) -> Result<Option<Run>, Failure> {
    let texts = output
        .files
        .values()
        .map(String::as_str)
        .chain([output.stdout, output.stderr]);
    let Some(object) = texts
        .flat_map(json_objects)
        .find(|v| v.get("int").is_some())
    else {
        return Ok(None);
    };
    let Some(Value::Object(numbers)) = object.get("int") else {
        return Ok(None);
    };
    let mut run = Run::default();
    run.says("format", "current");
    let mut by_metric: BTreeMap<String, f64> = BTreeMap::new();
    for (key, value) in numbers {
        let name = key.replace('_', "-");
        let Some((what, suffix)) = ["wakeup-latency-", "request-latency-", "rps-"]
            .iter()
            .find_map(|p| name.strip_prefix(p).map(|s| (*p, s.to_owned())))
        else {
            continue;
        };
        let suffix = match suffix.strip_prefix("pct").map(str::parse::<f64>) {
            Some(Ok(percent)) => format!("p{percent}"),
            _ => suffix,
        };
        let metric = format!("{what}{suffix}");
        let value = value.as_f64().ok_or_else(|| Failure::NotFinite {
            metric: metric.clone(),
            value: excerpt(&value.to_string()),
        })?;
        if DEF.metric(&metric).is_some() {
            by_metric.insert(metric, value);
        }
    }
    if by_metric
        .get("request-latency-max")
        .is_some_and(|m| *m == 0.0)
        && by_metric
            .get("wakeup-latency-max")
            .is_some_and(|m| *m == 0.0)
    {
        return Err(Failure::ZeroWork {
            message: "every latency of the JSON object is 0".to_owned(),
        });
    }
    if !by_metric.contains_key("wakeup-latency-p99") {
        return Err(Failure::Partial {
            message: "the JSON object has no wakeup_latency_pct99.0".to_owned(),
        });
    }
    run.values.extend(by_metric);
    Ok(Some(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::runs::merge;

    const FINAL: &str = "Wakeup Latencies percentiles (usec) runtime 3 (s) (230 total samples)\n\
        \t  50.0th: 11         (64 samples)\n\t* 99.0th: 5976       (21 samples)\n\t  min=3, max=7364\n\
        average rps: 76.67\n";

    fn values(text: &str) -> Result<BTreeMap<String, f64>, Failure> {
        let mut output = Captured::from_stdout("");
        output.stderr = text;
        let (runs, _) = read(&output)?;
        Ok(merge(&DEF, &runs)
            .metrics
            .into_iter()
            .map(|m| (m.metric, m.value))
            .collect())
    }

    #[test]
    fn absent_percentiles_are_absent() {
        let values = values(FINAL).unwrap();
        assert_eq!(values["wakeup-latency-p99"], 5976.0);
        assert_eq!(values["rps"], 76.67);
        assert!(!values.contains_key("wakeup-latency-p75"));
        assert!(!values.contains_key("wakeup-latency-p95"));
    }

    #[test]
    fn intervals_without_the_final_set_are_no_result() {
        let cut = FINAL.replace("average rps: 76.67\n", "current rps: 76.67\n");
        assert!(matches!(values(&cut), Err(Failure::Partial { .. })));
    }

    // Case B8: no samples, and a rate that is infinite, are no values.
    #[test]
    fn zero_samples_and_an_infinite_rate_are_named() {
        let zero = FINAL.replace("(230 total samples)", "(0 total samples)");
        assert!(matches!(values(&zero), Err(Failure::ZeroWork { .. })));
        let inf = FINAL.replace("76.67", "inf");
        assert!(matches!(values(&inf), Err(Failure::NotFinite { .. })));
    }

    // Case B8: the mark stands with and without a blank.
    #[test]
    fn the_mark_of_interest_may_touch_its_percentile() {
        let old =
            "Latency percentiles (usec)\n\t50.0th: 81\n\t*99.0th: 13936\n\tmin=0, max=14422\n";
        let values = values(old).unwrap();
        assert_eq!(values["wakeup-latency-p99"], 13936.0);
        assert_eq!(values["wakeup-latency-max"], 14422.0);
    }

    #[test]
    fn a_block_cut_off_before_its_last_row_is_partial() {
        let cut = "Latency percentiles (usec)\n\t50.0th: 81\n\t75.0th: 90\n\t*99.0th: 13936\n";
        assert!(matches!(values(cut), Err(Failure::Partial { .. })));
    }
}
