//! Threads that run, sleep, lock, signal and wait for one another, as a program describes them.

mod args;
mod program;
mod run;
mod step;
mod sync;

pub(super) use run::run;
