//! From records to tables: `schedrig compare`. No I/O: records and options in, text out.

mod circumstances;
mod columns;
mod compare;
mod differences;
mod html;
mod identity;
mod judged;
mod junit;
mod options;
mod rows;
mod samples;
#[cfg(test)]
mod tests;

pub use compare::{Compared, compare_records, render, table_of};
pub use differences::differences;
pub use judged::Judged;
pub use options::{Columns, CompareOptions, Format, ReportError, UNCALIBRATED_BAND};
