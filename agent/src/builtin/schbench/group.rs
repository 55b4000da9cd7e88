//! A message thread and its workers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::builtin::clock::{Clock, sleep};
use crate::builtin::histogram::Recorder;
use crate::builtin::parker::Parker;

use super::work::{CpuLocks, Work};

/// "No worker" in the list of waiting ones.
const NOBODY: usize = usize::MAX;

/// What all threads of a run share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) stop: AtomicBool,
    pub(super) locks: CpuLocks,
    pub(super) locking: bool,
    pub(super) calibrate: bool,
    pub(super) sleep: Duration,
    /// Requests each message thread hands out per second; 0: a worker gets one whenever it is free.
    pub(super) rps: u64,
    pub(super) pipe_bytes: usize,
}

impl Shared {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

/// A worker as others see it.
#[derive(Debug, Default)]
pub(super) struct Worker {
    parker: Parker,
    /// The next one in the list of waiting workers.
    next: AtomicUsize,
    /// When it was posted last.
    posted_ns: AtomicU64,
    /// Requests it has not begun, where requests come at a rate.
    queued: AtomicU64,
    /// What is passed with a wake-up in pipe mode.
    mailbox: Mutex<Vec<u8>>,
    /// Finished requests.
    pub(super) requests: AtomicU64,
    pub(super) wakeup_us: Recorder,
    pub(super) request_us: Recorder,
    /// Its kernel thread; 0 until it runs.
    pub(super) tid: AtomicI32,
}

/// A message thread as others see it.
#[derive(Debug)]
pub(super) struct Group {
    parker: Parker,
    /// The worker that began to wait last.
    waiting: AtomicUsize,
    pub(super) workers: Vec<Worker>,
    /// Its kernel thread; 0 until it runs.
    pub(super) tid: AtomicI32,
}

impl Group {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            parker: Parker::default(),
            waiting: AtomicUsize::new(NOBODY),
            workers: (0..workers).map(|_| Worker::default()).collect(),
            tid: AtomicI32::new(0),
        }
    }

    /// Wakes the message thread, for instance to see that the run has stopped.
    pub(super) fn notify(&self) {
        self.parker.post();
    }

    /// The message thread's life.
    pub(super) fn message_thread(&self, shared: &Shared) {
        self.tid.store(own_tid(), Ordering::Relaxed);
        if shared.rps > 0 {
            self.hand_out(shared);
        } else {
            while !shared.stopped() {
                self.wake_waiting(shared);
                self.parker.wait();
            }
        }
        for worker in &self.workers {
            worker.parker.post();
        }
    }

    /// A worker's life.
    pub(super) fn worker_thread(&self, index: usize, work: &Work, shared: &Shared) {
        let worker = &self.workers[index];
        worker.tid.store(own_tid(), Ordering::Relaxed);
        let mut inbox = vec![0_u8; shared.pipe_bytes];
        while !shared.stopped() {
            let woken = if shared.rps > 0 {
                worker.await_queued(shared)
            } else {
                self.add_waiting(index);
                self.parker.post();
                worker.parker.wait();
                true
            };
            if shared.stopped() {
                return;
            }
            if woken {
                let posted = worker.posted_ns.load(Ordering::Acquire);
                let late = shared.clock.now_ns().saturating_sub(posted);
                worker.wakeup_us.record(late / 1000);
            }
            if shared.pipe_bytes > 0 {
                worker.take_mail(&mut inbox);
            } else {
                worker.request(work, shared);
            }
            worker.requests.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn add_waiting(&self, index: usize) {
        let mut head = self.waiting.load(Ordering::Relaxed);
        loop {
            self.workers[index].next.store(head, Ordering::Relaxed);
            match self.waiting.compare_exchange_weak(
                head,
                index,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Posts every worker that waits.
    fn wake_waiting(&self, shared: &Shared) {
        let outgoing = vec![1_u8; shared.pipe_bytes];
        let mut at = self.waiting.swap(NOBODY, Ordering::Acquire);
        while at != NOBODY {
            let worker = &self.workers[at];
            // Once posted the worker may put itself into the list again.
            at = worker.next.load(Ordering::Relaxed);
            if shared.pipe_bytes > 0 {
                worker.put_mail(&outgoing);
            }
            worker
                .posted_ns
                .store(shared.clock.now_ns(), Ordering::Release);
            worker.parker.post();
        }
    }

    /// Hands out the requests of each second at its start, to the workers in turn.
    fn hand_out(&self, shared: &Shared) {
        let mut second = shared.clock.now_ns();
        while !shared.stopped() {
            for request in 0..shared.rps {
                let worker = &self.workers[request as usize % self.workers.len()];
                if worker.queued.fetch_add(1, Ordering::AcqRel) == 0 {
                    worker
                        .posted_ns
                        .store(shared.clock.now_ns(), Ordering::Release);
                    worker.parker.post();
                }
            }
            second += 1_000_000_000;
            shared.clock.sleep_until(second);
        }
    }
}

impl Worker {
    /// Takes a queued request; whether it had to wait for one.
    fn await_queued(&self, shared: &Shared) -> bool {
        let mut waited = false;
        while self.queued.load(Ordering::Acquire) == 0 {
            self.parker.wait();
            if shared.stopped() {
                return false;
            }
            waited = true;
        }
        self.queued.fetch_sub(1, Ordering::AcqRel);
        waited
    }

    fn request(&self, work: &Work, shared: &Shared) {
        let mut started = shared.clock.now_ns();
        sleep(shared.sleep);
        if shared.calibrate {
            started = shared.clock.now_ns();
        }
        if shared.locking && !shared.calibrate {
            shared.locks.with_this_cpu(|| work.compute(shared.clock));
        } else {
            work.compute(shared.clock);
        }
        let taken = shared.clock.now_ns().saturating_sub(started);
        self.request_us.record(taken / 1000);
    }

    fn put_mail(&self, mail: &[u8]) {
        if let Ok(mut mailbox) = self.mailbox.lock() {
            mailbox.clear();
            mailbox.extend_from_slice(mail);
        }
    }

    fn take_mail(&self, inbox: &mut [u8]) {
        if let Ok(mailbox) = self.mailbox.lock()
            && mailbox.len() == inbox.len()
        {
            inbox.copy_from_slice(&mailbox);
            std::hint::black_box(inbox);
        }
    }
}

fn own_tid() -> i32 {
    nix::unistd::gettid().as_raw()
}
