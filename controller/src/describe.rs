//! A machine by name: this one, a saved topology, a description, a machine of the simulator.

use camino::Utf8Path;

use schedrig_model::host::HostFacts;
use schedrig_model::plan::Machine;
use schedrig_model::topology::Topology;
use schedrig_sim::machine::shipped_machines;

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
/// Nothing of that name; the file or the description is none that can be read.
pub fn topology(name: &str) -> Result<Topology, CommandError> {
    let path = Utf8Path::new(name);
    if path.is_file() {
        return match path.extension() {
            Some("yaml" | "yml") => machine_file(path),
            _ => probe(&["--xml", name, "--json"]),
        };
    }
    if let Some(shipped) = shipped(name)? {
        let machine = schedrig_sim::machine::Machine::shipped(shipped);
        return Ok(machine.map_err(|e| CommandError::failed(&e))?.topology());
    }
    if name.contains(':') {
        return probe(&["--synthetic", name, "--json"]);
    }
    Err(CommandError::usage(format!(
        "no machine `{name}`: no such file, no description like `pack:2 core:4`, and the \
         simulator has {}",
        known()
    )))
}

/// The name of the shipped machine that `name` is, or is the beginning of (`genoa`).
fn shipped(name: &str) -> Result<Option<&'static str>, CommandError> {
    if let Some(exact) = shipped_machines().find(|known| *known == name) {
        return Ok(Some(exact));
    }
    let begun: Vec<&str> = shipped_machines()
        .filter(|known| !name.is_empty() && known.starts_with(name))
        .collect();
    match begun[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(CommandError::usage(format!(
            "`{name}` begins the names of several machines: {}",
            begun.join(", ")
        ))),
    }
}

fn known() -> String {
    shipped_machines().collect::<Vec<_>>().join(", ")
}

/// The shape of a machine file of the simulator.
fn machine_file(path: &Utf8Path) -> Result<Topology, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| CommandError::usage(format!("failed to read `{path}`: {e}")))?;
    let machine = schedrig_sim::machine::Machine::parse(path.as_str(), &text)
        .map_err(|e| CommandError::usage(crate::error::chain(&e)))?;
    Ok(machine.topology())
}

fn host_name(name: &str) -> &str {
    match shipped(name) {
        Ok(Some(known)) => known,
        _ => Utf8Path::new(name).file_stem().unwrap_or("machine"),
    }
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
