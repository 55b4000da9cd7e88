//! schedrig: command line, fleet, store, reports.

pub mod report;
