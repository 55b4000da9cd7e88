//! The clock of the controller.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as RFC 3339 in UTC.
pub fn utc_now() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    schedrig_model::time::rfc3339(since.as_secs(), since.subsec_millis())
}

/// A name for a run that starts now: sortable by time, told apart from others of the same second by
/// the nanoseconds and this process's number.
pub fn new_run_id() -> schedrig_model::RunId {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let stamp = schedrig_model::time::rfc3339(since.as_secs(), 0);
    let digits: String = stamp.chars().take(19).filter(|c| *c != ':').collect();
    let salt = since.subsec_nanos() ^ std::process::id().rotate_left(16);
    schedrig_model::RunId(format!(
        "{}-{:04x}",
        digits.replace('T', "-"),
        salt & 0xffff
    ))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_runs_sort_by_time() {
        let name = super::new_run_id().0;
        assert_eq!(name.len(), "2026-12-01-051400-3f2a".len(), "{name}");
        assert!(
            name.chars().all(|c| c.is_ascii_hexdigit() || c == '-'),
            "{name}"
        );
    }
}
