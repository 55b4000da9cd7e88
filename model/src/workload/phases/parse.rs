//! What the builtin prints: one JSON object,
//! `{"phases": 1, "elapsed_us": N, "threads": [{"name": "a", "loops": N, "timer_misses": N,
//! "wakeup_latency_us": {"samples": N, "p50": X, "p99": X, "max": X}}]}`. A thread that never woke has
//! no `wakeup_latency_us`.

use serde_json::Value;

use crate::workload::resolve::resolved_count;
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{json_objects, lines};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, phases::DEF};

/// A run shorter than this part of its time was interrupted.
const LEAST_SHARE_OF_TIME: f64 = 0.9;

pub(super) fn parse(params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, read(params, output))
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let texts = [output.stdout, output.stderr];
    let objects = texts.into_iter().flat_map(json_objects);
    let runs: Vec<Run> = objects
        .filter(|v| v.get("phases").is_some())
        .map(|object| run_of(params, &object))
        .collect::<Result<_, _>>()?;
    if runs.is_empty() {
        let seen = lines.iter().any(|l| l.text.contains("\"phases\""));
        return Err(no_result(
            output,
            &lines,
            seen,
            "the JSON object with `phases`",
        ));
    }
    Ok((runs, Vec::new()))
}

fn run_of(params: &Params, object: &Value) -> Result<Run, Failure> {
    let missing = |what: &str| Failure::Partial {
        message: format!("{what} is missing in the JSON object"),
    };
    let elapsed = object.get("elapsed_us").and_then(Value::as_f64);
    let elapsed = elapsed
        .filter(|e| *e > 0.0)
        .ok_or_else(|| missing("`elapsed_us`"))?
        / 1e6;
    let threads = object.get("threads").and_then(Value::as_array);
    let threads = threads.ok_or_else(|| missing("`threads`"))?;
    if let Some(asked) = resolved_count(params, "seconds").map(|s| s as f64)
        && elapsed < asked * LEAST_SHARE_OF_TIME
        && !finite_loops(params)
    {
        return Err(Failure::Interrupted {
            message: format!("ran {elapsed} s of {asked} s"),
        });
    }
    let mut run = Run::default();
    let mut total = 0.0;
    let mut misses = 0.0;
    let mut single = Vec::new();
    for thread in threads {
        let name = thread.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| missing("`name`"))?;
        let loops = thread.get("loops").and_then(Value::as_f64);
        let loops = loops.ok_or_else(|| missing("`loops`"))?;
        total += loops;
        misses += thread
            .get("timer_misses")
            .and_then(Value::as_f64)
            .unwrap_or(0.0);
        single.push((format!("{name}/loops-rate"), loops / elapsed));
        let Some(latency) = thread.get("wakeup_latency_us") else {
            continue;
        };
        for percentile in ["p50", "p99", "max"] {
            let value = latency.get(percentile).and_then(Value::as_f64);
            let value = value.ok_or_else(|| missing(percentile))?;
            single.push((format!("{name}/wakeup-latency-{percentile}"), value));
        }
    }
    if total <= 0.0 {
        return Err(Failure::ZeroWork {
            message: "no thread finished a turn".to_owned(),
        });
    }
    run.push("loops-rate", total / elapsed);
    run.push("timer-misses", misses);
    for (name, value) in single {
        // Percentiles of several threads do not add up to one: only one thread has them unqualified.
        let short = name.rsplit('/').next().unwrap_or(&name);
        if threads.len() == 1 && short != "loops-rate" {
            run.push(short, value);
        } else {
            run.push(name, value);
        }
    }
    Ok(run)
}

/// Whether every thread has a number of turns: the program may then end before its time.
fn finite_loops(params: &Params) -> bool {
    let Some(tree) = params.get("threads") else {
        return true;
    };
    super::read::read_program(tree).is_ok_and(|p| p.threads.iter().all(|t| t.loops.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_over_the_time_that_passed() {
        let text = r#"{"phases": 1, "elapsed_us": 2000000, "threads": [
            {"name": "a", "loops": 100, "timer_misses": 3, "wakeup_latency_us": {"samples": 100, "p50": 5, "p99": 60, "max": 90}},
            {"name": "b", "loops": 300}]}"#;
        let (runs, _) = read(&Params::default(), &Captured::from_stdout(text)).unwrap();
        let value = |name: &str| runs[0].values.iter().find(|(n, _)| n == name).map(|v| v.1);
        assert_eq!(value("loops-rate"), Some(200.0));
        assert_eq!(value("a/wakeup-latency-p99"), Some(60.0));
        assert_eq!(value("b/wakeup-latency-p99"), None);
        let none = text.replace("100,", "0,").replace("300", "0");
        assert!(matches!(
            read(&Params::default(), &Captured::from_stdout(&none)),
            Err(Failure::ZeroWork { .. })
        ));
    }
}
