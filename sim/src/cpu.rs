//! A CPU's place in the tables of the model.

use std::fmt;

/// The place of a CPU in the model's tables: dense, from 0. The kernel's own number is
/// [`crate::machine::Machine::os_cpu`], which may have gaps where CPUs are offline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuIx(pub u16);

impl CpuIx {
    /// As an index into an array.
    #[inline]
    pub fn at(self) -> usize {
        usize::from(self.0)
    }

    /// From an index into an array. The model has at most [`crate::machine::CPUS_MAX`] CPUs.
    #[inline]
    pub fn from_at(at: usize) -> Self {
        debug_assert!(at <= usize::from(u16::MAX), "CPU index {at} is past u16");
        CpuIx(at as u16)
    }
}

impl fmt::Display for CpuIx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
