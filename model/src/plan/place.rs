//! Where the copies of a workload run: place words and arms, as CPU sets and groups.

use crate::cpuset::CpuSet;
use crate::playbook::{Affinity, GroupSpec, Part, Place};

use super::machine::Parts;

/// One place for a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) cpus: Option<CpuSet>,
    pub(super) cgroup: Option<String>,
}

/// The CPUs of an arm; `None`: all that are allowed.
///
/// # Errors
/// What this machine lacks.
pub(super) fn affinity(affinity: &Affinity, parts: &Parts) -> Result<Option<CpuSet>, String> {
    match affinity {
        Affinity::All => Ok(None),
        Affinity::One(part) => parts
            .sets(*part)
            .into_iter()
            .next()
            .map(Some)
            .ok_or_else(|| lacking(*part)),
        Affinity::OneThreadPerCore => {
            if parts.smt_width < 2 {
                return Err("no SMT here: every core has one thread".into());
            }
            Ok(Some(parts.cores.iter().filter_map(CpuSet::first).collect()))
        }
        Affinity::Numbered(part, number) => numbered(*part, *number, parts).map(Some),
        Affinity::List(list) => listed(list, parts).map(Some),
    }
}

fn lacking(part: Part) -> String {
    format!("this machine has no known {}", part.plural())
}

fn numbered(part: Part, number: u32, parts: &Parts) -> Result<CpuSet, String> {
    parts.numbered(part, number).ok_or_else(|| {
        let known = match part {
            Part::Nodes => parts
                .nodes
                .iter()
                .map(|(id, _)| id.to_string())
                .collect::<Vec<_>>()
                .join(", "),
            Part::Cpus => parts.cpus.to_string(),
            _ => match parts.count(part) {
                0 => "none".into(),
                n => format!("0 to {}", n - 1),
            },
        };
        format!(
            "{} {number} has no allowed CPUs here (there are {known})",
            part.singular()
        )
    })
}

fn listed(list: &CpuSet, parts: &Parts) -> Result<CpuSet, String> {
    let missing = list.difference(&parts.cpus);
    if missing.is_empty() {
        Ok(list.clone())
    } else {
        Err(format!(
            "CPUs {missing} of {list} are not allowed here (allowed: {})",
            parts.cpus
        ))
    }
}

/// The places for copies under an arm. `arm` is the arm's name and CPUs.
///
/// # Errors
/// What this machine lacks; a place and an arm without a common CPU, both named.
pub(super) fn spots(
    place: &Place,
    arm: (&str, Option<&CpuSet>),
    parts: &Parts,
    groups: &[GroupSpec],
) -> Result<Vec<Spot>, String> {
    let one = |cpus| vec![Spot { cpus, cgroup: None }];
    match place {
        Place::Root => Ok(one(arm.1.cloned())),
        Place::Leaves => groups
            .iter()
            .filter(|g| g.leaf)
            .map(|g| in_group(g, arm, groups))
            .collect(),
        Place::Group(name) => groups
            .iter()
            .filter(|g| g.path == *name)
            .map(|g| in_group(g, arm, groups))
            .collect(),
        Place::Each(part) => {
            let sets = parts.sets(*part);
            if sets.is_empty() {
                return Err(lacking(*part));
            }
            let common: Vec<Spot> = sets
                .iter()
                .map(|set| arm.1.map_or_else(|| set.clone(), |a| set.intersection(a)))
                .filter(|set| !set.is_empty())
                .map(|set| Spot {
                    cpus: Some(set),
                    cgroup: None,
                })
                .collect();
            if common.is_empty() {
                return Err(disjoint(&format!("each {}", part.singular()), arm));
            }
            Ok(common)
        }
        Place::Numbered(part, number) => {
            let set = numbered(*part, *number, parts)?;
            let name = format!("{} {number} (CPUs {set})", part.singular());
            meet(set, &name, arm).map(|s| one(Some(s)))
        }
        Place::Cpus(list) => {
            let set = listed(list, parts)?;
            let name = format!("CPUs {set}");
            meet(set, &name, arm).map(|s| one(Some(s)))
        }
    }
}

fn meet(set: CpuSet, name: &str, arm: (&str, Option<&CpuSet>)) -> Result<CpuSet, String> {
    let common = arm.1.map_or_else(|| set.clone(), |a| set.intersection(a));
    if common.is_empty() {
        Err(disjoint(name, arm))
    } else {
        Ok(common)
    }
}

fn disjoint(name: &str, arm: (&str, Option<&CpuSet>)) -> String {
    let cpus = arm.1.map_or_else(|| "all".into(), ToString::to_string);
    format!(
        "{name} and arm `{}` (CPUs {cpus}) have no CPU in common",
        arm.0
    )
}

fn in_group(
    group: &GroupSpec,
    arm: (&str, Option<&CpuSet>),
    groups: &[GroupSpec],
) -> Result<Spot, String> {
    if let (Some(arm_cpus), Some((cpuset, path))) = (arm.1, effective_cpuset(group, groups))
        && !arm_cpus.intersects(&cpuset)
    {
        return Err(disjoint(&format!("group `{path}` (CPUs {cpuset})"), arm));
    }
    Ok(Spot {
        cpus: arm.1.cloned(),
        cgroup: Some(group.path.clone()),
    })
}

/// The CPUs of the nearest group upwards that states any, and that group.
fn effective_cpuset(group: &GroupSpec, groups: &[GroupSpec]) -> Option<(CpuSet, String)> {
    let mut path = group.path.as_str();
    // Trees without any cpuset are the rule: no search then.
    if groups.iter().all(|g| g.cpuset.is_none()) {
        return None;
    }
    loop {
        if let Some(found) = groups
            .iter()
            .find(|g| g.path == path)
            .and_then(|g| g.cpuset.as_ref())
        {
            return Some((found.0.clone(), path.to_owned()));
        }
        path = &path[..path.rfind('/')?];
    }
}
