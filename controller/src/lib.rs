//! schedrig, the operator's side: command line, fleet, store, reports.

pub mod ca;
pub mod cli;
pub mod clock;
pub mod control;
pub mod describe;
pub mod drive;
pub mod error;
pub mod exit;
pub mod fleet;
pub mod local;
pub mod progress;
pub mod report;
pub mod session;
pub mod simulator;
pub mod store;
