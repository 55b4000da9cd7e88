//! `schedrig schedstat show|diff`: saved snapshots of any version.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Subcommand;

use schedrig_model::procfmt::schedstat::{self, Schedstat};

use crate::error::{CommandError, chain};
use crate::exit::Exit;

/// The verbs of `schedstat`.
#[derive(Debug, Subcommand)]
pub(super) enum SchedstatVerb {
    /// One snapshot, by name
    Show {
        /// A saved /proc/schedstat
        file: Utf8PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// What happened between two snapshots
    Diff {
        /// The earlier one
        before: Utf8PathBuf,
        /// The later one
        after: Utf8PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Does what the verb says.
pub(super) fn run(verb: SchedstatVerb) -> Result<Exit, CommandError> {
    match verb {
        SchedstatVerb::Show { file, json } => {
            let stat = read(&file)?;
            if json {
                println!("{:#}", schedstat::show_json(&stat));
            } else {
                print!("{}", schedstat::show_text(&stat));
            }
        }
        SchedstatVerb::Diff {
            before,
            after,
            json,
        } => {
            let diff = schedstat::subtract(&read(&before)?, &read(&after)?)
                .map_err(|e| CommandError::usage(format!("{before} and {after}: {}", chain(&e))))?;
            if json {
                println!("{:#}", schedstat::diff_json(&diff));
            } else {
                print!("{}", schedstat::diff_text(&diff));
            }
        }
    }
    Ok(Exit::Done)
}

fn read(path: &Utf8Path) -> Result<Schedstat, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| CommandError::usage(format!("failed to read `{path}`: {e}")))?;
    schedstat::parse(&text).map_err(|e| CommandError::usage(format!("{path}: {}", chain(&e))))
}
