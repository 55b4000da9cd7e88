//! Sets of CPUs of any width, in the kernel's two notations: lists (`0-3,8`) and masks (`0f`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::CpuId;

/// The largest CPU number that text may name. Linux stops at 8192 CPUs (`NR_CPUS` of x86 with
/// MAXSMP); the bound keeps a typing error from asking for gigabytes.
pub const CPU_ID_MAX: u32 = 65_535;

/// A set of CPUs by kernel number.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuSet {
    /// No trailing zero word, so that equal sets are equal values.
    words: Vec<u64>,
}

/// Text that is not a CPU list or mask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuSetError {
    /// A part of a list that is neither a number nor a range.
    #[error("`{part}` in CPU list `{text}` is not a number or a range like 0-3")]
    Part {
        /// The whole text.
        text: String,
        /// The part.
        part: String,
    },
    /// A range whose end is before its start.
    #[error("range `{part}` in CPU list `{text}` runs backwards")]
    Backwards {
        /// The whole text.
        text: String,
        /// The part.
        part: String,
    },
    /// A number past [`CPU_ID_MAX`].
    #[error("CPU {cpu} in `{text}` is past the largest CPU number {CPU_ID_MAX}")]
    TooLarge {
        /// The whole text.
        text: String,
        /// The number.
        cpu: u64,
    },
    /// A mask that is not hexadecimal digits with commas.
    #[error("`{text}` is not a CPU mask: hexadecimal digits in comma-separated groups of 8")]
    Mask {
        /// The whole text.
        text: String,
    },
}

impl CpuSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The CPUs `first..=last`.
    pub fn range(first: u32, last: u32) -> Self {
        (first..=last).map(CpuId).collect()
    }

    /// Adds a CPU.
    pub fn insert(&mut self, cpu: CpuId) {
        let word = cpu.0 as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu.0 % 64);
    }

    /// Takes a CPU out.
    pub fn remove(&mut self, cpu: CpuId) {
        if let Some(word) = self.words.get_mut(cpu.0 as usize / 64) {
            *word &= !(1 << (cpu.0 % 64));
        }
        self.trim();
    }

    /// Whether a CPU is in the set.
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words
            .get(cpu.0 as usize / 64)
            .is_some_and(|w| w & (1 << (cpu.0 % 64)) != 0)
    }

    /// How many CPUs the set has.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether the set has no CPU.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU number.
    pub fn first(&self) -> Option<CpuId> {
        self.iter().next()
    }

    /// The highest CPU number.
    pub fn last(&self) -> Option<CpuId> {
        let word = self.words.len().checked_sub(1)?;
        Some(CpuId(
            word as u32 * 64 + 63 - self.words[word].leading_zeros(),
        ))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            (0..64)
                .filter(move |b| word & (1 << b) != 0)
                .map(move |b| CpuId(i as u32 * 64 + b))
        })
    }

    /// CPUs in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// CPUs in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// CPUs of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether every CPU of this set is in the other.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).is_empty()
    }

    /// Whether the sets share a CPU.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Reads the kernel's list notation, `0-3,8,10-11`; the empty text is the empty set.
    ///
    /// # Errors
    /// Text that is no list, ranges that run backwards, numbers past [`CPU_ID_MAX`].
    pub fn parse_list(text: &str) -> Result<Self, CpuSetError> {
        let text = text.trim();
        let mut set = CpuSet::new();
        if text.is_empty() {
            return Ok(set);
        }
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |t: &str| {
                let t = t.trim();
                let digits = !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
                let value = digits.then(|| t.parse::<u64>().unwrap_or(u64::MAX));
                value.ok_or_else(|| CpuSetError::Part {
                    text: text.into(),
                    part: part.into(),
                })
            };
            let (first, last) = (number(first)?, number(last)?);
            if last > u64::from(CPU_ID_MAX) {
                return Err(CpuSetError::TooLarge {
                    text: text.into(),
                    cpu: last,
                });
            }
            if last < first {
                return Err(CpuSetError::Backwards {
                    text: text.into(),
                    part: part.into(),
                });
            }
            (first..=last).for_each(|c| set.insert(CpuId(c as u32)));
        }
        Ok(set)
    }

    /// Reads the kernel's mask notation: hexadecimal, comma-separated groups of 32 bits, most
    /// significant first, of any width.
    ///
    /// # Errors
    /// Text that is not such a mask, or wider than [`CPU_ID_MAX`] bits.
    pub fn parse_mask(text: &str) -> Result<Self, CpuSetError> {
        let text = text.trim();
        let bad = || CpuSetError::Mask { text: text.into() };
        let mut set = CpuSet::new();
        let mut groups = text.split(',').rev();
        let mut base = 0_u32;
        let count = text.split(',').count();
        for (i, group) in groups.by_ref().enumerate() {
            // Only the most significant group may be short, or long where there is no comma.
            let fits = if count == 1 {
                1..=16_384
            } else if i + 1 == count {
                1..=8
            } else {
                8..=8
            };
            if !fits.contains(&group.len()) || !group.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(bad());
            }
            for (nibble, digit) in group.bytes().rev().enumerate() {
                let bits = (digit as char).to_digit(16).ok_or_else(bad)?;
                for bit in (0..4).filter(|b| bits & (1 << b) != 0) {
                    let cpu = base + nibble as u32 * 4 + bit;
                    if cpu > CPU_ID_MAX {
                        return Err(CpuSetError::TooLarge {
                            text: text.into(),
                            cpu: cpu.into(),
                        });
                    }
                    set.insert(CpuId(cpu));
                }
            }
            base += 32;
        }
        Ok(set)
    }

    /// The mask notation for a machine of `nr_cpu_ids` possible CPUs, as the kernel prints it.
    pub fn to_mask(&self, nr_cpu_ids: u32) -> String {
        let digits = nr_cpu_ids
            .max(self.last().map_or(1, |c| c.0 + 1))
            .div_ceil(4);
        let mut out = String::new();
        for digit in (0..digits).rev() {
            let value = (0..4)
                .filter(|b| self.contains(CpuId(digit * 4 + b)))
                .map(|b| 1 << b);
            out.extend(char::from_digit(value.sum(), 16));
            if digit % 8 == 0 && digit != 0 {
                out.push(',');
            }
        }
        out
    }

    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Self {
        let len = self.words.len().max(other.words.len());
        let at = |w: &Vec<u64>, i: usize| w.get(i).copied().unwrap_or(0);
        let words = (0..len)
            .map(|i| op(at(&self.words, i), at(&other.words, i)))
            .collect();
        let mut set = CpuSet { words };
        set.trim();
        set
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        let mut set = CpuSet::new();
        cpus.into_iter().for_each(|c| set.insert(c));
        set
    }
}

