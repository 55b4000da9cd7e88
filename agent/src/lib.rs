//! schedrig-agent: the one privileged program, on every test machine.
//!
//! Turns the effects of `schedrig_model::run::AgentFsm` into system calls. `exec/`, `kernel/`,
//! `tune/` and `discover/` touch the machine, nothing else does.

pub mod builtin;
pub mod cli;
pub mod clock;
pub mod collect;
pub mod discover;
pub mod driver;
pub mod error;
pub mod exec;
pub mod host;
pub mod kernel;
pub mod link;
pub mod machine;
pub mod repetition;
pub mod spool;
pub mod tune;
