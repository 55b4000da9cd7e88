//! Groups of senders and receivers over pipes or sockets: hackbench's flags, output and work.

mod args;
mod fdpair;
mod message;
mod processes;
mod report;
mod threads;

pub(super) use report::run;
