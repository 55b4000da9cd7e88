//! Making a tree.

use schedrig_model::host::cgroups::{
    EffectiveLimit, GroupOp, check_limit, limit_writes, plan_tree,
};
use schedrig_model::plan::{CgroupTree, CpuMax};
use schedrig_model::procfmt::{PartitionState, parse_cpu_max, parse_partition};

use super::error::CgroupError;
use super::fs::CgroupFs;
use crate::kernel::HostFiles;

/// What became of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionGranted {
    /// The group.
    pub group: String,
    /// `root`, `isolated`.
    pub wanted: String,
    /// What the file reads.
    pub found: PartitionState,
}

impl PartitionGranted {
    /// Whether it is what was asked, and valid.
    pub fn holds(&self) -> bool {
        self.found.kind == self.wanted && self.found.invalid.is_none()
    }
}

/// What making a tree gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// Groups made.
    pub groups: usize,
    /// Partitions, as they read back.
    pub partitions: Vec<PartitionGranted>,
}

impl<F: HostFiles> CgroupFs<F> {
    /// Makes the run's group and the tree below it. On an error what was made is removed again.
    ///
    /// # Errors
    /// The tree is refused before or by the kernel; a leaf is no domain.
    pub fn create(&self, tree: &CgroupTree) -> Result<TreeReport, CgroupError> {
        let ops = plan_tree(tree).map_err(CgroupError::Tree)?;
        let made = self.perform(tree, &ops);
        if made.is_err() {
            // The first error is the one to tell; left-overs are found by name on the next start.
            let _ = self.remove();
        }
        made
    }

    fn perform(&self, tree: &CgroupTree, ops: &[GroupOp]) -> Result<TreeReport, CgroupError> {
        self.settle(&tree.controllers)?;
        self.make(&self.folder(""))?;
        let mut report = TreeReport::default();
        for op in ops {
            match op {
                GroupOp::Make { group } => {
                    self.make(&self.folder(group))?;
                    report.groups += 1;
                }
                GroupOp::Enable { group, controllers } => {
                    self.enable(&self.folder(group), controllers)?;
                }
                GroupOp::Set { group, file, value } => {
                    self.set(&self.folder(group), file, value)?;
                }
                GroupOp::Partition { group, kind } => {
                    self.set(&self.folder(group), "cpuset.cpus.partition", kind)?;
                    report.partitions.push(self.partition(group, kind)?);
                }
            }
        }
        for node in &tree.groups {
            self.check_kind(&node.path)?;
        }
        // A parent that stops being a partition takes its children's along: the last word counts.
        for partition in &mut report.partitions {
            partition.found = self.partition(&partition.group, &partition.wanted)?.found;
        }
        Ok(report)
    }

    fn partition(&self, group: &str, wanted: &str) -> Result<PartitionGranted, CgroupError> {
        let found = parse_partition(&self.read(group, "cpuset.cpus.partition")?);
        Ok(PartitionGranted {
            group: group.to_owned(),
            wanted: wanted.to_owned(),
            found,
        })
    }

    fn check_kind(&self, group: &str) -> Result<(), CgroupError> {
        let kind = self.read(group, "cgroup.type")?;
        match kind.trim() {
            "domain" => Ok(()),
            other => Err(CgroupError::Kind {
                group: group.to_owned(),
                kind: other.to_owned(),
            }),
        }
    }

    /// Changes the limit of a group that exists, burst and quota in the order the kernel takes.
    ///
    /// # Errors
    /// The limit is outside the kernel's bounds; the write fails.
    pub fn set_cpu_max(&self, group: &str, max: &CpuMax) -> Result<(), CgroupError> {
        if let Some(what) = check_limit(max) {
            return Err(CgroupError::Unavailable(format!("group `{group}`: {what}")));
        }
        let burst = self.read(group, "cpu.max.burst").unwrap_or_default();
        let folder = self.folder(group);
        for (file, value) in limit_writes(burst.trim().parse().unwrap_or(0), max) {
            self.set(&folder, file, &value)?;
        }
        Ok(())
    }

    /// The limit that counts for a group: the least of its own and all its ancestors up to the root of
    /// v2, those that others set included. `None`: no limit.
    ///
    /// # Errors
    /// A `cpu.max` holds something else.
    pub fn effective_limit(&self, group: &str) -> Result<Option<EffectiveLimit>, CgroupError> {
        let mut least: Option<EffectiveLimit> = None;
        let path = self.kernel_path(group);
        let mut at = path.as_str();
        while let Some((parent, _)) = at.rsplit_once('/') {
            let file = format!("{}{at}/cpu.max", self.folder_of_mount());
            if let Ok(text) = self.files().read(&file) {
                let max = parse_cpu_max(&text).map_err(|err| CgroupError::Parse {
                    path: file.clone(),
                    err,
                })?;
                if let Some(quota) = max.quota_us {
                    let cpus = quota as f64 / max.period_us as f64;
                    if least.as_ref().is_none_or(|l| cpus <= l.cpus) {
                        least = Some(EffectiveLimit {
                            cpus,
                            group: at.to_owned(),
                        });
                    }
                }
            }
            at = parent;
        }
        Ok(least)
    }
}
