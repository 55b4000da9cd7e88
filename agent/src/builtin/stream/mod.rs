//! Memory bandwidth of four kernels over arrays larger than the caches: STREAM's kernels, table and
//! validation. Sizes are options here; in the original they are compiled in.

mod args;
mod arrays;
mod barrier;
mod report;
mod run;

pub(super) use run::run;
