//! The scheduler, with the kernel's own names for its parts and functions.

mod balance;
pub mod bandwidth;
mod cfs;
mod core;
pub(crate) mod domain;
mod eevdf;
mod enqueue;
pub mod entity;
pub(crate) mod fair;
pub mod group;
mod group_stats;
mod idle;
mod load;
mod newidle;
pub(crate) mod nohz;
pub mod pelt;
mod pull;
pub mod rq;
mod select;
pub mod stat;
pub mod task;
mod tick;
pub(crate) mod tunables;
mod unthrottle;
mod wake;
