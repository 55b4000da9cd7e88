//! Every playbook that is shipped is read, and planned on machines of every kind.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests read the shipped files"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schedrig_model::plan::{Inventory, Machine, Overrides, Plan, StepAction, build};
use schedrig_model::playbook::{Diagnostics, Playbook, parse};
use schedrig_model::topology::synthetic;
use schedrig_model::workload::ALL;

/// The machines of the topology fixtures, as hwloc describes them.
const MACHINES: &[(&str, &str)] = &[
    ("8socket-skx", "pack:8 [numa] l3:1 l2:28 l1d:1 core:1 pu:2"),
    (
        "emr-8592-2s-snc2",
        "pack:2 group:2 [numa] l3:1 l2:32 l1d:1 core:1 pu:2",
    ),
    (
        "genoa-9654-2s-nps1",
        "pack:2 [numa] l3:12 l2:8 l1d:1 core:1 pu:2",
    ),
    (
        "genoa-9654-2s-nps4",
        "pack:2 group:4 [numa] l3:3 l2:8 l1d:1 core:1 pu:2",
    ),
    (
        "hygon-7285-2s",
        "pack:2 group:4 [numa] l3:2 l2:4 l1d:1 core:1 pu:2",
    ),
    (
        "icx-8358-2s-snc2",
        "pack:2 group:2 [numa] l3:1 l2:16 l1d:1 core:1 pu:2",
    ),
    ("icx-8380-2s", "pack:2 [numa] l3:1 l2:40 l1d:1 core:1 pu:2"),
    (
        "jacobsville-24c",
        "pack:1 [numa] l3:1 l2:6 l1d:4 core:1 pu:1",
    ),
    (
        "kunpeng920-7265-2s",
        "pack:2 group:2 [numa] l3:1 group:8 l2:4 l1d:1 core:1 pu:1",
    ),
    ("laptop-4c8t", "pack:1 [numa] l3:1 l2:4 l1d:1 core:1 pu:2"),
    (
        "milan-7763-2s-nps1",
        "pack:2 [numa] l3:8 l2:8 l1d:1 core:1 pu:2",
    ),
    (
        "milan-7763-2s-nps2",
        "pack:2 group:2 [numa] l3:4 l2:8 l1d:1 core:1 pu:2",
    ),
    (
        "rome-7742-2s-nps4",
        "pack:2 group:4 [numa] l3:4 l2:4 l1d:1 core:1 pu:2",
    ),
    (
        "spr-8480-2s-snc4",
        "pack:2 group:4 [numa] l3:1 l2:14 l1d:1 core:1 pu:2",
    ),
    ("spr-8480-2s", "pack:2 [numa] l3:1 l2:56 l1d:1 core:1 pu:2"),
    ("two-cpus", "core:2 pu:1"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../playbooks")
}

/// Paths of the shipped playbooks below `playbooks/`; parts and the schema are none.
fn shipped() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "workloads", "published"] {
        let entries =
            std::fs::read_dir(root().join(folder)).unwrap_or_else(|e| panic!("{folder}: {e}"));
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".yaml") {
                found.push(if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                });
            }
        }
    }
    found.sort();
    found
}

fn load(path: &str) -> Result<String, String> {
    std::fs::read_to_string(root().join(path)).map_err(|e| e.to_string())
}

fn read(path: &str) -> Playbook {
    let text = load(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    parse(path, &text, &load).unwrap_or_else(|e| panic!("{e}"))
}

fn machine(name: &str, description: &str) -> Machine {
    Machine::described(
        name,
        synthetic(description).unwrap_or_else(|e| panic!("{e}")),
    )
}

fn plan(book: &Playbook, machines: &[(&str, Machine)]) -> Result<Plan, Diagnostics> {
    let inventory = Inventory {
        machines: machines
            .iter()
            .map(|(r, m)| ((*r).to_owned(), m.clone()))
            .collect(),
    };
    build(book, &inventory, &Overrides::default())
}

#[test]
fn every_playbook_plans_on_every_machine_that_meets_its_requirements() {
    let playbooks = shipped();
    assert!(playbooks.len() >= 20, "{playbooks:?}");
    for path in &playbooks {
        let book = read(path);
        for (name, description) in MACHINES {
            let m = machine(name, description);
            let roles: Vec<&str> = book.spec.roles.iter().map(|r| r.name.as_str()).collect();
            let inventory = Inventory::everywhere(roles, &m);
            let error = match build(&book, &inventory, &Overrides::default()) {
                Ok(plan) => {
                    assert!(plan.runs() > 0, "{path} on {name}");
                    continue;
                }
                Err(error) => error,
            };
            // The published experiments need machines like those they were made on.
            let asks = path.starts_with("published/") || path == "scheduler-patch.yaml";
            for item in &error.items {
                assert!(
                    asks && item.message.contains("cannot be `"),
                    "{path} on {name}: {error}"
                );
            }
        }
    }
}

#[test]
fn there_is_a_playbook_for_each_workload() {
    let playbooks = shipped();
    for w in ALL {
        let path = format!("workloads/{}.yaml", w.def().name);
        assert!(playbooks.contains(&path), "{path}");
    }
}

#[test]
fn there_is_a_playbook_for_each_published_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference/published");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("{} is absent: its files are not compared", folder.display());
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(id) = name.strip_suffix(".yaml") else {
            continue;
        };
        assert_eq!(
            read(&format!("published/{name}")).spec.reference.as_deref(),
            Some(id)
        );
    }
}

