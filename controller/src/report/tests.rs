//! Tables of records.

use std::collections::BTreeMap;

use schedrig_model::CpuSet;
use schedrig_model::host::{Granted, HostFacts, Knob, KnobOutcome, KnobTarget};
use schedrig_model::plan::{
    Arm, ArmChange, Cell, Judge, ModelSpec, Order, Plan, PlannedHost, Repeat, Restore,
};
use schedrig_model::record::{
    Backend, InstanceRecord, RECORD_FORMAT, RepetitionRecord, RepetitionState, RunRecord, RunState,
    Spread, Taint,
};
use schedrig_model::topology::{Topology, TopologyOrigin};
use schedrig_model::workload::{ExitState, Implementation, Measurement, Outcome, Params, Parsed};
use schedrig_stats::render::Style;
use schedrig_stats::{Direction, Unit};

use super::{Columns, CompareOptions, Format, Judged, ReportError, compare_records};

fn arm(name: &str, cpus: &str) -> Arm {
    Arm {
        id: name.into(),
        changes: vec![ArmChange::Affinity(CpuSet::parse_list(cpus).unwrap())],
        model: ModelSpec::default(),
    }
}

fn cell(id: &str) -> Cell {
    Cell {
        id: id.into(),
        entry: "hackbench".into(),
        workload: "hackbench".into(),
        implementation: Implementation::Tool,
        params: Params::default(),
        point: BTreeMap::new(),
    }
}

fn plan() -> Plan {
    Plan {
        format: 1,
        title: "One CPU against two".into(),
        notes: Vec::new(),
        seed: 7,
        hosts: vec![PlannedHost {
            role: "sut".into(),
            host: "lab1".into(),
        }],
        arms: vec![arm("two", "0-1"), arm("one", "0")],
        cells: vec![cell("hackbench/ipc=pipe"), cell("hackbench/ipc=socket")],
        prepare: Vec::new(),
        cgroups: None,
        repeat: Repeat {
            min: 5,
            max: 5,
            until_ci: None,
            boots: 1,
            order: Order::Interleaved,
            warmup: 0,
        },
        collect: Vec::new(),
        judge: Judge {
            assume: "nothing".into(),
            alpha: 0.05,
            min_effect: 0.01,
            correct: "holm".into(),
        },
        simulate_seeds: 0,
        continue_on_failure: true,
        restore: Restore::Always,
        steps: Vec::new(),
    }
}

fn facts() -> HostFacts {
    let mut topology = Topology::unknown(TopologyOrigin::Synthetic);
    topology.cpu_model = Some("Example CPU".into());
    HostFacts {
        hostname: "lab1".into(),
        kernel_release: "6.12.9".into(),
        kernel_version: "#1 SMP".into(),
        architecture: "x86_64".into(),
        kernel_cmdline: Some("ro quiet".into()),
        boot_id: Some("a".into()),
        microcode: None,
        bios: None,
        os: Some("Debian 13".into()),
        memory_bytes: None,
        hypervisor: Some("kvm".into()),
        cpufreq_driver: None,
        cpuidle_driver: None,
        cgroup_mode: Some("unified".into()),
        cgroup_controllers: Vec::new(),
        schedstat: Some("absent".into()),
        sched_features: None,
        settings: BTreeMap::from([("kernel.sched_autogroup_enabled".into(), "1".into())]),
        tools: Vec::new(),
        limits: None,
        gaps: vec![(
            "schedstat".into(),
            "this kernel has no /proc/schedstat".into(),
        )],
        topology,
        agent_build: "0.1.0".into(),
        root: false,
    }
}

fn instance() -> InstanceRecord {
    InstanceRecord {
        argv: vec!["hackbench".into()],
        tool_path: "/usr/bin/hackbench".into(),
        tool_version: Some("2.10".into()),
        tool_sha256: None,
        cgroup: None,
        exit: ExitState::Code(0),
        stdout: String::new(),
        stderr: String::new(),
        files: BTreeMap::new(),
        truncated: false,
        outcome: Some(Outcome::Ok(Parsed::default())),
        elapsed_ns: None,
        left_over: 0,
        schedstat: None,
        user_us: None,
        system_us: None,
        voluntary_switches: None,
        involuntary_switches: None,
    }
}

fn repetition(cell: &str, arm: &str, number: u32, seconds: f64) -> RepetitionRecord {
    RepetitionRecord {
        step: schedrig_model::StepId(number),
        host: "lab1".into(),
        cell: cell.into(),
        arm: arm.into(),
        repetition: number,
        warmup: false,
        boot: 0,
        attempt: 0,
        started_at: "2026-12-01T05:00:00Z".into(),
        elapsed_ns: 1,
        state: RepetitionState::Valid,
        metrics: vec![Measurement {
            metric: "time".into(),
            value: seconds,
            unit: Unit::new("s"),
            direction: Direction::LowerIsBetter,
        }],
        spread: BTreeMap::new(),
        instances: vec![instance()],
        snapshots: Vec::new(),
        taints: Vec::new(),
        gaps: Vec::new(),
    }
}

