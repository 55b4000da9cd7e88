//! Why a machine cannot be changed.

use std::io;

/// Why a machine cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// An earlier run left the machine changed.
    #[error(
        "the journal of run `{run}` is dirty: {entries} settings may not be as they were; `schedrig-agent restore` puts them back"
    )]
    Dirty {
        /// The run that changed the machine.
        run: String,
        /// Settings not put back.
        entries: usize,
    },
    /// The journal cannot be read.
    #[error("cannot read the journal `{path}`")]
    ReadJournal {
        /// Where it is.
        path: String,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// The journal cannot be written: nothing may be changed.
    #[error("cannot write the journal `{path}`: nothing was changed")]
    WriteJournal {
        /// Where it is.
        path: String,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// An arm's settings did not go back.
    #[error("leaving an arm: {0}")]
    LeaveArm(String),
}
