//! The command line of the agent.

mod args;
mod doctor;
mod probe;
mod restore;
mod run;

pub use args::{AgentCli, AgentCommand};
pub use doctor::doctor;
pub use probe::{ProbeArgs, probe};
pub use restore::restore;
pub use run::{RunArgs, run};
