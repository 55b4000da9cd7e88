//! Counts that depend on the machine: `50% cpus`, `1 per llc`, `4 x nodes`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a machine has several of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Allowed CPUs.
    Cpus,
    /// Cores with an allowed CPU.
    Cores,
    /// Clusters of cores that share an L2.
    Clusters,
    /// Last-level caches.
    Llcs,
    /// NUMA nodes that have CPUs.
    Nodes,
    /// Packages.
    Packages,
}

impl Part {
    /// Every part with its words, the plural first.
    pub const ALL: &'static [(Part, &'static [&'static str])] = &[
        (Part::Cpus, &["cpus", "cpu"]),
        (Part::Cores, &["cores", "core"]),
        (Part::Clusters, &["clusters", "cluster"]),
        (Part::Llcs, &["llcs", "llc"]),
        (Part::Nodes, &["nodes", "node"]),
        (
            Part::Packages,
            &["packages", "package", "sockets", "socket"],
        ),
    ];

    /// The part a word names, singular or plural.
    pub fn by_word(word: &str) -> Option<Part> {
        Part::ALL
            .iter()
            .find(|(_, words)| words.contains(&word))
            .map(|(part, _)| *part)
    }

    /// The plural.
    pub fn plural(self) -> &'static str {
        self.words()[0]
    }

    /// The singular.
    pub fn singular(self) -> &'static str {
        self.words()[1]
    }

    fn words(self) -> &'static [&'static str] {
        Part::ALL
            .iter()
            .find(|(part, _)| *part == self)
            .map_or(&["", ""], |(_, words)| words)
    }
}

/// A count, fixed or in parts of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// A number.
    Fixed(i64),
    /// This share of the parts, rounded down, at least 1 (0.5: `50%`).
    Share(f64, Part),
    /// This many for each part (`1 per llc`, `4 x nodes`).
    Each(u32, Part),
}

/// What an amount looks like, for messages.
pub(super) const EXPECTED: &str =
    "a whole number, or a part of the machine such as `50% cpus`, `1 per llc`, `4 x nodes`";

impl Amount {
    /// Reads an amount. Numbers are decimal, without leading zeros.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Amount, String> {
        let text = text.trim();
        if let Some(n) = plain_integer(text)? {
            return Ok(Amount::Fixed(n));
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [part] => match Part::by_word(part) {
                Some(part) => Ok(Amount::Each(1, part)),
                None => Err(EXPECTED.into()),
            },
            [share, part] if share.ends_with('%') => {
                let share = parse_percent(share)?;
                Ok(Amount::Share(share, part_of(part)?))
            }
            [n, "per" | "x", part] => match plain_integer(n)? {
                Some(n) => {
                    let n = u32::try_from(n).map_err(|_| "a factor of at least 0".to_owned())?;
                    Ok(Amount::Each(n, part_of(part)?))
                }
                None => Err(EXPECTED.into()),
            },
            [n, part] if Part::by_word(part).is_some() => match plain_integer(n)? {
                Some(n) => Ok(Amount::Fixed(n)),
                None => Err(EXPECTED.into()),
            },
            _ => Err(EXPECTED.into()),
        }
    }

    /// The number on a machine that has `count` of the part; `None` where that is unknown (0).
    pub fn resolve(self, count: impl Fn(Part) -> u64) -> Option<i64> {
        match self {
            Amount::Fixed(n) => Some(n),
            Amount::Share(share, part) => {
                let have = count(part);
                // Counts of CPUs are far below 2^52: exact in a float.
                let wanted = (have as f64 * share + 1e-9).floor();
                (have > 0).then_some(wanted.max(1.0) as i64)
            }
            Amount::Each(n, part) => {
                let have = i64::try_from(count(part)).ok()?;
                if have == 0 {
                    None
                } else {
                    i64::from(n).checked_mul(have)
                }
            }
        }
    }

    /// Whether it is the same on every machine.
    pub fn is_fixed(self) -> bool {
        matches!(self, Amount::Fixed(_))
    }

    /// The part of the machine it depends on.
    pub fn part(self) -> Option<Part> {
        match self {
            Amount::Fixed(_) => None,
            Amount::Share(_, part) | Amount::Each(_, part) => Some(part),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Fixed(n) => write!(f, "{n}"),
            Amount::Share(share, part) => write!(f, "{}% {}", share * 100.0, part.plural()),
            Amount::Each(n, part) => write!(f, "{n} per {}", part.singular()),
        }
    }
}

fn part_of(word: &str) -> Result<Part, String> {
    Part::by_word(word).ok_or_else(|| {
        let near = super::diagnostic::near_miss(
            word,
            Part::ALL
                .iter()
                .flat_map(|(_, words)| words.iter().copied()),
        );
        let hint = near.map_or(String::new(), |n| format!(" (`{n}`?)"));
        format!("one of cpus, cores, clusters, llcs, nodes, packages{hint}")
    })
}

/// A decimal integer; `None` where the text is something else.
///
/// # Errors
/// A leading zero, which other YAML readers take for octal; a number past 2^63.
pub(super) fn plain_integer(text: &str) -> Result<Option<i64>, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(None);
    }
    if digits.len() > 1 && digits.starts_with('0') {
        let plain = digits.trim_start_matches('0');
        let plain = if plain.is_empty() { "0" } else { plain };
        return Err(format!(
            "a number without leading zeros (some YAML readers take them for octal): `{plain}`; in quotes it is text"
        ));
    }
    match text.parse() {
        Ok(n) => Ok(Some(n)),
        Err(_) => Err("a number below 9223372036854775808".into()),
    }
}

/// `2%` as 0.02.
///
/// # Errors
/// What would be right.
pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    let expected = || "a share with its sign, such as `2%`".to_owned();
    let number = text.trim().strip_suffix('%').ok_or_else(expected)?.trim();
    let value: f64 = number.parse().map_err(|_| expected())?;
    if value.is_finite() && (0.0..=10_000.0).contains(&value) {
        Ok(value / 100.0)
    } else {
        Err(expected())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(cpus: u64, llcs: u64, nodes: u64) -> impl Fn(Part) -> u64 {
        move |part| match part {
            Part::Llcs => llcs,
            Part::Nodes => nodes,
            Part::Clusters => 0,
            _ => cpus,
        }
    }

    #[test]
    fn shares_round_down_to_at_least_one() {
        let half = Amount::parse("50% cpus").unwrap();
        assert_eq!(half.resolve(on(384, 48, 2)), Some(192));
        assert_eq!(half.resolve(on(3, 1, 1)), Some(1));
        assert_eq!(half.resolve(on(1, 1, 1)), Some(1));
    }

    #[test]
    fn factors_multiply() {
        assert_eq!(
            Amount::parse("1 per llc").unwrap().resolve(on(384, 48, 2)),
            Some(48)
        );
        assert_eq!(
            Amount::parse("4 x nodes").unwrap().resolve(on(384, 48, 2)),
            Some(8)
        );
        assert_eq!(
            Amount::parse("cpus").unwrap().resolve(on(384, 48, 2)),
            Some(384)
        );
    }

    #[test]
    fn a_part_the_machine_lacks_is_unknown_not_zero() {
        assert_eq!(
            Amount::parse("1 per cluster").unwrap().resolve(on(8, 1, 1)),
            None
        );
    }

    #[test]
    fn leading_zeros_and_unknown_parts_are_refused() {
        assert!(Amount::parse("0755").unwrap_err().contains("`755`"));
        assert!(Amount::parse("1 per lcc").unwrap_err().contains("`llc`"));
        assert!(Amount::parse("half").is_err());
    }
}
