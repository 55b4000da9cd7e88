//! Actions with their names resolved, and what a thread does with them.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::program::{Action, Program};

use crate::builtin::clock::Clock;
use crate::builtin::histogram::Recorder;

use super::sync::{Barrier, Lock, Signal};

/// Named things of a program.
#[derive(Debug, Default)]
pub(super) struct Names {
    locks: BTreeMap<String, Arc<Lock>>,
    signals: BTreeMap<String, Arc<Signal>>,
    barriers: BTreeMap<String, Arc<Barrier>>,
}

impl Names {
    /// Counts for each barrier the threads that have it.
    pub(super) fn of(program: &Program) -> Self {
        let mut threads: BTreeMap<String, u32> = BTreeMap::new();
        for thread in &program.threads {
            let mut own = Vec::new();
            barriers(&thread.actions, &mut own);
            own.sort_unstable();
            own.dedup();
            for name in own {
                *threads.entry(name.to_owned()).or_default() += thread.copies;
            }
        }
        Self {
            barriers: threads
                .into_iter()
                .map(|(name, threads)| (name, Arc::new(Barrier::new(threads))))
                .collect(),
            ..Self::default()
        }
    }

    /// The steps of one thread.
    pub(super) fn steps(&mut self, actions: &[Action]) -> Vec<Step> {
        actions.iter().map(|action| self.step(action)).collect()
    }

    fn step(&mut self, action: &Action) -> Step {
        match action {
            Action::RunUs(us) => Step::Run(us.saturating_mul(1000)),
            Action::SleepUs(us) => Step::Sleep(us.saturating_mul(1000)),
            Action::TimerUs(us) => Step::Timer {
                period_ns: us.saturating_mul(1000),
                periods: 0,
            },
            Action::Lock(name) => Step::Lock(self.lock(name)),
            Action::Unlock(name) => Step::Unlock(self.lock(name)),
            Action::Signal(name) => Step::Signal(self.signal(name)),
            Action::Wait(name) => Step::Wait(self.signal(name)),
            Action::Barrier(name) => {
                let barrier = self.barriers.entry(name.clone());
                Step::Barrier(Arc::clone(
                    barrier.or_insert_with(|| Arc::new(Barrier::new(1))),
                ))
            }
            Action::Yield => Step::Yield,
            Action::Repeat { times, actions } => Step::Repeat(*times, self.steps(actions)),
        }
    }

    fn lock(&mut self, name: &str) -> Arc<Lock> {
        Arc::clone(self.locks.entry(name.to_owned()).or_default())
    }

    fn signal(&mut self, name: &str) -> Arc<Signal> {
        Arc::clone(self.signals.entry(name.to_owned()).or_default())
    }
}

fn barriers<'a>(actions: &'a [Action], names: &mut Vec<&'a str>) {
    for action in actions {
        match action {
            Action::Barrier(name) => names.push(name),
            Action::Repeat { actions, .. } => barriers(actions, names),
            _ => {}
        }
    }
}

/// An action of one thread. Times in nanoseconds.
#[derive(Debug)]
pub(super) enum Step {
    Run(u64),
    Sleep(u64),
    Timer { period_ns: u64, periods: u64 },
    Lock(Arc<Lock>),
    Unlock(Arc<Lock>),
    Signal(Arc<Signal>),
    Wait(Arc<Signal>),
    Barrier(Arc<Barrier>),
    Yield,
    Repeat(u64, Vec<Step>),
}

/// What threads of one name count; others may read it while they run.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) loops: AtomicU64,
    pub(super) timer_misses: AtomicU64,
    /// From the time to wake until running, nanoseconds.
    pub(super) wakeup_ns: Recorder,
    /// Time that was left when a thread reached its timer, nanoseconds.
    pub(super) slack_ns: Recorder,
}

/// A thread of a program.
#[derive(Debug)]
pub(super) struct Actor {
    pub(super) clock: Clock,
    /// When it started.
    pub(super) start_ns: u64,
    pub(super) counts: Arc<Counts>,
}

