//! Jobs: a cell on a machine, with the copies that each arm starts.

use std::collections::BTreeMap;

use crate::cpuset::CpuSet;
use crate::id::{CellId, HostId};
use crate::playbook::{Diagnostic, EntrySpec, Report, Spec};
use crate::workload::{Command, Implementation};

use super::cells::{Draft, Expansion};
use super::commands;
use super::estimate;
use super::machine::{Machine, Parts};
use super::place::{self, Spot};
use super::types::{Cell, Instance};

/// A machine in its role, with what was derived for this plan.
pub(super) struct Seat<'a> {
    pub(super) role: String,
    pub(super) machine: &'a Machine,
    pub(super) parts: Parts,
    /// CPUs of each arm; `None`: all.
    pub(super) arm_cpus: Vec<Option<CpuSet>>,
    /// Arms that apply here, by index.
    pub(super) arms: Vec<usize>,
}

/// A cell on a machine.
pub(super) struct Job {
    /// Index into the seats.
    pub(super) seat: usize,
    pub(super) cell: CellId,
    /// For each arm.
    pub(super) instances: Vec<Vec<Instance>>,
    /// Jobs with the same number start at one moment.
    pub(super) barrier: Option<usize>,
    /// The machine of the server.
    pub(super) server_seat: Option<usize>,
    pub(super) deadline_ms: u64,
    pub(super) estimate_ms: u64,
}

/// Collects cells and jobs.
pub(super) struct Jobs<'a> {
    pub(super) spec: &'a Spec,
    pub(super) seats: &'a [Seat<'a>],
    pub(super) cells: Vec<Cell>,
    pub(super) jobs: Vec<Job>,
    /// Jobs of one cell that start together.
    barriers: BTreeMap<String, usize>,
    /// Cells that a filter let through; all where there is no filter.
    pub(super) filters: &'a [String],
}

