//! schedrig's own workloads: `schedrig-agent builtin NAME [flags]`.
//!
//! They take the flags and print the grammar of the tools they stand for, so that one parser reads
//! both, and need nothing installed. Each runs in the process that was started for it: nothing else
//! of the agent is alive there.

mod affinity;
mod clock;
mod dispatch;
mod errno;
mod futex_ping;
mod hackbench;
mod histogram;
mod netperf;
mod options;
mod parker;
mod phases;
mod schbench;
mod stream;

pub use dispatch::{NAMES, main};
