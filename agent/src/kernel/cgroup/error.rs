//! Why a group is not as asked.

use std::io;

use schedrig_model::host::cgroups::TreeError;
use schedrig_model::procfmt::LineError;

/// Why a group is not as asked.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// The tree is refused before anything is written.
    #[error("the cgroup tree cannot be made")]
    Tree(#[source] TreeError),
    /// CPU limits cannot be set on this machine.
    #[error("{0}")]
    Unavailable(String),
    /// An operation failed.
    #[error("cannot {what}: {reason} (errno {errno})")]
    Operation {
        /// What was tried, with the group.
        what: String,
        /// The error number.
        errno: i32,
        /// What it means here.
        reason: String,
    },
    /// A group in which no process can be.
    #[error("group `{group}` is '{kind}', not domain: a parent of it holds processes")]
    Kind {
        /// The group.
        group: String,
        /// Its `cgroup.type`.
        kind: String,
    },
    /// A process is elsewhere.
    #[error(
        "pid {pid} is in `{found}`, not in `{wanted}`: moved by another manager, or never moved"
    )]
    Member {
        /// The process.
        pid: u32,
        /// Where it should be.
        wanted: String,
        /// Where it is.
        found: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: String,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// A file holds something else.
    #[error("unexpected text in `{path}`")]
    Parse {
        /// The file.
        path: String,
        /// Why.
        #[source]
        err: LineError,
    },
}
