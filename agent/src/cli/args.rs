//! What the agent's command line takes.

use clap::{Parser, Subcommand};

use super::probe::ProbeArgs;
use super::run::RunArgs;
use crate::exec::LauncherArgs;

/// Runs on a test machine, does what a schedrig controller plans, and puts the machine back.
#[derive(Debug, Parser)]
#[command(name = "schedrig-agent", version, propagate_version = true)]
pub struct AgentCli {
    /// What to do
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Connect to a controller and do its steps
    Run(RunArgs),
    /// Say what this machine is, or what a saved topology holds
    Probe(ProbeArgs),
    /// Put back what an earlier run left changed
    Restore {
        /// Where the journal is kept
        #[arg(long, value_name = "DIR", default_value = "/var/lib/schedrig")]
        state: camino::Utf8PathBuf,
    },
    /// What this machine can and cannot do, and how to mend it
    Doctor,
    /// Hold a place for a program and end what it leaves behind (used by `run`)
    #[command(hide = true)]
    Launch(LauncherArgs),
    /// One of the builtin workloads: `builtin hackbench -g 1`
    #[command(disable_help_flag = true)]
    Builtin {
        /// Its name
        name: String,
        /// Its own flags
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}
