//! What happened to people who write such files, and what is done about it. Names carry the numbers
//! of the cases.

use std::collections::BTreeMap;

use schedrig_model::CpuSet;
use schedrig_model::id::NodeId;
use schedrig_model::plan::{
    Inventory, Machine, Overrides, Plan, RenderOptions, StepAction, build, to_text,
};
use schedrig_model::playbook::{Diagnostics, Playbook, parse, schema};
use schedrig_model::topology::{NumaNode, Topology, synthetic};

fn no_files(path: &str) -> Result<String, String> {
    Err(format!("no file {path}"))
}

fn read(text: &str) -> Result<Playbook, Diagnostics> {
    parse("test.yaml", text, &no_files)
}

/// A playbook of one hackbench entry with more keys.
fn book(more: &str) -> String {
    format!("playbook: 1\ntitle: t\n{more}\n")
}

fn topology(description: &str) -> Topology {
    synthetic(description).unwrap_or_else(|e| panic!("{e}"))
}

fn machine(description: &str) -> Machine {
    Machine::described("m", topology(description))
}

fn plan_with(text: &str, machine: &Machine, overrides: &Overrides) -> Result<Plan, Diagnostics> {
    let book = read(text)?;
    let roles: Vec<String> = book.spec.roles.iter().map(|r| r.name.clone()).collect();
    let inventory = Inventory::everywhere(roles.iter().map(String::as_str), machine);
    build(&book, &inventory, overrides)
}

fn plan(text: &str, description: &str) -> Result<Plan, Diagnostics> {
    plan_with(text, &machine(description), &Overrides::default())
}

#[track_caller]
fn refused<T>(result: Result<T, Diagnostics>) -> String {
    match result {
        Ok(_) => panic!("accepted"),
        Err(e) => e.to_text(),
    }
}

#[track_caller]
fn planned(text: &str, description: &str) -> Plan {
    plan(text, description).unwrap_or_else(|e| panic!("{e}"))
}

const HACKBENCH: &str = "workloads:\n  h: {hackbench: {groups: 1}}\n";

#[test]
fn h1_every_error_has_a_place_and_a_text() {
    for bad in [
        "",
        "# nothing\n",
        "[",
        "x",
        "playbook: 2\n",
        "playbook: 1\ntitle: t\nworkloads: {}\n",
    ] {
        let error = read(bad).unwrap_err();
        for item in &error.items {
            assert!(!item.message.is_empty());
            assert_eq!(item.file, "test.yaml");
            assert!(
                item.expected.is_some() || item.message.starts_with("not YAML"),
                "{bad:?}: {item:?}"
            );
        }
        assert!(error.has_errors(), "{bad:?}");
    }
}

#[test]
fn h1_a_filter_that_matches_nothing_is_an_error() {
    let only = Overrides {
        only: vec!["x".into()],
        ..Overrides::default()
    };
    let text = refused(plan_with(&book(HACKBENCH), &machine("core:2 pu:1"), &only));
    assert!(
        text.contains("0 runs planned: filter 'x' matches none"),
        "{text}"
    );
}

#[test]
fn h2_off_is_a_word() {
    let plan = planned(
        &book(&format!("{HACKBENCH}prepare: {{smt: off}}")),
        "core:2 pu:2",
    );
    let text = to_text(&plan, &RenderOptions::default());
    assert!(text.contains("smt off"), "{text}");
    for wrong in ["false", "no", "0", "False"] {
        let text = refused(read(&book(&format!(
            "{HACKBENCH}prepare: {{smt: {wrong}}}"
        ))));
        assert!(text.contains("did you mean `off`?"), "{wrong}: {text}");
    }
}

