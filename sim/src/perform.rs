//! What actions do to others.

use crate::cpu::CpuIx;
use crate::exec::Done;
use crate::queue::Event;
use crate::sim::Sim;
use crate::table::{PipeIx, SockIx, TaskIx};
use crate::workload::program::Action;

impl Sim {
    /// Does the action a task came to.
    pub(crate) fn perform(&mut self, cpu: CpuIx, task: TaskIx) -> Done {
        let action = std::mem::replace(&mut self.programs[task].pending, Action::None);
        match action {
            Action::None => Done::Go,
            Action::PipeWrite { pipe, bytes } => self.pipe_write(cpu, task, pipe, bytes),
            Action::PipeRead { pipe, bytes } => self.pipe_read(cpu, task, pipe, bytes),
            Action::SockSend { sock, bytes } => self.sock_send(cpu, task, sock, bytes),
            Action::SockRecv { sock } => self.sock_recv(cpu, task, sock),
            Action::FutexWait(futex) => {
                let word = &mut self.ipc.futexes[futex];
                if word.tokens > 0 {
                    word.tokens -= 1;
                    return Done::Go;
                }
                word.waiters.push_back(task);
                Done::Block
            }
            Action::FutexPost { futex, mut posts } => {
                while posts > 0
                    && let Some(waiter) = self.ipc.futexes[futex].waiters.pop_front()
                {
                    self.try_to_wake_up(cpu, waiter, false);
                    posts -= 1;
                }
                self.ipc.futexes[futex].tokens += posts;
                Done::Go
            }
            Action::Sleep(time) => {
                let sleeper = &mut self.tasks[task];
                sleeper.sleep_generation = sleeper.sleep_generation.wrapping_add(1);
                let generation = sleeper.sleep_generation;
                self.push(self.now + time, cpu, Event::TimerWake { task, generation });
                Done::Block
            }
            Action::Fork { child, thread } => {
                self.fork(cpu, task, child, thread);
                Done::Go
            }
            Action::Exit => Done::Exit,
        }
    }

    /// Does an action at once where it wakes nobody and blocks nobody. Whether it did.
    pub(crate) fn perform_silently(&mut self, action: &Action) -> bool {
        match *action {
            Action::None => true,
            Action::PipeWrite { pipe, bytes } => {
                let pipe = &mut self.ipc.pipes[pipe];
                let silent = pipe.has_room(bytes)
                    && (!pipe.is_empty() || pipe.readers.is_empty())
                    && pipe.writers.is_empty();
                if silent {
                    pipe.write(bytes);
                }
                silent
            }
            Action::PipeRead { pipe, bytes } => {
                let pipe = &mut self.ipc.pipes[pipe];
                let silent =
                    !pipe.is_empty() && (pipe.writers.is_empty() || !pipe.read_frees(bytes));
                if silent {
                    pipe.read(bytes);
                }
                silent
            }
            Action::SockSend { sock, bytes } => {
                let sock = &mut self.ipc.socks[sock];
                let silent = sock.has_room() && sock.receivers.is_empty();
                if silent {
                    sock.send(bytes);
                }
                silent
            }
            Action::SockRecv { sock } => {
                let sock = &mut self.ipc.socks[sock];
                let silent = !sock.queued.is_empty() && sock.senders.is_empty();
                if silent {
                    sock.receive();
                }
                silent
            }
            _ => false,
        }
    }

    fn pipe_write(&mut self, cpu: CpuIx, task: TaskIx, at: PipeIx, bytes: u32) -> Done {
        let pipe = &mut self.ipc.pipes[at];
        if !pipe.has_room(bytes) {
            pipe.writers.push_back(task);
            self.programs[task].pending = Action::PipeWrite { pipe: at, bytes };
            return Done::BlockAndRetry(self.work.block_ns);
        }
        let was_empty = pipe.is_empty();
        pipe.write(bytes);
        let reader = if was_empty {
            pipe.readers.pop_front()
        } else {
            None
        };
        // A writer that got in lets the next one try while there is room.
        let writer = if pipe.is_full() {
            None
        } else {
            pipe.writers.pop_front()
        };
        for woken in reader.into_iter().chain(writer) {
            self.try_to_wake_up(cpu, woken, true);
        }
        Done::Go
    }

    fn pipe_read(&mut self, cpu: CpuIx, task: TaskIx, at: PipeIx, bytes: u32) -> Done {
        let pipe = &mut self.ipc.pipes[at];
        if pipe.is_empty() {
            pipe.readers.push_back(task);
            self.programs[task].pending = Action::PipeRead { pipe: at, bytes };
            return Done::BlockAndRetry(self.work.block_ns);
        }
        let was_full = pipe.is_full();
        let freed = pipe.read(bytes);
        let writer = if was_full && freed {
            pipe.writers.pop_front()
        } else {
            None
        };
        if let Some(writer) = writer {
            self.try_to_wake_up(cpu, writer, true);
        }
        Done::Go
    }

    fn sock_send(&mut self, cpu: CpuIx, task: TaskIx, at: SockIx, bytes: u32) -> Done {
        let sock = &mut self.ipc.socks[at];
        if !sock.has_room() {
            sock.senders.push(task);
            self.programs[task].pending = Action::SockSend { sock: at, bytes };
            return Done::BlockAndRetry(self.work.block_ns);
        }
        sock.send(bytes);
        if let Some(receiver) = sock.receivers.pop_front() {
            self.try_to_wake_up(cpu, receiver, true);
        }
        Done::Go
    }

    fn sock_recv(&mut self, cpu: CpuIx, task: TaskIx, at: SockIx) -> Done {
        let sock = &mut self.ipc.socks[at];
        if sock.queued.is_empty() {
            sock.receivers.push_back(task);
            self.programs[task].pending = Action::SockRecv { sock: at };
            return Done::BlockAndRetry(self.work.block_ns);
        }
        let woken = if sock.receive() {
            std::mem::take(&mut sock.senders)
        } else {
            Vec::new()
        };
        for sender in woken {
            self.try_to_wake_up(cpu, sender, true);
        }
        Done::Go
    }
}
