//! The cgroup tree of a plan: values for this machine, checked before anything is written.

use crate::playbook::{Diagnostic, Report, Spec, resolve_bandwidth};

use super::machine::{Machine, Parts};
use super::types::{CgroupNode, CgroupTree};

/// From so many limited groups on a machine this large, one timer's work can lock a CPU up
/// (kernels before 6.3, fixed by commit 8ad075c2eb1f).
const MANY_LIMITED_GROUPS: usize = 1_000;
const MANY_CPUS: usize = 256;

/// The tree for a machine; `None` where the playbook has none.
pub(super) fn build(
    spec: &Spec,
    machine: &Machine,
    parts: &Parts,
    notes: &mut Vec<String>,
    report: &mut Report,
) -> Option<CgroupTree> {
    if spec.groups.is_empty() {
        return None;
    }
    let mut groups = Vec::with_capacity(spec.groups.len());
    for group in &spec.groups {
        let cpu_max = group.bandwidth.as_ref().and_then(|(bandwidth, pos)| {
            resolve_bandwidth(bandwidth, parts.cpus.len())
                .map_err(|why| {
                    report.push(
                        Diagnostic::error(
                            *pos,
                            format!("`cpu.max` of {} groups cannot be set", group.path),
                        )
                        .expected(why),
                    );
                })
                .ok()
        });
        if let Some((cpus, pos)) = &group.cpuset {
            let missing = cpus.difference(&parts.cpus);
            if !missing.is_empty() {
                report.push(
                    Diagnostic::error(
                        *pos,
                        format!(
                            "CPUs {missing} of group `{}` are not allowed on {}",
                            group.path, machine.host
                        ),
                    )
                    .expected(format!("CPUs of {}", parts.cpus)),
                );
            }
        }
        groups.push(CgroupNode {
            path: group.path.clone(),
            cpu_max,
            cpu_weight: group.weight,
            cpuset: group.cpuset.as_ref().map(|(cpus, _)| cpus.clone()),
            partition: group.partition.clone().filter(|p| p != "member"),
            other: group.other.clone(),
        });
    }
    let limited = groups
        .iter()
        .filter(|g| g.cpu_max.is_some_and(|m| m.quota_us.is_some()))
        .count();
    if limited >= MANY_LIMITED_GROUPS && parts.cpus.len() >= MANY_CPUS {
        notes.push(format!(
            "{}: {limited} groups with cpu.max on {} CPUs can lock up kernels without commit 8ad075c2eb1f (6.3)",
            machine.host,
            parts.cpus.len()
        ));
    }
    Some(CgroupTree {
        controllers: controllers(spec, &groups),
        groups,
    })
}

/// `cpu` always, others where a setting needs them, then those the reader names.
fn controllers(spec: &Spec, groups: &[CgroupNode]) -> Vec<String> {
    let mut found = vec!["cpu".to_owned()];
    let mut add = |name: &str| {
        if !found.iter().any(|f| f == name) {
            found.push(name.to_owned());
        }
    };
    if groups
        .iter()
        .any(|g| g.cpuset.is_some() || g.partition.is_some())
    {
        add("cpuset");
    }
    for (file, _) in groups.iter().flat_map(|g| &g.other) {
        if let Some((controller, _)) = file.split_once('.') {
            add(controller);
        }
    }
    spec.controllers.iter().for_each(|c| add(c));
    found
}