/// Cells of each entry, and the arms they run under on each machine.
fn shape(plan: &Plan) -> BTreeMap<String, (usize, Vec<String>)> {
    let mut found: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for cell in &plan.cells {
        found.entry(cell.entry.clone()).or_default().0 += 1;
    }
    for step in &plan.steps {
        let StepAction::Run(run) = &step.action else {
            continue;
        };
        let entry = run
            .cell
            .as_str()
            .split(['/', '@'])
            .next()
            .unwrap_or_default();
        let arm = format!("{}:{}", step.host, run.arm);
        if let Some((_, arms)) = found.get_mut(entry)
            && !arms.contains(&arm)
        {
            arms.push(arm);
        }
    }
    found
}

#[test]
fn the_throttle_experiment_has_every_row_of_the_mail() {
    let emr = machine("emr", "pack:2 [numa] l3:1 l2:60 core:1 pu:2");
    let genoa = machine("genoa", "pack:2 [numa] l3:12 l2:8 core:1 pu:2");
    let genoa2 = machine("genoa2", "pack:2 [numa] l3:12 l2:8 core:1 pu:2");
    let book = read("published/task-throttle-2025.yaml");
    let plan = plan(&book, &[("emr", emr), ("genoa", genoa), ("genoa2", genoa2)])
        .unwrap_or_else(|e| panic!("{e}"));
    let rows = shape(&plan);
    assert_eq!(
        rows["netperf-pairs"].1,
        ["emr:base", "emr:head", "genoa:base", "genoa:head"]
    );
    assert_eq!(
        rows["hackbench-8000-genoa2"].1,
        [
            "genoa2:base",
            "genoa2:head_1",
            "genoa2:head",
            "genoa2:base_nollc",
            "genoa2:head_nollc"
        ]
    );
    let tasks = plan.steps.iter().find_map(|s| match &s.action {
        StepAction::Run(run) if run.cell.as_str() == "hackbench-8000-emr" => {
            Some(run.instances.len() * 40)
        }
        _ => None,
    });
    assert_eq!(tasks, Some(8000));
}

#[test]
fn the_other_published_experiments_have_their_rows() {
    let cells = |path: &str, machines: &[(&str, Machine)]| {
        plan(&read(path), machines)
            .unwrap_or_else(|e| panic!("{e}"))
            .cells
            .len()
    };
    let jacobsville = machine("j", "pack:1 [numa] l3:1 l2:6 l1d:4 core:1 pu:1");
    let hygon = machine("h", "pack:2 group:4 [numa] l3:3 l2:8 core:1 pu:2");
    let ivb = machine("ivb", "pack:2 [numa] l3:1 core:10 pu:2");
    let lab = machine("lab", "pack:2 [numa] l3:1 core:32 pu:2");
    let eight = machine("w", "pack:8 [numa] l3:1 core:10 pu:1");
    assert_eq!(
        cells(
            "published/cluster-wakeup-2023.yaml",
            &[("jacobsville", jacobsville)]
        ),
        12 + 16 + 8 + 3
    );
    assert_eq!(
        cells("published/smt-buddy-2026.yaml", &[("hygon_7447v", hygon)]),
        8 + 11 + 10 + 2 + 2
    );
    assert_eq!(
        cells(
            "published/eevdf-place-bonus-2023.yaml",
            &[("lab", lab), ("ivb_ep", ivb)]
        ),
        3
    );
    assert_eq!(
        cells(
            "published/tg-load-avg-2014.yaml",
            &[("eight_socket", eight)]
        ),
        9 * 3
    );
}

#[test]
fn two_machines_share_a_barrier_and_a_server() {
    let book = read("netperf-two-machines.yaml");
    let m = |name| machine(name, "core:8 pu:1");
    let plan = plan(
        &book,
        &[
            ("sut", m("s")),
            ("client-1", m("c1")),
            ("client-2", m("c2")),
        ],
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let runs: Vec<_> = plan
        .steps
        .iter()
        .filter_map(|s| match &s.action {
            StepAction::Run(run) => Some((s.host.as_str(), run)),
            _ => None,
        })
        .collect();
    assert_eq!((runs[0].0, runs[1].0), ("c1", "c2"));
    assert_eq!(runs[0].1.barrier, runs[1].1.barrier);
    assert!(runs[0].1.barrier.is_some());
    assert_eq!(
        runs[0].1.instances[0]
            .server_host
            .as_ref()
            .map(ToString::to_string),
        Some("s".into())
    );
    let entered: Vec<&str> = plan
        .steps
        .iter()
        .filter(|s| matches!(s.action, StepAction::EnterArm { .. }))
        .map(|s| s.host.as_str())
        .collect();
    assert!(
        !entered.is_empty() && entered.iter().all(|h| *h == "s"),
        "{entered:?}"
    );
}
