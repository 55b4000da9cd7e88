//! From a name to the workload.

use crate::builtin::{futex_ping, hackbench, netperf, phases, schbench, stream};

/// The names `schedrig-agent builtin` takes.
pub const NAMES: &[&str] = &[
    "hackbench",
    "schbench",
    "stream",
    "netperf",
    "netserver",
    "futex",
    "phases",
];

/// Exit status for a name that is none of [`NAMES`].
const EXIT_UNKNOWN: i32 = 2;

/// Runs a builtin workload and returns its exit status. Must be called while the process has one
/// thread: hackbench forks.
pub fn main(name: &str, args: &[String]) -> i32 {
    match name {
        "hackbench" => hackbench::run(args),
        "schbench" => schbench::run(args),
        "stream" => stream::run(args),
        "netperf" => netperf::run(args),
        "futex" => futex_ping::run(args),
        "phases" => phases::run(args),
        "netserver" => netperf::run_server(args),
        _ => {
            eprintln!(
                "unknown builtin `{name}`, expected one of: {}",
                NAMES.join(", ")
            );
            EXIT_UNKNOWN
        }
    }
}

/// The first line of `--version` and of the help text: a builtin never passes for the tool.
pub(super) fn version_line(name: &str) -> String {
    format!("{name} (schedrig builtin) {}", env!("CARGO_PKG_VERSION"))
}
