//! Switching: schedule(), requests to reschedule, going idle and coming back.

use super::fair::Dequeue;
use super::task::TaskState;
use crate::cpu::CpuIx;
use crate::kernel::rules::Preempt;
use crate::queue::Event;
use crate::sim::Sim;
use crate::table::TaskIx;
use crate::time::Ns;

impl Sim {
    /// Asks a CPU to reschedule as soon as the kernel lets it.
    pub(crate) fn resched_curr(&mut self, cpu: CpuIx) {
        let rq = &mut self.rqs[cpu];
        if rq.need_resched {
            return;
        }
        rq.need_resched = true;
        if rq.curr.is_none() {
            let exit = self.idle_exit_ns(cpu);
            self.push_resched(cpu, self.now + exit);
        } else {
            // The segment of the running task is cut by an event of this instant; the CPU that
            // asks itself is already there, another one gets an interrupt.
            let flight = if self.rqs[cpu].segment.active {
                self.machine.costs.switch.ipi_flight_ns
            } else {
                return;
            };
            self.push_resched(cpu, self.now + flight);
        }
    }

    /// As [`Sim::resched_curr`]; under lazy preemption at the next tick or return to user mode.
    pub(crate) fn resched_curr_lazy(&mut self, cpu: CpuIx) {
        if self.tun.preempt == Preempt::Lazy && self.rqs[cpu].curr.is_some() {
            if !self.rqs[cpu].need_resched_lazy {
                self.rqs[cpu].need_resched_lazy = true;
                self.update_tick(cpu);
            }
        } else {
            self.resched_curr(cpu);
        }
    }

    fn push_resched(&mut self, cpu: CpuIx, at: Ns) {
        let rq = &mut self.rqs[cpu];
        if rq.resched_at.is_some_and(|earlier| earlier <= at) {
            return;
        }
        rq.resched_generation = rq.resched_generation.wrapping_add(1);
        rq.resched_at = Some(at);
        let generation = rq.resched_generation;
        self.push(at, cpu, Event::Resched { generation });
    }

    pub(crate) fn resched_event(&mut self, cpu: CpuIx, generation: u32) -> bool {
        let rq = &mut self.rqs[cpu];
        if rq.resched_generation != generation || rq.resched_at.is_none() {
            return false;
        }
        rq.resched_at = None;
        if !rq.need_resched {
            return false;
        }
        if let Some(curr) = rq.curr
            && self.tasks[curr].throttle_work
            && !self.tasks[curr].in_kernel
        {
            self.throttle_cfs_rq_work(curr);
        }
        self.schedule(cpu);
        true
    }

    /// Picks what runs next on a CPU and switches to it.
    pub(crate) fn schedule(&mut self, cpu: CpuIx) {
        let rq = &mut self.rqs[cpu];
        rq.need_resched = false;
        rq.need_resched_lazy = false;
        if rq.resched_at.take().is_some() {
            rq.resched_generation = rq.resched_generation.wrapping_add(1);
        }
        rq.stat.sched_count += 1;
        let prev = rq.curr;
        self.stop_segment(cpu);
        let mut voluntary = false;
        if let Some(prev) = prev
            && self.tasks[prev].on_rq
            && self.tasks[prev].state != TaskState::Running
        {
            voluntary = true;
            self.deactivate_task(prev);
        }
        let mut next = self.pick_task_fair(cpu);
        if next.is_none() && self.sched_balance_newidle(cpu) {
            next = self.pick_task_fair(cpu);
        }
        if prev == next {
            if prev.is_some() {
                self.start_segment(cpu);
            } else {
                self.enter_idle(cpu, false);
            }
            self.update_tick(cpu);
            return;
        }
        if let Some(prev) = prev {
            self.switch_out(cpu, prev, voluntary);
        }
        self.put_prev_set_next_task(prev, next);
        if prev.is_some_and(|p| self.tasks[p].state == TaskState::Dead) {
            self.alive -= 1;
        }
        self.rqs[cpu].curr = next;
        match next {
            Some(next) => self.switch_in(cpu, prev, next),
            None => self.enter_idle(cpu, true),
        }
        self.update_tick(cpu);
    }

    fn switch_out(&mut self, cpu: CpuIx, prev: TaskIx, voluntary: bool) {
        let now = self.now;
        let task = &mut self.tasks[prev];
        if voluntary {
            task.stat.nvcsw += 1;
        } else {
            task.stat.nivcsw += 1;
            if task.on_rq && !task.throttled {
                task.queued_at = Some(now);
            }
        }
        self.trace
            .slice(cpu, task.comm, prev.0, task.arrived_at, now);
    }

