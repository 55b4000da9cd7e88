//! Request and response over TCP or UDP: netperf's flags and omni output for TCP_RR and UDP_RR.
//!
//! Client and server agree over a control connection of their own (see [`control`]); neither talks
//! to the programs of netperf, and a result says whose it is by the implementation in the record.

mod args;
mod client;
mod control;
mod cpu_use;
mod keys;
mod server;

pub(super) use client::run;
pub(super) use server::run as run_server;
