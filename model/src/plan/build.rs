//! The planner: playbook x machines x seed to a plan, every choice made.

use std::collections::BTreeMap;

use crate::id::ArmId;
use crate::playbook::{Diagnostic, Diagnostics, Playbook, Pos, Report, Spec};

use super::jobs::{Job, Jobs, Seat};
use super::machine::{self, Inventory, Machine, Parts};
use super::schedule::{Schedule, on_machine};
use super::types::{Arm, ArmChange, CgroupTree, Plan, PlannedHost, Repeat, StepAction};
use super::{place, require, tree};

/// Version of the shape of a plan. Changelog:
/// - 1: first.
pub const PLAN_FORMAT: u32 = 1;
/// A plan has at most so many steps.
const MAX_STEPS: u64 = 1_000_000;
/// All steps together start at most so many copies of workloads.
const MAX_INSTANCES: u64 = 4_000_000;

/// What the command line adds to a playbook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--set name=value`.
    pub params: BTreeMap<String, String>,
    /// `--seed`: the order of arms is drawn from it.
    pub seed: u64,
    /// `--only`: names of entries, or parts or patterns (`*`) of cell ids; empty: everything.
    pub only: Vec<String>,
}

/// Makes the plan.
///
/// # Errors
/// Everything these machines do not allow, each with its place in the playbook.
pub fn build(
    playbook: &Playbook,
    inventory: &Inventory,
    overrides: &Overrides,
) -> Result<Plan, Diagnostics> {
    let spec = playbook.with_params(&overrides.params)?;
    let mut report = Report::default();
    let plan = planned(&spec, inventory, overrides, &mut report);
    match plan {
        Some(plan) if !report.has_errors() => Ok(plan),
        _ => Err(report.finish(&playbook.sources)),
    }
}

fn planned(
    spec: &Spec,
    inventory: &Inventory,
    overrides: &Overrides,
    report: &mut Report,
) -> Option<Plan> {
    let mut notes = Vec::new();
    let seats = seats(spec, inventory, &mut notes, report);
    if report.has_errors() {
        return None;
    }
    let trees: Vec<Option<CgroupTree>> = seats
        .iter()
        .map(|s| tree::build(spec, s.machine, &s.parts, &mut notes, report))
        .collect();
    let mut jobs = Jobs::new(spec, &seats, &overrides.only);
    for entry in &spec.entries {
        jobs.add(entry, &mut notes, report);
    }
    let Jobs { cells, jobs, .. } = jobs;
    if jobs.is_empty() && !report.has_errors() {
        let text = match overrides.only.as_slice() {
            [] => "0 runs planned: no workloads".to_owned(),
            only => format!(
                "0 runs planned: filter '{}' matches none",
                only.join("', '")
            ),
        };
        let names: Vec<&str> = spec.entries.iter().map(|e| e.name.as_str()).collect();
        report.push(Diagnostic::error(no_place(), text).expected(format!(
            "a part of the names of cells, such as {}",
            names.join(", ")
        )));
    }
    check_size(spec, &jobs, report);
    if report.has_errors() {
        return None;
    }
    let mut schedule = Schedule::new(spec, &seats, &trees, overrides.seed);
    for (members, of_members) in teams(&seats, &jobs) {
        schedule.add(&members, &of_members);
    }
    let steps = schedule.steps;
    note_total(spec, steps.iter().map(|s| s.estimate_ms).sum(), &mut notes);
    Some(Plan {
        format: PLAN_FORMAT,
        title: spec.title.clone(),
        seed: overrides.seed,
        hosts: seats
            .iter()
            .map(|s| PlannedHost {
                role: s.role.clone(),
                host: s.machine.host.clone(),
            })
            .collect(),
        arms: arms(spec, &seats),
        cells,
        prepare: spec.prepare.clone(),
        cgroups: trees.into_iter().flatten().next(),
        repeat: Repeat {
            min: spec.repeat.min,
            max: spec.repeat.max,
            until_ci: spec.repeat.until_ci,
            boots: spec.repeat.boots,
            order: spec.repeat.order,
            warmup: spec.repeat.warmup,
        },
        collect: spec.collect.clone(),
        judge: spec.judge.clone(),
        simulate_seeds: spec.simulate_seeds,
        continue_on_failure: spec.continue_on_failure,
        restore: spec.restore,
        notes,
        steps,
    })
}

/// A problem of the command line, not of a file.
fn no_place() -> Pos {
    Pos {
        file: u16::MAX,
        ..Pos::default()
    }
}

/// Machines in the roles that workloads name.
fn seats<'a>(
    spec: &Spec,
    inventory: &'a Inventory,
    notes: &mut Vec<String>,
    report: &mut Report,
) -> Vec<Seat<'a>> {
    let used = |name: &str| {
        spec.entries.iter().any(|e| {
            e.on.iter().any(|(r, _)| r == name) || e.server.as_ref().is_some_and(|(r, _)| r == name)
        })
    };
    let mut seats: Vec<Seat<'a>> = Vec::new();
    for role in &spec.roles {
        if !used(&role.name) {
            notes.push(format!("role `{}` runs nothing", role.name));
            continue;
        }
        let Some(machine) = machine_for(&role.name, spec, inventory) else {
            report.push(
                Diagnostic::error(role.pos, format!("no machine plays `{}`", role.name))
                    .expected(format!("`--on {}=HOST`", role.name)),
            );
            continue;
        };
        let parts = Parts::of(&machine.topology);
        if !seats.iter().any(|s| s.machine.host == machine.host) {
            notes.extend(machine::notes(machine, &parts));
        }
        require::check(role, machine, &parts, notes, report);
        let arm_cpus = arm_cpus(spec, machine, &parts, report);
        let arms = (0..spec.arms.len())
            .filter(|i| {
                let on = &spec.arms[*i].on;
                on.is_empty() || on.iter().any(|r| *r == role.name || *r == role.group)
            })
            .collect();
        seats.push(Seat {
            role: role.name.clone(),
            machine,
            parts,
            arm_cpus,
            arms,
        });
    }
    seats
}

