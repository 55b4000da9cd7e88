//! What an agent starts for a workload, and what the machine must allow for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::workload::Implementation;

/// What is executed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// A program found in `PATH`, or an absolute path.
    Tool(String),
    /// `schedrig-agent builtin NAME`: the same flags as the tool it stands for.
    Builtin(String),
}

/// A command line: no shell is involved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// What is executed.
    pub program: Program,
    /// Arguments after the program's name. `{port}`, `{server}` and `{dir}` stand for what the agent
    /// allots: a free port, the server's address, a directory that is removed afterwards.
    pub args: Vec<String>,
    /// Environment beyond the clean one (`LC_ALL=C`, `TZ=UTC`, `PATH`, `HOME`).
    pub env: BTreeMap<String, String>,
    /// Files that belong to the result, relative to `{dir}`.
    pub result_files: Vec<String>,
    /// A server that has to listen before the command starts.
    pub server: Option<ServerCommand>,
}

impl Command {
    /// A command that runs alone: `program` is the tool's name, or the builtin that stands for it.
    pub(super) fn of(program: &str, implementation: Implementation, args: Vec<String>) -> Self {
        Command {
            program: Program::of(program, implementation),
            args,
            env: BTreeMap::new(),
            result_files: Vec::new(),
            server: None,
        }
    }
}

impl Program {
    pub(super) fn of(name: &str, implementation: Implementation) -> Self {
        match implementation {
            Implementation::Tool => Program::Tool(name.to_owned()),
            Implementation::Builtin => Program::Builtin(name.to_owned()),
        }
    }
}

/// A server a command talks to; started before it, ended after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerCommand {
    /// What is executed.
    pub program: Program,
    /// Its arguments; `{port}` as in [`Command::args`].
    pub args: Vec<String>,
    /// A fixed port where the tool has no option for one; `None`: the agent picks a free one.
    pub fixed_port: Option<u16>,
}

/// What a machine allows, read by the agent before a run. `None`: unknown or unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Soft limit of open files.
    pub nofile_soft: Option<u64>,
    /// Hard limit of open files: the agent may raise the soft limit up to it.
    pub nofile_hard: Option<u64>,
    /// `kernel.pid_max`.
    pub pid_max: Option<u64>,
    /// `kernel.threads-max`.
    pub threads_max: Option<u64>,
    /// `RLIMIT_NPROC`, soft.
    pub nproc_soft: Option<u64>,
    /// The least `pids.max` of the cgroups above.
    pub pids_max: Option<u64>,
    /// Tasks that exist now.
    pub tasks_now: Option<u64>,
    /// Free memory in bytes (`MemAvailable`).
    pub memory_available_bytes: Option<u64>,
    /// Free space where results are kept, in bytes.
    pub disk_free_bytes: Option<u64>,
    /// Size of the port range for outgoing connections.
    pub ephemeral_ports: Option<u64>,
}

/// Something found before a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreflightFinding {
    /// The run cannot work: what is needed, what the machine allows, which limit.
    Refuse(String),
    /// The agent raises the soft limit of open files to this; the record says so.
    RaiseNofile(u64),
    /// The run works, its result should be read with this in mind.
    Warn(String),
}