#[test]
fn h2_a_switch_of_a_tool_takes_true_as_on_and_0_as_nothing() {
    let given = |cpu: &str| {
        let text = format!("workloads:\n  n: {{netperf: {{test: UDP_RR, cpu: {cpu}}}}}\n");
        plan(&book(&text), "core:2 pu:2")
    };
    for (word, meant) in [
        ("true", "on"),
        ("on", "on"),
        ("false", "off"),
        ("off", "off"),
    ] {
        let plan = given(word).unwrap_or_else(|e| panic!("{e}"));
        let cpu = plan.cells[0].params.get("cpu").map(ToString::to_string);
        assert_eq!(cpu.as_deref(), Some(meant), "{word}");
    }
    for wrong in ["0", "1", "yes", "True"] {
        assert!(
            refused(given(wrong)).contains("wrong value for `cpu`"),
            "{wrong}"
        );
    }
}

#[test]
fn h2_leading_zeros_are_refused_with_a_hint() {
    let text = refused(read(&book(
        "workloads:\n  h: {hackbench: {groups: 0644}}\n",
    )));
    assert!(
        text.contains("`0644`") && text.contains("octal") && text.contains("`644`"),
        "{text}"
    );
    let text = refused(read(&book(&format!(
        "{HACKBENCH}prepare: {{sysctl: {{a.b: 0755}}}}"
    ))));
    assert!(text.contains("in quotes it is text"), "{text}");
    assert!(
        read(&book(&format!(
            "{HACKBENCH}prepare: {{sysctl: {{a.b: \"0755\"}}}}"
        )))
        .is_ok()
    );
}

#[test]
fn h3_unknown_keys_are_errors_with_a_near_miss() {
    let text = refused(read(&book(&format!(
        "{HACKBENCH}repeat: {{mim: 5}}\nsimulate: {{sedes: 8}}"
    ))));
    assert!(
        text.contains("unknown key `mim` of repeat") && text.contains("did you mean `min`?"),
        "{text}"
    );
    assert!(text.contains("did you mean `seeds`?"), "{text}");
}

#[test]
fn h3_the_schema_uses_no_keyword_that_does_nothing() {
    const KEYWORDS: &[&str] = &[
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "description",
        "enum",
        "items",
        "maximum",
        "minProperties",
        "minimum",
        "oneOf",
        "pattern",
        "patternProperties",
        "properties",
        "required",
        "title",
        "type",
    ];
    fn walk(value: &serde_json::Value, names: bool) {
        let Some(object) = value.as_object() else {
            return value
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|v| walk(v, false));
        };
        for (key, below) in object {
            assert!(names || KEYWORDS.contains(&key.as_str()), "{key}");
            let holds_names = !names
                && ["properties", "patternProperties", "$defs", "workloads"]
                    .contains(&key.as_str());
            walk(
                below,
                holds_names
                    || key == "workloads"
                        && names
                        && below.get("anyOf").is_none()
                        && below.get("type").is_none(),
            );
        }
        if !names && object.get("properties").is_some() {
            assert_eq!(
                object["additionalProperties"],
                serde_json::Value::Bool(false)
            );
        }
    }
    walk(&schema(), false);
}

#[test]
fn h5_a_matrix_has_the_cells_it_says() {
    let text = book(
        "workloads:
  a:
    hackbench: {}
    matrix: {product: {groups: [1, 2, 3], fds: [1, 2, 3, 4], mode: [process, thread]}}
  b:
    hackbench: {}
    matrix: {product: {groups: [1], fds: [1, 2, 3], ipc: [pipe, socket]}}",
    );
    let plan = planned(&text, "core:4 pu:1");
    assert_eq!(plan.cells.iter().filter(|c| c.entry == "a").count(), 24);
    assert_eq!(plan.cells.iter().filter(|c| c.entry == "b").count(), 6);
}

#[test]
fn h5_zip_pairs_lists_of_one_length() {
    let zip = |groups: &str, loops: &str| {
        book(&format!(
            "workloads:\n  a:\n    hackbench: {{}}\n    matrix: {{zip: {{groups: {groups}, loops: {loops}}}}}\n"
        ))
    };
    let plan = planned(&zip("[1, 2]", "[200, 100]"), "core:4 pu:1");
    let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["a/groups=1,loops=200", "a/groups=2,loops=100"]);
    let text = refused(read(&zip("[1, 2, 3]", "[200, 100]")));
    assert!(
        text.contains("`zip` pairs `groups` of 3 values with `loops` of 2"),
        "{text}"
    );
}

