//! The whole system on one machine: tests only, ships nothing.
