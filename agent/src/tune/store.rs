//! The journal on disk: old values are there before any new one is in the kernel.

use std::collections::HashSet;
use std::io;

use schedrig_model::host::tune::{Journal, JournalRecord, OldValue, decode_journal, encode_record};

use super::error::TuneError;
use crate::kernel::{HostFiles, ProcFs};

/// The journal of one run.
#[derive(Debug)]
pub struct JournalStore {
    path: String,
    run: String,
    begun: bool,
    kept: HashSet<String>,
}

/// The journal's path in the folder of the agent's state.
pub(super) fn journal_path(state: &str) -> String {
    format!("{}/journal", state.trim_matches('/'))
}

/// What the journal says; an absent one is empty.
pub(super) fn load(files: &impl HostFiles, state: &str) -> Result<Journal, TuneError> {
    let path = journal_path(state);
    match files.read(&path) {
        Ok(text) => Ok(decode_journal(&text)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Journal::default()),
        Err(err) => Err(TuneError::ReadJournal { path, err }),
    }
}

impl JournalStore {
    /// A journal for a run, in the folder of the agent's state (relative to the root).
    ///
    /// # Errors
    /// The journal of an earlier run is dirty or cannot be read.
    pub fn open(files: &impl HostFiles, state: &str, run: &str) -> Result<Self, TuneError> {
        let journal = load(files, state)?;
        if journal.is_dirty() {
            return Err(TuneError::Dirty {
                run: journal.run.clone().unwrap_or_else(|| "unknown".to_owned()),
                entries: journal.to_restore().len() + journal.damaged.len(),
            });
        }
        let (path, run) = (journal_path(state), run.to_owned());
        // A crash may leave a clean journal, or half a line: nothing is appended to that.
        if files.exists(&path) {
            let removed = files.remove_file(&path);
            removed.map_err(|err| TuneError::WriteJournal {
                path: path.clone(),
                err,
            })?;
        }
        Ok(JournalStore {
            path,
            run,
            begun: false,
            kept: HashSet::new(),
        })
    }

    /// Keeps old values, those of settings that this run has not changed before. On return they are
    /// on disk.
    ///
    /// # Errors
    /// They could not be written: the caller changes nothing.
    pub fn keep(&mut self, files: &impl HostFiles, values: Vec<OldValue>) -> Result<(), TuneError> {
        let new: Vec<OldValue> = values
            .into_iter()
            .filter(|v| !self.kept.contains(&v.key()))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        if !self.begun {
            let boot = ProcFs::new(files).boot_id();
            text.push_str(&encode_record(&JournalRecord::Begin {
                run: self.run.clone(),
                boot,
            }));
        }
        let keys: Vec<String> = new.iter().map(OldValue::key).collect();
        for value in new {
            text.push_str(&encode_record(&JournalRecord::Old(value)));
        }
        files
            .append_durably(&self.path, &text)
            .map_err(|err| TuneError::WriteJournal {
                path: self.path.clone(),
                err,
            })?;
        self.begun = true;
        self.kept.extend(keys);
        Ok(())
    }

    /// Forgets what it has kept: all was put back and the file is gone.
    pub(super) fn reset(&mut self) {
        self.begun = false;
        self.kept.clear();
    }
}
