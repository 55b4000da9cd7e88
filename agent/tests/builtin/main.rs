//! The builtin workloads through the built program: their output, their end, what they leave.

mod hackbench;
mod netperf;
mod process;
mod schbench;
mod stream;
