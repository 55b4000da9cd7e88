//! Jobs in their order: set-up, arms taking turns, reboots, putting back.

use crate::host::knobs_of_collectors;
use crate::id::{ArmId, StepId};
use crate::playbook::{ArmSpec, Spec};

use super::estimate::{self, Times};
use super::jobs::{Job, Seat};
use super::order::{blocks, stream, turns};
use super::types::{ArmChange, CgroupTree, Restore, RunStep, Step, StepAction};

/// What a machine has to be under an arm.
pub(super) fn on_machine(arm: &ArmSpec) -> Vec<ArmChange> {
    let mut changes = Vec::new();
    changes.extend(arm.kernel.clone().map(ArmChange::Kernel));
    changes.extend(arm.boot.clone().map(ArmChange::Boot));
    changes.extend(arm.knobs.iter().cloned().map(ArmChange::Knob));
    changes
}

/// Builds the list of steps.
pub(super) struct Schedule<'a> {
    pub(super) spec: &'a Spec,
    pub(super) seats: &'a [Seat<'a>],
    pub(super) trees: &'a [Option<CgroupTree>],
    pub(super) seed: u64,
    pub(super) steps: Vec<Step>,
    /// The arm each seat is in.
    current: Vec<Option<usize>>,
    barriers: u32,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(
        spec: &'a Spec,
        seats: &'a [Seat<'a>],
        trees: &'a [Option<CgroupTree>],
        seed: u64,
    ) -> Self {
        Schedule {
            spec,
            seats,
            trees,
            seed,
            steps: Vec::new(),
            current: vec![None; seats.len()],
            barriers: 0,
        }
    }

    /// The steps of machines that work together, with their jobs.
    pub(super) fn add(&mut self, seats: &[usize], jobs: &[&Job]) {
        let rebooting = self
            .spec
            .arms
            .iter()
            .any(|a| a.kernel.is_some() || a.boot.is_some());
        if rebooting {
            self.by_boots(seats, jobs);
        } else {
            self.in_place(seats, jobs);
        }
        for seat in seats {
            if let Some(tree) = &self.trees[*seat] {
                self.push(
                    *seat,
                    StepAction::RemoveCgroups,
                    estimate::tree(tree.groups.len()),
                );
            }
            if self.spec.restore != Restore::Never {
                self.push(*seat, StepAction::Restore, estimate::RESTORE);
            }
        }
    }

    /// Arms that differ in settings: they take turns within each cell.
    fn in_place(&mut self, seats: &[usize], jobs: &[&Job]) {
        let arms = self.arms_of(seats);
        for (boot, (from, to)) in blocks(self.spec.repeat.max, self.spec.repeat.boots)
            .into_iter()
            .enumerate()
        {
            if boot > 0 {
                self.reboot(seats);
            }
            self.set_up(seats);
            for group in together(jobs) {
                let cell = group[0].cell.as_str();
                let mut rng = stream(self.seed, &format!("{cell}/{boot}"));
                for warmup in 0..self.spec.repeat.warmup {
                    for arm in &arms {
                        self.run(&group, seats, *arm, warmup, boot, true);
                    }
                }
                let order = self.spec.repeat.order;
                for (rep, arm) in turns(order, arms.len(), from, to, &mut rng) {
                    self.run(&group, seats, arms[arm], rep, boot, false);
                }
            }
        }
    }

    /// Arms that need a boot of their own: they take turns by boots.
    fn by_boots(&mut self, seats: &[usize], jobs: &[&Job]) {
        let blocks = blocks(self.spec.repeat.max, self.spec.repeat.boots);
        let boots = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        let mut rng = stream(self.seed, "boots");
        let arms = self.arms_of(seats);
        let order = turns(self.spec.repeat.order, arms.len(), 0, boots, &mut rng);
        for (boot, arm) in order {
            let arm = arms[arm];
            let (from, to) = blocks[boot as usize];
            if seats.iter().all(|s| self.current[*s] == Some(arm)) {
                self.reboot(seats);
            }
            self.enter(seats, arm);
            self.set_up(seats);
            for group in together(jobs) {
                for warmup in 0..self.spec.repeat.warmup {
                    self.run(&group, seats, arm, warmup, boot as usize, true);
                }
                for rep in from..to {
                    self.run(&group, seats, arm, rep, boot as usize, false);
                }
            }
        }
    }

    /// Arms that apply to any of these machines.
    fn arms_of(&self, seats: &[usize]) -> Vec<usize> {
        (0..self.spec.arms.len())
            .filter(|arm| seats.iter().any(|s| self.applies(*s, *arm)))
            .collect()
    }

    fn applies(&self, seat: usize, arm: usize) -> bool {
        // Roles of one machine share its settings.
        let host = &self.seats[seat].machine.host;
        let of_host = |s: &&Seat<'_>| s.machine.host == *host;
        self.seats
            .iter()
            .filter(of_host)
            .any(|s| s.arms.contains(&arm))
    }

    fn reboot(&mut self, seats: &[usize]) {
        for seat in seats {
            self.push(*seat, StepAction::Reboot, estimate::REBOOT);
            self.current[*seat] = None;
        }
    }

    /// Settings and groups: a boot loses both.
    fn set_up(&mut self, seats: &[usize]) {
        for seat in seats {
            let mut knobs = self.spec.prepare.clone();
            knobs.extend(knobs_of_collectors(&self.spec.collect));
            if !knobs.is_empty() {
                self.push(*seat, StepAction::Prepare(knobs), estimate::PREPARE);
            }
            if let Some(tree) = self.trees[*seat].clone() {
                let times = estimate::tree(tree.groups.len());
                self.push(*seat, StepAction::MakeCgroups(tree), times);
            }
        }
    }

    fn enter(&mut self, seats: &[usize], arm: usize) {
        let spec = &self.spec.arms[arm];
        let boots = spec.kernel.is_some()
            || spec.boot.is_some()
            || self
                .spec
                .arms
                .iter()
                .any(|a| a.kernel.is_some() || a.boot.is_some());
        for seat in seats {
            if self.current[*seat] == Some(arm) || !self.applies(*seat, arm) {
                continue;
            }
            let times = if boots {
                estimate::REBOOT
            } else {
                estimate::ENTER
            };
            self.current[*seat] = Some(arm);
            if !self.arms_differ_on_machine() {
                continue;
            }
            let arm = ArmId(spec.name.clone());
            let changes = on_machine(spec);
            self.push(*seat, StepAction::EnterArm { arm, changes }, times);
        }
    }

    /// Whether a machine has to be changed from arm to arm: CPUs of the workload are in its steps.
    fn arms_differ_on_machine(&self) -> bool {
        self.spec.arms.iter().any(|arm| !on_machine(arm).is_empty())
    }

    fn run(
        &mut self,
        group: &[&Job],
        seats: &[usize],
        arm: usize,
        rep: u32,
        boot: usize,
        warmup: bool,
    ) {
        // A machine that an arm does not touch runs under it only as the partner of one it touches.
        let touched = |job: &&&Job| {
            let server = job.server_seat.is_some_and(|s| self.applies(s, arm));
            server || self.applies(job.seat, arm)
        };
        let group: Vec<&Job> = group.iter().filter(touched).copied().collect();
        if group.is_empty() {
            return;
        }
        self.enter(seats, arm);
        let barrier = (group.len() > 1).then(|| {
            self.barriers += 1;
            self.barriers - 1
        });
        for job in group {
            let action = StepAction::Run(RunStep {
                cell: job.cell.clone(),
                arm: ArmId(self.spec.arms[arm].name.clone()),
                repetition: rep,
                warmup,
                boot: u32::try_from(boot).unwrap_or(u32::MAX),
                instances: job.instances[arm].clone(),
                collect: self.spec.collect.clone(),
                barrier,
            });
            let times = Times {
                estimate_ms: job.estimate_ms,
                deadline_ms: job.deadline_ms,
            };
            self.push(job.seat, action, times);
        }
    }

    fn push(&mut self, seat: usize, action: StepAction, times: Times) {
        self.steps.push(Step {
            id: StepId(u32::try_from(self.steps.len()).unwrap_or(u32::MAX)),
            host: self.seats[seat].machine.host.clone(),
            action,
            deadline_ms: times.deadline_ms,
            estimate_ms: times.estimate_ms,
        });
    }
}

/// Jobs that start at one moment, in the order of their first.
fn together<'j>(jobs: &[&'j Job]) -> Vec<Vec<&'j Job>> {
    let mut groups: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        let same = job
            .barrier
            .and_then(|b| groups.iter_mut().find(|g| g[0].barrier == Some(b)));
        match same {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}
