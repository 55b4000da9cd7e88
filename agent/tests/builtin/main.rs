//! The builtin workloads through the built program: their output, their end, what they leave.

mod futex;
mod hackbench;
mod netperf;
mod phases;
mod process;
mod schbench;
mod stream;
