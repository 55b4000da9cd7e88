//! Every parser of this crate as one function of bytes: what the fuzzer (`fuzz/`) and the property
//! tests feed. Each also holds what it read to what has to be true of it.

use schedrig_model::CpuSet;
use schedrig_model::plan::{
    Inventory, Machine, Overrides, Plan, RenderOptions, build, diff, to_text,
};
use schedrig_model::playbook::parse;
use schedrig_model::procfmt::{self, schedstat};
use schedrig_model::record::{RunRecord, interpret};
use schedrig_model::reference::Reference;
use schedrig_model::topology::{Topology, draw, synthetic};
use schedrig_model::workload::phases::import_rt_app;
use schedrig_model::workload::{ALL, ExitState, Outcome, Workload, outcome_json, read_saved};

/// What is fed.
pub type Entry = fn(&[u8]);

/// By the names of the fuzz targets.
pub const ENTRIES: &[(&str, Entry)] = &[
    ("playbook", playbook),
    ("plan_json", plan_json),
    ("synthetic", synthetic_topology),
    ("topology_json", topology_json),
    ("schedstat", proc_schedstat),
    ("procfmt", proc_formats),
    ("cpuset", cpu_set),
    ("workload", workload),
    ("rt_app", rt_app),
    ("reference", reference),
    ("record_json", record_json),
    ("journal", journal),
];

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

fn small_machine() -> Machine {
    let topology = synthetic("pack:2 [numa] l3:2 core:4 pu:2").expect("a description");
    Machine::described("m", topology)
}

/// A playbook, its messages, its plan.
pub fn playbook(data: &[u8]) {
    let text = text(data);
    // A file that asks for others gets itself: the worst that can be asked for.
    let book = match parse("fuzz.yaml", &text, &|_| Ok(text.clone())) {
        Ok(book) => book,
        Err(diagnostics) => {
            assert!(diagnostics.has_errors());
            assert!(!diagnostics.to_text().is_empty());
            assert!(diagnostics.to_json()["errors"].as_u64() > Some(0));
            return;
        }
    };
    let roles: Vec<&str> = book.spec.roles.iter().map(|r| r.name.as_str()).collect();
    let inventory = Inventory::everywhere(roles, &small_machine());
    match build(&book, &inventory, &Overrides::default()) {
        Ok(plan) => {
            let again: Plan = serde_json::from_slice(&plan.to_bytes()).expect("own bytes");
            assert_eq!(again.to_bytes(), plan.to_bytes());
            assert!(diff(&plan, &again).is_empty());
            assert!(!to_text(&plan, &RenderOptions::default()).is_empty());
        }
        Err(diagnostics) => assert!(!diagnostics.to_text().is_empty()),
    }
}

/// A saved plan.
pub fn plan_json(data: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<Plan>(data) else {
        return;
    };
    assert!(diff(&plan, &plan).is_empty());
    assert!(!to_text(&plan, &RenderOptions::default()).is_empty());
}

