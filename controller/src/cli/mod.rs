//! The command line: one file a verb.

mod args;
mod compare;
mod enroll;
mod machine;
mod paths;
mod playbook;
mod remote;
mod run;
mod runs;
mod schedstat;
mod serve;
mod source;
mod workload;

pub use args::{Cli, dispatch};
pub use paths::{StoreArg, data_dir};
