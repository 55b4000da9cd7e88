//! The parsers of this crate as functions of bytes: what the fuzzer (`fuzz/`) and the property tests
//! feed.

use schedrig_sim::kernel::{Patch, Profile};
use schedrig_sim::machine::{Calibration, CostProfile, Machine};
use schedrig_sim::workload_costs::WorkloadCosts;

/// What is fed.
pub type Entry = fn(&[u8]);

/// By the names of the fuzz targets.
pub const ENTRIES: &[(&str, Entry)] = &[("machine", machine), ("kernel", kernel)];

/// Files of machines, their calibrations and costs.
pub fn machine(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Machine::parse("fuzz", &text) {
        Ok(machine) => assert!(!machine.topology().online().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = Calibration::parse("fuzz", &text);
    let _ = CostProfile::parse("fuzz", &text);
    let _ = WorkloadCosts::parse(&text);
}

/// Files of kernels, and patches on them.
pub fn kernel(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Err(error) = Profile::parse("fuzz", &text) {
        assert!(!error.to_string().is_empty());
    }
    let _ = Patch::parse(&text);
}
