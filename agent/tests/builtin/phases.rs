//! Phase programs through the built program.

use serde_json::Value;

use crate::process::{builtin, orphans, run, start};

fn result(program: &str) -> Value {
    let ended = run(builtin("phases", &["--seconds", "1", "--program", program]));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    serde_json::from_str(&ended.stdout).expect("one JSON object")
}

#[test]
fn threads_take_turns_until_the_time_is_over() {
    let value = result(
        r#"{"threads": [
            {"name": "ping", "copies": 1, "nice": 0, "loops": null, "actions":
                [{"signal": "to"}, {"wait": "from"}, {"run-us": 50}]},
            {"name": "pong", "copies": 1, "nice": 1, "loops": null, "actions":
                [{"wait": "to"}, {"lock": "m"}, "yield", {"unlock": "m"}, {"signal": "from"}]}]}"#,
    );
    assert_eq!(value["phases"], 1);
    assert!(
        value["elapsed_us"].as_u64().unwrap() >= 1_000_000,
        "{value}"
    );
    let loops: Vec<u64> = (0..2)
        .map(|at| value["threads"][at]["loops"].as_u64().unwrap())
        .collect();
    assert!(loops[0] > 10 && loops[1] > 10, "{value}");
    let latency = &value["threads"][1]["wakeup_latency_us"];
    assert!(
        latency["p50"].as_f64() <= latency["p99"].as_f64(),
        "{value}"
    );
    assert!(latency["samples"].as_u64().unwrap() > 0, "{value}");
}

#[test]
fn a_program_may_end_before_its_time() {
    let value = result(
        r#"{"threads": [{"name": "a", "copies": 3, "nice": 0, "loops": 4, "actions":
            [{"barrier": "b"}, {"timer-us": 2000},
             {"repeat": {"times": 2, "actions": [{"sleep-us": 100}]}}]}]}"#,
    );
    assert!(value["elapsed_us"].as_u64().unwrap() < 1_000_000, "{value}");
    assert_eq!(value["threads"][0]["loops"], 12, "{value}");
    let slack = &value["threads"][0]["timer_slack_us"]["samples"];
    let missed = &value["threads"][0]["timer_misses"];
    assert_eq!(
        slack.as_u64().unwrap_or(0) + missed.as_u64().unwrap(),
        12,
        "{value}"
    );
}

#[test]
fn threads_that_wait_for_nobody_end_with_the_time() {
    let value = result(
        r#"{"threads": [{"name": "a", "copies": 1, "nice": 0, "loops": null, "actions":
            [{"wait": "never"}]}]}"#,
    );
    assert_eq!(value["threads"][0]["loops"], 0);
    assert!(value["threads"][0].get("wakeup_latency_us").is_none());
}

#[test]
fn a_terminated_run_prints_nothing() {
    let mut running = start(builtin(
        "phases",
        &[
            "--seconds",
            "600",
            "--program",
            r#"{"threads": [{"name": "a", "copies": 2, "nice": 0, "loops": null,
                "actions": [{"sleep-us": 1000}]}]}"#,
        ],
    ));
    running.wait_for_tasks(3);
    let group = running.group();
    let ended = running.terminate();
    assert_eq!((ended.status, ended.stdout.as_str()), (None, ""));
    orphans(group).gone();
}

#[test]
fn what_is_no_program_is_an_error() {
    let ended = run(builtin("phases", &["--program", "{}"]));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("no phase program"), "{ended:?}");
}
