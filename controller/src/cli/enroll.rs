//! `schedrig enroll HOST`: the certificates of a new agent.

use camino::Utf8PathBuf;

use super::paths::data_dir;
use crate::ca::Authority;
use crate::error::CommandError;
use crate::exit::Exit;

/// Flags of `enroll`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct EnrollArgs {
    /// The name the machine goes by
    pub host: String,
    /// Where the files are written; copy the directory to the machine
    #[arg(long, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// The data directory of `schedrig serve` [default: this user's]
    #[arg(long, value_name = "DIR")]
    pub data: Option<Utf8PathBuf>,
}

/// Makes the bundle.
pub(super) fn run(args: EnrollArgs) -> Result<Exit, CommandError> {
    let authority = Authority::open_or_make(&args.data.unwrap_or_else(data_dir))
        .map_err(|e| CommandError::failed(&e))?;
    let bundle = authority
        .issue(&args.host)
        .map_err(|e| CommandError::failed(&e))?;
    bundle
        .write(&args.out)
        .map_err(|e| CommandError::failed(&e))?;
    println!(
        "wrote {}; on the machine:\n  schedrig-agent run --controller ADDR --certs DIR --name {}",
        args.out, args.host
    );
    Ok(Exit::Done)
}
