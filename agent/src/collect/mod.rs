//! Counters at the edges of a repetition, and whether the machine stayed as it was set.

mod around;
mod edge;
mod held;
mod threads;

#[cfg(test)]
mod tests;

pub use around::{AroundTexts, AroundTools, ToolPlace};
pub use edge::{EdgeReading, Snapshotter};
pub use held::read_held;
pub use threads::read_threads;
