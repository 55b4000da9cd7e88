//! What an instance of a workload counts.

use crate::time::Ns;

/// Counts of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// The start signal.
    pub started: Option<Ns>,
    /// The end of the last task that counts.
    pub finished: Option<Ns>,
    /// Operations done (messages, transactions, requests).
    pub ops: u64,
    /// Operations it is done after; 0: it ends by time.
    pub ops_total: u64,
    /// Tasks that count and have not ended.
    pub running: u32,
    /// Latencies of wake-ups.
    pub wake_ns: Vec<Ns>,
    /// Latencies of requests.
    pub request_ns: Vec<Ns>,
    /// Shortest time of each kernel of STREAM.
    pub kernel_ns: [Option<Ns>; 4],
    /// When a wake-up was asked for, by worker.
    pub posted: Vec<Ns>,
}

/// Latencies kept at most; later ones are dropped, the count goes on.
const SAMPLES_MAX: usize = 1 << 20;

impl Meter {
    pub(crate) fn push_wake(&mut self, ns: Ns) {
        if self.wake_ns.len() < SAMPLES_MAX {
            self.wake_ns.push(ns);
        }
    }

    pub(crate) fn push_request(&mut self, ns: Ns) {
        self.ops += 1;
        if self.request_ns.len() < SAMPLES_MAX {
            self.request_ns.push(ns);
        }
    }

    /// A task that counts has ended.
    pub(crate) fn task_ended(&mut self, now: Ns) {
        self.running = self.running.saturating_sub(1);
        if self.running == 0 {
            self.finished = Some(now);
        }
    }
}
