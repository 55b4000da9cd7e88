//! schedrig: command line, fleet, store, reports.
