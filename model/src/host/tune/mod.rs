//! Which files to write, in which order, to hold a machine as a playbook asks. Facts and knobs in,
//! writes out; the agent performs them.

mod cpufreq;
mod cpuidle;
mod explain;
mod facts;
mod granted;
mod journal;
mod online;
mod plan;
mod scheduler;
mod write;

pub use explain::explain_errno;
pub use facts::{Reading, TuneFacts, matches_pattern};
pub use granted::{WriteResult, granted, required_gaps};
pub use journal::{
    Journal, JournalRecord, OldValue, PutBack, decode_journal, encode_record, put_back,
};
pub use plan::{paths_wanted, phases, plan_writes};
pub use write::{KnobPlan, Planned, ReadBack, Write};
