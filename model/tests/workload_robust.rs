//! No parser panics, and no parser makes a result of an output that was cut.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "this test reads fixture files"
)]

use std::path::Path;

use proptest::prelude::*;
use schedrig_model::workload::{ALL, ExitState, Failure, Outcome, Workload, read_saved};

/// Words that the grammars are made of, so that random text reaches the deeper branches.
const WORDS: &[&str] = &[
    "Running in process mode with",
    "groups using",
    "Time:",
    "Throughput",
    "MB/sec",
    "procs",
    "stress-ng: metrc: [1]",
    "stressor       bogo ops",
    "Wakeup Latencies percentiles (usec) runtime 2 (s) (3 total samples)",
    "* 99.0th:",
    "min=1, max=2",
    "average rps:",
    "Function    Best Rate MB/s",
    "Copy:",
    "Triad:",
    "Solution Validates",
    "THROUGHPUT=",
    "MIGRATED UDP STREAM TEST from",
    "T: 0 (1) P: 0 I:1000 C:",
    "Benchmark Run:",
    "System Benchmarks Index Score",
    "1 x Pipe",
    "lps   (10.0 s, 1 samples)",
    "Forked Time SysTime",
    "Tasks jobs/min",
    "# Running 'futex/wake' benchmark:",
    "Averaged 3 operations/sec",
    "threads in",
    "ms",
    "Total operations: 3 (",
    "execution time (avg/stddev):",
    "{\"end\": {\"sum\": {",
    "{\"thread\": {\"0\": {",
    "{\"phases\": 1,",
    "}}",
    "metrics:",
    "- stressor: cpu",
    "bogo-ops: ",
    "[SUM]",
    "receiver",
    "Gbits/sec",
    "COUNT|3|1|lps",
    "1",
    "0",
    "-1",
    "inf",
    "nan",
    "1e999",
    "99,5",
    "(",
    ")",
    "\u{1b}[3A",
    "é",
    "\r",
    "\n",
    "\t",
];

fn grammar_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS);
    prop::collection::vec(
        (word, prop::sample::select(&[" ", "\n", "", ", "][..])),
        0..80,
    )
    .prop_map(|parts| parts.into_iter().flat_map(|(a, b)| [a, b]).collect())
}

/// Every value of an outcome is finite and every failure has words.
fn sound(workload: Workload, text: &str, exit: ExitState) {
    match read_saved(workload, text, None, exit) {
        Outcome::Ok(parsed) => {
            assert!(!parsed.metrics.is_empty(), "{workload:?} of {text:?}");
            for m in &parsed.metrics {
                assert!(m.value.is_finite(), "{workload:?}: {m:?} of {text:?}");
            }
        }
        Outcome::Failed(failure) => assert!(!failure.to_string().is_empty()),
    }
}

proptest! {
    #[test]
    fn no_parser_panics_on_any_text(text in any::<String>()) {
        for workload in ALL {
            sound(*workload, &text, ExitState::Unknown);
        }
    }

    #[test]
    fn no_parser_panics_on_words_of_the_grammars(text in grammar_text(), code in 0..3_i32) {
        for workload in ALL {
            sound(*workload, &text, ExitState::Unknown);
            sound(*workload, &text, ExitState::Code(code));
        }
    }
}

#[test]
fn a_deadline_and_a_cancellation_leave_no_result() {
    for workload in ALL {
        for (exit, failure) in [
            (ExitState::DeadlinePassed, Failure::Timeout),
            (ExitState::Cancelled, Failure::Cancelled),
        ] {
            let outcome = read_saved(*workload, "Time: 1.000\n", None, exit);
            assert_eq!(outcome, Outcome::Failed(failure), "{workload:?}");
        }
    }
}

/// The kept captures, by folder.
fn captures() -> Vec<(Workload, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/workload");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let name = if name == "reaim" { "aim7" } else { &name };
        let Some(workload) = Workload::by_name(name) else {
            panic!("no workload {name}");
        };
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == "txt" || e == "err") {
                let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                found.push((workload, path.display().to_string(), text));
            }
        }
    }
    assert!(found.len() > 30, "only {} captures", found.len());
    found
}

/// The values, but of cyclictest with fewer threads, of which the text does not say how many there
/// should be: the parameters do.
fn metrics(workload: Workload, text: &str, threads: &str) -> Option<Vec<(String, f64)>> {
    match read_saved(workload, text, None, ExitState::Unknown) {
        Outcome::Ok(parsed)
            if workload == Workload::Cyclictest
                && !threads.is_empty()
                && parsed.resolved["threads"] != threads =>
        {
            None
        }
        Outcome::Ok(parsed) => Some(
            parsed
                .metrics
                .into_iter()
                .map(|m| (m.metric, m.value))
                .collect(),
        ),
        Outcome::Failed(_) => None,
    }
}

/// A capture cut anywhere yields a failure, or values that the whole one has as well: never a number
/// of which digits are missing.
#[test]
fn a_cut_capture_has_no_value_of_its_own() {
    let mut wrong = Vec::new();
    for (workload, name, text) in captures() {
        let Some(whole) = metrics(workload, &text, "") else {
            continue;
        };
        let threads = match read_saved(workload, &text, None, ExitState::Unknown) {
            Outcome::Ok(parsed) => parsed.resolved.get("threads").cloned().unwrap_or_default(),
            Outcome::Failed(_) => continue,
        };
        // Short outputs at every character, long ones at some hundred places and at all near the end.
        let step = (text.len() / 300).max(1);
        let near_end = text.len().saturating_sub(200);
        for at in (0..text.len()).filter(|at| at % step == 0 || *at > near_end) {
            if !text.is_char_boundary(at) {
                continue;
            }
            for (metric, value) in metrics(workload, &text[..at], &threads).unwrap_or_default() {
                let same = whole.iter().any(|(m, v)| *m == metric && *v == value);
                let interval =
                    workload == Workload::Schbench && text.contains("Latency percentiles");
                if !same && !interval {
                    wrong.push(format!("{name} cut at {at}: {metric} = {value}"));
                    break;
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} cuts",
        wrong.join("\n"),
        wrong.len()
    );
}

#[test]
fn captures_with_a_line_dropped_are_read_without_panic() {
    for (workload, _, text) in captures() {
        let lines: Vec<&str> = text.lines().collect();
        let step = (lines.len() / 60).max(1);
        for dropped in (0..lines.len()).step_by(step) {
            let rest: Vec<&str> = lines
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != dropped)
                .map(|(_, l)| *l)
                .collect();
            sound(workload, &rest.join("\n"), ExitState::Unknown);
        }
    }
}
