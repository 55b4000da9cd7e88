//! Writing old values, in several passes: a driver may refuse one value until another is back.

use std::io;

use schedrig_model::host::tune::{OldValue, PutBack, put_back};

use crate::kernel::HostFiles;

/// Passes over what is left. Limits that cross, preferences that a governor refuses and files of a CPU
/// that comes back need two; more is for chains nobody has met.
const PASSES: usize = 4;

/// A setting that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRestored {
    /// The file.
    pub path: String,
    /// What it was; `None`: unset.
    pub old: Option<String>,
    /// Why it is not that.
    pub reason: String,
}

/// What putting back gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes {
    /// Writes that were needed and held.
    pub(super) written: usize,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
    /// What is left.
    pub(super) failed: Vec<NotRestored>,
}

/// Puts values back in the order given.
pub(super) fn put_all_back(files: &impl HostFiles, values: &[OldValue], same_boot: bool) -> Passes {
    let mut result = Passes::default();
    let mut left: Vec<&OldValue> = values.iter().collect();
    // A value that was put back early may move again when another is written: every pass looks at all.
    for pass in 0..PASSES {
        let mut failed = Vec::new();
        let mut written = 0;
        let mut notes = Vec::new();
        let all: Vec<&OldValue> = if pass == 0 {
            left.clone()
        } else {
            values.iter().collect()
        };
        for value in all {
            match one(files, value, same_boot) {
                Ok(Step::AsBefore) => {}
                Ok(Step::Written) => written += 1,
                Ok(Step::Left(note)) => notes.push(note),
                Err(reason) => failed.push((value, reason)),
            }
        }
        result.written += written;
        result.notes = notes;
        let settled = written == 0;
        left = failed.iter().map(|(value, _)| *value).collect();
        result.failed = failed
            .into_iter()
            .map(|(value, reason)| not_restored(value, reason))
            .collect();
        if settled {
            break;
        }
    }
    result
}

enum Step {
    AsBefore,
    Written,
    Left(String),
}

fn one(files: &impl HostFiles, value: &OldValue, same_boot: bool) -> Result<Step, String> {
    let text = match files.read(&value.path) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound && !same_boot => {
            return Ok(Step::Left(format!(
                "{} is gone since the reboot",
                value.path
            )));
        }
        Err(err) => return Err(format!("cannot be read: {err}")),
    };
    match put_back(value, &text, same_boot) {
        PutBack::Done => Ok(Step::AsBefore),
        PutBack::Left(note) => Ok(Step::Left(note)),
        PutBack::Write(old) => {
            files
                .write(&value.path, &old)
                .map_err(|err| format!("cannot be written: {err}"))?;
            let text = files
                .read(&value.path)
                .map_err(|err| format!("cannot be read: {err}"))?;
            match put_back(value, &text, true) {
                PutBack::Done => Ok(Step::Written),
                _ => Err(format!("reads {} after it was written back", text.trim())),
            }
        }
    }
}

fn not_restored(value: &OldValue, reason: String) -> NotRestored {
    NotRestored {
        path: value.path.clone(),
        old: value.old.clone(),
        reason,
    }
}
