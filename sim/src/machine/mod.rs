//! Machines: a description in YAML or a discovered topology becomes CPUs, caches, costs, domains.

mod calibrated;
mod calibration;
pub mod costs;
mod discovered;
pub mod domains;
mod error;
mod file;
mod resolve;
mod sensitivity;
mod shape;
mod shipped;
mod tree;

pub use calibrated::CostProfile;
pub use calibration::{
    Apart, CALIBRATION_FORMAT, Calibration, CalibrationError, Measurement, Probe, SPREAD_MAX,
};
pub use costs::{CacheSizes, Costs, IdleState};
pub use error::MachineError;
pub use file::{MachineFile, NodeDistances, Numbering, Shape};
pub use shipped::{shipped_machines, shipped_text};
pub use tree::{CPUS_MAX, CpuPlace, Distance, Machine, Node};

#[cfg(test)]
mod discovered_tests;
#[cfg(test)]
mod tests;
