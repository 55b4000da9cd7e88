//! `schedrig machine`, `schedrig playbook`, with the built programs, as a person types them.

use schedrig_e2e::{Programs, Scratch};
use serde_json::Value;

const A: &str = "playbook: 1
title: a
workloads:
  h:
    hackbench: {}
    matrix: {product: {groups: [1, 2]}}
";

/// What a command printed, and the code it ended with.
fn run(args: &[&str]) -> (String, Option<i32>) {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let output = programs
        .schedrig(&scratch)
        .args(args)
        .output()
        .expect("it starts");
    (Scratch::said(&output), output.status.code())
}

#[test]
fn every_machine_of_the_simulator_is_listed_shown_and_planned_for() {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let playbook = scratch.file("a.yaml", A);
    let json = |args: &[&str]| -> Value {
        let output = programs.schedrig(&scratch).args(args).output().unwrap();
        assert!(output.status.success(), "{}", Scratch::said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let list = json(&["machine", "list", "--json"]);
    let names = list["machines"].as_array().unwrap();
    assert!(names.len() >= 11, "{list}");
    for name in names.iter().map(|n| n.as_str().unwrap()) {
        let shown = json(&["machine", "show", name, "--json"]);
        assert_eq!(shown["topology"]["origin"], "description", "{name}");
        let plan = json(&[
            "playbook",
            "plan",
            playbook.as_str(),
            "--machine",
            name,
            "--json",
        ]);
        assert_eq!(plan["hosts"][0]["host"], name);
    }
    let genoa = json(&["machine", "show", "genoa", "--json"]);
    assert_eq!(
        genoa["topology"]["cpus"].as_array().map(Vec::len),
        Some(384)
    );
}

#[test]
fn a_machine_that_is_none_is_refused_with_those_that_are() {
    let (said, code) = run(&["machine", "show", "genua"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("no machine `genua`") && said.contains("genoa-2s"),
        "{said}"
    );
    let (said, code) = run(&["machine", "show", "i"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("icelake-2s, ivybridge-ep"), "{said}");
}

#[test]
fn two_playbooks_or_saved_plans_are_compared() {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let a = scratch.file("a.yaml", A);
    let b = scratch.file("b.yaml", &A.replace("[1, 2]", "[1, 4]"));
    let plan = |more: &[&str]| {
        let output = programs
            .schedrig(&scratch)
            .args(["playbook", "plan", "--machine", "vm-2"])
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", Scratch::said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = plan(&["--diff", a.as_str(), b.as_str()]);
    assert!(
        text.contains("- cells.h/groups=2.id: h/groups=2\n"),
        "{text}"
    );
    assert!(
        text.contains("+ cells.h/groups=4.id: h/groups=4\n"),
        "{text}"
    );
    assert!(!text.contains("params"), "{text}");
    let saved = scratch.file("a.json", &plan(&[a.as_str(), "--json"]));
    let same = plan(&["--diff", saved.as_str(), a.as_str()]);
    assert_eq!(same, "the plans are the same\n");
    let json: Value =
        serde_json::from_str(&plan(&["--diff", a.as_str(), b.as_str(), "--json"])).unwrap();
    assert_eq!((&json["format"], &json["same"]), (&1.into(), &false.into()));
}

#[test]
fn every_file_is_checked_where_one_cannot_be_read() {
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let a = scratch.file("a.yaml", A);
    let output = programs
        .schedrig(&scratch)
        .args(["playbook", "check", "--json", "/nowhere.yaml", a.as_str()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors = |at: usize| &json["playbooks"][at]["report"]["errors"];
    assert_eq!((errors(0), errors(1)), (&1.into(), &0.into()), "{json}");
}
