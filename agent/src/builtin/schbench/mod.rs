//! Message threads that wake workers, workers that compute: schbench's flags, output and work.
//!
//! A worker reports to its message thread and blocks; the message thread notes the time and wakes
//! it; the worker notes how long it took to run (wakeup latency), sleeps a little, multiplies
//! matrices while it holds the lock of the CPU it runs on (so that being preempted is dear), and
//! notes how long the request took.

mod args;
mod group;
mod pin;
mod report;
mod run;
mod work;

pub(super) use run::run;
