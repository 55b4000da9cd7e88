//! Latency histograms: exact for small values, then 256 buckets for each doubling, so that a
//! percentile is off by at most 1/512 of its value. schbench's buckets have the same widths.

use std::sync::atomic::{AtomicU64, Ordering};

/// Buckets for each doubling.
const PER_DOUBLING: u64 = 256;
/// Values below this have a bucket of their own.
const EXACT: u64 = 2 * PER_DOUBLING;
/// Doublings above [`EXACT`]: values up to 2^40 have buckets, greater ones share the last.
const DOUBLINGS: u64 = 31;
/// All buckets.
const BUCKETS: usize = (EXACT + DOUBLINGS * PER_DOUBLING) as usize;

fn bucket_of(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let doubling = u64::from(value.ilog2() - EXACT.ilog2());
    let within = (value >> (doubling + 1)) - PER_DOUBLING;
    ((EXACT + doubling * PER_DOUBLING + within) as usize).min(BUCKETS - 1)
}

/// The middle of a bucket.
fn value_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < EXACT {
        return bucket;
    }
    let doubling = (bucket - EXACT) / PER_DOUBLING;
    let within = (bucket - EXACT) % PER_DOUBLING;
    let width = 1 << (doubling + 1);
    (within + PER_DOUBLING) * width + width / 2
}

/// Records from one or more threads without locks; others may read it at any time.
#[derive(Debug)]
pub(super) struct Recorder {
    counts: Box<[AtomicU64]>,
    min: AtomicU64,
    max: AtomicU64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            min: AtomicU64::new(u64::MAX),
            max: AtomicU64::new(0),
        }
    }
}

impl Recorder {
    /// Counts a value.
    pub(super) fn record(&self, value: u64) {
        self.counts[bucket_of(value)].fetch_add(1, Ordering::Relaxed);
        if value < self.min.load(Ordering::Relaxed) {
            self.min.fetch_min(value, Ordering::Relaxed);
        }
        if value > self.max.load(Ordering::Relaxed) {
            self.max.fetch_max(value, Ordering::Relaxed);
        }
    }

    /// Forgets everything. A value recorded meanwhile may survive or not.
    pub(super) fn reset(&self) {
        for count in &self.counts {
            count.store(0, Ordering::Relaxed);
        }
        self.min.store(u64::MAX, Ordering::Relaxed);
        self.max.store(0, Ordering::Relaxed);
    }

    /// Adds what was recorded to a histogram.
    pub(super) fn add_to(&self, histogram: &mut Histogram) {
        for (sum, count) in histogram.counts.iter_mut().zip(&self.counts) {
            *sum += count.load(Ordering::Relaxed);
        }
        histogram.min = histogram.min.min(self.min.load(Ordering::Relaxed));
        histogram.max = histogram.max.max(self.max.load(Ordering::Relaxed));
    }
}

/// Counts by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            min: u64::MAX,
            max: 0,
        }
    }
}

/// A row of a percentile table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Percentile {
    /// 99.9 for the 99.9th.
    pub(super) percent: f64,
    /// The value that so many percent of the samples do not exceed, as precise as the buckets.
    pub(super) value: u64,
    /// Samples above the row before, up to this one.
    pub(super) samples: u64,
}

impl Histogram {
    /// Counts a value.
    pub(super) fn record(&mut self, value: u64) {
        self.counts[bucket_of(value)] += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// How many values there are.
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The least value; `None` when there is none.
    pub(super) fn min(&self) -> Option<u64> {
        (self.min <= self.max).then_some(self.min)
    }

    /// The greatest value.
    pub(super) fn max(&self) -> Option<u64> {
        (self.min <= self.max).then_some(self.max)
    }

    /// The rows for `percents`, which rise; empty when there are no values.
    pub(super) fn percentiles(&self, percents: &[f64]) -> Vec<Percentile> {
        let total = self.total();
        let mut rows = Vec::with_capacity(percents.len());
        let (mut bucket, mut seen) = (0, 0);
        if total == 0 {
            return rows;
        }
        for &percent in percents {
            let wanted = ((percent / 100.0 * total as f64).ceil() as u64).clamp(1, total);
            let before = seen;
            while seen < wanted && bucket < BUCKETS {
                seen += self.counts[bucket];
                bucket += 1;
            }
            rows.push(Percentile {
                percent,
                // A bucket's middle may lie beyond the greatest value in it.
                value: value_of(bucket.saturating_sub(1)).clamp(self.min, self.max),
                samples: seen - before,
            });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_as_wide_as_schbenchs() {
        // Values seen in its outputs are middles of such buckets.
        for value in [10, 511, 4552, 4616, 5192, 6888, 35136, 47936, 64960, 77952] {
            assert_eq!(value_of(bucket_of(value)), value);
        }
    }

    #[test]
    fn percentiles_count_the_samples_between_the_rows() {
        let mut histogram = Histogram::default();
        for value in 1..=100 {
            histogram.record(value);
        }
        let rows = histogram.percentiles(&[50.0, 90.0, 99.0, 99.9]);
        let read: Vec<(u64, u64)> = rows.iter().map(|r| (r.value, r.samples)).collect();
        assert_eq!(read, [(50, 50), (90, 40), (99, 9), (100, 1)]);
        assert_eq!((histogram.min(), histogram.max()), (Some(1), Some(100)));
    }

    #[test]
    fn nothing_recorded_is_not_zero() {
        let empty = Histogram::default();
        assert!(empty.percentiles(&[50.0]).is_empty());
        assert_eq!((empty.min(), empty.max()), (None, None));
    }

    #[test]
    fn a_reset_recorder_has_nothing() {
        let recorder = Recorder::default();
        recorder.record(7);
        recorder.record(u64::MAX);
        let mut before = Histogram::default();
        recorder.add_to(&mut before);
        assert_eq!((before.total(), before.min()), (2, Some(7)));
        recorder.reset();
        let mut after = Histogram::default();
        recorder.add_to(&mut after);
        assert_eq!(after, Histogram::default());
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_middle_and_is_narrow(value in 0_u64..(1 << 40)) {
            let middle = value_of(bucket_of(value));
            prop_assert_eq!(bucket_of(middle), bucket_of(value));
            prop_assert!(middle.abs_diff(value) <= value / 512 + 1);
        }

        #[test]
        fn buckets_rise_with_values(a in 0_u64..(1 << 41), b in 0_u64..(1 << 41)) {
            prop_assert!(bucket_of(a.min(b)) <= bucket_of(a.max(b)));
        }

        #[test]
        fn percentiles_rise_and_stay_within_the_extremes(
            values in prop::collection::vec(0_u64..10_000_000, 1..200)
        ) {
            let mut histogram = Histogram::default();
            for value in &values {
                histogram.record(*value);
            }
            let rows = histogram.percentiles(&[20.0, 50.0, 90.0, 99.0, 99.9]);
            prop_assert!(rows.windows(2).all(|w| w[0].value <= w[1].value));
            let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
            prop_assert!(rows.iter().all(|r| Some(r.value) >= least && Some(r.value) <= most));
        }
    }
}
