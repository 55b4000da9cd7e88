//! What CPUs execute: stretches of a task's own work between two points where it meets the kernel.

use crate::cpu::CpuIx;
use crate::queue::Event;
use crate::sched::task::TaskState;
use crate::sim::Sim;
use crate::table::TaskIx;
use crate::time::Ns;
use crate::workload::program::{Action, Ctx};

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The task goes on.
    Go,
    /// It blocks; when it is woken the action is over.
    Block,
    /// It blocks; when it is woken it tries again, which takes this long.
    BlockAndRetry(Ns),
    /// It ends.
    Exit,
}

/// Full rate of a CPU.
const FULL_RATE: u32 = 1024;

impl Sim {
    /// Rate of a CPU at present: its part of the core where siblings are busy.
    fn rate(&self, cpu: CpuIx) -> u32 {
        let siblings = self.machine.siblings(cpu);
        let busy = siblings
            .iter()
            .filter(|&c| self.rqs[c].curr.is_some())
            .count() as u64;
        if busy <= 1 {
            return FULL_RATE;
        }
        // The throughput of a core is stated for two threads; more share it.
        let permille = self.machine.costs.core.smt_throughput_permille;
        let rate = permille * u64::from(FULL_RATE) / 1000 / busy;
        rate.clamp(1, u64::from(FULL_RATE)) as u32
    }

    /// A CPU went idle or busy: its siblings run faster or slower from now on.
    pub(crate) fn sibling_rates_changed(&mut self, cpu: CpuIx) {
        if self.machine.siblings(cpu).len() == 1 {
            return;
        }
        let machine = std::sync::Arc::clone(&self.machine);
        for sibling in machine.siblings(cpu).iter().filter(|&c| c != cpu) {
            if self.rqs[sibling].segment.active {
                let rate = self.rate(sibling);
                if rate != self.rqs[sibling].segment.rate {
                    self.sync_segment(sibling);
                    self.rqs[sibling].segment.rate = rate;
                    self.time_segment(sibling);
                }
            }
        }
    }

    /// Counts the work done since the last look.
    fn sync_segment(&mut self, cpu: CpuIx) {
        let segment = self.rqs[cpu].segment;
        if !segment.active {
            return;
        }
        let ran = self
            .clock_task(cpu)
            .saturating_sub(self.clock_task_at(cpu, segment.since));
        let done = ran * u64::from(segment.rate) / u64::from(FULL_RATE);
        let segment = &mut self.rqs[cpu].segment;
        segment.left = segment.left.saturating_sub(done);
        segment.since = self.now;
    }

    /// Ends the CPU's execution for now; what is left stays with the task.
    pub(crate) fn stop_segment(&mut self, cpu: CpuIx) {
        if !self.rqs[cpu].segment.active {
            return;
        }
        self.sync_segment(cpu);
        let segment = &mut self.rqs[cpu].segment;
        segment.active = false;
        segment.generation = segment.generation.wrapping_add(1);
        let left = segment.left;
        if let Some(curr) = self.rqs[cpu].curr {
            self.tasks[curr].segment_left = left;
        }
    }

    /// The running task of a CPU goes on, or starts on its next steps.
    pub(crate) fn start_segment(&mut self, cpu: CpuIx) {
        let Some(curr) = self.rqs[cpu].curr else {
            return;
        };
        if self.tasks[curr].segment_left == 0 {
            self.next_steps(curr);
        }
        let rate = self.rate(cpu);
        let now = self.now;
        let left = self.tasks[curr].segment_left;
        let rq = &mut self.rqs[cpu];
        rq.segment.left = left + std::mem::take(&mut rq.overhead);
        rq.segment.since = now;
        rq.segment.rate = rate;
        rq.segment.active = true;
        self.time_segment(cpu);
    }

    /// Sets the event of a segment's end.
    fn time_segment(&mut self, cpu: CpuIx) {
        let rq = &mut self.rqs[cpu];
        let segment = &mut rq.segment;
        segment.generation = segment.generation.wrapping_add(1);
        let generation = segment.generation;
        let wall = (segment.left * u64::from(FULL_RATE)).div_ceil(u64::from(segment.rate));
        let at = segment.since + wall;
        // Ticks on the way take their time too. One that falls into that extra time is found when
        // the event comes up: then the segment has something left.
        let ticks = rq.grid.count(at) - rq.grid.count(segment.since);
        let at = at + ticks * self.tun.tick_cost_ns;
        self.push(at.max(self.now), cpu, Event::SegmentEnd { generation });
    }

    pub(crate) fn segment_end(&mut self, cpu: CpuIx, generation: u32) -> bool {
        let segment = &self.rqs[cpu].segment;
        if !segment.active || segment.generation != generation {
            return false;
        }
        self.sync_segment(cpu);
        let rq = &mut self.rqs[cpu];
        rq.segment.left += std::mem::take(&mut rq.overhead);
        if rq.segment.left > 0 {
            self.time_segment(cpu);
            return true;
        }
        rq.segment.active = false;
        let Some(curr) = rq.curr else {
            debug_assert!(false, "a segment without a task on {cpu}");
            return true;
        };
        self.tasks[curr].segment_left = 0;
        let done = self.perform(cpu, curr);
        self.after_action(cpu, curr, done);
        true
    }

    fn after_action(&mut self, cpu: CpuIx, curr: TaskIx, done: Done) {
        match done {
            Done::Go => {}
            Done::Block => self.tasks[curr].state = TaskState::Sleeping,
            Done::BlockAndRetry(cost) => {
                self.tasks[curr].state = TaskState::Sleeping;
                self.tasks[curr].segment_left = cost.max(1);
            }
            Done::Exit => self.tasks[curr].state = TaskState::Dead,
        }
        if done != Done::Go {
            self.schedule(cpu);
        } else {
            self.return_to_user(cpu, curr);
        }
    }

    /// On the way to user mode: throttle, reschedule, or go on.
    pub(crate) fn return_to_user(&mut self, cpu: CpuIx, curr: TaskIx) {
        let throttled = self.tasks[curr].throttle_work && self.throttle_cfs_rq_work(curr);
        let rq = &self.rqs[cpu];
        if throttled || rq.need_resched || rq.need_resched_lazy {
            self.schedule(cpu);
        } else {
            self.start_segment(cpu);
        }
    }

    /// Asks the task's program what comes next. Steps that concern nobody else are done in one
    /// stretch, up to the batch limit (see LIMITS.md, "batches").
    fn next_steps(&mut self, task: TaskIx) {
        let mut cost = 0;
        let mut in_kernel = false;
        loop {
            let pending = std::mem::replace(&mut self.programs[task].pending, Action::None);
            let action = if matches!(pending, Action::None) {
                let step = self.ask_program(task);
                cost += step.cost;
                if step.bytes > 0 {
                    cost += self.traffic_ns(self.tasks[task].cpu, step.bytes);
                }
                in_kernel |= !step.user;
                step.action
            } else {
                pending
            };
            if cost < self.work.batch_ns && self.perform_silently(&action) {
                continue;
            }
            self.programs[task].pending = action;
            break;
        }
        let jittered = self.streams.service.jitter(cost, self.work.jitter_permille);
        let task = &mut self.tasks[task];
        task.segment_left = jittered.max(1);
        task.in_kernel = in_kernel;
    }

    fn ask_program(&mut self, task: TaskIx) -> crate::workload::program::Step {
        let meter = self.tasks[task].meter;
        let slot = &mut self.programs[task];
        let mut ctx = Ctx {
            now: self.now,
            meter: &mut self.meters[meter],
        };
        slot.program.next(&mut ctx)
    }
}
