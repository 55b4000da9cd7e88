//! Machines that come with the project.

use super::calibrated::CostProfile;
use super::error::MachineError;
use super::file::MachineFile;
use super::tree::Machine;

/// Name and text of every shipped machine.
const FILES: &[(&str, &str)] = &[
    ("genoa-2s", include_str!("../../machines/genoa-2s.yaml")),
    ("emr-2s", include_str!("../../machines/emr-2s.yaml")),
    (
        "hygon-7447v",
        include_str!("../../machines/hygon-7447v.yaml"),
    ),
    (
        "jacobsville",
        include_str!("../../machines/jacobsville.yaml"),
    ),
    ("milan-2s", include_str!("../../machines/milan-2s.yaml")),
    ("icelake-2s", include_str!("../../machines/icelake-2s.yaml")),
    ("spr-2s", include_str!("../../machines/spr-2s.yaml")),
    (
        "ivybridge-ep",
        include_str!("../../machines/ivybridge-ep.yaml"),
    ),
    (
        "westmere-ex-8s",
        include_str!("../../machines/westmere-ex-8s.yaml"),
    ),
    (
        "kunpeng-920",
        include_str!("../../machines/kunpeng-920.yaml"),
    ),
    ("vm-2", include_str!("../../machines/vm-2.yaml")),
];

/// Names of the shipped machines.
pub fn shipped_machines() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The text of a shipped machine's file.
pub fn shipped_text(name: &str) -> Result<&'static str, MachineError> {
    (FILES.iter().find(|(known, _)| *known == name))
        .map(|(_, text)| *text)
        .ok_or_else(|| MachineError::Unknown {
            name: name.to_owned(),
            known: shipped_machines().collect::<Vec<_>>().join(", "),
        })
}

impl Machine {
    /// A machine from the text of its file. `file` is its name, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        MachineFile::parse(file, text)?.machine()
    }

    /// A shipped machine.
    pub fn shipped(name: &str) -> Result<Self, MachineError> {
        Machine::parse(name, shipped_text(name)?)
    }
}

impl CostProfile {
    /// The costs of a shipped machine, for one that was discovered but never calibrated.
    pub fn shipped(name: &str) -> Result<Self, MachineError> {
        let file = MachineFile::parse(name, shipped_text(name)?)?;
        Ok(CostProfile {
            note: format!("costs of machine `{name}`, borrowed: this machine is not calibrated"),
            machine: file.name,
            costs: file.costs,
        })
    }
}