#[test]
fn h5_a_dry_run_prints_count_and_hours() {
    let text = book(
        "workloads:
  a:
    schbench: {seconds: 60}
    matrix: {product: {workers: {from: 1, to: 30}}}
repeat: {min: 10}",
    );
    let plan = planned(&text, "core:4 pu:1");
    let text = to_text(&plan, &RenderOptions::default());
    assert!(
        text.contains("30 cells x 1 arms, 300 repetitions"),
        "{text}"
    );
    assert!(text.contains("(5.0 h)"), "{text}");
}

#[test]
fn h5_a_billion_cells_are_refused_at_once() {
    let list: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
    let list = list.join(", ");
    let text = book(&format!(
        "workloads:\n  a:\n    hackbench: {{}}\n    matrix: {{product: {{groups: [{list}], fds: [{list}], loops: [{list}]}}}}\n"
    ));
    let error = refused(read(&text));
    assert!(error.contains("the matrix has 1000000000 cells"), "{error}");
    let text = book(
        "workloads:\n  a:\n    hackbench: {}\n    matrix: {product: {groups: {from: 1, to: 9000}, fds: {from: 1, to: 9000}, loops: {from: 1, to: 9000}}}\n",
    );
    let error = refused(plan(&text, "core:4 pu:1"));
    assert!(
        error.contains("the matrix has 729000000000 cells"),
        "{error}"
    );
    let text = book(
        "workloads:\n  a:\n    hackbench: {}\n    matrix: {product: {groups: [1, 2, 3]}, cap: 2}\n",
    );
    assert!(refused(read(&text)).contains("at most 2 (`cap`)"));
}

#[test]
fn h5_a_filtered_matrix_leaves_points_out() {
    let text = book(
        "workloads:
  a:
    hackbench: {}
    matrix:
      product: {mode: [process, thread], groups: [1, 4]}
      exclude: [{mode: thread, groups: 4}]",
    );
    assert_eq!(planned(&text, "core:4 pu:1").cells.len(), 3);
    let all = book(
        "workloads:\n  a:\n    hackbench: {}\n    matrix: {product: {groups: [1]}, exclude: [{groups: 1}]}\n",
    );
    assert!(refused(plan(&all, "core:4 pu:1")).contains("has no cells"));
}

#[test]
fn h7_a_plan_holds_durations_and_no_clock() {
    let plan = planned(&book(HACKBENCH), "core:4 pu:1");
    let text = String::from_utf8(plan.to_bytes()).unwrap_or_default();
    assert!(text.contains("deadline_ms") && text.contains("estimate_ms"));
    for stamp in ["date", "created", "\"time", "T00:", "UTC"] {
        assert!(!text.contains(stamp), "{stamp}");
    }
}

#[test]
fn h9_units_are_needed_and_converted() {
    for bad in [
        "timeout: 30",
        "timeout: 30 parsec",
        "min_effect: 1",
        "until: ci <= 2",
    ] {
        let key = if bad.starts_with("min") {
            "judge"
        } else {
            "repeat"
        };
        let text = refused(read(&book(&format!("{HACKBENCH}{key}: {{{bad}}}"))));
        assert!(
            text.contains("unit") || text.contains("none of") || text.contains("%"),
            "{bad}: {text}"
        );
    }
    let deadline = |text: &str| {
        let plan = planned(
            &book(&format!("{HACKBENCH}repeat: {{timeout: {text}}}")),
            "core:4 pu:1",
        );
        plan.steps
            .iter()
            .find(|s| matches!(s.action, StepAction::Run(_)))
            .map(|s| s.deadline_ms)
    };
    assert_eq!(deadline("90 s"), deadline("1.5 min"));
    assert_eq!(deadline("90000 ms"), Some(90_000));
}

#[test]
fn h10_the_policy_on_failure_is_stated() {
    let shown = |more: &str| {
        let plan = planned(&book(&format!("{HACKBENCH}{more}")), "core:4 pu:1");
        to_text(&plan, &RenderOptions::default())
    };
    assert!(shown("").contains("on failure: continue"));
    assert!(shown("on_failure: stop").contains("on failure: stop"));
}

