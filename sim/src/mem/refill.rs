//! What a task pays for its data being elsewhere.

use crate::cpu::CpuIx;
use crate::machine::Distance;
use crate::sim::Sim;
use crate::table::{GroupIx, TaskIx};
use crate::time::Ns;

/// State of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// When each group's load line is free again: a station with one server.
    pub(crate) group_line_free: Vec<Ns>,
}

/// Bytes of a cache line.
const LINE: u64 = 64;

impl Sim {
    /// A line that `owner` wrote, on its own node, comes to `this`.
    pub(crate) fn line_ns(&self, this: CpuIx, owner: CpuIx) -> Ns {
        let home = self.machine.place(owner).node;
        self.machine.line_transfer_ns(this, owner, home)
    }

    /// What a task that starts on `cpu` pays to have its working set near again.
    pub(crate) fn refill_ns(&mut self, cpu: CpuIx, task: TaskIx) -> Ns {
        let warm = self.tasks[task].warm_cpu;
        self.tasks[task].warm_cpu = cpu;
        let bytes = self.tasks[task].working_set;
        let memory = &self.machine.costs.memory;
        let lines = bytes.div_ceil(LINE);
        match self.machine.distance(cpu, warm) {
            Distance::Own | Distance::Smt | Distance::Cluster => 0,
            Distance::Llc => bytes * 1000 / memory.llc_fill_mb_s.max(1),
            Distance::Package | Distance::Remote => {
                lines * self.line_ns(cpu, warm) / memory.lines_in_flight.max(1)
            }
        }
    }

    /// A write to a group's load from `cpu`: the line has to come, and others may be before it.
    pub(crate) fn write_group_line(&mut self, group: GroupIx, cpu: CpuIx) -> Ns {
        let owner = self.groups[group].load_line.replace(cpu);
        let transfer = match owner {
            Some(owner) if owner != cpu => {
                self.machine.line_transfer_ns(cpu, owner, 0) * self.work.group_line_lines_count
            }
            _ => return 0,
        };
        let at = group.0 as usize;
        if self.mem.group_line_free.len() <= at {
            self.mem.group_line_free.resize(at + 1, 0);
        }
        let begins = self.mem.group_line_free[at].max(self.now);
        self.mem.group_line_free[at] = begins + transfer;
        begins + transfer - self.now
    }

    /// Time to move `bytes` between a CPU and its node's memory while others do the same.
    pub(crate) fn traffic_ns(&self, cpu: CpuIx, bytes: u64) -> Ns {
        let others = (self.machine.node(cpu).cpus.iter())
            .filter_map(|c| self.rqs[c].curr)
            .filter(|&t| self.tasks[t].streaming)
            .count()
            .max(1) as u64;
        let memory = &self.machine.costs.memory;
        let share = memory.core_mb_s.min(memory.node_mb_s / others).max(1);
        bytes * 1000 / share
    }
}
