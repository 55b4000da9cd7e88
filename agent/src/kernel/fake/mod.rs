//! A machine in memory: files that behave as the kernel's do where this program depends on it.

pub(crate) mod cgroup;
pub(crate) mod cpu;
mod tree;

pub(crate) use tree::{CGROUP, FakeMachine, State};
