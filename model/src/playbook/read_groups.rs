//! `cgroups`: levels or a named tree, written out as a list of groups, parents first.

use super::cpu_max::{self, Bandwidth, DEFAULT_PERIOD_US, Quota};
use super::diagnostic::{Diagnostic, Report};
use super::lookup;
use super::node::Node;
use super::source::Pos;
use super::spec::GroupSpec;
use super::words;

/// A tree has at most so many groups. The kernel allows more; a run that makes and removes them
/// does not end in reasonable time.
pub(super) const MAX_GROUPS: u64 = 20_000;
/// The kernel's files for settings that are written as they stand.
const PLAIN_FILES: &[&str] = &[
    "cpu.weight.nice",
    "cpu.idle",
    "cpu.uclamp.min",
    "cpu.uclamp.max",
    "cpuset.mems",
    "memory.max",
    "memory.high",
    "pids.max",
];

/// The groups of a playbook, parents before children.
pub(super) fn groups(node: &Node, report: &mut Report) -> Vec<GroupSpec> {
    match (node.get("levels"), node.get("tree")) {
        (Some(levels), None) => from_levels(levels, report),
        (None, Some(tree)) => {
            let mut groups = Vec::new();
            named(tree, "", &mut groups, report);
            groups
        }
        (Some(_), Some(tree)) => {
            report.push(
                Diagnostic::error(tree.pos, "`levels` and `tree` exclude each other")
                    .expected("one of the two"),
            );
            Vec::new()
        }
        (None, None) => {
            report.push(
                Diagnostic::error(node.pos, "`cgroups` has no groups")
                    .expected("`levels` or `tree`"),
            );
            Vec::new()
        }
    }
}

fn from_levels(levels: &Node, report: &mut Report) -> Vec<GroupSpec> {
    let levels = levels.items();
    let counts: Vec<u64> = levels
        .iter()
        .map(|l| lookup::number(l, "count").unwrap_or(1))
        .collect();
    let mut total = 0_u64;
    let mut width = 1_u64;
    for (level, count) in levels.iter().zip(&counts) {
        width = width.saturating_mul(*count);
        total = total.saturating_add(width);
        if total > MAX_GROUPS {
            report.push(
                Diagnostic::error(
                    level.pos,
                    format!("the levels make {total} groups down to here"),
                )
                .expected(format!("at most {MAX_GROUPS} groups")),
            );
            return Vec::new();
        }
    }
    let mut groups: Vec<GroupSpec> = Vec::new();
    let mut parents = vec![String::new()];
    for (depth, (level, count)) in levels.iter().zip(&counts).enumerate() {
        let mut template = settings(level, report);
        template.leaf = depth + 1 == levels.len();
        let mut next = Vec::new();
        for parent in &parents {
            for i in 0..*count {
                let path = child(parent, &format!("g{i}"));
                groups.push(GroupSpec {
                    path: path.clone(),
                    ..template.clone()
                });
                next.push(path);
            }
        }
        parents = next;
    }
    groups
}

fn named(tree: &Node, parent: &str, groups: &mut Vec<GroupSpec>, report: &mut Report) {
    for entry in tree.entries() {
        let mut group = settings(&entry.node, report);
        group.path = child(parent, &entry.key);
        group.pos = entry.key_pos;
        let children = entry.node.get("children");
        group.leaf = children.is_none_or(|c| c.entries().is_empty());
        if entry.key.contains('/') || entry.key.contains('.') {
            report.push(
                Diagnostic::error(
                    entry.key_pos,
                    format!("`{}` is no name of a group", entry.key),
                )
                .expected("a name without `/` and `.`; groups below go into `children`"),
            );
        }
        let path = group.path.clone();
        groups.push(group);
        if let Some(children) = children {
            named(children, &path, groups, report);
        }
    }
}

fn child(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}/{name}")
    }
}

fn settings(node: &Node, report: &mut Report) -> GroupSpec {
    let weight = lookup::number(node, "cpu.weight");
    if let (Some(nice), Some(_)) = (node.get("cpu.weight.nice"), weight) {
        report.push(
            Diagnostic::error(
                nice.pos,
                "`cpu.weight` and `cpu.weight.nice` are one setting",
            )
            .expected("one of the two"),
        );
    }
    GroupSpec {
        path: String::new(),
        pos: node.pos,
        bandwidth: node.get("cpu.max").and_then(|n| bandwidth(n, report)),
        weight,
        cpuset: lookup::phrase(node, "cpuset.cpus", words::parse_cpus),
        partition: lookup::text(node, "cpuset.cpus.partition").map(str::to_owned),
        other: PLAIN_FILES
            .iter()
            .filter_map(|f| lookup::text(node, f).map(|v| ((*f).to_owned(), v.to_owned())))
            .collect(),
        leaf: true,
    }
}

/// `cpu.max`, short or in full.
fn bandwidth(node: &Node, report: &mut Report) -> Option<(Bandwidth, Pos)> {
    if let Some(text) = node.text() {
        return cpu_max::parse(text).ok().map(|b| (b, node.pos));
    }
    let quota = node.get("quota")?;
    let text = quota.text()?;
    let parsed = match words::parse_time_us(text) {
        Ok(us) => Some(Quota::Microseconds(us)),
        Err(_) => cpu_max::parse(text).ok().map(|b| b.quota),
    };
    let Some(parsed) = parsed else {
        report.push(
            Diagnostic::error(quota.pos, "wrong value for `quota`")
                .found(quota.found())
                .expected("`50 cpus`, `50% cpus`, `max`, or a time such as `50 ms`"),
        );
        return None;
    };
    let bandwidth = Bandwidth {
        quota: parsed,
        period_us: lookup::time_us(node, "period").map_or(DEFAULT_PERIOD_US, |(us, _)| us),
        burst_us: lookup::time_us(node, "burst").map(|(us, _)| us),
    };
    match cpu_max::check_known(&bandwidth) {
        Ok(()) => Some((bandwidth, node.pos)),
        Err(why) => {
            report.push(
                Diagnostic::error(node.pos, "wrong value for `cpu.max`")
                    .found(node.found())
                    .expected(why),
            );
            None
        }
    }
}
