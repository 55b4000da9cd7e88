//! What is known of a test machine, what may be set on it, what was granted.

mod facts;
mod knob;
pub mod tune;

pub use facts::{HostFacts, ToolFact};
pub use knob::{Granted, Knob, KnobOutcome, KnobTarget};
