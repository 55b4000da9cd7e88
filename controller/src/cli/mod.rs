//! The command line: one file a verb.

mod args;
mod enroll;
mod paths;
mod playbook;
mod remote;
mod run;
mod runs;
mod serve;
mod source;
mod workload;

pub use args::{Cli, dispatch};
pub use paths::{StoreArg, data_dir};
