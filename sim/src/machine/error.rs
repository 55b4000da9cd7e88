//! Machines that cannot be made.

use super::tree::CPUS_MAX;
use crate::numbers::NumberError;

/// A machine description, topology or cost profile that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Not YAML of the right shape.
    #[error("`{file}` is not a machine description or cost profile")]
    Yaml {
        /// The file's name.
        file: String,
        /// Where and why.
        #[source]
        source: Box<serde_saphyr::Error>,
    },
    /// A profile that cannot be written as YAML.
    #[error("the cost profile of `{machine}` cannot be written")]
    Write {
        /// The machine.
        machine: String,
        /// Why.
        #[source]
        source: Box<serde_saphyr::ser::Error>,
    },
    /// A number that contradicts its name.
    #[error("`{file}` has a number that cannot be right")]
    Number {
        /// The file's name.
        file: String,
        /// Which.
        #[source]
        source: NumberError,
    },
    /// A count of 0 where at least 1 is needed.
    #[error("`{name}` of machine `{machine}` is 0: at least 1 is needed")]
    Zero {
        /// The machine.
        machine: String,
        /// Which.
        name: &'static str,
    },
    /// Cores of an LLC that do not divide into clusters.
    #[error("{cores} cores of an LLC do not divide into clusters of {cluster} on `{machine}`")]
    Clusters {
        /// The machine.
        machine: String,
        /// Cores of an LLC.
        cores: u64,
        /// Cores of a cluster.
        cluster: u64,
    },
    /// More CPUs than the model takes.
    #[error("machine `{machine}` has {cpus} CPUs: the model takes {CPUS_MAX}")]
    TooLarge {
        /// The machine.
        machine: String,
        /// How many it has.
        cpus: u64,
    },
    /// No CPU at all.
    #[error("the topology of `{machine}` has no CPU")]
    NoCpu {
        /// The machine.
        machine: String,
    },
    /// No shipped machine of that name.
    #[error("no machine `{name}`: one of {known}, or a file")]
    Unknown {
        /// As given.
        name: String,
        /// What there is.
        known: String,
    },
}