/// A run of two cells: pipe is twice as slow on one CPU, sockets are the same but for noise.
fn run(id: &str) -> RunRecord {
    let mut repetitions = Vec::new();
    for number in 0..5 {
        let step = f64::from(number) * 0.001;
        repetitions.push(repetition("hackbench/ipc=pipe", "two", number, 0.2 + step));
        repetitions.push(repetition("hackbench/ipc=pipe", "one", number, 0.4 + step));
        repetitions.push(repetition(
            "hackbench/ipc=socket",
            "two",
            number,
            0.5 + 40.0 * step,
        ));
        repetitions.push(repetition(
            "hackbench/ipc=socket",
            "one",
            number,
            0.51 + 40.0 * step,
        ));
    }
    RunRecord {
        format: RECORD_FORMAT,
        id: id.into(),
        started_at: "2026-12-01T05:00:00Z".into(),
        finished_at: None,
        state: RunState::Complete,
        backend: Backend::Measured,
        plan: plan(),
        playbook: String::new(),
        hosts: BTreeMap::from([("lab1".into(), facts())]),
        granted: BTreeMap::from([(
            "lab1".into(),
            vec![Granted {
                knob: Knob {
                    target: KnobTarget::CpuidleDisableAll,
                    required: false,
                },
                place: "cpuidle".into(),
                before: None,
                outcome: KnobOutcome::NotAvailable("no cpuidle driver".into()),
            }],
        )]),
        notes: vec!["stopped at 5 repetitions: the most allowed".into()],
        repetitions,
    }
}

/// What a simulator says of the same plan: four seeds, the same values in milliseconds.
fn simulated(id: &str) -> RunRecord {
    let mut record = run(id);
    record.backend = Backend::Expected;
    record.granted.clear();
    record.notes = vec!["model without idle exit latency".into()];
    record.repetitions.retain(|r| r.repetition < 4);
    for repetition in &mut record.repetitions {
        repetition.host = "model-of-lab1".into();
        for metric in &mut repetition.metrics {
            metric.value *= 1100.0;
            metric.unit = Unit::new("ms");
        }
    }
    record
}

fn text_of(records: &[RunRecord], options: &CompareOptions) -> String {
    compare_records(records, options).unwrap().text
}

fn golden(name: &str, want: &str, got: &str) {
    assert!(got == want, "testdata/report/{name} differs; got:\n{got}");
}

fn with_format(format: Format) -> CompareOptions {
    CompareOptions {
        format,
        ..CompareOptions::default()
    }
}

#[test]
fn one_run_with_its_simulation() {
    let got = text_of(&[run("r1"), simulated("s1")], &CompareOptions::default());
    golden(
        "both.txt",
        include_str!("../../testdata/report/both.txt"),
        &got,
    );
}

#[test]
fn junit_of_a_run() {
    let got = text_of(&[run("r1")], &with_format(Format::Junit));
    golden(
        "run.junit.xml",
        include_str!("../../testdata/report/run.junit.xml"),
        &got,
    );
}

#[test]
fn html_of_a_run() {
    let got = text_of(&[run("r1")], &with_format(Format::Html));
    golden(
        "run.html",
        include_str!("../../testdata/report/run.html"),
        &got,
    );
}

#[test]
fn a_regression_is_judged_so() {
    let got = compare_records(&[run("r1")], &CompareOptions::default()).unwrap();
    assert_eq!(got.judged, Judged::Regressed);
    assert_eq!(got.judged.code(), 1);
}

#[test]
fn the_other_way_round_it_is_open() {
    let options = CompareOptions {
        base: Some("one".into()),
        ..CompareOptions::default()
    };
    let got = compare_records(&[run("r1")], &options).unwrap();
    assert_eq!(got.table.arms[0].name, "one");
    // Pipes improve; sockets do not tell.
    assert_eq!(got.judged.code(), 3);
    let unknown = CompareOptions {
        base: Some("three".into()),
        ..CompareOptions::default()
    };
    assert_eq!(
        compare_records(&[run("r1")], &unknown)
            .unwrap_err()
            .to_string(),
        "no arm `three`, expected one of: two, one"
    );
    assert_eq!(
        compare_records(&[], &unknown).unwrap_err(),
        ReportError::NoRuns
    );
}

