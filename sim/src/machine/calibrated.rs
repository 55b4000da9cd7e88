//! Costs apart from a shape: what `machine calibrate` measures on a real machine, or what is
//! borrowed for one that was only discovered.

use serde::{Deserialize, Serialize};

use super::costs::Costs;
use super::error::MachineError;
use super::resolve::Resolver;
use crate::sourced::Quantity;

/// Costs with where they come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostProfile {
    /// The machine they were measured on, or borrowed from.
    pub machine: String,
    /// How they came about, in words for the reader.
    pub note: String,
    /// The costs.
    pub costs: Costs<Quantity>,
}

impl CostProfile {
    /// Reads a cost profile. `file` is its name, for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        let profile: Self = serde_saphyr::from_str(text).map_err(|e| MachineError::Yaml {
            file: file.to_owned(),
            source: Box::new(e),
        })?;
        let mut numbers = Resolver::new();
        profile.costs.map(&mut |path, q| numbers.take(path, q));
        numbers.finish(file)?;
        Ok(profile)
    }

    /// The profile as YAML text, to be read back by [`CostProfile::parse`].
    pub fn to_yaml(&self) -> Result<String, MachineError> {
        serde_saphyr::to_string(self).map_err(|e| MachineError::Write {
            machine: self.machine.clone(),
            source: Box::new(e),
        })
    }
}