/// The machine of a role; the only one there is plays the only role there is.
fn machine_for<'a>(role: &str, spec: &Spec, inventory: &'a Inventory) -> Option<&'a Machine> {
    let named = inventory.machines.get(role);
    let only = (spec.roles.len() == 1 && inventory.machines.len() == 1)
        .then(|| inventory.machines.values().next())
        .flatten();
    named.or(only)
}

fn arm_cpus(
    spec: &Spec,
    machine: &Machine,
    parts: &Parts,
    report: &mut Report,
) -> Vec<Option<crate::cpuset::CpuSet>> {
    spec.arms
        .iter()
        .map(|arm| {
            let (affinity, pos) = arm.affinity.as_ref()?;
            match place::affinity(affinity, parts) {
                Ok(cpus) => cpus,
                Err(why) => {
                    report.push(Diagnostic::error(
                        *pos,
                        format!("arm `{}` on {}: {why}", arm.name, machine.host),
                    ));
                    None
                }
            }
        })
        .collect()
}

fn arms(spec: &Spec, seats: &[Seat<'_>]) -> Vec<Arm> {
    spec.arms
        .iter()
        .enumerate()
        .map(|(i, arm)| {
            let mut changes = on_machine(arm);
            // Steps state the CPUs of each machine; this is the first machine's set.
            changes.extend(
                seats
                    .first()
                    .and_then(|s| s.arm_cpus[i].clone())
                    .map(ArmChange::Affinity),
            );
            Arm {
                id: ArmId(arm.name.clone()),
                changes,
                model: arm.model.clone(),
            }
        })
        .collect()
}

fn check_size(spec: &Spec, jobs: &[Job], report: &mut Report) {
    let each = u64::from(spec.repeat.max)
        .saturating_add(u64::from(spec.repeat.warmup).saturating_mul(u64::from(spec.repeat.boots)));
    let runs = (jobs.len() as u64)
        .saturating_mul(spec.arms.len() as u64)
        .saturating_mul(each);
    let copies = jobs.iter().flat_map(|j| &j.instances).fold(0_u64, |n, i| {
        n.saturating_add((i.len() as u64).saturating_mul(each))
    });
    if runs > MAX_STEPS || copies > MAX_INSTANCES {
        report.push(
            Diagnostic::error(no_place(), format!("the plan has {runs} repetitions that start {copies} copies"))
                .expected(format!("at most {MAX_STEPS} repetitions, {MAX_INSTANCES} copies: fewer cells, or a smaller `repeat.max`")),
        );
    }
}

/// Machines that need each other (server and client, one barrier), with their jobs.
fn teams<'j>(seats: &[Seat<'_>], jobs: &'j [Job]) -> Vec<(Vec<usize>, Vec<&'j Job>)> {
    let mut team: Vec<usize> = (0..seats.len()).collect();
    let join = |team: &mut Vec<usize>, a: usize, b: usize| {
        let (from, to) = (team[a].max(team[b]), team[a].min(team[b]));
        team.iter_mut()
            .filter(|t| **t == from)
            .for_each(|t| *t = to);
    };
    for job in jobs {
        if let Some(server) = job.server_seat {
            join(&mut team, job.seat, server);
        }
        let partner = job
            .barrier
            .and_then(|b| jobs.iter().find(|j| j.barrier == Some(b)));
        if let Some(partner) = partner {
            join(&mut team, job.seat, partner.seat);
        }
    }
    // Two roles of one machine are one queue of work.
    for a in 0..seats.len() {
        for b in 0..a {
            if seats[a].machine.host == seats[b].machine.host {
                join(&mut team, a, b);
            }
        }
    }
    (0..seats.len())
        .filter(|t| team.contains(t))
        .map(|t| {
            let mut members: Vec<usize> = (0..seats.len()).filter(|s| team[*s] == t).collect();
            let of_members = jobs.iter().filter(|j| team[j.seat] == t).collect();
            // Settings are made once a machine, not once a role.
            let mut hosts = Vec::new();
            members.retain(|s| {
                let host = &seats[*s].machine.host;
                let new = !hosts.contains(host);
                hosts.push(host.clone());
                new
            });
            (members, of_members)
        })
        .collect()
}

fn note_total(spec: &Spec, total_ms: u64, notes: &mut Vec<String>) {
    if let Some(limit) = spec.timeout_us
        && total_ms > limit / 1_000
    {
        notes.push(format!(
            "the plan takes about {} s, its timeout is {} s: what is not measured by then stays out",
            total_ms / 1_000,
            limit / 1_000_000
        ));
    }
}

impl Plan {
    /// Sum of the estimates, in milliseconds.
    pub fn estimate_ms(&self) -> u64 {
        self.steps.iter().map(|s| s.estimate_ms).sum()
    }

    /// Repetitions, warm-ups included.
    pub fn runs(&self) -> usize {
        self.steps
            .iter()
            .filter(|s| matches!(s.action, StepAction::Run(_)))
            .count()
    }
}
