use proptest::prelude::*;

use super::*;
use crate::id::HostId;
use crate::plan::{Collector, Instance, Step};
use crate::record::RepetitionState;
use crate::workload::{Command, Program};

const S: u64 = 1_000_000_000;

fn instance() -> Instance {
    let command = Command {
        program: Program::Tool("true".into()),
        args: Vec::new(),
        env: Default::default(),
        result_files: Vec::new(),
        server: None,
    };
    Instance {
        command,
        cpus: None,
        cgroup: None,
        server_host: None,
    }
}

fn run_step(instances: usize) -> RunStep {
    RunStep {
        cell: "c".into(),
        arm: "a".into(),
        repetition: 0,
        warmup: false,
        boot: 0,
        instances: vec![instance(); instances],
        collect: vec![Collector::Stat],
        barrier: None,
    }
}

fn assign(id: u32, action: StepAction) -> AgentInput {
    let step = Step {
        id: StepId(id),
        host: HostId::from("h"),
        action,
        deadline_ms: 10_000,
        estimate_ms: 1,
    };
    AgentInput::Assigned(Box::new(Assignment {
        run: "r".into(),
        attempt: 0,
        step,
    }))
}

fn record() -> Box<RepetitionRecord> {
    Box::new(RepetitionRecord {
        step: StepId(0),
        host: "h".into(),
        cell: "c".into(),
        arm: "a".into(),
        repetition: 0,
        warmup: false,
        boot: 0,
        attempt: 0,
        started_at: String::new(),
        elapsed_ns: 1,
        state: RepetitionState::Valid,
        metrics: Vec::new(),
        spread: Default::default(),
        instances: Vec::new(),
        snapshots: Vec::new(),
        taints: Vec::new(),
        gaps: Vec::new(),
    })
}

fn running(instances: usize) -> AgentFsm {
    let mut fsm = AgentFsm::new(AgentTimes::default());
    fsm.step(0, assign(0, StepAction::Run(run_step(instances))));
    fsm.step(0, AgentInput::Launched(Ok(())));
    fsm
}

#[test]
fn counters_are_read_outside_the_workload_on_both_edges() {
    let mut fsm = AgentFsm::new(AgentTimes::default());
    let first = fsm.step(0, assign(0, StepAction::Run(run_step(1))));
    assert!(matches!(first[1], AgentEffect::Launch(_)));
    let released = fsm.step(0, AgentInput::Launched(Ok(())));
    assert_eq!(
        released,
        [
            AgentEffect::Snapshot(SnapshotEdge::Start),
            AgentEffect::Release
        ]
    );
    let ended = fsm.step(S, AgentInput::InstanceExited);
    let end = AgentEffect::Assemble(RepetitionEnd::Completed);
    assert_eq!(ended, [AgentEffect::Snapshot(SnapshotEdge::End), end]);
    assert_eq!(fsm.step(S, AgentInput::Assembled(record())).len(), 1);
    assert!(fsm.is_idle());
}

#[test]
fn deadline_escalates_from_term_to_kill_after_grace() {
    let mut fsm = running(1);
    assert_eq!(fsm.step(10 * S, AgentInput::Tick), [AgentEffect::Terminate]);
    assert_eq!(fsm.step(11 * S, AgentInput::Tick), []);
    assert_eq!(fsm.step(12 * S, AgentInput::Tick), [AgentEffect::Kill]);
    assert_eq!(fsm.step(13 * S, AgentInput::Tick), []);
    let ended = fsm.step(13 * S, AgentInput::InstanceExited);
    assert_eq!(
        ended[1],
        AgentEffect::Assemble(RepetitionEnd::DeadlinePassed)
    );
}

#[test]
fn controller_lost_during_a_step_keeps_measuring_then_reports() {
    let mut fsm = running(2);
    fsm.step(S, AgentInput::LinkDown);
    fsm.step(2 * S, AgentInput::InstanceExited);
    assert_eq!(fsm.step(3 * S, AgentInput::InstanceExited).len(), 2);
    let reported = fsm.step(3 * S, AgentInput::Assembled(record()));
    assert!(matches!(
        &reported[..],
        [AgentEffect::Report(_, AgentReport::Done { .. })]
    ));
}

#[test]
fn an_assignment_sent_twice_is_done_once() {
    let mut fsm = running(1);
    assert!(
        fsm.step(0, assign(0, StepAction::Run(run_step(1))))
            .is_empty()
    );
    fsm.step(S, AgentInput::InstanceExited);
    fsm.step(S, AgentInput::Assembled(record()));
    assert!(
        fsm.step(S, assign(0, StepAction::Run(run_step(1))))
            .is_empty()
    );
}

