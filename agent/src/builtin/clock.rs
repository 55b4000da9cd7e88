//! Time for workloads: a monotonic clock in nanoseconds and sleeps that are part of the work.

use std::time::{Duration, Instant};

/// Nanoseconds since a common start; cheap to share between threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts at zero.
    pub(super) fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Nanoseconds since the start.
    pub(super) fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Sleeps until `at_ns`; returns at once when that is past.
    pub(super) fn sleep_until(&self, at_ns: u64) {
        sleep(Duration::from_nanos(at_ns.saturating_sub(self.now_ns())));
    }
}

/// Blocks for a time: part of a workload, not a way to wait for something.
pub(super) fn sleep(time: Duration) {
    if time.is_zero() {
        return;
    }
    let mut left = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(time.subsec_nanos().cast_signed()),
    };
    loop {
        let wanted = left;
        // SAFETY: both structures live through the call.
        let result = unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const wanted, &raw mut left)
        };
        if result != libc::EINTR {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_never_shorter_than_asked() {
        let clock = Clock::start();
        clock.sleep_until(2_000_000);
        assert!(clock.now_ns() >= 2_000_000);
        clock.sleep_until(1);
        sleep(Duration::ZERO);
    }
}