/// A topology in a line.
pub fn synthetic_topology(data: &[u8]) {
    match synthetic(&text(data)) {
        Ok(topology) => {
            assert!(!topology.online().is_empty());
            assert!(!draw(&topology).is_empty());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A topology as an agent sends it.
pub fn topology_json(data: &[u8]) {
    let Ok(topology) = serde_json::from_slice::<Topology>(data) else {
        return;
    };
    let _ = draw(&topology);
    let text = "playbook: 1\ntitle: t\nworkloads:\n  h: {hackbench: {}, in: each llc}\n  s: {stream: {}}\n";
    let book = parse("t.yaml", text, &|_| Err(String::new())).expect("a playbook");
    let inventory = Inventory::of("sut", Machine::described("m", topology));
    let _ = build(&book, &inventory, &Overrides::default());
}

/// `/proc/schedstat`: two snapshots, the second grown out of the first.
pub fn proc_schedstat(data: &[u8]) {
    let text = text(data);
    let _ = schedstat::parse_cpu_lines_of_any_version(&text);
    match schedstat::parse(&text) {
        Ok(stat) => {
            let _ = schedstat::show_text(&stat);
            let _ = schedstat::show_json(&stat);
            if let Ok(diff) = schedstat::subtract(&stat, &stat) {
                let _ = schedstat::diff_text(&diff);
                let _ = schedstat::diff_json(&diff);
                let _ = schedstat::sum_diff(&diff);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Every other text of /proc, /sys and the tools around a repetition.
pub fn proc_formats(data: &[u8]) {
    let text = text(data);
    let _ = procfmt::parse_cpu_stat(&text);
    let _ = procfmt::parse_cpu_stat_v1(&text);
    let _ = procfmt::parse_cpu_stat_local(&text);
    let _ = procfmt::parse_cgroup_events(&text);
    let _ = procfmt::parse_cpu_max(&text);
    let _ = procfmt::parse_partition(&text);
    let _ = procfmt::parse_proc_cgroup(&text);
    let _ = procfmt::parse_proc_cgroups(&text);
    let _ = procfmt::parse_mountinfo(&text);
    let _ = procfmt::parse_perf_stat(&text);
    let _ = procfmt::parse_perf_report(&text);
    let _ = procfmt::parse_turbostat(&text);
    let _ = procfmt::parse_kmsg(&text);
    let _ = procfmt::parse_numactl(&text);
    let _ = procfmt::parse_pressure(&text);
    let _ = procfmt::parse_task_schedstat(&text);
    let _ = procfmt::parse_task_sched(&text);
    let _ = procfmt::parse_status_switches(&text);
    let _ = procfmt::parse_interrupts(&text);
    let _ = procfmt::parse_proc_stat(&text);
    let _ = procfmt::parse_features(&text);
    let _ = procfmt::parse_domain_flags(&text);
    let _ = procfmt::bracketed(&text);
}

/// Lists and masks of CPUs: what is read is written as it was meant.
pub fn cpu_set(data: &[u8]) {
    let text = text(data);
    if let Ok(set) = CpuSet::parse_list(&text) {
        assert_eq!(CpuSet::parse_list(&set.to_string()), Ok(set));
    }
    if let Ok(set) = CpuSet::parse_mask(&text) {
        let width = set.iter().last().map_or(1, |cpu| cpu.0 + 1);
        assert_eq!(CpuSet::parse_mask(&set.to_mask(width)), Ok(set));
    }
}

/// The output of a tool. The first line names the workload; without a name every one reads it.
pub fn workload(data: &[u8]) {
    let text = text(data);
    let (name, rest) = text.split_once('\n').unwrap_or(("", &text));
    let one = Workload::by_name(name);
    let chosen: Vec<Workload> = one.map_or_else(|| ALL.to_vec(), |w| vec![w]);
    for workload in chosen {
        let outcome = read_saved(workload, rest, None, ExitState::Unknown);
        match &outcome {
            Outcome::Ok(parsed) => {
                assert!(!parsed.metrics.is_empty());
                assert!(parsed.metrics.iter().all(|m| m.value.is_finite()));
            }
            Outcome::Failed(failure) => assert!(!failure.to_string().is_empty()),
        }
        let _ = outcome_json(workload, &outcome);
    }
}

/// A file of rt-app.
pub fn rt_app(data: &[u8]) {
    if let Err(error) = import_rt_app(&text(data)) {
        assert!(!error.to_string().is_empty());
    }
}

/// A file of published results.
pub fn reference(data: &[u8]) {
    if let Err(error) = Reference::parse("fuzz.yaml", &text(data)) {
        assert!(!error.to_string().is_empty());
    }
}

/// A stored run, read again by a plan that is not its own.
pub fn record_json(data: &[u8]) {
    let Ok(record) = serde_json::from_slice::<RunRecord>(data) else {
        return;
    };
    let text = "playbook: 1\ntitle: t\nworkloads:\n  h: {hackbench: {}}\n";
    let book = parse("t.yaml", text, &|_| Err(String::new())).expect("a playbook");
    let inventory = Inventory::of("sut", small_machine());
    let plan = build(&book, &inventory, &Overrides::default()).expect("a plan");
    for mut repetition in record.repetitions.clone() {
        interpret(&plan, &mut repetition);
    }
    let bytes = serde_json::to_vec(&record).expect("a record");
    serde_json::from_slice::<RunRecord>(&bytes).expect("own bytes");
}

/// The journal of changed settings, as a crash may leave it.
pub fn journal(data: &[u8]) {
    let journal = schedrig_model::host::tune::decode_journal(&text(data));
    let _ = format!("{journal:?}");
}
