//! Where things are kept unless told otherwise.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::error::CommandError;
use crate::store::{SqliteStore, Store};

/// Where runs are kept.
#[derive(Clone, Debug, clap::Args)]
pub struct StoreArg {
    /// The store of runs [default: runs.sqlite in the data directory of this user]
    #[arg(long, value_name = "FILE", global = true)]
    pub store: Option<Utf8PathBuf>,
}

impl StoreArg {
    /// Opens the store.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn open(&self) -> Result<Arc<dyn Store>, CommandError> {
        let path = self
            .store
            .clone()
            .unwrap_or_else(|| data_dir().join("runs.sqlite"));
        let store = SqliteStore::open(&path).map_err(|e| CommandError::failed(&e))?;
        Ok(Arc::new(store))
    }
}

/// `$XDG_DATA_HOME/schedrig`, by default `~/.local/share/schedrig`.
pub fn data_dir() -> Utf8PathBuf {
    base_dir("XDG_DATA_HOME", ".local/share")
}

/// `$XDG_STATE_HOME/schedrig`, by default `~/.local/state/schedrig`.
pub(super) fn state_dir() -> Utf8PathBuf {
    base_dir("XDG_STATE_HOME", ".local/state")
}

fn base_dir(variable: &str, default: &str) -> Utf8PathBuf {
    let set = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|v| v.starts_with('/'))
            .map(Utf8PathBuf::from)
    };
    set(variable)
        .or_else(|| set("HOME").map(|home| home.join(default)))
        .unwrap_or_else(|| Utf8PathBuf::from("/tmp"))
        .join("schedrig")
}
