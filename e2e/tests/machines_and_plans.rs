//! `schedrig machine`, `schedrig playbook`, with the built programs, as a person types them.

use schedrig_e2e::{Programs, Scratch};
use schedrig_model::plan::{Inventory, Machine, Overrides, build};
use schedrig_model::playbook::parse;
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

#[test]
fn a_published_experiment_is_planned_for_its_three_machines() {
    let playbook = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../playbooks/published/task-throttle-2025.yaml"
    );
    let roles = ["emr=emr-2s", "genoa=genoa-2s", "genoa2=genoa"];
    let mut args = vec!["playbook", "plan", playbook];
    for role in roles {
        args.extend(["--on", role]);
    }
    let (said, code) = run(&args);
    assert_eq!(code, Some(0), "{said}");
    for part in ["emr-2s", "genoa-2s", "hackbench-400-genoa2"] {
        assert!(said.contains(part), "no `{part}`");
    }
    let (said, code) = run(&["playbook", "plan", playbook, "--on", "sut=genoa"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("has the roles emr, genoa, genoa2"), "{said}");
}

/// The machines that hwloc files describe, where the shared fixtures are at hand.
#[test]
fn every_shipped_playbook_plans_on_every_described_machine() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("../shared/fixtures/topology/synthetic");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!(
            "{} is absent: its machines are not planned for",
            folder.display()
        );
        return;
    };
    let (programs, scratch) = (Programs::built(), Scratch::new());
    let mut machines = Vec::new();
    for file in files
        .flatten()
        .filter(|f| f.path().extension().is_some_and(|e| e == "xml"))
    {
        let output = programs
            .schedrig(&scratch)
            .args(["machine", "show", "--json"])
            .arg(file.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", Scratch::said(&output));
        let mut shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        let topology = serde_json::from_value(shown["topology"].take()).unwrap();
        machines.push(Machine::described("m", topology));
    }
    assert!(machines.len() >= 10, "{} machines", machines.len());
    let load = |path: &str| std::fs::read_to_string(path).map_err(|e| e.to_string());
    for folder in ["", "workloads", "published"] {
        for file in std::fs::read_dir(root.join("playbooks").join(folder))
            .unwrap()
            .flatten()
        {
            let path = file.path().display().to_string();
            if !path.ends_with(".yaml") {
                continue;
            }
            let book = parse(&path, &load(&path).unwrap(), &load).unwrap();
            for machine in &machines {
                let roles = book.spec.roles.iter().map(|r| r.name.as_str());
                let inventory = Inventory::everywhere(roles, machine);
                let Err(refused) = build(&book, &inventory, &Overrides::default()) else {
                    continue;
                };
                // A published experiment needs machines like those it was made on; nothing else
                // may stand in the way.
                for item in &refused.items {
                    assert!(item.message.contains("cannot be `"), "{path}: {refused}");
                }
            }
        }
    }
}
