//! What the agent and a launcher say to each other.
//!
//! A launcher is this program again, one per instance of a workload, single-threaded and asleep
//! while the workload runs. It holds its place (session, cgroup, CPUs) before the barrier, starts the
//! workload at the word, and ends everything the workload started when the workload ends, when it
//! is told to, or when the agent is gone: the agent's end of the control pipe closes with the agent,
//! whatever ended it.

use serde::{Deserialize, Serialize};

/// Environment variable that every process of a workload carries: which agent, run and step it
/// belongs to. It finds what survived both the agent and the launcher.
pub const MARKER: &str = "SCHEDRIG_STEP";

/// A byte on the control pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    /// Start the program.
    Go = b'g',
    /// Ask it to end (SIGTERM to its process group).
    Terminate = b't',
    /// End it and everything it started.
    Kill = b'k',
}

impl Word {
    /// The word a byte stands for.
    pub fn from_byte(byte: u8) -> Option<Self> {
        [Word::Go, Word::Terminate, Word::Kill]
            .into_iter()
            .find(|w| *w as u8 == byte)
    }
}

/// The launcher is in its place and waits for [`Word::Go`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// `/proc/self/cgroup` as it stands.
    pub cgroup: String,
    /// What could not be had; the launcher has ended.
    pub error: Option<String>,
}

/// The program ended, and nothing it started is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exited {
    /// Its status, where it returned one.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The error number of a failed exec.
    pub exec_errno: Option<i32>,
    /// From start to end, nanoseconds.
    pub elapsed_ns: u64,
    /// Of the program and all that it started, microseconds.
    pub user_us: u64,
    /// Likewise.
    pub system_us: u64,
    /// Likewise.
    pub voluntary_switches: u64,
    /// Likewise.
    pub involuntary_switches: u64,
    /// Processes that outlived the program and were ended.
    pub left_over: u32,
    /// Processes that could not be ended, by number.
    pub immortal: Vec<i32>,
    /// `/proc/PID/schedstat` of the program when it had ended and was not yet reaped.
    pub schedstat: Option<String>,
}