impl fmt::Display for CpuSet {
    /// The list notation, ranges as long as they go.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().map(|c| c.0).peekable();
        let mut first_part = true;
        while let Some(start) = cpus.next() {
            let mut end = start;
            while cpus.next_if_eq(&(end + 1)).is_some() {
                end += 1;
            }
            if !first_part {
                f.write_str(",")?;
            }
            first_part = false;
            if end == start {
                write!(f, "{start}")?
            } else {
                write!(f, "{start}-{end}")?
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;
    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        CpuSet::parse_list(text)
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        CpuSet::parse_list(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cpus_past_1024_survive_list_and_mask() {
        let set = CpuSet::parse_list("0,1030,1791").unwrap();
        assert_eq!(set.len(), 3);
        assert_eq!(CpuSet::parse_mask(&set.to_mask(1792)).unwrap(), set);
        assert_eq!(set.to_string(), "0,1030,1791");
    }

    #[test]
    fn masks_of_every_width_that_kernels_print() {
        assert_eq!(CpuSet::parse_mask("0f").unwrap(), CpuSet::range(0, 3));
        assert_eq!(
            CpuSet::parse_mask("00,000fffff").unwrap(),
            CpuSet::range(0, 19)
        );
        let wide = CpuSet::parse_mask("ff000000,00ff0000,ffffffff").unwrap();
        assert_eq!(wide.to_string(), "0-31,48-55,88-95");
        assert_eq!(CpuSet::range(0, 19).to_mask(40), "00,000fffff");
    }

    #[test]
    fn bad_lists_say_which_part() {
        for (text, want) in [
            ("0-3,x", "`x` in CPU list"),
            ("3-1", "runs backwards"),
            ("0-", "is not a number"),
            ("99999999999999999999", "past the largest CPU number"),
        ] {
            let err = CpuSet::parse_list(text).unwrap_err().to_string();
            assert!(err.contains(want), "{text}: {err}");
        }
        assert!(CpuSet::parse_mask("0x0f").is_err());
        assert!(CpuSet::parse_mask("f,ff").is_err());
    }

    proptest! {
        #[test]
        fn list_and_mask_round_trip(cpus in proptest::collection::btree_set(0_u32..2000, 0..60)) {
            let set: CpuSet = cpus.iter().copied().map(CpuId).collect();
            prop_assert_eq!(CpuSet::parse_list(&set.to_string()).unwrap(), set.clone());
            prop_assert_eq!(CpuSet::parse_mask(&set.to_mask(2000)).unwrap(), set.clone());
            prop_assert_eq!(set.iter().map(|c| c.0).collect::<Vec<_>>(), cpus.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn set_algebra_agrees_with_itself(a in proptest::collection::vec(0_u32..300, 0..40), b in proptest::collection::vec(0_u32..300, 0..40)) {
            let a: CpuSet = a.into_iter().map(CpuId).collect();
            let b: CpuSet = b.into_iter().map(CpuId).collect();
            prop_assert_eq!(a.union(&b).len(), a.len() + b.len() - a.intersection(&b).len());
            prop_assert!(a.difference(&b).is_subset(&a));
            prop_assert!(!a.difference(&b).intersects(&b));
        }
    }
}
