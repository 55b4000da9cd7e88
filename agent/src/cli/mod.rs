//! The command line of the agent.

mod args;
mod probe;
mod run;

pub use args::{AgentCli, AgentCommand};
pub use probe::{ProbeArgs, probe};
pub use run::{RunArgs, run};
