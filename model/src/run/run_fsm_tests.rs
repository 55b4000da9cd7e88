use proptest::prelude::*;

use super::*;
use crate::plan::{Arm, Judge, ModelSpec, Order, Repeat, Restore, RunStep};
use crate::run::report::StepError;
use crate::workload::Measurement;
use schedrig_stats::{Direction, Unit};

fn run_action(cell: &str, arm: &str, repetition: u32) -> StepAction {
    StepAction::Run(RunStep {
        cell: cell.into(),
        arm: arm.into(),
        repetition,
        warmup: false,
        boot: 0,
        instances: Vec::new(),
        collect: Vec::new(),
        barrier: None,
    })
}

fn plan(actions: Vec<(&str, StepAction)>) -> Plan {
    let steps = actions
        .into_iter()
        .enumerate()
        .map(|(i, (host, action))| Step {
            id: StepId(i as u32),
            host: host.into(),
            action,
            deadline_ms: 1000,
            estimate_ms: 10,
        });
    let arm = |name: &str| Arm {
        id: name.into(),
        changes: Vec::new(),
        model: ModelSpec::default(),
    };
    Plan {
        format: 1,
        title: "t".into(),
        seed: 1,
        hosts: Vec::new(),
        arms: vec![arm("base"), arm("head")],
        cells: Vec::new(),
        prepare: Vec::new(),
        cgroups: None,
        repeat: Repeat {
            min: 1,
            max: 3,
            until_ci: Some(0.02),
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
        notes: Vec::new(),
        steps: steps.collect(),
    }
}

fn fsm(actions: Vec<(&str, StepAction)>) -> RunFsm {
    // In these tests a second sample makes a cell precise.
    let ci: RelativeCi = |v| (v.len() >= 2).then_some(0.0);
    RunFsm::new("r".into(), plan(actions), RunLimits::default(), ci)
}

fn assigned(effects: &[RunEffect]) -> Vec<(u32, u32)> {
    let key = |e: &RunEffect| match e {
        RunEffect::Assign(_, a) => Some((a.step.id.0, a.attempt)),
        _ => None,
    };
    effects.iter().filter_map(key).collect()
}

fn done(step: u32, attempt: u32) -> AgentReport {
    AgentReport::Done {
        step: StepId(step),
        attempt,
        repetition: None,
        granted: Vec::new(),
    }
}

fn sample(step: u32, arm: &str, value: f64) -> AgentReport {
    let metric = Measurement {
        metric: "time".into(),
        value,
        unit: Unit::new("s"),
        direction: Direction::LowerIsBetter,
    };
    let repetition = Some(Box::new(RepetitionRecord {
        step: StepId(step),
        host: "h".into(),
        cell: "c".into(),
        arm: arm.into(),
        repetition: 0,
        warmup: false,
        boot: 0,
        attempt: 0,
        started_at: String::new(),
        elapsed_ns: 1,
        state: RepetitionState::Valid,
        metrics: vec![metric],
        spread: Default::default(),
        instances: Vec::new(),
        snapshots: Vec::new(),
        taints: Vec::new(),
        gaps: Vec::new(),
    }));
    AgentReport::Done {
        step: StepId(step),
        attempt: 0,
        repetition,
        granted: Vec::new(),
    }
}

#[test]
fn steps_of_a_machine_come_one_after_the_other() {
    let mut fsm = fsm(vec![
        ("h", StepAction::Prepare(Vec::new())),
        ("h", StepAction::Restore),
    ]);
    assert_eq!(
        assigned(&fsm.step(0, RunInput::HostUp("h".into()))),
        [(0, 0)]
    );
    assert_eq!(
        assigned(&fsm.step(1, RunInput::Report("h".into(), &done(0, 0)))),
        [(1, 0)]
    );
    let end = fsm.step(2, RunInput::Report("h".into(), &done(1, 0)));
    assert_eq!(end, [RunEffect::Finished(RunState::Complete)]);
}

#[test]
fn a_report_that_comes_twice_counts_once() {
    let mut fsm = fsm(vec![
        ("h", StepAction::Prepare(Vec::new())),
        ("h", StepAction::Restore),
    ]);
    fsm.step(0, RunInput::HostUp("h".into()));
    fsm.step(1, RunInput::Report("h".into(), &done(0, 0)));
    assert!(
        fsm.step(2, RunInput::Report("h".into(), &done(0, 0)))
            .is_empty()
    );
}

#[test]
fn a_machine_that_comes_back_is_given_the_same_step_again() {
    let mut fsm = fsm(vec![("h", run_action("c", "base", 0))]);
    fsm.step(0, RunInput::HostUp("h".into()));
    fsm.step(1, RunInput::HostDown("h".into()));
    assert_eq!(
        assigned(&fsm.step(2, RunInput::HostUp("h".into()))),
        [(0, 0)]
    );
}

#[test]
fn a_machine_that_stays_away_fails_only_its_own_steps() {
    let mut fsm = fsm(vec![
        ("a", run_action("c", "base", 0)),
        ("b", run_action("d", "base", 0)),
    ]);
    fsm.step(0, RunInput::HostUp("a".into()));
    fsm.step(0, RunInput::HostUp("b".into()));
    fsm.step(1, RunInput::HostDown("a".into()));
    fsm.step(70_000_000_000, RunInput::Tick);
    let end = fsm.step(70_000_000_001, RunInput::Report("b".into(), &done(1, 0)));
    assert_eq!(end, [RunEffect::Finished(RunState::Incomplete)]);
    assert_eq!(fsm.states()[1], StepState::Done);
}

#[test]
fn a_failure_that_may_pass_is_tried_once_more() {
    let mut fsm = fsm(vec![("h", run_action("c", "base", 0))]);
    fsm.step(0, RunInput::HostUp("h".into()));
    let failed = |attempt| AgentReport::Failed {
        step: StepId(0),
        attempt,
        error: StepError::passing("port taken"),
    };
    assert_eq!(
        assigned(&fsm.step(1, RunInput::Report("h".into(), &failed(0)))),
        [(0, 1)]
    );
    let end = fsm.step(2, RunInput::Report("h".into(), &failed(1)));
    assert_eq!(end.last(), Some(&RunEffect::Finished(RunState::Incomplete)));
}

#[test]
fn a_machine_that_cannot_be_prepared_is_still_put_back() {
    let actions = vec![
        ("h", StepAction::Prepare(Vec::new())),
        ("h", run_action("c", "base", 0)),
        ("h", StepAction::Restore),
    ];
    let mut fsm = fsm(actions);
    fsm.step(0, RunInput::HostUp("h".into()));
    let failed = AgentReport::Failed {
        step: StepId(0),
        attempt: 0,
        error: StepError::lasting("no such governor"),
    };
    assert_eq!(
        assigned(&fsm.step(1, RunInput::Report("h".into(), &failed))),
        [(2, 0)]
    );
}

#[test]
fn a_cell_that_is_precise_in_every_arm_is_left() {
    let actions = (0..3)
        .flat_map(|i| {
            [
                ("h", run_action("c", "base", i)),
                ("h", run_action("c", "head", i)),
            ]
        })
        .collect();
    let mut fsm = fsm(actions);
    fsm.step(0, RunInput::HostUp("h".into()));
    for (step, arm) in [(0, "base"), (1, "head"), (2, "base")] {
        assert_eq!(
            assigned(&fsm.step(1, RunInput::Report("h".into(), &sample(step, arm, 1.0)))).len(),
            1
        );
    }
    let end = fsm.step(2, RunInput::Report("h".into(), &sample(3, "head", 1.0)));
    assert_eq!(end, [RunEffect::Finished(RunState::Complete)]);
    assert_eq!(fsm.states()[4], StepState::Skipped("precise enough"));
}

proptest! {
    /// Whatever is lost, repeated or failed: no machine has two steps at a time, no step is assigned
    /// after it is done, and with every machine back and answering the run ends.
    #[test]
    fn every_run_ends(inputs in proptest::collection::vec((0_u8..6, 0_usize..2), 0..60)) {
        let hosts = ["a", "b"];
        let actions = (0..8).map(|i| (hosts[i % 2], run_action("c", "base", i as u32))).collect();
        let mut fsm = RunFsm::new("r".into(), plan(actions), RunLimits::default(), |_| None);
        let mut at: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        let mut finished = false;
        let mut now = 0;
        let scripted = inputs.into_iter();
        let closing = (0..40).flat_map(|_| [(0_u8, 0_usize), (2, 0), (0, 1), (2, 1)]);
        for (what, which) in scripted.chain(closing) {
            now += 1;
            let host = hosts[which];
            let held = at.get(host).copied();
            let report = match (what, held) {
                (2 | 3, Some((step, attempt))) => Some(done(step, attempt)),
                (4, Some((step, attempt))) => Some(AgentReport::Failed { step: StepId(step), attempt, error: StepError::passing("x") }),
                _ => None,
            };
            let effects = match (what, &report) {
                (_, Some(report)) => { at.remove(host); fsm.step(now, RunInput::Report(host.into(), report)) }
                (0, _) => fsm.step(now, RunInput::HostUp(host.into())),
                (1, _) => fsm.step(now, RunInput::HostDown(host.into())),
                _ => fsm.step(now, RunInput::Tick),
            };
            for effect in effects {
                match effect {
                    RunEffect::Assign(to, a) => {
                        let key = (a.step.id.0, a.attempt);
                        let name = if to.as_str() == "a" { "a" } else { "b" };
                        let before = at.insert(name, key);
                        prop_assert!(before.is_none_or(|b| b == key), "two steps at a time");
                    }
                    RunEffect::Finished(_) => finished = true,
                    _ => {}
                }
            }
        }
        prop_assert!(finished);
    }
}
