//! Steps of a plan, played from the outside.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use schedrig_model::plan::{Cell, CgroupNode, CgroupTree, Collector, CpuMax, Instance, RunStep};
use schedrig_model::workload::{Command, Implementation, Outcome, ParamValue, Params, Program};
use schedrig_model::{CpuId, CpuSet};
use schedrig_sim::kernel::Profile;
use schedrig_sim::machine::Machine;
use schedrig_sim::run::{Budget, RunStepInput, StepOutcome, simulate};
use schedrig_sim::workload_costs::WorkloadCosts;

fn cell(workload: &str, params: &[(&str, &str)]) -> Cell {
    let value = |text: &str| match text.parse() {
        Ok(number) => ParamValue::Int(number),
        Err(_) => ParamValue::Text(text.to_owned()),
    };
    let params = params
        .iter()
        .map(|(k, v)| ((*k).to_owned(), value(v)))
        .collect();
    Cell {
        id: workload.into(),
        entry: workload.into(),
        workload: workload.into(),
        implementation: Implementation::Builtin,
        params: Params(params),
        point: BTreeMap::new(),
    }
}

fn instance(cgroup: Option<&str>, cpus: Option<CpuSet>) -> Instance {
    let program = Program::Builtin("any".into());
    Instance {
        command: Command {
            program,
            args: Vec::new(),
            env: BTreeMap::new(),
            result_files: Vec::new(),
            server: None,
        },
        cpus,
        cgroup: cgroup.map(str::to_owned),
        server_host: None,
    }
}

fn run(cell: &Cell, instances: Vec<Instance>) -> RunStep {
    RunStep {
        cell: cell.id.clone(),
        arm: "base".into(),
        repetition: 0,
        warmup: false,
        boot: 0,
        instances,
        barrier: None,
        collect: vec![Collector::Schedstat, Collector::CpuStat],
    }
}

struct Played<'a> {
    machine: &'a str,
    kernel: &'a str,
    patches: &'a [&'a str],
    cgroups: Option<CgroupTree>,
}

const VM: Played<'static> = Played {
    machine: "vm-2",
    kernel: "v6.12",
    patches: &[],
    cgroups: None,
};

fn play(on: &Played<'_>, cell: &Cell, instances: Vec<Instance>, seed: u64) -> StepOutcome {
    let machine = Arc::new(Machine::shipped(on.machine).unwrap());
    let profile = Profile::shipped(on.kernel)
        .unwrap()
        .with_all(on.patches)
        .unwrap();
    let run = run(cell, instances);
    let input = RunStepInput {
        cell,
        run: &run,
        cgroups: on.cgroups.as_ref(),
        affinity: None,
    };
    let work = WorkloadCosts::shipped().unwrap();
    let budget = Budget {
        time_ns: 1_000_000_000,
        events: 3_000_000,
    };
    simulate(input, &machine, &profile, &work, seed, budget).unwrap()
}

fn metric(outcome: &StepOutcome, name: &str) -> f64 {
    match &outcome.instances[0].outcome {
        Some(Outcome::Ok(parsed)) => {
            parsed
                .metrics
                .iter()
                .find(|m| m.metric == name)
                .unwrap()
                .value
        }
        other => panic!("no result: {other:?}"),
    }
}

fn texts(outcome: &StepOutcome) -> Vec<String> {
    let printed = outcome
        .instances
        .iter()
        .map(|i| format!("{}{}", i.stdout, i.stderr));
    printed
        .chain(outcome.snapshots.iter().map(|s| s.text.clone()))
        .collect()
}

#[test]
fn equal_seeds_give_equal_bytes_and_other_seeds_other_counts() {
    let cell = cell("hackbench", &[("ipc", "pipe"), ("groups", "2")]);
    let once = play(&VM, &cell, vec![instance(None, None)], 1);
    assert_eq!(
        texts(&once),
        texts(&play(&VM, &cell, vec![instance(None, None)], 1))
    );
    assert_ne!(
        texts(&once),
        texts(&play(&VM, &cell, vec![instance(None, None)], 2))
    );
}