#[test]
fn b3_schbench_threads_are_checked_against_the_limits() {
    let mut m = machine("core:4 pu:1");
    m.limits.pid_max = Some(32_768);
    m.limits.tasks_now = Some(400);
    let text = book("workloads:\n  s: {schbench: {message_threads: 254, workers: 128}}\n");
    let error = refused(plan_with(&text, &m, &Overrides::default()));
    assert!(
        error.contains("pid_max") && error.contains("schbench"),
        "{error}"
    );
}

#[test]
fn b5_an_empty_range_is_an_error_on_this_machine() {
    let text = book(
        "workloads:\n  h:\n    hackbench: {}\n    matrix: {product: {groups: {from: 2 x cpus, to: 296, factor: 2}}}\n",
    );
    let error = refused(plan(&text, "pack:2 l3:8 core:8 pu:2"));
    assert!(
        error.contains("groups: from 512 to 296 is empty on this machine (256 CPUs)"),
        "{error}"
    );
    assert!(plan(&text, "pack:1 l3:1 core:8 pu:2").is_ok());
}

#[test]
fn b6_hackbench_threads_are_checked_against_open_files() {
    let mut m = machine("core:4 pu:1");
    m.limits.nofile_soft = Some(1024);
    m.limits.nofile_hard = Some(1024);
    let text = |mode: &str| {
        book(&format!(
            "workloads:\n  h: {{hackbench: {{mode: {mode}, groups: 150, loops: 500}}}}\n"
        ))
    };
    let error = refused(plan_with(&text("thread"), &m, &Overrides::default()));
    assert!(error.contains("6010") && error.contains("1024"), "{error}");
    m.limits.nofile_hard = Some(1_048_576);
    let raised =
        plan_with(&text("thread"), &m, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        raised.notes.iter().any(|n| n.contains("open files")),
        "{:?}",
        raised.notes
    );
}

#[test]
fn b11_stream_arrays_must_exceed_the_caches() {
    let genoa = "pack:2 [numa] l3:12(size=32MB) core:8 pu:2";
    let text = book("workloads:\n  s: {stream: {elements: 10000000}}\n");
    let error = refused(plan(&text, genoa));
    assert!(
        error.contains("10000000 (76.3 MiB) < 4 x 768 MiB"),
        "{error}"
    );
    let plan = planned(&book("workloads:\n  s: {stream: {}}\n"), genoa);
    assert_eq!(
        plan.cells[0]
            .params
            .get("elements")
            .map(ToString::to_string),
        Some("402653184".into())
    );
}

#[test]
fn b17_a_step_must_end_before_the_run_does() {
    let text = book(&format!(
        "{HACKBENCH}repeat: {{timeout: 10 min}}\ntimeout: 5 min"
    ));
    let error = refused(read(&text));
    assert!(
        error.contains("step timeout 600 s > playbook timeout 300 s"),
        "{error}"
    );
}

#[test]
fn b17_restoring_has_a_time_of_its_own() {
    let text = book(&format!(
        "{HACKBENCH}repeat: {{timeout: 1 s}}\ntimeout: 1 s"
    ));
    let plan = planned(&text, "core:4 pu:1");
    let last = plan.steps.last().map(|s| (&s.action, s.deadline_ms));
    assert_eq!(last, Some((&StepAction::Restore, 120_000)));
}

