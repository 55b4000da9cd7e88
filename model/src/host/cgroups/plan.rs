//! From a tree to operations, parents before children, controllers before the files they bring.

use std::collections::BTreeSet;

use super::limit::{check_node_limit, limit_writes};
use crate::cpuset::CpuSet;
use crate::plan::{CgroupNode, CgroupTree};

/// More groups than any playbook published has; each costs the kernel some hundred kilobytes on a
/// machine of 256 CPUs.
pub const MOST_GROUPS: usize = 10_000;

/// One thing to do. Groups are relative to the run's own group; the empty path is that group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupOp {
    /// Make the group.
    Make {
        /// The group.
        group: String,
    },
    /// Write `cgroup.subtree_control`.
    Enable {
        /// The group.
        group: String,
        /// Without `+`.
        controllers: Vec<String>,
    },
    /// Write a file.
    Set {
        /// The group.
        group: String,
        /// The file.
        file: String,
        /// What is written.
        value: String,
    },
    /// Write `cpuset.cpus.partition` and read it back: the write succeeds also where it is invalid.
    Partition {
        /// The group.
        group: String,
        /// `root`, `isolated`.
        kind: String,
    },
}

/// A tree that is not made, found before anything is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Too many groups.
    #[error("{0} groups are more than {MOST_GROUPS}")]
    TooMany(usize),
    /// A path that cannot be one.
    #[error(
        "`{0}` is not the path of a group: names parted by single slashes, no `..`, no leading slash, and none of cgroup's own file names"
    )]
    Path(String),
    /// A group stands twice.
    #[error("group `{0}` stands twice")]
    Twice(String),
    /// A group before or without its parent.
    #[error("group `{group}` comes before its parent `{parent}`")]
    Parent {
        /// The group.
        group: String,
        /// Its parent.
        parent: String,
    },
    /// A setting of a controller that is not handed down.
    #[error("group `{group}` sets {file}, and the tree hands down no {controller} controller")]
    Controller {
        /// The group.
        group: String,
        /// The file.
        file: String,
        /// Its controller.
        controller: String,
    },
    /// A value that the kernel does not take.
    #[error("group `{group}`: {what}")]
    Value {
        /// The group.
        group: String,
        /// What is wrong.
        what: String,
    },
}

/// The operations that make a tree.
///
/// # Errors
/// What the kernel would refuse, found before anything is written.
pub fn plan_tree(tree: &CgroupTree) -> Result<Vec<GroupOp>, TreeError> {
    if tree.groups.len() > MOST_GROUPS {
        return Err(TreeError::TooMany(tree.groups.len()));
    }
    let parents: BTreeSet<&str> = tree
        .groups
        .iter()
        .filter_map(|g| Some(g.path.rsplit_once('/')?.0))
        .collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut ops = Vec::new();
    let enable = |group: &str| GroupOp::Enable {
        group: group.to_owned(),
        controllers: tree.controllers.clone(),
    };
    if !tree.controllers.is_empty() && !tree.groups.is_empty() {
        ops.push(enable(""));
    }
    own_partition(tree, &mut ops)?;
    for node in &tree.groups {
        check_node(tree, node, &seen)?;
        seen.insert(&node.path);
        ops.push(GroupOp::Make {
            group: node.path.clone(),
        });
        settings(node, &mut ops);
        if parents.contains(node.path.as_str()) && !tree.controllers.is_empty() {
            ops.push(enable(&node.path));
        }
    }
    Ok(ops)
}

/// A partition's parent has to be one too: where the first level has partitions, the run's own group
/// becomes one of all CPUs of that level. Below the root of v2 that holds; deeper, what is read back
/// says whether it does.
fn own_partition(tree: &CgroupTree, ops: &mut Vec<GroupOp>) -> Result<(), TreeError> {
    let first_level = || tree.groups.iter().filter(|g| !g.path.contains('/'));
    let parted = |g: &CgroupNode| g.partition.as_deref().is_some_and(|p| p != "member");
    if !first_level().any(parted) {
        return Ok(());
    }
    let mut all = CpuSet::new();
    for node in first_level() {
        let Some(cpus) = node.cpuset.as_ref().filter(|c| !c.is_empty()) else {
            let what = "needs cpuset.cpus: a group beside it is a partition".to_owned();
            return Err(TreeError::Value {
                group: node.path.clone(),
                what,
            });
        };
        all = all.union(cpus);
    }
    let (group, file, value) = (String::new(), "cpuset.cpus".to_owned(), all.to_string());
    // Before children use the controllers: the group is a partition when it hands them down.
    ops.insert(0, GroupOp::Set { group, file, value });
    ops.insert(
        1,
        GroupOp::Partition {
            group: String::new(),
            kind: "root".to_owned(),
        },
    );
    Ok(())
}

