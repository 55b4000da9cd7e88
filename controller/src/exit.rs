//! Exit codes: part of the command line's contract.

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, nothing regressed.
    Done = 0,
    /// A regression was found, where asked to judge.
    Regressed = 1,
    /// Usage, or an invalid playbook.
    Usage = 2,
    /// Cannot tell.
    CannotTell = 3,
    /// A run failed: host, tool, network.
    Failed = 4,
    /// A bug of schedrig.
    Bug = 70,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}
