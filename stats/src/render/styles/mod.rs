//! Tables in each style.

mod benchstat;
mod cells;
mod choose;
mod lkml;
mod lkp;
mod mmtests;
mod schedrig;

pub use choose::sheet;