#[test]
fn an_agent_left_alone_puts_the_machine_back() {
    let mut fsm = AgentFsm::new(AgentTimes::default());
    fsm.step(0, assign(0, StepAction::Prepare(Vec::new())));
    fsm.step(0, AgentInput::Performed(Ok(Vec::new())));
    fsm.step(S, AgentInput::LinkDown);
    assert_eq!(fsm.step(100 * S, AgentInput::Tick), []);
    assert_eq!(
        fsm.step(121 * S, AgentInput::Tick),
        [AgentEffect::Perform(StepAction::RemoveCgroups)]
    );
    let next = fsm.step(121 * S, AgentInput::Performed(Ok(Vec::new())));
    assert_eq!(next, [AgentEffect::Perform(StepAction::Restore)]);
    assert_eq!(fsm.step(122 * S, AgentInput::Performed(Ok(Vec::new()))), []);
    assert!(fsm.is_idle());
}

#[test]
fn a_cancelled_run_ends_its_workload_and_puts_the_machine_back() {
    let mut fsm = AgentFsm::new(AgentTimes::default());
    fsm.step(0, assign(0, StepAction::Prepare(Vec::new())));
    fsm.step(0, AgentInput::Performed(Ok(Vec::new())));
    fsm.step(0, assign(1, StepAction::Run(run_step(1))));
    fsm.step(0, AgentInput::Launched(Ok(())));
    assert_eq!(
        fsm.step(S, AgentInput::Cancel("r".into())),
        [AgentEffect::Terminate]
    );
    fsm.step(S, AgentInput::InstanceExited);
    fsm.step(S, AgentInput::Assembled(record()));
    assert_eq!(
        fsm.step(2 * S, AgentInput::Tick),
        [AgentEffect::Perform(StepAction::RemoveCgroups)]
    );
}

fn any_input() -> impl Strategy<Value = u8> {
    0_u8..11
}

proptest! {
    /// Whatever arrives in whatever order: every launch is followed by as many ends as instances
    /// before the agent takes the next step, and a kill or a report ends every step.
    #[test]
    fn no_sequence_of_inputs_leaves_a_workload_behind(inputs in proptest::collection::vec(any_input(), 1..80)) {
        let mut fsm = AgentFsm::new(AgentTimes::default());
        let (mut now, mut id, mut alive) = (0_u64, 0_u32, 0_usize);
        let mut performing = false;
        for input in inputs {
            now += S;
            let effects = match input {
                0 => { id += 1; fsm.step(now, assign(id, StepAction::Run(run_step(2)))) }
                1 => { id += 1; fsm.step(now, assign(id, StepAction::Prepare(Vec::new()))) }
                2 if performing => { performing = false; fsm.step(now, AgentInput::Performed(Ok(Vec::new()))) }
                3 if alive > 0 => { alive -= 1; fsm.step(now, AgentInput::InstanceExited) }
                4 => fsm.step(now, AgentInput::Cancel("r".into())),
                5 => fsm.step(now, AgentInput::LinkDown),
                6 => fsm.step(now, AgentInput::LinkUp),
                7 => { now += 200 * S; fsm.step(now, AgentInput::Tick) }
                _ => fsm.step(now, AgentInput::Tick),
            };
            let mut queue: VecDeque<AgentEffect> = effects.into();
            while let Some(effect) = queue.pop_front() {
                match effect {
                    AgentEffect::Launch(step) => {
                        prop_assert_eq!(alive, 0, "launched over a living workload");
                        alive = step.instances.len();
                        queue.extend(fsm.step(now, AgentInput::Launched(Ok(()))));
                    }
                    AgentEffect::Assemble(_) => {
                        prop_assert_eq!(alive, 0, "assembled over a living workload");
                        queue.extend(fsm.step(now, AgentInput::Assembled(record())));
                    }
                    AgentEffect::Kill => {
                        while alive > 0 {
                            alive -= 1;
                            queue.extend(fsm.step(now, AgentInput::InstanceExited));
                        }
                    }
                    AgentEffect::Perform(_) => performing = true,
                    _ => {}
                }
            }
            if fsm.is_idle() {
                prop_assert_eq!(alive, 0, "idle over a living workload");
            }
        }
    }
}
