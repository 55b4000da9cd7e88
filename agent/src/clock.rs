//! The clocks of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC in nanoseconds: what deadlines and snapshots are counted in.
pub fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; a failure would be a kernel without it.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |t| {
        t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64
    })
}

/// Now, as RFC 3339 in UTC.
pub fn utc_now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    schedrig_model::time::rfc3339(since.as_secs(), since.subsec_millis())
}

/// Milliseconds since 1970: grows with every start of an agent.
pub fn epoch_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis() as u64
}
