//! Arbitrary bytes and shipped files with a part replaced, into every parser of this crate.

#[expect(unreachable_pub, reason = "the fuzz crate uses the functions, too")]
#[path = "entry/parsers.rs"]
mod entry;

use proptest::prelude::*;
use schedrig_sim::machine::{shipped_machines, shipped_text};

use entry::ENTRIES;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_parser_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for (_, feed) in ENTRIES {
            feed(&bytes);
        }
    }

    #[test]
    fn no_machine_panics_on_numbers_that_nobody_meant(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        value in prop::sample::select(
            &["0", "-1", "65536", "4294967296", "1e300", "nan", "0.5", "''", "[]"][..],
        ),
    ) {
        let names: Vec<&str> = shipped_machines().collect();
        let name: &&str = pick.get(names.as_slice());
        let text = shipped_text(name).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let places: Vec<usize> = text.match_indices("{value: ").map(|(at, m)| at + m.len()).collect();
        let from: usize = *at.get(places.as_slice());
        let to = from + text[from..].find(',').unwrap_or(0);
        let changed = format!("{}{value}{}", &text[..from], &text[to..]);
        for (_, feed) in ENTRIES {
            feed(changed.as_bytes());
        }
    }
}
