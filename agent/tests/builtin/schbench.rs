//! schbench through the built program.

use crate::process::{Run, builtin, orphans, run, start};

/// Small enough for an unoptimised build.
const SMALL: [&str; 10] = ["-m", "1", "-t", "2", "-r", "2", "-F", "8", "-n", "1"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    SMALL.iter().chain(more).copied().collect()
}

fn samples(title: &str, text: &str) -> u64 {
    let line = text
        .lines()
        .rev()
        .find(|l| l.starts_with(title))
        .expect(title);
    let count = line.split('(').next_back().expect("a count");
    let word = count.split(' ').next().expect("a count");
    word.parse().expect("a number")
}

#[test]
fn results_stand_on_stderr_in_the_tools_grammar() {
    let Run {
        status,
        stdout,
        stderr,
    } = run(builtin("schbench", &with(&["-i", "1"])));
    assert_eq!((status, stdout.as_str()), (Some(0), ""), "{stderr}");
    assert_eq!(stderr.matches("current rps: ").count(), 1, "{stderr}");
    assert_eq!(stderr.matches("average rps: ").count(), 1, "{stderr}");
    for title in [
        "Wakeup Latencies percentiles (usec) runtime 2 (s)",
        "Request Latencies percentiles (usec) runtime 2 (s)",
        "RPS percentiles (requests) runtime 2 (s)",
    ] {
        assert!(samples(title, &stderr) > 0, "{stderr}");
    }
}

#[test]
fn json_goes_to_stdout_and_has_no_newline() {
    let ended = run(builtin("schbench", &with(&["-j", "-", "-J", "job"])));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let value: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(!ended.stdout.ends_with('\n'));
    assert_eq!(value["normal"]["jobname"], "job");
    assert_eq!(value["int"]["runtime"], 2);
    assert!(value["int"]["wakeup_latency_pct99.0"].is_u64(), "{value}");
    assert!(value["int"]["request_latency_pct50.0"].is_u64(), "{value}");
}

#[test]
fn a_rate_is_kept() {
    let ended = run(builtin("schbench", &with(&["-R", "40"])));
    let line = ended
        .stderr
        .lines()
        .find_map(|l| l.strip_prefix("average rps: "))
        .unwrap();
    let rate: f64 = line.parse().unwrap();
    // The requests of a second may be handed out just before or after the run's end.
    assert!((20.0..=61.0).contains(&rate), "{ended:?}");
}

#[test]
fn pipe_mode_reports_the_transfer() {
    let ended = run(builtin("schbench", &with(&["-p", "64"])));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("avg worker transfer: "), "{ended:?}");
    assert!(!ended.stderr.contains("Request Latencies"), "{ended:?}");
}

#[test]
fn a_terminated_run_has_no_average() {
    let mut running = start(builtin("schbench", &["-m", "1", "-t", "2", "-r", "600"]));
    running.wait_for_tasks(4);
    let group = running.group();
    let ended = running.terminate();
    assert_eq!(ended.status, None, "{ended:?}");
    assert!(!ended.stderr.contains("average rps"), "{ended:?}");
    orphans(group).gone();
}

#[test]
fn what_cannot_be_done_is_an_error() {
    let unwritable = run(builtin("schbench", &with(&["-j", "/nosuchdir/out.json"])));
    assert_eq!(unwritable.status, Some(1), "{unwritable:?}");
    assert!(unwritable.stderr.contains("/nosuchdir/out.json"));
    let no_cpu = run(builtin("schbench", &with(&["-W", "1000-1001"])));
    assert_eq!(no_cpu.status, Some(1), "{no_cpu:?}");
    assert!(no_cpu.stderr.contains("unable to set CPU affinity"));
    let usage = run(builtin("schbench", &["-t", "abc"]));
    assert_eq!(usage.status, Some(1));
    assert!(usage.stderr.contains("schbench usage:"), "{usage:?}");
}