impl<'a> Jobs<'a> {
    pub(super) fn new(spec: &'a Spec, seats: &'a [Seat<'a>], filters: &'a [String]) -> Self {
        Jobs {
            spec,
            seats,
            cells: Vec::new(),
            jobs: Vec::new(),
            barriers: BTreeMap::new(),
            filters,
        }
    }

    /// Adds every cell of an entry on every machine that runs it.
    pub(super) fn add(&mut self, entry: &EntrySpec, notes: &mut Vec<String>, report: &mut Report) {
        let seats: Vec<usize> = entry
            .on
            .iter()
            .filter_map(|(role, _)| self.seats.iter().position(|s| s.role == *role))
            .collect();
        let machines: Vec<&Machine> = seats.iter().map(|s| self.seats[*s].machine).collect();
        if machines.is_empty() {
            return;
        }
        let Some(implementation) = commands::implementation(entry, &machines, notes, report) else {
            return;
        };
        for seat in seats {
            let expansion = Expansion {
                entry,
                machine: self.seats[seat].machine,
                parts: &self.seats[seat].parts,
            };
            for draft in expansion.cells(notes, report) {
                if self.passes(entry, &draft) {
                    self.add_cell(entry, draft, implementation, seat, notes, report);
                }
            }
        }
    }

    fn passes(&self, entry: &EntrySpec, draft: &Draft) -> bool {
        let fits = |filter: &String| {
            entry.name == *filter
                || draft.id.contains(filter.as_str())
                || super::require::matches_pattern(&draft.id, filter)
        };
        self.filters.is_empty() || self.filters.iter().any(fits)
    }

    fn add_cell(
        &mut self,
        entry: &EntrySpec,
        draft: Draft,
        implementation: Implementation,
        seat: usize,
        notes: &mut Vec<String>,
        report: &mut Report,
    ) {
        let machine = self.seats[seat].machine;
        let found = commands::command(entry, &draft.params, implementation, machine, report);
        let Some((command, params)) = found else {
            return;
        };
        let server_seat = entry
            .server
            .as_ref()
            .and_then(|(role, _)| self.seats.iter().position(|s| s.role == *role))
            .filter(|s| *s != seat);
        if let Some((role, pos)) = &entry.server
            && command.server.is_none()
        {
            report.push(
                Diagnostic::error(
                    *pos,
                    format!(
                        "`{}` has no server for `{role}` to run",
                        entry.workload.def().name
                    ),
                )
                .expected("no `server`"),
            );
        }
        let Some(instances) = self.instances(&draft, &command, seat, server_seat, report) else {
            return;
        };
        let copies = instances.iter().map(Vec::len).max().unwrap_or(0);
        note_uneven(&draft, &instances, self.spec, notes);
        let copies = u32::try_from(copies).unwrap_or(u32::MAX);
        commands::preflight(
            entry,
            &draft.id,
            &params,
            (implementation, copies),
            machine,
            notes,
            report,
        );
        let times = estimate::run(
            entry,
            &self.spec.repeat,
            &params,
            (copies, self.seats[seat].parts.cpus.len()),
            notes,
            report,
        );
        let cell = self.cell(entry, draft, implementation, params, seat);
        let barrier = entry.together.then(|| {
            let next = self.barriers.len();
            *self
                .barriers
                .entry(cell.as_str().to_owned())
                .or_insert(next)
        });
        self.jobs.push(Job {
            seat,
            cell,
            instances,
            barrier,
            server_seat,
            deadline_ms: times.deadline_ms,
            estimate_ms: times.estimate_ms,
        });
    }

    /// The cell's id. Machines on which a cell comes to other parameters have a cell of their own.
    fn cell(
        &mut self,
        entry: &EntrySpec,
        draft: Draft,
        implementation: Implementation,
        params: crate::workload::Params,
        seat: usize,
    ) -> CellId {
        let mut cell = Cell {
            id: CellId(draft.id),
            entry: entry.name.clone(),
            workload: entry.workload.def().name.to_owned(),
            implementation,
            params,
            point: draft.point,
        };
        match self.cells.iter().rev().find(|c| c.id == cell.id) {
            Some(same) if same.params == cell.params => return cell.id,
            Some(_) => cell.id = CellId(format!("{}@{}", cell.id, self.seats[seat].role)),
            None => {}
        }
        let id = cell.id.clone();
        self.cells.push(cell);
        id
    }

    /// The copies for each arm; `None` after an error.
    fn instances(
        &self,
        draft: &Draft,
        command: &Command,
        seat: usize,
        server_seat: Option<usize>,
        report: &mut Report,
    ) -> Option<Vec<Vec<Instance>>> {
        let seat = &self.seats[seat];
        let server_host: Option<HostId> = server_seat.map(|s| self.seats[s].machine.host.clone());
        let mut of_arms = Vec::with_capacity(self.spec.arms.len());
        for (arm, cpus) in self.spec.arms.iter().zip(&seat.arm_cpus) {
            let spots = place::spots(
                &draft.place,
                (&arm.name, cpus.as_ref()),
                &seat.parts,
                &self.spec.groups,
            );
            let spots = match spots {
                Ok(spots) => spots,
                Err(why) => {
                    report.push(Diagnostic::error(
                        draft.place_pos,
                        format!("`{}` on {}: {why}", draft.id, seat.machine.host),
                    ));
                    return None;
                }
            };
            let total = u64::from(draft.instances).saturating_mul(spots.len() as u64);
            if total > MAX_COPIES {
                report.push(
                    Diagnostic::error(
                        draft.place_pos,
                        format!("`{}` starts {total} copies", draft.id),
                    )
                    .expected(format!("at most {MAX_COPIES}")),
                );
                return None;
            }
            of_arms.push(copies(
                &spots,
                draft.instances,
                command,
                server_host.as_ref(),
            ));
        }
        Some(of_arms)
    }
}

/// A repetition starts at most so many copies.
const MAX_COPIES: u64 = 20_000;

fn copies(spots: &[Spot], each: u32, command: &Command, server: Option<&HostId>) -> Vec<Instance> {
    spots
        .iter()
        .flat_map(|spot| {
            (0..each).map(|_| Instance {
                command: command.clone(),
                cpus: spot.cpus.clone(),
                cgroup: spot.cgroup.clone(),
                server_host: server.cloned(),
            })
        })
        .collect()
}

/// Arms that start different numbers of copies do different work.
fn note_uneven(draft: &Draft, instances: &[Vec<Instance>], spec: &Spec, notes: &mut Vec<String>) {
    let (Some(first), Some(base)) = (instances.first(), spec.arms.first()) else {
        return;
    };
    for (arm, other) in spec.arms.iter().zip(instances).skip(1) {
        if other.len() != first.len() {
            notes.push(format!(
                "`{}` starts {} copies under `{}` and {} under `{}`: sums over copies do not compare",
                draft.id,
                first.len(),
                base.name,
                other.len(),
                arm.name
            ));
        }
    }
}
