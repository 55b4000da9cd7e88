//! schedrig-agent: dispatch and exit codes.

use std::process::ExitCode;

use clap::Parser;

use schedrig_agent::cli::{AgentCli, AgentCommand, doctor, probe, restore, run};
use schedrig_agent::{builtin, error, exec};

fn main() -> ExitCode {
    match AgentCli::parse().command {
        // These two fork: they run before anything makes a thread.
        AgentCommand::Builtin { name, args } => std::process::exit(builtin::main(&name, &args)),
        AgentCommand::Launch(args) => ExitCode::from(exec::run_launcher(&args)),
        AgentCommand::Probe(args) => finish(probe(&args)),
        AgentCommand::Restore { state } => finish(restore(&state)),
        AgentCommand::Doctor => finish(doctor()),
        AgentCommand::Run(args) => {
            let filter = tracing_subscriber::EnvFilter::try_from_env("SCHEDRIG_LOG")
                .unwrap_or_else(|_| "warn".into());
            tracing_subscriber::fmt()
                .with_env_filter(filter)
                .with_writer(std::io::stderr)
                .init();
            finish(in_runtime(run(args)))
        }
    }
}

/// One thread: beside a measurement the agent sleeps, and more threads would only be woken for it.
fn in_runtime<F: Future>(work: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let output = runtime.block_on(work);
            // The read of standard input may never return; nothing else is left.
            runtime.shutdown_background();
            output
        }
        Err(error) => {
            eprintln!("schedrig-agent: failed to start: {error}");
            std::process::exit(4);
        }
    }
}

fn finish<E: std::error::Error>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("schedrig-agent: {}", error::chain(&e));
            ExitCode::from(4)
        }
    }
}
