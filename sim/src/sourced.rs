//! Numbers that say where they come from. Every constant of a machine or a kernel is one.

use serde::{Deserialize, Serialize};

/// How far a number can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Printed by its author.
    Published,
    /// Measured by us or by the agent.
    Measured,
    /// Computed from published or measured numbers.
    Derived,
    /// Taken for want of better: conclusions that hang on it are to be doubted.
    Assumed,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Ns,
    /// Microseconds.
    #[serde(rename = "us")]
    Us,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Ms,
    /// 1024 bytes.
    #[serde(rename = "KiB")]
    KiB,
    /// 1024 KiB.
    #[serde(rename = "MiB")]
    MiB,
    /// 1024 MiB.
    #[serde(rename = "GiB")]
    GiB,
    /// 10^6 bytes a second.
    #[serde(rename = "MB/s")]
    MbPerS,
    /// 10^9 bytes a second.
    #[serde(rename = "GB/s")]
    GbPerS,
    /// Kilohertz.
    #[serde(rename = "kHz")]
    KHz,
    /// Megahertz.
    #[serde(rename = "MHz")]
    MHz,
    /// Interrupts a second.
    #[serde(rename = "Hz")]
    Hz,
    /// A plain number of things.
    #[serde(rename = "count")]
    Count,
    /// Parts of a thousand.
    #[serde(rename = "permille")]
    Permille,
    /// Parts of a hundred.
    #[serde(rename = "percent")]
    Percent,
    /// A distance of the firmware's table (10 is local).
    #[serde(rename = "distance")]
    Distance,
}

/// A number with its unit and source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// In `unit`; finite and not negative.
    pub value: f64,
    /// What is counted.
    pub unit: Unit,
    /// Where it was read, or what it was computed from.
    pub source: String,
    /// How far it can be trusted.
    pub kind: Kind,
}

impl Quantity {
    /// The value in the smallest unit the model counts in (ns, bytes, MB/s, kHz, 1), rounded.
    pub fn base(&self) -> u64 {
        let factor = match self.unit {
            Unit::Ns | Unit::MbPerS | Unit::KHz => 1.0,
            Unit::Us | Unit::GbPerS | Unit::MHz => 1e3,
            Unit::Ms => 1e6,
            Unit::KiB => 1024.0,
            Unit::MiB => 1024.0 * 1024.0,
            Unit::GiB => 1024.0 * 1024.0 * 1024.0,
            Unit::Hz | Unit::Count | Unit::Permille | Unit::Percent | Unit::Distance => 1.0,
        };
        // A cast from f64 saturates, so a value out of range cannot wrap.
        (self.value * factor).round() as u64
    }
}

/// A word or a switch with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// What holds.
    pub value: T,
    /// Where it was read.
    pub source: String,
    /// How far it can be trusted.
    pub kind: Kind,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(value: f64, unit: Unit) -> u64 {
        let source = "test".to_owned();
        Quantity {
            value,
            unit,
            source,
            kind: Kind::Assumed,
        }
        .base()
    }

    #[test]
    fn base_units_are_ns_bytes_mb_per_s_and_khz() {
        assert_eq!(quantity(0.75, Unit::Ms), 750_000);
        assert_eq!(quantity(9.8, Unit::Ns), 10);
        assert_eq!(quantity(32.0, Unit::MiB), 33_554_432);
        assert_eq!(quantity(460.8, Unit::GbPerS), 460_800);
        assert_eq!(quantity(2400.0, Unit::MHz), 2_400_000);
    }
}
