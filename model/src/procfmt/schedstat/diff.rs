//! What happened between two readings of `/proc/schedstat` of one boot.

use std::sync::Arc;

use super::layout::{CpuField, DomainField, Layout};
use super::parse::{CpuCounters, DomainCounters, Schedstat};
use crate::cpuset::CpuSet;
use crate::id::CpuId;

/// One more than the largest 32-bit counter.
const WRAP: u64 = 1 << 32;
/// A counter that seems to have wrapped by more than this went back instead: it was reset, or the
/// files were given in the wrong order.
const WRAP_PLAUSIBLE: u64 = 1 << 31;

/// The difference of two readings. A counter that went back is `None`, never a number.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedstatDiff {
    /// Of both.
    pub layout: &'static Layout,
    /// From the two timestamps.
    pub elapsed_jiffies: u64,
    /// CPUs that are in both.
    pub cpus: Vec<CpuDelta>,
    /// CPUs that came online in between.
    pub appeared: CpuSet,
    /// CPUs that went offline in between.
    pub vanished: CpuSet,
    /// CPUs whose domains were rebuilt in between: their domains are left out.
    pub rebuilt: CpuSet,
    /// What a reader of the numbers should know.
    pub warnings: Vec<String>,
}

/// What one CPU counted.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuDelta {
    /// Which CPU.
    pub cpu: CpuId,
    /// In the order of the layout.
    pub values: Box<[Option<u64>]>,
    /// Empty where the domains were rebuilt.
    pub domains: Vec<DomainDelta>,
}

/// What one domain of one CPU counted.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainDelta {
    /// The number behind `domain`.
    pub level: u32,
    /// Its name, where known.
    pub name: Option<Arc<str>>,
    /// The CPUs it spans.
    pub span: Arc<CpuSet>,
    /// In the order of the layout.
    pub values: Box<[Option<u64>]>,
}

/// Two readings that have no difference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchedstatDiffError {
    /// They come from different kernels.
    #[error(
        "schedstat version {before} before, {after} after: two snapshots of one boot have one version; to set two kernels side by side compare their sums"
    )]
    Versions {
        /// Of the first.
        before: u32,
        /// Of the second.
        after: u32,
    },
    /// The clock went back.
    #[error("timestamp {after} is before {before}: wrong order of files, or another boot")]
    Order {
        /// Of the first.
        before: u64,
        /// Of the second.
        after: u64,
    },
}

/// Subtracts `before` from `after`.
///
/// # Errors
/// Different versions; a timestamp that goes back by more than a 32-bit wrap explains.
pub fn subtract(
    before: &Schedstat,
    after: &Schedstat,
) -> Result<SchedstatDiff, SchedstatDiffError> {
    let versions = (before.layout.version, after.layout.version);
    if versions.0 != versions.1 {
        return Err(SchedstatDiffError::Versions {
            before: versions.0,
            after: versions.1,
        });
    }
    let elapsed = delta(before.timestamp, after.timestamp, true);
    let elapsed_jiffies = elapsed.ok_or(SchedstatDiffError::Order {
        before: before.timestamp,
        after: after.timestamp,
    })?;
    let mut diff = SchedstatDiff {
        layout: before.layout,
        elapsed_jiffies,
        cpus: Vec::with_capacity(after.cpus.len()),
        appeared: after.cpu_set().difference(&before.cpu_set()),
        vanished: before.cpu_set().difference(&after.cpu_set()),
        rebuilt: CpuSet::new(),
        warnings: Vec::new(),
    };
    let index: std::collections::HashMap<CpuId, &CpuCounters> =
        before.cpus.iter().map(|c| (c.cpu, c)).collect();
    let mut went_back = CpuSet::new();
    for new in &after.cpus {
        let Some(old) = index.get(&new.cpu) else {
            continue;
        };
        let same = same_domains(old, new);
        if !same {
            diff.rebuilt.insert(new.cpu);
        }
        let cpu = cpu_delta(diff.layout, old, new, same);
        let all = cpu
            .values
            .iter()
            .chain(cpu.domains.iter().flat_map(|d| d.values.iter()));
        if all.clone().any(Option::is_none) {
            went_back.insert(new.cpu);
        }
        diff.cpus.push(cpu);
    }
    diff.warn(&went_back);
    Ok(diff)
}

/// The growth of a counter; `None` where it went back.
fn delta(before: u64, after: u64, wraps_at_32_bits: bool) -> Option<u64> {
    if after >= before {
        return Some(after - before);
    }
    let wrapped = (wraps_at_32_bits && before < WRAP).then(|| after + WRAP - before);
    wrapped.filter(|&grown| grown < WRAP_PLAUSIBLE)
}

fn same_domains(old: &CpuCounters, new: &CpuCounters) -> bool {
    let shape = |d: &DomainCounters| (d.level, d.name.clone(), Arc::clone(&d.span));
    old.domains.len() == new.domains.len()
        && old
            .domains
            .iter()
            .zip(&new.domains)
            .all(|(a, b)| shape(a) == shape(b))
}

fn cpu_delta(layout: &Layout, old: &CpuCounters, new: &CpuCounters, same: bool) -> CpuDelta {
    let fields = layout.cpu.iter().zip(old.values.iter().zip(&new.values));
    let values = fields
        .map(|(field, (&a, &b))| delta(a, b, field.is_32_bit()))
        .collect();
    let pairs = old.domains.iter().zip(&new.domains).filter(|_| same);
    let domain = |(a, b): (&DomainCounters, &DomainCounters)| DomainDelta {
        level: b.level,
        name: b.name.clone(),
        span: Arc::clone(&b.span),
        values: a
            .values
            .iter()
            .zip(&b.values)
            .map(|(&a, &b)| delta(a, b, true))
            .collect(),
    };
    CpuDelta {
        cpu: new.cpu,
        values,
        domains: pairs.map(domain).collect(),
    }
}

impl SchedstatDiff {
    fn warn(&mut self, went_back: &CpuSet) {
        let notes = [
            (
                &self.appeared,
                "came online between the snapshots: left out",
            ),
            (
                &self.vanished,
                "went offline between the snapshots: left out",
            ),
            (
                &self.rebuilt,
                "had their domains rebuilt between the snapshots: domains left out",
            ),
            (
                went_back,
                "have counters that went back: those are left out",
            ),
        ];
        for (cpus, note) in notes {
            if !cpus.is_empty() {
                self.warnings.push(format!("CPUs {cpus} {note}"));
            }
        }
    }
}

impl CpuDelta {
    /// A difference, where the layout has the counter and it did not go back.
    pub fn get(&self, layout: &Layout, field: CpuField) -> Option<u64> {
        *self.values.get(layout.cpu_column(field)?)?
    }
}

impl DomainDelta {
    /// A difference, where the layout has the counter and it did not go back.
    pub fn get(&self, layout: &Layout, field: DomainField) -> Option<u64> {
        *self.values.get(layout.domain_column(field)?)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_resets_and_growth_are_told_apart() {
        assert_eq!(delta(5, 9, true), Some(4));
        assert_eq!(delta(WRAP - 2, 3, true), Some(5));
        assert_eq!(delta(1000, 3, true), None, "a reset is no wrap");
        assert_eq!(
            delta(WRAP - 2, 3, false),
            None,
            "64-bit counters do not wrap at 32"
        );
    }
}
