//! From a playbook to a plan.

use std::collections::BTreeMap;

use schedrig_model::plan::{
    Inventory, Machine, Overrides, Plan, RenderOptions, StepAction, build, to_text,
};
use schedrig_model::playbook::{Diagnostics, Playbook, parse};
use schedrig_model::topology::synthetic;

const QUICKSTART: &str = include_str!("../../playbooks/quickstart.yaml");

fn no_files(path: &str) -> Result<String, String> {
    Err(format!("no file {path}"))
}

fn read(text: &str) -> Result<Playbook, Diagnostics> {
    parse("test.yaml", text, &no_files)
}

fn machine(description: &str) -> Machine {
    match synthetic(description) {
        Ok(topology) => Machine::described("m", topology),
        Err(error) => panic!("{error}"),
    }
}

fn plan_on(text: &str, description: &str) -> Result<Plan, Diagnostics> {
    let book = read(text).unwrap_or_else(|e| panic!("{e}"));
    let roles: Vec<String> = book.spec.roles.iter().map(|r| r.name.clone()).collect();
    let inventory = Inventory::everywhere(roles.iter().map(String::as_str), &machine(description));
    build(&book, &inventory, &Overrides::default())
}

#[test]
fn the_quickstart_has_every_cell_under_both_arms() {
    let plan = plan_on(QUICKSTART, "pack:1 l3:1 core:2 pu:1").unwrap_or_else(|e| panic!("{e}"));
    println!("{}", to_text(&plan, &RenderOptions::default()));
    assert_eq!(plan.cells.len(), 6);
    assert_eq!(plan.runs(), 6 * 2 * 6);
    let cpus: Vec<Option<String>> = plan
        .steps
        .iter()
        .filter_map(|s| match &s.action {
            StepAction::Run(run) => Some((run, &run.instances[0])),
            _ => None,
        })
        .filter(|(run, _)| run.cell.as_str() == "wakeup")
        .map(|(_, i)| i.cpus.as_ref().map(ToString::to_string))
        .take(4)
        .collect();
    assert_eq!(cpus, [Some("0".into()), None, None, Some("0".into())]);
    assert!(plan.estimate_ms() < 120_000, "{} ms", plan.estimate_ms());
}

#[test]
fn equal_inputs_give_equal_bytes() {
    let once = plan_on(QUICKSTART, "pack:2 l3:4 core:4 pu:2").unwrap();
    let again = plan_on(QUICKSTART, "pack:2 l3:4 core:4 pu:2").unwrap();
    assert_eq!(once.to_bytes(), again.to_bytes());
    assert_eq!(once.hash().len(), 64);
    let back: Plan = serde_json::from_slice(&once.to_bytes()).unwrap();
    assert_eq!(back, once);
    let _: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&once.to_bytes()).unwrap();
}
