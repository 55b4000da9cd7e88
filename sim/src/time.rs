//! The clock of the model: whole nanoseconds from the start of a simulation.

/// Nanoseconds from the start of the simulation.
pub type Ns = u64;

/// A microsecond.
pub const US: Ns = 1_000;
/// A millisecond.
pub const MS: Ns = 1_000_000;
/// A second.
pub const SEC: Ns = 1_000_000_000;

/// The times at which one CPU's tick falls: `phase`, `phase + period`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickGrid {
    /// Between two ticks.
    pub period: Ns,
    /// Of the first tick, less than `period`.
    pub phase: Ns,
}

impl TickGrid {
    /// How many ticks fell up to and including `at`.
    #[inline]
    pub fn count(self, at: Ns) -> u64 {
        if at < self.phase {
            0
        } else {
            (at - self.phase) / self.period + 1
        }
    }

    /// The first tick at or after `at`.
    #[inline]
    pub fn at_or_after(self, at: Ns) -> Ns {
        if at <= self.phase {
            self.phase
        } else {
            self.phase + (at - self.phase).div_ceil(self.period) * self.period
        }
    }

    /// The first tick after `at`.
    #[inline]
    pub fn after(self, at: Ns) -> Ns {
        self.at_or_after(at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_counted_inclusive_and_found_strictly_after() {
        let grid = TickGrid {
            period: 1000,
            phase: 300,
        };
        assert_eq!(
            [0, 299, 300, 1299, 1300].map(|t| grid.count(t)),
            [0, 0, 1, 1, 2]
        );
        assert_eq!(
            [0, 300, 301, 1300].map(|t| grid.at_or_after(t)),
            [300, 300, 1300, 1300]
        );
        assert_eq!(
            [0, 300, 1299, 1300].map(|t| grid.after(t)),
            [300, 1300, 1300, 2300]
        );
    }
}
