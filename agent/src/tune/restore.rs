//! Putting a machine back by its journal: at the end of a run, on an error, on start after a crash, or
//! by hand.

use schedrig_model::host::tune::{JournalRecord, encode_record};

use super::error::TuneError;
use super::put_back::{NotRestored, put_all_back};
use super::store::{journal_path, load};
use crate::kernel::{HostFiles, ProcFs};

/// What putting back gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// The run whose changes were undone; `None`: there was nothing to do.
    pub run: Option<String>,
    /// Settings looked at.
    pub settings: usize,
    /// Of those, how many had to be written.
    pub written: usize,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// What could not be put back: the journal stays dirty and blocks the next run.
    pub failed: Vec<NotRestored>,
}

impl RestoreReport {
    /// Whether the machine is as it was.
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty()
    }
}

/// Whether an earlier run left the machine changed.
///
/// # Errors
/// The journal cannot be read.
pub fn is_dirty(files: &impl HostFiles, state: &str) -> Result<bool, TuneError> {
    Ok(load(files, state)?.is_dirty())
}

/// Puts back what the journal in `state` (relative to the root) says. Doing it again, after a crash in
/// the middle, does no harm.
///
/// # Errors
/// The journal cannot be read, or not be closed after all was put back.
pub fn restore(files: &impl HostFiles, state: &str) -> Result<RestoreReport, TuneError> {
    let journal = load(files, state)?;
    if !journal.is_dirty() {
        return Ok(RestoreReport::default());
    }
    let same_boot = match (&journal.boot, ProcFs::new(files).boot_id()) {
        (Some(then), Some(now)) => *then == now,
        _ => true,
    };
    let order = journal.to_restore();
    let passes = put_all_back(files, &order, same_boot);
    let mut report = RestoreReport {
        run: journal.run.clone(),
        settings: order.len(),
        written: passes.written,
        notes: passes.notes,
        failed: passes.failed,
    };
    for line in &journal.damaged {
        report.failed.push(NotRestored {
            path: journal_path(state),
            old: None,
            reason: format!("line {line} of the journal is damaged: a setting may be unknown"),
        });
    }
    if report.is_clean() {
        close(files, state)?;
    }
    Ok(report)
}

/// Forgets a journal without putting anything back: for an operator who has looked.
///
/// # Errors
/// The journal cannot be removed.
pub fn forget(files: &impl HostFiles, state: &str) -> Result<(), TuneError> {
    close(files, state)
}

fn close(files: &impl HostFiles, state: &str) -> Result<(), TuneError> {
    let path = journal_path(state);
    // On a line of its own, also behind a torn one. The mark first: a crash before the file is gone
    // leaves a clean journal.
    let mark = format!("\n{}", encode_record(&JournalRecord::Clean));
    let closed = files
        .append_durably(&path, &mark)
        .and_then(|()| files.remove_file(&path));
    closed.map_err(|err| TuneError::WriteJournal { path, err })
}
