//! What happens when: a heap of events in one total order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::cpu::CpuIx;
use crate::table::{GroupIx, TaskIx};
use crate::time::Ns;

/// An event. `generation` makes an event void when its owner has moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An interrupt asks the CPU to look at its wake list.
    WakeList,
    /// The CPU enters the scheduler.
    Resched {
        /// Of the CPU's rescheduling.
        generation: u32,
    },
    /// The CPU is asked to balance on behalf of idle ones.
    NohzKick,
    /// The stopper of the CPU runs for an active balance.
    Stopper,
    /// A sleeping task's timer.
    TimerWake {
        /// Who sleeps.
        task: TaskIx,
        /// Of the task's sleep.
        generation: u32,
    },
    /// The bandwidth period of a group begins anew.
    PeriodTimer {
        /// Which.
        group: GroupIx,
    },
    /// Returned runtime is handed out.
    SlackTimer {
        /// Of which group.
        group: GroupIx,
    },
    /// A remote CPU lets its throttled queues go.
    UnthrottleIpi,
    /// The next tick of the CPU that matters.
    Tick {
        /// Of the CPU's tick.
        generation: u32,
    },
    /// The running task comes to the end of what it does without the scheduler.
    SegmentEnd {
        /// Of the CPU's segment.
        generation: u32,
    },
}

impl Event {
    /// Events of one instant: interrupts, then timers, then ticks, then what tasks do.
    fn class(self) -> u8 {
        match self {
            Event::WakeList | Event::NohzKick | Event::Stopper | Event::UnthrottleIpi => 0,
            Event::TimerWake { .. } | Event::PeriodTimer { .. } | Event::SlackTimer { .. } => 1,
            Event::Tick { .. } => 2,
            Event::Resched { .. } => 3,
            Event::SegmentEnd { .. } => 4,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Ns,
    /// class, CPU, sequence: packed so that one compare orders events of an instant.
    order: u64,
    cpu: CpuIx,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

const SEQUENCE_BITS: u32 = 44;

/// Events in the order (time, class, CPU, sequence).
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl EventQueue {
    /// Adds an event of `cpu` at `at`.
    #[inline]
    pub(crate) fn push(&mut self, at: Ns, cpu: CpuIx, event: Event) {
        self.sequence += 1;
        debug_assert!(self.sequence >> SEQUENCE_BITS == 0);
        let order = u64::from(event.class()) << 60
            | u64::from(cpu.0) << SEQUENCE_BITS
            | (self.sequence & ((1 << SEQUENCE_BITS) - 1));
        self.heap.push(Reverse(Entry {
            at,
            order,
            cpu,
            event,
        }));
    }

    /// Takes the next event out.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Ns, CpuIx, Event)> {
        self.heap.pop().map(|Reverse(e)| (e.at, e.cpu, e.event))
    }

    /// When the next event is.
    pub(crate) fn next_at(&self) -> Option<Ns> {
        self.heap.peek().map(|Reverse(e)| e.at)
    }

    /// How many are pending, void ones included.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instant_is_ordered_by_class_then_cpu_then_sequence() {
        let mut queue = EventQueue::default();
        let end = |generation| Event::SegmentEnd { generation };
        queue.push(10, CpuIx(1), end(1));
        queue.push(10, CpuIx(0), end(2));
        queue.push(10, CpuIx(0), end(3));
        queue.push(10, CpuIx(7), Event::WakeList);
        queue.push(9, CpuIx(9), end(4));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(
            order,
            [
                (9, CpuIx(9), end(4)),
                (10, CpuIx(7), Event::WakeList),
                (10, CpuIx(0), end(2)),
                (10, CpuIx(0), end(3)),
                (10, CpuIx(1), end(1)),
            ]
        );
    }
}
