//! The whole system on one machine: the built programs, run as a user runs them.

mod programs;

pub use programs::{Programs, Scratch};
