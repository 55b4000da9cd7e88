//! The messages of the wire as a function of bytes: what the fuzzer (`fuzz/`) and the property tests
//! feed.

use prost::Message as _;
use schedrig_proto::convert::{assignment_from, event_from};
use schedrig_proto::v1;

/// A message that a stranger sends, with the documents it carries.
pub fn wire(data: &[u8]) {
    if let Ok(message) = v1::Event::decode(data)
        && let Err(error) = event_from(&message)
    {
        assert!(!error.to_string().is_empty());
    }
    if let Ok(message) = v1::Assign::decode(data)
        && let Err(error) = assignment_from(&message)
    {
        assert!(!error.to_string().is_empty());
    }
    // The bytes as the document itself: deeper than a random message gets.
    let document = v1::Document {
        kind: "step".to_owned(),
        major: 1,
        minor: 0,
        json: data.to_vec().into(),
    };
    let message = v1::Assign {
        step: Some(document),
        ..v1::Assign::default()
    };
    let _ = assignment_from(&message);
}
