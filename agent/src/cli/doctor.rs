//! `schedrig-agent doctor`: what this machine can and cannot do, and how to mend it.

use schedrig_model::host::diagnose;

use crate::machine::{self, MachineError};

/// Prints the diagnosis.
///
/// # Errors
/// This machine cannot be read.
pub fn doctor() -> Result<(), MachineError> {
    let facts = machine::facts(&std::env::var("PATH").unwrap_or_default())?;
    for line in diagnose(&facts) {
        println!("{line}");
    }
    Ok(())
}
