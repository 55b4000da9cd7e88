//! Holding a machine as a playbook asks, and putting it back whatever happens.

mod error;
mod lock;
mod put_back;
mod restore;
mod store;
mod tuner;

#[cfg(test)]
mod tests;

pub use error::TuneError;
pub use lock::{HostLock, LockError};
pub use put_back::NotRestored;
pub use restore::{RestoreReport, forget, is_dirty, restore};
pub use store::JournalStore;
pub use tuner::Tuner;
