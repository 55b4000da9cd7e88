//! `schedrig-agent probe`: what this machine is, or what a saved topology holds.

use camino::Utf8PathBuf;

use schedrig_model::topology::{Topology, draw};

use crate::discover::hwloc::{self, HwlocError};
use crate::machine::{self, MachineError};

/// Flags of `probe`.
#[derive(Clone, Debug, clap::Args)]
pub struct ProbeArgs {
    /// An hwloc XML file, instead of this machine
    #[arg(long, value_name = "FILE", conflicts_with = "synthetic")]
    pub xml: Option<Utf8PathBuf>,
    /// A description such as `pack:2 l3:4 core:4 pu:2`, instead of this machine
    #[arg(long, value_name = "TEXT")]
    pub synthetic: Option<String>,
    /// Print as JSON: host facts of this machine, the topology of a saved one
    #[arg(long)]
    pub json: bool,
}

/// What cannot be probed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A file that cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// No topology.
    #[error("failed to load `{what}`")]
    Load {
        /// The file or description.
        what: String,
        /// Why.
        #[source]
        source: HwlocError,
    },
    /// This machine cannot be read.
    #[error("failed to probe this machine")]
    Machine(#[source] MachineError),
    /// Serialisation failed: a defect.
    #[error("failed to write JSON")]
    Json(#[source] serde_json::Error),
}

/// Prints what was found.
///
/// # Errors
/// See [`ProbeError`].
pub fn probe(args: &ProbeArgs) -> Result<(), ProbeError> {
    let topology = match (&args.xml, &args.synthetic) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path).map_err(|source| ProbeError::Read {
                path: path.clone(),
                source,
            })?;
            hwloc::from_xml(&text).map_err(|source| ProbeError::Load {
                what: path.to_string(),
                source,
            })?
        }
        (None, Some(text)) => hwloc::from_synthetic(text).map_err(|source| ProbeError::Load {
            what: text.clone(),
            source,
        })?,
        (None, None) => return probe_this(args.json),
    };
    if args.json {
        print_json(&topology)
    } else {
        print_drawn(&topology)
    }
}

fn probe_this(json: bool) -> Result<(), ProbeError> {
    let search_path = std::env::var("PATH").unwrap_or_default();
    let facts = machine::facts(&search_path).map_err(ProbeError::Machine)?;
    if json {
        print_json(&facts)
    } else {
        print_drawn(&facts.topology)
    }
}

fn print_drawn(topology: &Topology) -> Result<(), ProbeError> {
    print!("{}", draw(topology));
    Ok(())
}

fn print_json<T: serde::Serialize>(value: &T) -> Result<(), ProbeError> {
    println!(
        "{}",
        serde_json::to_string(value).map_err(ProbeError::Json)?
    );
    Ok(())
}