#[test]
fn what_improved_and_stayed_is_fine() {
    let mut record = run("r1");
    record.plan.cells.truncate(1);
    let options = CompareOptions {
        base: Some("one".into()),
        ..CompareOptions::default()
    };
    let got = compare_records(&[record.clone()], &options).unwrap();
    assert_eq!(got.judged, Judged::Fine);
    record.state = RunState::Incomplete;
    let got = compare_records(&[record], &options).unwrap();
    assert_eq!(got.judged, Judged::CannotTell);
    assert!(got.text.contains("INCOMPLETE"));
}

/// Case A6: a second run of the same experiment is more values.
#[test]
fn runs_of_one_experiment_are_put_together() {
    let mut second = run("r2");
    for repetition in &mut second.repetitions {
        if repetition.arm.as_str() == "one" && repetition.cell.as_str().ends_with("socket") {
            repetition.metrics[0].value -= 0.2;
        }
    }
    let got = compare_records(&[run("r1"), second], &CompareOptions::default()).unwrap();
    assert_eq!(got.table.arms.len(), 2);
    let sizes: Vec<usize> = got.table.comparisons().map(|c| c.n1).collect();
    assert_eq!(sizes, [10, 10]);
    assert!(
        got.text.contains("run 1 and run 2 disagree"),
        "{}",
        got.text
    );
}

/// Case B2: runs under other circumstances are columns of their own, and the table says which.
#[test]
fn runs_under_other_circumstances_are_kept_apart() {
    let mut second = run("r2");
    let host = second.hosts.values_mut().next().unwrap();
    host.settings
        .insert("kernel.sched_autogroup_enabled".into(), "0".into());
    let records = [run("r1"), second];
    let got = compare_records(&records, &CompareOptions::default()).unwrap();
    let names: Vec<&str> = got.table.arms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["two@r1", "one@r1", "two@r2", "one@r2"]);
    let line = "circumstances: lab1: kernel.sched_autogroup_enabled differs: r1 has 1; r2 has 0";
    assert!(got.text.contains(line), "{}", got.text);
    let pooled = CompareOptions {
        columns: Columns::Arms,
        ..CompareOptions::default()
    };
    let got = compare_records(&records, &pooled).unwrap();
    assert_eq!(got.table.arms.len(), 2);
    assert!(got.text.contains(line), "{}", got.text);
}

/// Case A4: machines are rows of their own.
#[test]
fn machines_are_never_averaged() {
    let mut record = run("r1");
    record.hosts.insert("lab2".into(), facts());
    let mut other = record.repetitions.clone();
    for repetition in &mut other {
        repetition.host = "lab2".into();
        repetition.metrics[0].value = 1.0 / repetition.metrics[0].value;
    }
    record.repetitions.extend(other);
    let got = compare_records(&[record], &CompareOptions::default()).unwrap();
    let labels: Vec<&str> = got.table.rows.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels[0], "lab1: hackbench/ipc=pipe");
    assert_eq!(labels[1], "lab2: hackbench/ipc=pipe");
    let deltas: Vec<bool> = got
        .table
        .comparisons()
        .map(|c| c.delta_pct > Some(0.0))
        .collect();
    assert_eq!(deltas[..2], [true, false]);
}

#[test]
fn versions_of_a_tool_do_not_compare() {
    let mut record = run("r1");
    for repetition in &mut record.repetitions {
        if repetition.arm.as_str() == "one" {
            repetition.instances[0].tool_version = Some("2.4".into());
        }
    }
    let got = compare_records(&[record], &CompareOptions::default()).unwrap();
    assert_eq!(got.table.comparisons().count(), 0);
    assert_eq!(got.judged, Judged::CannotTell);
    let reason = "one: version: base is 2.10, head is 2.4: not comparable";
    assert!(got.text.contains(reason), "{}", got.text);
}

#[test]
fn warmups_failures_and_earlier_tries_are_no_values() {
    let mut record = run("r1");
    let mut warmup = repetition("hackbench/ipc=pipe", "two", 0, 99.0);
    warmup.warmup = true;
    let mut failed = repetition("hackbench/ipc=pipe", "two", 5, 99.0);
    failed.state = RepetitionState::Invalid("exit status 1: no".into());
    let mut again = repetition("hackbench/ipc=pipe", "two", 0, 0.2);
    again.attempt = 1;
    again.taints = vec![Taint {
        kind: "steal".into(),
        detail: "12 %".into(),
    }];
    record.repetitions.extend([warmup, failed, again]);
    let got = compare_records(&[record], &CompareOptions::default()).unwrap();
    let base = got.table.rows[0].entries[0].summary().unwrap();
    assert_eq!((base.n, base.max < 1.0), (5, true));
    for words in [
        "two: 1 of 6 repetitions do not count: exit status 1: no",
        "two: 1 of 6 repetitions tainted: steal (12 %)",
    ] {
        assert!(got.text.contains(words), "{}", got.text);
    }
}

