//! What is known of a test machine, what may be set on it, what was granted.

pub mod cgroups;
mod collecting;
mod doctor;
mod facts;
mod held;
mod knob;
pub mod tune;

pub use collecting::{AroundTool, ToolControl, around_tool, knobs_of_collectors};
pub use doctor::{Diagnosis, Health, diagnose};
pub use facts::{HostFacts, ToolFact};
pub use held::{HeldReading, HeldRules, KnobReading, held_state};
pub use knob::{Granted, Knob, KnobOutcome, KnobTarget};