#[test]
fn c2_one_workload_a_node_means_nodes_with_cpus() {
    let mut m = machine("pack:1 [numa] l3:1 core:4 pu:1");
    for id in 1..5 {
        m.topology.nodes.push(NumaNode {
            id: NodeId(id),
            cpus: CpuSet::new(),
            memory_bytes: Some(1 << 30),
        });
    }
    let text = book("workloads:\n  h:\n    hackbench: {}\n    in: each node\n    instances: 1\n");
    let plan = plan_with(&text, &m, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(copies(&plan), [1, 1, 1, 1, 1]);
    assert!(
        plan.notes
            .iter()
            .any(|n| n.contains("1 NUMA nodes with CPUs, 4 of memory alone")),
        "{:?}",
        plan.notes
    );
}

#[test]
fn c2_a_place_without_common_cpus_names_both() {
    let text =
        book("arms:\n  a: {affinity: node 1}\nworkloads:\n  h: {hackbench: {}, in: cpus 0-3}\n");
    let error = refused(plan(&text, "pack:2 [numa] l3:1 core:4 pu:1"));
    assert!(
        error.contains("CPUs 0-3 and arm `a` (CPUs 4-7) have no CPU in common"),
        "{error}"
    );
}

fn copies(plan: &Plan) -> Vec<usize> {
    plan.steps
        .iter()
        .filter_map(|s| match &s.action {
            StepAction::Run(run) => Some(run.instances.len()),
            _ => None,
        })
        .collect()
}

#[test]
fn c5_counts_follow_the_cpus_that_are_allowed() {
    let mut m = machine("pack:4 [numa] l3:2 core:4 pu:1");
    m.topology.allowed = CpuSet::range(0, 5);
    let text = book("workloads:\n  h: {hackbench: {groups: cpus}, in: each llc}\n");
    let plan = plan_with(&text, &m, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        plan.cells[0].params.get("groups").map(ToString::to_string),
        Some("6".into())
    );
    assert_eq!(copies(&plan)[0], 2);
    assert!(
        plan.notes
            .iter()
            .any(|n| n.contains("allowed 6 of 32 CPUs (0-5); L3 #1 partly (2 of 4)")),
        "{:?}",
        plan.notes
    );
}

#[test]
fn c12_half_the_smt_threads_needs_smt() {
    let text = book(&format!(
        "{HACKBENCH}arms:\n  base: {{}}\n  half: {{affinity: one thread per core}}\n"
    ));
    let error = refused(plan(&text, "pack:1 l3:1 core:4 pu:1"));
    assert!(error.contains("no SMT here"), "{error}");
    let plan = planned(&text, "pack:1 l3:1 core:4 pu:2");
    let half = plan.steps.iter().find_map(|s| match &s.action {
        StepAction::Run(run) if run.arm.as_str() == "half" => run.instances[0].cpus.clone(),
        _ => None,
    });
    assert_eq!(half.map(|c| c.to_string()), Some("0,2,4,6".into()));
}

#[test]
fn e4_quotas_below_the_kernel_minimum_are_refused() {
    let tree = |max: &str| {
        book(&format!(
            "cgroups:\n  tree:\n    a: {{cpu.max: {max}}}\nworkloads:\n  h: {{hackbench: {{}}, in: group a}}\n"
        ))
    };
    let error = refused(read(&tree("\"500 100000\"")));
    assert!(
        error.contains("quota 500 usec is below the kernel minimum 1000"),
        "{error}"
    );
    for (bad, why) in [
        ("{quota: 500 us}", "quota 500 usec"),
        ("{quota: 3 ms, period: 500 us}", "500 usec is not"),
        ("{quota: 3 ms, period: 2 s}", "2000000 usec is not"),
        ("{quota: 3 ms, burst: 4 ms}", "burst 4000 usec"),
        ("0.001 cpus", "quota 100 usec"),
    ] {
        let error = refused(read(&tree(bad)));
        assert!(error.contains(why), "{bad}: {error}");
    }
    let plan = planned(
        &tree("{quota: 3 ms, period: 10 ms, burst: 1 ms}"),
        "core:4 pu:1",
    );
    let max = plan.cgroups.as_ref().and_then(|t| t.groups[0].cpu_max);
    assert_eq!(
        max.map(|m| (m.quota_us, m.period_us, m.burst_us)),
        Some((Some(3000), 10_000, Some(1000)))
    );
    // A share of the CPUs is checked with the machine.
    let error = refused(plan_with(
        &tree("0.1% cpus"),
        &machine("core:4 pu:1"),
        &Overrides::default(),
    ));
    assert!(error.contains("quota 400 usec"), "{error}");
}

#[test]
fn e5_inner_groups_hold_no_processes() {
    let text = |place: &str| {
        book(&format!(
            "cgroups:\n  tree:\n    web:\n      cpu.weight: 200\n      children:\n        a: {{}}\n        b: {{cpuset.cpus: 0-1}}\nworkloads:\n  h: {{hackbench: {{}}, in: {place}}}\n"
        ))
    };
    let error = refused(read(&text("group web")));
    assert!(
        error.contains("a group that hands controllers down holds no processes"),
        "{error}"
    );
    assert!(refused(read(&text("group web/c"))).contains("unknown group `web/c`"));
    let plan = planned(&text("leaves"), "core:4 pu:1");
    assert_eq!(copies(&plan)[0], 2);
    let tree = plan.cgroups.unwrap_or_default();
    let paths: Vec<&str> = tree.groups.iter().map(|g| g.path.as_str()).collect();
    assert_eq!(paths, ["web", "web/a", "web/b"]);
    assert_eq!(tree.controllers, ["cpu", "cpuset"]);
}

#[test]
fn levels_make_the_published_tree() {
    let text = book(
        "params: {quota_cpus: 50}
cgroups:
  levels:
  - {count: 2, cpu.max: \"${quota_cpus} cpus\"}
  - {count: 2}
  - {count: 2}
  - {count: 5}
  - {count: 5}
workloads:
  h: {hackbench: {groups: 1}, in: leaves}",
    );
    let plan = planned(&text, "pack:2 [numa] l3:12 core:8 pu:2");
    let tree = plan.cgroups.clone().unwrap_or_default();
    assert_eq!(tree.groups.len(), 2 + 4 + 8 + 40 + 200);
    assert_eq!(copies(&plan)[0], 200);
    assert_eq!(
        tree.groups.iter().filter(|g| g.cpu_max.is_some()).count(),
        2
    );
    let set = BTreeMap::from([("quota_cpus".to_owned(), "4".to_owned())]);
    let other = plan_with(
        &text,
        &machine("core:8 pu:1"),
        &Overrides {
            params: set,
            ..Overrides::default()
        },
    );
    let quota = other
        .unwrap_or_else(|e| panic!("{e}"))
        .cgroups
        .and_then(|t| t.groups[0].cpu_max);
    assert_eq!(quota.and_then(|m| m.quota_us), Some(400_000));
}

/// The example of the language's contract, whole: it plans as it stands.
#[test]
fn the_example_of_the_contract_plans() {
    let text = r#"playbook: 1
title: Task-based throttling under a 5-level hierarchy
params: {quota_cpus: 50, loops: 20000}
hosts:
  sut: {require: {cpus: ">= 16", cgroup: [cpu], tools: [hackbench, netperf]}}
arms:
  base: {kernel: "6.17.*", model: v6.17}
  head: {kernel: "6.18.*", model: v6.18}
prepare:
  cpufreq: {governor: performance, boost: off}
  cpuidle: {disable: all}
  sysctl: {kernel.numa_balancing: 0}
cgroups:
  levels:
  - {count: 2, cpu.max: "${quota_cpus} cpus"}
  - {count: 2}
  - {count: 2}
  - {count: 5}
  - {count: 5}
workloads:
  hackbench-8000:
    hackbench: {mode: process, ipc: pipe, groups: 1, loops: "${loops}"}
    in: leaves
  hackbench-400:
    hackbench: {mode: process, ipc: pipe, groups: 1, fds: 1, loops: 50000000}
    in: leaves
  netperf-pairs:
    netperf: {test: UDP_RR, seconds: 30, cpu: true}
    in: leaves
repeat: {min: 5, max: 20, until: "ci <= 2%", boots: 1, order: interleaved, warmup: 1, timeout: 10 min}
collect: [schedstat, cpu.stat, psi]
judge: {assume: nothing, alpha: 0.05, min_effect: 1%, correct: holm}
simulate: {seeds: 8}
on_failure: continue
"#;
    let plan = planned(text, "pack:2 [numa] l3:12(size=32MB) core:8 pu:2");
    assert_eq!(plan.cells.len(), 3);
    assert_eq!(plan.runs(), 3 * 2 * 21);
}
