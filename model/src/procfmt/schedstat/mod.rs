//! `/proc/schedstat`, versions 14 to 17: read, subtract, sum, derive, print.

mod compare;
mod derived;
mod diff;
mod layout;
mod names;
mod parse;
mod render;
mod state;
mod sums;

pub use compare::{ComparedCounter, SumsComparison, compare_sums, compare_text};
pub use derived::{Derived, change_text, cpu_derived, domain_derived};
pub use diff::{CpuDelta, DomainDelta, SchedstatDiff, SchedstatDiffError, subtract};
pub use layout::{
    CpuField, DomainField, IdleType, LAYOUTS, Layout, LbField, TAIL, TailField, layout_of,
};
pub use names::infer_domain_names;
pub use parse::{
    CpuCounters, CpuLines, DomainCounters, Schedstat, SchedstatError, parse,
    parse_cpu_lines_of_any_version,
};
pub use render::{diff_json, diff_text, show_json, show_text};
pub use state::{SchedstatState, Validity, validity};
pub use sums::{DomainSum, MixedFields, Sums, fields_of_equal_meaning, sum_diff, sum_snapshot};
