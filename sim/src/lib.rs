//! A deterministic discrete-event model of the Linux scheduler.