fn check_node(
    tree: &CgroupTree,
    node: &CgroupNode,
    seen: &BTreeSet<&str>,
) -> Result<(), TreeError> {
    let path = node.path.as_str();
    // The kernel keeps `cgroup.` and the controllers' names for its files.
    let reserved = |part: &str| {
        let head = part.split('.').next().unwrap_or(part);
        part.contains('.') && matches!(head, "cgroup" | "cpu" | "cpuset" | "io" | "memory" | "pids")
    };
    let bad = |part: &str| part.is_empty() || part == ".." || part == "." || reserved(part);
    if path.split('/').any(bad) || path.contains('\n') {
        return Err(TreeError::Path(node.path.clone()));
    }
    if seen.contains(path) {
        return Err(TreeError::Twice(node.path.clone()));
    }
    if let Some((parent, _)) = path.rsplit_once('/')
        && !seen.contains(parent)
    {
        return Err(TreeError::Parent {
            group: node.path.clone(),
            parent: parent.to_owned(),
        });
    }
    check_values(node)?;
    for (file, controller) in files_of(node) {
        if !tree.controllers.contains(&controller) {
            let group = node.path.clone();
            return Err(TreeError::Controller {
                group,
                file,
                controller,
            });
        }
    }
    Ok(())
}

fn check_values(node: &CgroupNode) -> Result<(), TreeError> {
    let value = |what: String| TreeError::Value {
        group: node.path.clone(),
        what,
    };
    if let Some(max) = &node.cpu_max {
        check_node_limit(&node.path, max)?;
    }
    if let Some(weight) = node.cpu_weight.filter(|w| !(1..=10_000).contains(w)) {
        return Err(value(format!("cpu.weight {weight} is outside 1 to 10000")));
    }
    let Some(kind) = &node.partition else {
        return Ok(());
    };
    if !matches!(kind.as_str(), "root" | "isolated" | "member") {
        return Err(value(format!(
            "partition `{kind}` is none of member, root, isolated"
        )));
    }
    if kind != "member" && node.cpuset.as_ref().is_none_or(|c| c.is_empty()) {
        return Err(value(format!("partition {kind} needs cpuset.cpus")));
    }
    Ok(())
}

/// The files a node sets, with their controllers.
fn files_of(node: &CgroupNode) -> Vec<(String, String)> {
    let known = [
        (node.cpu_max.is_some(), "cpu.max"),
        (node.cpu_weight.is_some(), "cpu.weight"),
        (node.cpuset.is_some(), "cpuset.cpus"),
        (node.partition.is_some(), "cpuset.cpus.partition"),
    ];
    let known = known
        .into_iter()
        .filter(|(set, _)| *set)
        .map(|(_, file)| file);
    let other = node.other.iter().map(|(file, _)| file.as_str());
    known
        .chain(other)
        .filter_map(|file| {
            let controller = file.split('.').next().unwrap_or(file);
            (controller != "cgroup").then(|| (file.to_owned(), controller.to_owned()))
        })
        .collect()
}

fn settings(node: &CgroupNode, ops: &mut Vec<GroupOp>) {
    let mut set = |file: &str, value: String| {
        let (group, file) = (node.path.clone(), file.to_owned());
        ops.push(GroupOp::Set { group, file, value });
    };
    if let Some(cpus) = &node.cpuset {
        set("cpuset.cpus", cpus.to_string());
    }
    if let Some(max) = &node.cpu_max {
        for (file, value) in limit_writes(0, max) {
            set(file, value);
        }
    }
    if let Some(weight) = node.cpu_weight {
        set("cpu.weight", weight.to_string());
    }
    for (file, value) in &node.other {
        set(file, value.clone());
    }
    if let Some(kind) = &node.partition {
        ops.push(GroupOp::Partition {
            group: node.path.clone(),
            kind: kind.clone(),
        });
    }
}
