//! Arbitrary bytes as messages and as documents.

#[expect(unreachable_pub, reason = "the fuzz crate uses the functions, too")]
#[path = "entry/parsers.rs"]
mod entry;

use proptest::prelude::*;

proptest! {
    #[test]
    fn no_message_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        entry::wire(&bytes);
    }
}
