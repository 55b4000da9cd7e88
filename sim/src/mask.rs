//! Sets of CPUs by index, for the inner loops: words of 64, as many as the machine needs.

use std::fmt;

use crate::cpu::CpuIx;

const WORD: usize = 64;

/// A set of CPUs by index. Masks of one machine have equal width.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuMask {
    words: Box<[u64]>,
}

impl CpuMask {
    /// An empty set able to hold `cpus` CPUs.
    pub fn empty(cpus: usize) -> Self {
        CpuMask {
            words: vec![0; cpus.div_ceil(WORD).max(1)].into(),
        }
    }

    /// CPUs 0 to `cpus` - 1.
    pub fn all(cpus: usize) -> Self {
        let mut mask = Self::empty(cpus);
        for at in 0..cpus {
            mask.insert(CpuIx::from_at(at));
        }
        mask
    }

    /// The set of these CPUs, able to hold `cpus` CPUs.
    pub fn of(cpus: usize, members: impl IntoIterator<Item = CpuIx>) -> Self {
        let mut mask = Self::empty(cpus);
        for cpu in members {
            mask.insert(cpu);
        }
        mask
    }

    /// Adds a CPU.
    #[inline]
    pub fn insert(&mut self, cpu: CpuIx) {
        self.words[cpu.at() / WORD] |= 1 << (cpu.at() % WORD);
    }

    /// Takes a CPU out.
    #[inline]
    pub fn remove(&mut self, cpu: CpuIx) {
        self.words[cpu.at() / WORD] &= !(1 << (cpu.at() % WORD));
    }

    /// Whether a CPU is in it.
    #[inline]
    pub fn contains(&self, cpu: CpuIx) -> bool {
        self.words[cpu.at() / WORD] >> (cpu.at() % WORD) & 1 == 1
    }

    /// How many CPUs are in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// The first CPU.
    pub fn first(&self) -> Option<CpuIx> {
        let at = self.words.iter().position(|&w| w != 0)?;
        Some(CpuIx::from_at(
            at * WORD + self.words[at].trailing_zeros() as usize,
        ))
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuIx> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| CpuIx::from_at(at * WORD + w.trailing_zeros() as usize))
        })
    }

    /// The CPUs in ascending order from `start` on, then those before it (`for_each_cpu_wrap`).
    pub fn iter_wrap(&self, start: CpuIx) -> impl Iterator<Item = CpuIx> + '_ {
        self.iter()
            .skip_while(move |&c| c < start)
            .chain(self.iter().take_while(move |&c| c < start))
    }

    /// Whether every CPU of it is in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&*other.words)
            .all(|(a, b)| a & !b == 0)
    }

    /// Whether the two share a CPU.
    pub fn intersects(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&*other.words)
            .any(|(a, b)| a & b != 0)
    }

    /// Adds the CPUs of `other`.
    pub fn union_with(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&*other.words) {
            *a |= b;
        }
    }

    /// Keeps the CPUs that are in `other` as well.
    pub fn intersect_with(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&*other.words) {
            *a &= b;
        }
    }

    /// Takes the CPUs of `other` out.
    pub fn subtract(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&*other.words) {
            *a &= !b;
        }
    }

    /// The words, lowest CPUs first.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl fmt::Debug for CpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|c| c.0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_walk_starts_at_the_given_cpu_and_visits_each_once() {
        let mask = CpuMask::of(130, [3, 64, 129].map(CpuIx));
        let walk = |start| {
            mask.iter_wrap(CpuIx(start))
                .map(|c| c.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(walk(64), [64, 129, 3]);
        assert_eq!(walk(0), [3, 64, 129]);
        assert_eq!(walk(129), [129, 3, 64]);
    }

    #[test]
    fn set_operations_cross_words() {
        let mut a = CpuMask::of(130, [0, 63, 64].map(CpuIx));
        let b = CpuMask::of(130, [63, 128].map(CpuIx));
        assert!(a.intersects(&b) && !b.is_subset(&a));
        a.union_with(&b);
        assert_eq!(a.len(), 4);
        a.subtract(&b);
        assert_eq!(a.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 64]);
        assert_eq!(a.first(), Some(CpuIx(0)));
        assert_eq!(CpuMask::all(130).len(), 130);
    }
}
