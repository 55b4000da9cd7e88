//! The playbook language: text to a checked playbook, with errors that show the place.

mod amount;
mod book;
mod check;
mod cpu_max;
mod diagnostic;
mod keys;
mod lookup;
mod merge;
mod node;
mod phrases;
mod raw;
mod read;
mod read_groups;
mod read_knobs;
mod read_workloads;
mod reference;
mod schema;
mod shape;
mod source;
mod spec;
mod substitute;
mod words;
mod workload_values;

pub use amount::{Amount, Part};
pub use book::{Origin, Playbook, parse};
pub use cpu_max::{Bandwidth, Quota};
pub use diagnostic::{Diagnostic, Diagnostics, Located, Report, Severity};
pub use merge::Loader;
pub use raw::MAX_BYTES;
pub use reference::reference;
pub use schema::{completions, schema, schema_text};
pub use source::Pos;
pub use spec::{
    ArmSpec, DimensionSpec, EntrySpec, ExcludeSpec, GroupSpec, ImplWish, MatrixSpec, RepeatSpec,
    Requirement, RoleSpec, Spec,
};
pub use words::{Affinity, Place};
pub use workload_values::{Next, Range, Wanted};

pub(crate) use cpu_max::resolve as resolve_bandwidth;
pub(crate) use read_workloads::cap_exceeded;
pub(crate) use words::{parse_bound, parse_memory_bound, parse_place};
pub(crate) use workload_values::MAX_RANGE;
