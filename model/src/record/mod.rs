//! What a run leaves behind: raw data, what was asked, what was granted.

mod interpret;
mod types;

pub use interpret::interpret;
pub use types::{
    Backend, InstanceRecord, RECORD_FORMAT, RecordFormat, RepetitionRecord, RepetitionState,
    RunRecord, RunState, Snapshot, SnapshotEdge, Spread, Taint,
};