impl Actor {
    /// Does all steps `loops` times; `None`: until the process ends.
    pub(super) fn act(&self, steps: &mut [Step], loops: Option<u64>) {
        let mut turn = 0;
        while loops.is_none_or(|loops| turn < loops) {
            self.steps(steps);
            turn += 1;
            self.counts.loops.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn steps(&self, steps: &mut [Step]) {
        for step in steps {
            self.step(step);
        }
    }

    fn step(&self, step: &mut Step) {
        match step {
            Step::Run(ns) => run_for(*ns),
            Step::Sleep(ns) => self.sleep_until(self.clock.now_ns().saturating_add(*ns)),
            Step::Timer { period_ns, periods } => {
                *periods += 1;
                self.timer(self.start_ns.saturating_add(*period_ns * *periods));
            }
            Step::Lock(lock) => lock.lock(),
            Step::Unlock(lock) => lock.unlock(),
            Step::Signal(signal) => signal.send(self.clock),
            Step::Wait(signal) => self.woken(signal.take()),
            Step::Barrier(barrier) => self.woken(barrier.wait(self.clock)),
            Step::Yield => std::thread::yield_now(),
            Step::Repeat(times, steps) => {
                for _ in 0..*times {
                    self.steps(steps);
                }
            }
        }
    }

    fn timer(&self, due_ns: u64) {
        let now = self.clock.now_ns();
        if now > due_ns {
            self.counts.timer_misses.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.counts.slack_ns.record(due_ns - now);
        self.sleep_until(due_ns);
    }

    fn sleep_until(&self, due_ns: u64) {
        self.clock.sleep_until(due_ns);
        self.woken(Some(due_ns));
    }

    /// Counts how late this thread runs; `None`: it did not sleep.
    fn woken(&self, at_ns: Option<u64>) {
        if let Some(at) = at_ns {
            let late = self.clock.now_ns().saturating_sub(at);
            self.counts.wakeup_ns.record(late);
        }
    }
}

/// Turns of the loop between two looks at the clock: about a microsecond.
const TURNS: u64 = 500;

/// Uses so much CPU time of this thread. Time in which another thread runs does not count.
fn run_for(ns: u64) {
    let end = cpu_time_ns().saturating_add(ns);
    let mut value = 1_u64;
    while cpu_time_ns() < end {
        for _ in 0..TURNS {
            value = black_box(
                value
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1),
            );
        }
    }
}

/// CPU time of this thread.
fn cpu_time_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure lives through the call; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::super::program::PhaseThread;
    use super::*;

    fn actor(clock: Clock) -> Actor {
        Actor {
            clock,
            start_ns: clock.now_ns(),
            counts: Arc::default(),
        }
    }

    fn act(actions: &[Action], loops: u64) -> Actor {
        let actor = actor(Clock::start());
        let mut steps = Names::default().steps(actions);
        actor.act(&mut steps, Some(loops));
        actor
    }

    #[test]
    fn run_uses_cpu_time() {
        let before = cpu_time_ns();
        let actor = act(&[Action::RunUs(2000)], 2);
        assert!(cpu_time_ns() - before >= 4_000_000);
        assert_eq!(actor.counts.loops.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_timer_keeps_its_period_and_counts_what_it_missed() {
        let actor = act(&[Action::TimerUs(2000)], 3);
        assert!(actor.clock.now_ns() >= actor.start_ns + 6_000_000);
        let late = act(&[Action::RunUs(5000), Action::TimerUs(1)], 1);
        assert_eq!(late.counts.timer_misses.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_barrier_waits_for_every_copy_of_every_thread_that_has_it() {
        let thread = |name: &str, copies, actions: Vec<Action>| PhaseThread {
            name: name.to_owned(),
            copies,
            nice: 0,
            loops: None,
            actions,
        };
        let meet = || Action::Barrier("b".to_owned());
        let names = Names::of(&Program {
            threads: vec![
                thread("a", 2, vec![meet(), meet()]),
                thread(
                    "b",
                    1,
                    vec![Action::Repeat {
                        times: 2,
                        actions: vec![meet()],
                    }],
                ),
                thread("c", 5, vec![Action::Yield]),
            ],
        });
        let text = format!("{:?}", names.barriers["b"]);
        assert!(text.contains("threads: 3"), "{text}");
    }
}
