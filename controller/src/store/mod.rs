//! Where records are kept.

mod contract;
mod sqlite;

pub use contract::{RunSummary, Store, StoreError};
pub use sqlite::SqliteStore;
