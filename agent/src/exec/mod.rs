//! Processes: started in their place, watched, ended with everything they started.

mod capture;
mod descendants;
mod launch;
mod launcher;
mod protocol;
mod resolve;

pub use capture::{CAPTURE_BYTES, Kept, keep};
pub use descendants::{descendants_of, marked_processes};
pub use launch::{LaunchError, LaunchRequest, Launched, launch};
pub use launcher::{LauncherArgs, run_launcher};
pub use protocol::{Exited, MARKER, Ready, Word};
pub use resolve::{Allotted, ResolveError, ResolvedProgram, fill_in, find_in_path, resolve};