#[test]
fn a_cell_without_results_is_missing_and_not_zero() {
    let mut record = run("r1");
    for repetition in &mut record.repetitions {
        if repetition.arm.as_str() == "one" {
            repetition.state = RepetitionState::Invalid("deadline passed".into());
            repetition.metrics.clear();
        }
    }
    let got = compare_records(&[record], &CompareOptions::default()).unwrap();
    assert_eq!(got.judged, Judged::CannotTell);
    let words = "one: missing: none of 5 repetitions counts: deadline passed";
    assert!(got.text.contains(words), "{}", got.text);
}

/// Case F7.
#[test]
fn a_withdrawn_run_is_named_and_left_out() {
    let mut withdrawn = run("r1");
    withdrawn.state = RunState::Withdrawn;
    let records = [withdrawn, run("r2")];
    let pooled = CompareOptions {
        columns: Columns::Arms,
        ..CompareOptions::default()
    };
    let got = compare_records(&records, &pooled).unwrap();
    assert!(got.table.comparisons().all(|c| c.n1 == 5));
    assert!(got.text.contains("run r1: measured"), "{}", got.text);
    assert!(got.text.contains("WITHDRAWN"));
}

/// Case F10: a gain that some instances pay for.
#[test]
fn fairness_is_said_where_it_moves() {
    let mut record = run("r1");
    for repetition in &mut record.repetitions {
        let fairness = if repetition.arm.as_str() == "one" {
            0.61
        } else {
            0.99
        };
        let spread = Spread {
            min: 1.0,
            max: 2.0,
            mean: 1.5,
            fairness,
        };
        repetition.spread.insert("time".into(), spread);
    }
    let got = compare_records(&[record], &CompareOptions::default()).unwrap();
    assert!(
        got.text
            .contains("fairness across instances: two 0.99, one 0.61"),
        "{}",
        got.text
    );
}

#[test]
fn a_simulation_alone_says_that_nothing_was_measured() {
    let got = text_of(&[simulated("s1")], &CompareOptions::default());
    assert!(got.contains("every value is expected (simulated), none is measured"));
    assert!(got.contains("expected: model without idle exit latency"));
    assert!(got.contains("two (expected)"));
}

#[test]
fn every_format_and_style_writes_something() {
    let records = [run("r1"), simulated("s1")];
    for format in Format::ALL {
        for style in Style::ALL {
            let options = CompareOptions {
                format,
                style,
                ..CompareOptions::default()
            };
            let got = text_of(&records, &options);
            assert!(
                got.contains("hackbench/ipc=pipe"),
                "{format:?} {style:?}: {got}"
            );
            assert!(!got.contains("-0.00"), "{format:?} {style:?}: {got}");
        }
    }
    let json: serde_json::Value =
        serde_json::from_str(&text_of(&records, &with_format(Format::Json))).unwrap();
    assert_eq!(json["format"], 1);
    assert_eq!(
        json["rows"][0]["entries"][1]["value"]["present"]["summary"]["n"],
        5
    );
}

/// A large matrix: 300 cells, two arms, five repetitions each, every row in its place.
#[test]
fn a_large_matrix_keeps_its_rows() {
    let mut record = run("r1");
    record.plan.cells.clear();
    record.repetitions.clear();
    for number in 0..300 {
        let id = format!("hackbench/groups={number}");
        record.plan.cells.push(cell(&id));
        for n in 0..5 {
            let seconds = f64::from(number + 1) + 0.001 * f64::from(n);
            record.repetitions.push(repetition(&id, "two", n, seconds));
            record
                .repetitions
                .push(repetition(&id, "one", n, seconds * 2.0));
        }
    }
    let got = compare_records(&[record], &CompareOptions::default()).unwrap();
    assert_eq!(got.table.rows.len(), 300);
    let last = &got.table.rows[299];
    assert_eq!(last.label, "hackbench/groups=299");
    assert!((last.entries[0].summary().unwrap().center - 300.002).abs() < 1e-9);
    // 300 rows correct alpha to 0.05 / 300: the least n with 2 / C(2n, n) below that is 8.
    assert!(
        got.text.contains("cannot tell, needs n >= 8"),
        "{}",
        got.text
    );
}

#[test]
fn an_assumption_of_another_build_is_refused() {
    let mut record = run("r1");
    record.plan.judge.assume = "poisson".into();
    assert_eq!(
        compare_records(&[record], &CompareOptions::default())
            .unwrap_err()
            .to_string(),
        "run r1 asks to assume `poisson`, expected nothing, normal or exact"
    );
}
