//! `cpu.max`: what the kernel takes, in which order, and what it amounts to.

use super::plan::TreeError;
use crate::plan::{CgroupTree, CpuMax};

// Bounds of kernel/sched/core.c (min_cfs_quota_period, max_cfs_quota_period), in microseconds.
const LEAST_US: u64 = 1000;
const LONGEST_PERIOD_US: u64 = 1_000_000;

/// What is wrong with a limit, in words; `None`: the kernel takes it.
pub fn check_limit(max: &CpuMax) -> Option<String> {
    if !(LEAST_US..=LONGEST_PERIOD_US).contains(&max.period_us) {
        return Some(format!(
            "period {} usec is outside the kernel's {LEAST_US} to {LONGEST_PERIOD_US}",
            max.period_us
        ));
    }
    match (max.quota_us, max.burst_us) {
        (Some(quota), _) if quota < LEAST_US => Some(format!(
            "quota {quota} usec is below the kernel minimum {LEAST_US}"
        )),
        (Some(quota), Some(burst)) if burst > quota => {
            Some(format!("burst {burst} usec is above the quota {quota}"))
        }
        (None, Some(burst)) if burst > 0 => Some(format!("burst {burst} usec needs a quota")),
        _ => None,
    }
}

/// The files to write for a limit, in order: quota and period in one line; a burst that the new quota
/// would be below goes first, the wanted one last.
pub fn limit_writes(burst_now_us: u64, max: &CpuMax) -> Vec<(&'static str, String)> {
    let quota = max
        .quota_us
        .map_or_else(|| "max".to_owned(), |q| q.to_string());
    let mut writes = Vec::new();
    let fits = max.quota_us.is_some_and(|quota| burst_now_us <= quota);
    if burst_now_us > 0 && !fits {
        writes.push(("cpu.max.burst", "0".to_owned()));
    }
    writes.push(("cpu.max", format!("{quota} {}", max.period_us)));
    if let Some(burst) = max.burst_us {
        writes.push(("cpu.max.burst", burst.to_string()));
    }
    writes
}

/// The limit that counts for a group.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectiveLimit {
    /// CPUs' worth of time: quota / period.
    pub cpus: f64,
    /// The group whose limit it is.
    pub group: String,
}

/// The least quota / period of a group and its ancestors in the tree; `None`: no limit.
pub fn effective_limit(tree: &CgroupTree, path: &str) -> Option<EffectiveLimit> {
    let above = |group: &str| path == group || path.starts_with(&format!("{group}/"));
    let limits = tree
        .groups
        .iter()
        .filter(|g| above(&g.path))
        .filter_map(|g| {
            let max = g.cpu_max?;
            let cpus = max.quota_us? as f64 / max.period_us as f64;
            Some(EffectiveLimit {
                cpus,
                group: g.path.clone(),
            })
        });
    limits.min_by(|a, b| a.cpus.total_cmp(&b.cpus))
}

pub(super) fn check_node_limit(group: &str, max: &CpuMax) -> Result<(), TreeError> {
    match check_limit(max) {
        Some(what) => Err(TreeError::Value {
            group: group.to_owned(),
            what,
        }),
        None => Ok(()),
    }
}
