//! What this machine is: its shape, its circumstances, its limits.

pub mod hwloc;
