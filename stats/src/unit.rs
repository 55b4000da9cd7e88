//! Units of measured values, and which of them convert into one another.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a unit measures. Values convert only within one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// Seconds are the base.
    Time,
    /// Events per second are the base.
    Rate,
    /// Bytes per second are the base.
    Bandwidth,
    /// Bytes are the base.
    Size,
    /// Plain fractions are the base: 1 % is 0.01.
    Share,
    /// Plain numbers.
    Count,
    /// A score that means something only beside another score of the same benchmark.
    Score,
    /// A unit that this crate does not know: equal only to itself.
    Other,
}

/// A unit of a value, written the way the field writes it (`us`, `MB/s`, `trans/s`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unit {
    symbol: std::borrow::Cow<'static, str>,
}

/// symbol, dimension, factor to the base unit of the dimension.
const KNOWN: &[(&str, Dimension, f64)] = &[
    ("s", Dimension::Time, 1.0),
    ("ms", Dimension::Time, 1e-3),
    ("us", Dimension::Time, 1e-6),
    ("ns", Dimension::Time, 1e-9),
    ("us/op", Dimension::Time, 1e-6),
    ("us/trans", Dimension::Time, 1e-6),
    ("ns/op", Dimension::Time, 1e-9),
    ("1/s", Dimension::Rate, 1.0),
    ("ops/s", Dimension::Rate, 1.0),
    ("trans/s", Dimension::Rate, 1.0),
    ("req/s", Dimension::Rate, 1.0),
    ("loops/s", Dimension::Rate, 1.0),
    ("loops/min", Dimension::Rate, 1.0 / 60.0),
    ("jobs/min", Dimension::Rate, 1.0 / 60.0),
    ("B/s", Dimension::Bandwidth, 1.0),
    ("kB/s", Dimension::Bandwidth, 1e3),
    ("KiB/s", Dimension::Bandwidth, 1024.0),
    ("MB/s", Dimension::Bandwidth, 1e6),
    ("MiB/s", Dimension::Bandwidth, 1_048_576.0),
    ("GB/s", Dimension::Bandwidth, 1e9),
    ("GiB/s", Dimension::Bandwidth, 1_073_741_824.0),
    ("Mbit/s", Dimension::Bandwidth, 125_000.0),
    ("Gbit/s", Dimension::Bandwidth, 125e6),
    ("B", Dimension::Size, 1.0),
    ("KiB", Dimension::Size, 1024.0),
    ("MiB", Dimension::Size, 1_048_576.0),
    ("GiB", Dimension::Size, 1_073_741_824.0),
    ("%", Dimension::Share, 0.01),
    ("ratio", Dimension::Share, 1.0),
    ("count", Dimension::Count, 1.0),
    ("ops", Dimension::Count, 1.0),
    ("index", Dimension::Score, 1.0),
    ("MWIPS", Dimension::Score, 1.0),
];

/// Units of one quantity that a table may choose from, the smallest first.
const FAMILIES: &[&[&str]] = &[
    &["ns", "us", "ms", "s"],
    &["ns/op", "us/op"],
    &["B/s", "kB/s", "MB/s", "GB/s"],
    &["KiB/s", "MiB/s"],
    &["B", "KiB", "MiB", "GiB"],
];

impl Unit {
    /// The unit to print a row in whose least value other than zero is `smallest` of this unit: this
    /// one, unless the value would be below 0.01 of it (1.46 us is never 0.00 ms) or above 100000.
    pub fn for_row(&self, smallest: f64) -> Unit {
        let family = FAMILIES.iter().find(|f| f.contains(&self.symbol()));
        if !(0.01..=100_000.0).contains(&smallest.abs()) && smallest != 0.0 {
            for symbol in family.iter().flat_map(|f| f.iter().rev()) {
                let unit = Unit::new(symbol);
                if self
                    .convert(smallest.abs(), &unit)
                    .is_some_and(|v| v >= 1.0)
                {
                    return unit;
                }
            }
            // Below one of the smallest unit there is: that one.
            if let Some(least) = family
                .and_then(|f| f.first())
                .filter(|_| smallest.abs() < 1.0)
            {
                return Unit::new(least);
            }
        }
        self.clone()
    }

    /// The unit written `symbol`. A symbol that is not in the table is kept as it stands; values in
    /// it compare only with values in the very same unit.
    pub fn new(symbol: &str) -> Self {
        match KNOWN.iter().find(|(s, _, _)| *s == symbol) {
            Some((s, _, _)) => Unit {
                symbol: std::borrow::Cow::Borrowed(s),
            },
            None => Unit {
                symbol: std::borrow::Cow::Owned(symbol.to_owned()),
            },
        }
    }

    /// As it is printed.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// What the unit measures.
    pub fn dimension(&self) -> Dimension {
        self.entry().map_or(Dimension::Other, |(_, d, _)| *d)
    }

    /// `value` of this unit in `other`, or `None` where the two measure different things.
    pub fn convert(&self, value: f64, other: &Unit) -> Option<f64> {
        if self == other {
            return Some(value);
        }
        let (_, from, a) = self.entry()?;
        let (_, to, b) = other.entry()?;
        (from == to && *from != Dimension::Score).then(|| value * a / b)
    }

    fn entry(&self) -> Option<&'static (&'static str, Dimension, f64)> {
        KNOWN.iter().find(|(s, _, _)| *s == self.symbol)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.symbol)
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.symbol)
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d).map(|s| Unit::new(&s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_convert_to_milliseconds_and_not_to_bytes() {
        let us = Unit::new("us");
        let ms = us.convert(1460.0, &Unit::new("ms")).unwrap();
        assert!((ms - 1.46).abs() < 1e-12);
        assert_eq!(us.convert(1.0, &Unit::new("B")), None);
    }

    /// Case H9.
    #[test]
    fn a_row_is_printed_in_a_unit_that_shows_its_least_value() {
        let pick = |symbol: &str, v: f64| Unit::new(symbol).for_row(v).symbol().to_owned();
        assert_eq!(pick("ms", 0.001_46), "us");
        assert_eq!(pick("s", 0.262), "s");
        assert_eq!(pick("s", 0.000_001_46), "us");
        assert_eq!(pick("us", 2844.0), "us");
        assert_eq!(pick("ns", 3_000_000.0), "ms");
        assert_eq!(pick("ns", 0.001), "ns");
        assert_eq!(pick("ops/s", 0.001), "ops/s");
        assert_eq!(pick("B/s", 0.0), "B/s");
    }

    #[test]
    fn an_unknown_unit_equals_only_itself() {
        let frob = Unit::new("frob");
        assert_eq!(frob.convert(2.0, &Unit::new("frob")), Some(2.0));
        assert_eq!(frob.convert(2.0, &Unit::new("s")), None);
    }
}
