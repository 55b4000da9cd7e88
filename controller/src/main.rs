//! schedrig: dispatch and exit codes.

use std::process::ExitCode;

use clap::Parser;

use schedrig_controller::cli::{Cli, dispatch};

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("SCHEDRIG_LOG")
        .unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    match dispatch(Cli::parse()) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("schedrig: {}", error.text.trim_end());
            error.exit.into()
        }
    }
}
