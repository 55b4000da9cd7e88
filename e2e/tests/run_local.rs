//! `schedrig run --local`, from a playbook to a table, with the built programs.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use schedrig_e2e::{Programs, Scratch};

const SMALL: &str = "
playbook: 1
title: \"a small run\"
arms:
  one-cpu: {affinity: one cpu}
  all-cpus: {affinity: all cpus}
impl: builtin
workloads:
  hackbench:
    hackbench: {mode: process, ipc: pipe, groups: 1, fds: 2, loops: 6000}
repeat: {min: 2, order: interleaved, warmup: 0, timeout: 30 s}
collect: [stat, schedstat]
judge: {assume: nothing, alpha: 0.05, min_effect: 1%, correct: holm}
simulate: {seeds: 2}
";

#[test]
fn a_playbook_becomes_a_table_with_measured_and_expected() {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let playbook = scratch.file("small.yaml", SMALL);
    let output = programs
        .schedrig(&scratch)
        .args(["run", playbook.as_str(), "--local"])
        .output()
        .unwrap();
    let said = Scratch::said(&output);
    assert!(output.status.success(), "{said}");
    let table = String::from_utf8_lossy(&output.stdout);
    for part in [
        "one-cpu",
        "all-cpus",
        "hackbench  time [",
        "needs n >= ",
        "expected",
    ] {
        assert!(table.contains(part), "no `{part}` in\n{said}");
    }
    let list = programs
        .schedrig(&scratch)
        .args(["runs", "list", "--json"])
        .output()
        .unwrap();
    let runs: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(2), "{runs}");
    let export = programs
        .schedrig(&scratch)
        .args(["runs", "export", "latest"])
        .output()
        .unwrap();
    let record: serde_json::Value = serde_json::from_slice(&export.stdout).unwrap();
    assert_eq!(
        record["repetitions"].as_array().map(Vec::len),
        Some(4),
        "{record}"
    );
}

#[test]
fn bad_playbooks_end_with_2_and_one_clear_message() {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    for (name, text, part) in [
        ("empty.yaml", "", "empty"),
        ("not-yaml.yaml", "{[", "not-yaml.yaml:1"),
        (
            "unknown.yaml",
            &SMALL.replace("    hackbench: {", "    hackbensh: {"),
            "hackbench",
        ),
        (
            "huge.yaml",
            &SMALL.replace("loops: 6000}", "loops: 6000}\n    repeat_1e9: 3"),
            "repeat_1e9",
        ),
    ] {
        let playbook = scratch.file(name, text);
        let output = programs
            .schedrig(&scratch)
            .args(["run", playbook.as_str(), "--local"])
            .output()
            .unwrap();
        let said = Scratch::said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(part), "{name}: no `{part}` in {said}");
    }
}

#[test]
fn an_interrupt_keeps_what_was_measured_and_leaves_no_process() {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let playbook = scratch.file("long.yaml", &SMALL.replace("min: 2", "min: 2000"));
    let mut child = programs
        .schedrig(&scratch)
        .args(["run", playbook.as_str(), "--local"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // The first result is there: the run is in its midst.
    let first = lines
        .by_ref()
        .map_while(Result::ok)
        .find(|l| l.contains("hackbench"));
    assert!(first.is_some(), "no repetition ended");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(4), "{rest:?}");
    let list = programs
        .schedrig(&scratch)
        .args(["runs", "list", "--json"])
        .output()
        .unwrap();
    let runs: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let measured = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["backend"] == "measured")
        .unwrap()
        .clone();
    assert_eq!(measured["state"], "incomplete");
    assert!(measured["repetitions"].as_u64().unwrap() > 0, "{runs}");
    assert_eq!(processes_of(&scratch), Vec::<String>::new());
}

/// Command lines of processes that carry the marker of this test's agent, or are this agent.
fn processes_of(scratch: &Scratch) -> Vec<String> {
    let home = scratch.path().as_str();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let (environ, command) = (read("environ"), read("cmdline"));
        if String::from_utf8_lossy(&environ).contains(home) {
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}
