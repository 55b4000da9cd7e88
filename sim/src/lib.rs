//! A deterministic discrete-event model of the Linux scheduler.

pub mod cpu;
pub mod kernel;
pub mod machine;
pub mod mask;
mod numbers;
pub mod sensitivity;
pub mod sourced;
pub mod trace;

pub use numbers::NumberError;
