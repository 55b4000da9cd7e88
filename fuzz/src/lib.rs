//! The functions that the targets feed: those of the property tests, so that both hold a parser to
//! the same.

#[path = "../../model/tests/entry/parsers.rs"]
pub mod model;
#[path = "../../proto/tests/entry/parsers.rs"]
pub mod proto;
#[path = "../../sim/tests/entry/parsers.rs"]
pub mod sim;
