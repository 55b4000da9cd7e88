//! Arbitrary bytes, and files that were valid until something happened to them, into every parser.
//! The fuzzer in `fuzz/` feeds the same functions for longer.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "this test reads kept files"
)]

#[expect(unreachable_pub, reason = "the fuzz crate uses the functions, too")]
#[path = "entry/parsers.rs"]
mod entry;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;

use entry::ENTRIES;

/// A name, its function, the files it starts from.
type Seeded = (&'static str, entry::Entry, Vec<Vec<u8>>);

/// The seeds of each entry: kept beside the fuzzer, where a person can add one.
static SEEDS: LazyLock<Vec<Seeded>> = LazyLock::new(|| {
    ENTRIES
        .iter()
        .map(|&(name, feed)| (name, feed, seeds(name)))
        .collect()
});

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/seeds")
        .join(name);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths.iter().map(|p| std::fs::read(p).unwrap()).collect()
}

/// Something that happens to a file. Places are shares of its length.
#[derive(Clone, Debug)]
enum Damage {
    Cut(f64),
    Drop(f64, usize),
    Put(f64, Vec<u8>),
    Flip(f64, u8),
    Repeat(f64, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0.0..1.0_f64;
    let words: &[&[u8]] = &[
        b"",
        b"-1",
        b"0",
        b"18446744073709551616",
        b"1e999",
        b"nan",
        b"\"",
        b"{",
        b"]",
        b"\n",
        b"\r\n",
        b"\t",
        b": ",
        b"- ",
        b"&a ",
        b"*a",
        b"${x}",
        b"\xff",
        b"\xe2\x80\xa8",
        b"\0",
    ];
    prop_oneof![
        at.clone().prop_map(Damage::Cut),
        (at.clone(), 1..40_usize).prop_map(|(a, n)| Damage::Drop(a, n)),
        (at.clone(), prop::sample::select(words)).prop_map(|(a, w)| Damage::Put(a, w.to_vec())),
        (at.clone(), any::<u8>()).prop_map(|(a, b)| Damage::Flip(a, b)),
        (at, 1..200_usize).prop_map(|(a, n)| Damage::Repeat(a, n)),
    ]
}

fn damaged(bytes: &[u8], all: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for one in all {
        let len = bytes.len();
        let at = |share: f64| ((len as f64 * share) as usize).min(len);
        match one {
            Damage::Cut(a) => bytes.truncate(at(*a)),
            Damage::Drop(a, n) => {
                bytes.drain(at(*a)..(at(*a) + n).min(len));
            }
            Damage::Put(a, word) => {
                let at = at(*a);
                bytes.splice(at..at, word.iter().copied());
            }
            Damage::Flip(a, b) => {
                if let Some(byte) = bytes.get_mut(at(*a)) {
                    *byte = *b;
                }
            }
            Damage::Repeat(a, n) => {
                let part = bytes[at(*a)..(at(*a) + n).min(len)].to_vec();
                let at = at(*a);
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_parser_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for (_, feed) in ENTRIES {
            feed(&bytes);
        }
    }

    #[test]
    fn no_parser_panics_on_a_damaged_file(
        pick in any::<prop::sample::Index>(),
        all in prop::collection::vec(damage(), 1..5),
    ) {
        for (_, feed, seeds) in SEEDS.iter() {
            let seed: &Vec<u8> = pick.get(seeds.as_slice());
            feed(&damaged(seed, &all));
        }
    }
}

#[test]
fn every_seed_is_read() {
    for (_, feed, seeds) in SEEDS.iter() {
        seeds.iter().for_each(|seed| feed(seed));
    }
}

/// A parser without a fuzz target is one that nobody fuzzes.
#[test]
fn every_entry_is_a_fuzz_target() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    for (name, _) in ENTRIES {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
