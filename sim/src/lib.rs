//! A deterministic discrete-event model of the Linux scheduler.

mod check;
pub mod cpu;
mod exec;
mod ipc;
pub mod kernel;
pub mod machine;
pub mod mask;
mod mem;
mod numbers;
mod perform;
mod queue;
mod rng;
pub mod run;
pub mod sched;
pub mod sensitivity;
mod setup;
pub mod sim;
pub mod sourced;
pub mod table;
pub mod time;
pub mod trace;
pub mod workload;
pub mod workload_costs;

pub use numbers::NumberError;
