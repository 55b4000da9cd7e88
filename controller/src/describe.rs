//! A machine by name: this one, a saved topology, a description, a machine of the simulator.

use camino::Utf8Path;

use schedrig_model::host::HostFacts;
use schedrig_model::plan::Machine;
use schedrig_model::topology::Topology;

use crate::error::CommandError;
use crate::local::sibling_agent;

/// What the planner knows of a machine. `None`: this one, with its tools and limits.
///
/// # Errors
/// Nothing of that name; the agent cannot read it.
pub fn machine(name: Option<&str>) -> Result<Machine, CommandError> {
    match name {
        None => {
            let facts: HostFacts = probe(&["--json"])?;
            let host = facts.hostname.clone();
            Ok(Machine::from_facts(&host, facts))
        }
        Some(name) => Ok(Machine::described(host_name(name), topology(name)?)),
    }
}

/// The topology of a file, a description, or a machine of the simulator.
///
/// # Errors
/// Nothing of that name; the agent cannot read it.
pub fn topology(name: &str) -> Result<Topology, CommandError> {
    if Utf8Path::new(name).is_file() {
        return probe(&["--xml", name, "--json"]);
    }
    if name.contains(':') {
        return probe(&["--synthetic", name, "--json"]);
    }
    Err(CommandError::usage(format!(
        "no machine `{name}`: no such file, and no description like `pack:2 core:4`"
    )))
}

fn host_name(name: &str) -> &str {
    Utf8Path::new(name).file_stem().unwrap_or("machine")
}

/// Asks the agent's program: it alone reads topologies.
fn probe<T: serde::de::DeserializeOwned>(args: &[&str]) -> Result<T, CommandError> {
    let path = sibling_agent().map_err(|e| CommandError::failed(&e))?;
    let output = std::process::Command::new(&path)
        .arg("probe")
        .args(args)
        .output()
        .map_err(|e| CommandError::failed_text(format!("failed to start `{path}`: {e}")))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let text = text
            .trim()
            .trim_start_matches("schedrig-agent: ")
            .to_owned();
        return Err(CommandError::usage(text));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| CommandError::failed(&e))
}
