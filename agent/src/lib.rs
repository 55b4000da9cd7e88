//! schedrig-agent: the one privileged program, on every test machine.

pub mod builtin;
pub mod collect;
pub mod discover;
pub mod kernel;
pub mod tune;
