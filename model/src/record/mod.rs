//! What a run leaves behind: raw data, what was asked, what was granted.

mod types;

pub use types::{
    Backend, InstanceRecord, RECORD_FORMAT, RecordFormat, RepetitionRecord, RepetitionState,
    RunRecord, RunState, Snapshot, SnapshotEdge, Spread, Taint,
};
