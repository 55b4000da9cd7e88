//! The verbs, and where each goes.

use clap::{Parser, Subcommand};

use super::{compare, enroll, machine, playbook, run, runs, schedstat, serve, workload};
use crate::error::CommandError;
use crate::exit::Exit;

/// Measures what a change to the Linux scheduler does, on real machines and in a model of them.
#[derive(Debug, Parser)]
#[command(name = "schedrig", version, propagate_version = true)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run a playbook and print the comparison
    Run(run::RunArgs),
    /// Compare the arms of runs
    Compare(compare::CompareArgs),
    /// Look at machines
    #[command(subcommand)]
    Machine(machine::MachineVerb),
    /// Read saved /proc/schedstat snapshots
    #[command(subcommand)]
    Schedstat(schedstat::SchedstatVerb),
    /// What this machine can and cannot do, and how to mend it
    Doctor {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check, plan and list playbooks
    #[command(subcommand)]
    Playbook(playbook::PlaybookVerb),
    /// Look at stored runs
    #[command(subcommand)]
    Runs(runs::RunsVerb),
    /// Look at the workloads, or read a tool's saved output
    #[command(subcommand)]
    Workload(workload::WorkloadVerb),
    /// Run the controller's service: agents and clients connect to it
    Serve(serve::ServeArgs),
    /// Make the certificates for a new agent
    Enroll(enroll::EnrollArgs),
}

/// Does what the command line says.
///
/// # Errors
/// Whatever the verb could not do, ready for a person.
pub fn dispatch(cli: Cli) -> Result<Exit, CommandError> {
    match cli.command {
        Verb::Run(args) => run::run(args),
        Verb::Compare(args) => compare::run(args),
        Verb::Machine(verb) => machine::run(verb),
        Verb::Schedstat(verb) => schedstat::run(verb),
        Verb::Doctor { json } => machine::doctor(json),
        Verb::Playbook(verb) => playbook::run(verb),
        Verb::Runs(verb) => runs::run(verb),
        Verb::Workload(verb) => workload::run(verb),
        Verb::Serve(args) => serve::run(args),
        Verb::Enroll(args) => enroll::run(args),
    }
}