    fn switch_in(&mut self, cpu: CpuIx, prev: Option<TaskIx>, next: TaskIx) {
        let same_mm = prev.is_none_or(|p| self.tasks[p].mm == self.tasks[next].mm);
        let costs = &self.machine.costs.switch;
        let switch = if same_mm {
            costs.thread_ns
        } else {
            costs.process_ns
        };
        let refill = self.refill_ns(cpu, next);
        let now = self.now;
        let task = &mut self.tasks[next];
        let waited = task.queued_at.take().map_or(0, |since| now - since);
        task.stat.run_delay += waited;
        task.stat.pcount += 1;
        task.arrived_at = now;
        let rq = &mut self.rqs[cpu];
        rq.stat.run_delay += waited;
        rq.stat.pcount += 1;
        rq.overhead += switch + refill;
        self.task_throttle_setup_work(next);
        if prev.is_none() {
            self.leave_idle(cpu);
        }
        self.start_segment(cpu);
        if self.tasks[next].throttle_work && !self.tasks[next].in_kernel {
            // The switch ends in user mode: the task throttles itself before it does anything.
            self.rqs[cpu].need_resched = true;
            self.push_resched(cpu, now + switch);
        }
    }

    /// A blocking task leaves the queues, or stays delayed.
    fn deactivate_task(&mut self, task: TaskIx) {
        let special = self.tasks[task].state == TaskState::Dead;
        let flags = Dequeue {
            sleep: true,
            special,
            ..Dequeue::default()
        };
        if self.dequeue_task_fair(task, flags) {
            self.block_task(task);
        }
    }

    /// A task is off every queue.
    pub(crate) fn block_task(&mut self, task: TaskIx) {
        self.tasks[task].on_rq = false;
        let list = &mut self.rqs[self.tasks[task].cpu].cfs_tasks;
        if let Some(at) = list.iter().rposition(|&t| t == task) {
            list.remove(at);
        }
        if self.tasks[task].state == TaskState::Dead {
            self.remove_entity_load_avg(self.tasks[task].se);
        }
    }

    fn enter_idle(&mut self, cpu: CpuIx, switched: bool) {
        let now = self.now;
        self.rqs[cpu].stat.sched_goidle += 1;
        if !switched {
            return;
        }
        let guess = self.rqs[cpu].idle_guess;
        let deepest = (self.machine.costs.idle.iter())
            .take_while(|state| state.residency_ns <= guess)
            .count();
        let rq = &mut self.rqs[cpu];
        rq.idle_since = now;
        rq.idle_state = deepest;
        rq.idle_stamp.get_or_insert(now);
        self.nohz_balance_enter_idle(cpu);
        self.update_idle_cpu(cpu);
        self.update_idle_core(cpu);
        self.sibling_rates_changed(cpu);
    }

    fn leave_idle(&mut self, cpu: CpuIx) {
        let now = self.now;
        let rq = &mut self.rqs[cpu];
        let stayed = now - rq.idle_since;
        // The governor's guess: an average of about the last eight stays.
        rq.idle_guess = rq.idle_guess - rq.idle_guess / 8 + stayed / 8;
        self.nohz_balance_exit_idle(cpu);
        self.update_idle_cpu(cpu);
        self.sibling_rates_changed(cpu);
    }

    /// From a wake-up to the first instruction of an idle CPU.
    pub(crate) fn idle_exit_ns(&self, cpu: CpuIx) -> Ns {
        let costs = &self.machine.costs;
        match self.rqs[cpu].idle_state.checked_sub(1) {
            None => costs.switch.poll_exit_ns,
            // The shallowest state is left by a store to a watched line, deeper ones by interrupt.
            Some(0) => costs.idle[0].exit_ns,
            Some(at) => costs.switch.ipi_flight_ns + costs.idle[at].exit_ns,
        }
    }

    /// What waking an idle CPU costs the waker.
    pub(crate) fn idle_wake_cost(&self, this: CpuIx, cpu: CpuIx) -> Ns {
        let costs = &self.machine.costs.switch;
        if self.rqs[cpu].idle_state <= 1 {
            costs.poll_flag_ns
        } else {
            self.ipi_send_ns(this, cpu)
        }
    }

    /// What an interrupt to another CPU costs the sender.
    pub(crate) fn ipi_send_ns(&self, this: CpuIx, cpu: CpuIx) -> Ns {
        let costs = &self.machine.costs.switch;
        let same = self.machine.place(this).package == self.machine.place(cpu).package;
        match costs.ipi_send_remote_ns {
            Some(remote) if !same => remote,
            _ => costs.ipi_send_ns,
        }
    }

    /// Whether a CPU is idle with nothing on its way (`idle_cpu`), kept in a mask.
    pub(crate) fn update_idle_cpu(&mut self, cpu: CpuIx) {
        let rq = &self.rqs[cpu];
        if rq.curr.is_none() && rq.nr_running == 0 && rq.wake_list.is_empty() {
            self.idle.insert(cpu);
        } else {
            self.idle.remove(cpu);
        }
    }

    /// Whether a CPU is idle with nothing on its way.
    #[inline]
    pub(crate) fn idle_cpu(&self, cpu: CpuIx) -> bool {
        self.idle.contains(cpu)
    }
}