#[test]
fn one_cpu_takes_about_twice_as_long_as_two() {
    let cell = cell(
        "hackbench",
        &[("ipc", "pipe"), ("groups", "4"), ("loops", "500")],
    );
    let one = CpuSet::from_iter([CpuId(0)]);
    let both = play(&VM, &cell, vec![instance(None, None)], 1);
    let single = play(&VM, &cell, vec![instance(None, Some(one))], 1);
    let factor = metric(&single, "time") / metric(&both, "time");
    assert!((1.5..2.3).contains(&factor), "{factor}");
}

#[test]
fn every_kernel_plays_every_workload_and_the_readers_take_what_it_prints() {
    for kernel in schedrig_sim::kernel::shipped_kernels() {
        for (workload, params, name) in [
            ("hackbench", [("ipc", "socket"), ("groups", "1")], "time"),
            ("hackbench", [("mode", "thread"), ("groups", "1")], "time"),
            (
                "netperf",
                [("test", "UDP_RR"), ("seconds", "1")],
                "transaction-rate",
            ),
            (
                "schbench",
                [("workers", "4"), ("seconds", "1")],
                "wakeup-latency-p99",
            ),
            (
                "stream",
                [("threads", "2"), ("elements", "1000000")],
                "triad",
            ),
        ] {
            let on = Played { kernel, ..VM };
            let outcome = play(&on, &cell(workload, &params), vec![instance(None, None)], 1);
            assert!(metric(&outcome, name) > 0.0, "{kernel} {workload}");
        }
    }
}

fn group(path: &str, weight: Option<u32>, quota_us: Option<u64>) -> CgroupNode {
    CgroupNode {
        path: path.into(),
        cpu_weight: weight,
        cpu_max: quota_us.map(|quota| CpuMax {
            quota_us: Some(quota),
            period_us: 100_000,
            burst_us: None,
        }),
        ..CgroupNode::default()
    }
}

fn usage_us(outcome: &StepOutcome, path: &str) -> f64 {
    let snapshot = outcome
        .snapshots
        .iter()
        .rev()
        .find(|s| s.source == path)
        .unwrap();
    let line = snapshot.text.lines().next().unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn in_groups(kernel: &str, groups: Vec<CgroupNode>, busy: &[&str]) -> StepOutcome {
    let tree = CgroupTree {
        controllers: vec!["cpu".into()],
        groups,
    };
    let on = Played {
        kernel,
        cgroups: Some(tree),
        ..VM
    };
    // Long operations: workers that hardly sleep.
    let cell = cell(
        "schbench",
        &[("workers", "4"), ("operations", "2000"), ("seconds", "9")],
    );
    let instances = busy.iter().map(|g| instance(Some(g), None)).collect();
    play(&on, &cell, instances, 1)
}

#[test]
fn groups_share_by_weight() {
    for kernel in ["v6.1", "v6.6", "v6.12", "v6.18"] {
        let groups = vec![group("a", Some(100), None), group("b", Some(300), None)];
        let outcome = in_groups(kernel, groups, &["a", "b"]);
        let factor = usage_us(&outcome, "b") / usage_us(&outcome, "a");
        assert!((2.7..3.3).contains(&factor), "{kernel}: {factor}");
    }
}

#[test]
fn a_quota_is_kept_by_both_throttle_models() {
    for kernel in ["v6.1", "v6.12", "v6.17", "v6.18"] {
        let groups = vec![group("a", None, Some(50_000)), group("a/b", None, None)];
        let outcome = in_groups(kernel, groups, &["a/b"]);
        let share = usage_us(&outcome, "a") * 1000.0 / outcome.elapsed_ns as f64;
        assert!((0.45..0.56).contains(&share), "{kernel}: {share}");
    }
}

#[test]
fn the_cluster_patch_changes_nothing_without_clusters() {
    let cell = cell("hackbench", &[("ipc", "pipe"), ("groups", "4")]);
    let base = Played {
        machine: "milan-2s",
        kernel: "v6.6",
        ..VM
    };
    let head = Played {
        patches: &["cluster-wakeup"],
        ..Played {
            machine: "milan-2s",
            kernel: "v6.6",
            ..VM
        }
    };
    let base = play(&base, &cell, vec![instance(None, None)], 1);
    assert_eq!(
        texts(&base),
        texts(&play(&head, &cell, vec![instance(None, None)], 1))
    );
}
