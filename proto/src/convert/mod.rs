//! Model values to messages and back.

mod document;
mod link;

pub use document::{ConvertError, from_document, to_document};
pub use link::{assignment_from, assignment_to, event_from, event_to};
