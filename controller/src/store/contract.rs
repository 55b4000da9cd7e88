//! What a store is for the rest of the controller.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use schedrig_model::host::Granted;
use schedrig_model::record::{Backend, RecordFormat, RepetitionRecord, RunRecord, RunState};
use schedrig_model::{HostId, RunId};

/// A line of `schedrig runs list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Its name.
    pub id: RunId,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// RFC 3339, UTC; `None` where the end was not seen.
    pub finished_at: Option<String>,
    /// How it stands.
    pub state: RunState,
    /// Who produced it.
    pub backend: Backend,
    /// The playbook's title.
    pub title: String,
    /// Repetitions it has, warm-ups and invalid ones included.
    pub repetitions: u64,
}

/// What a store could not do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or directory cannot be used.
    #[error("failed to open the store `{path}`; give another file with --store")]
    Open {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store was written by a newer schedrig.
    #[error(
        "the store `{path}` has format {found}, this schedrig reads up to {known}: upgrade schedrig"
    )]
    Newer {
        /// The file.
        path: Utf8PathBuf,
        /// Its format.
        found: i64,
        /// The newest known.
        known: i64,
    },
    /// A record was written by a newer schedrig.
    #[error(
        "run {run} was written in record format {found}, this schedrig reads up to {known}: upgrade schedrig"
    )]
    NewerRecord {
        /// The run.
        run: RunId,
        /// Its format.
        found: RecordFormat,
        /// The newest known.
        known: RecordFormat,
    },
    /// No run of that name.
    #[error("no run `{0}`; `schedrig runs list` shows those there are")]
    NoSuchRun(String),
    /// A short name that fits several runs.
    #[error("`{short}` fits {count} runs; give more of the name")]
    Ambiguous {
        /// What was asked.
        short: String,
        /// How many.
        count: usize,
    },
    /// Reading or writing failed: disk full, file damaged, locked for too long.
    #[error("failed to {action} in the store")]
    Database {
        /// `write a repetition`.
        action: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Keeps records. Every call is whole or not at all, and on the disk when it returns.
pub trait Store: Send + Sync {
    /// Begins a run: its record without repetitions.
    ///
    /// # Errors
    /// There is a run of that name; writing failed.
    fn create(&self, head: &RunRecord) -> Result<(), StoreError>;

    /// Adds a repetition. One that is there already (same step and attempt) changes nothing.
    ///
    /// # Errors
    /// No such run; writing failed.
    fn append(&self, run: &RunId, repetition: &RepetitionRecord) -> Result<(), StoreError>;

    /// Adds what became of knobs.
    ///
    /// # Errors
    /// No such run; writing failed.
    fn add_granted(
        &self,
        run: &RunId,
        host: &HostId,
        granted: &[Granted],
    ) -> Result<(), StoreError>;

    /// Adds something a reader should know.
    ///
    /// # Errors
    /// No such run; writing failed.
    fn add_note(&self, run: &RunId, note: &str) -> Result<(), StoreError>;

    /// Ends a run.
    ///
    /// # Errors
    /// No such run; writing failed.
    fn finish(&self, run: &RunId, state: RunState, finished_at: &str) -> Result<(), StoreError>;

    /// A run, whole.
    ///
    /// # Errors
    /// No such run; a newer format; reading failed.
    fn load(&self, run: &RunId) -> Result<RunRecord, StoreError>;

    /// Every run, the newest first.
    ///
    /// # Errors
    /// Reading failed.
    fn list(&self) -> Result<Vec<RunSummary>, StoreError>;

    /// The run a person means: a whole name, the beginning of one, or `latest`.
    ///
    /// # Errors
    /// None or several fit; reading failed.
    fn find(&self, name: &str) -> Result<RunId, StoreError> {
        let runs = self.list()?;
        if name == "latest" {
            return runs
                .into_iter()
                .next()
                .map(|r| r.id)
                .ok_or_else(|| StoreError::NoSuchRun(name.into()));
        }
        if let Some(exact) = runs.iter().find(|r| r.id.as_str() == name) {
            return Ok(exact.id.clone());
        }
        let mut fitting = runs.into_iter().filter(|r| r.id.as_str().starts_with(name));
        match (fitting.next(), fitting.count()) {
            (Some(run), 0) => Ok(run.id),
            (None, _) => Err(StoreError::NoSuchRun(name.into())),
            (Some(_), more) => Err(StoreError::Ambiguous {
                short: name.into(),
                count: more + 1,
            }),
        }
    }
}
