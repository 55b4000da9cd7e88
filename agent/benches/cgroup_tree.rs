//! Making and removing cgroup trees on a real kernel, beside the same job done by a shell script.
//! Bounds: 200 leaves 5 deep in under 100 ms, 10,000 groups in under 5 s, made and removed.
//!
//! It changes the machine's cgroups, so it runs only when told to:
//! `cargo bench -p schedrig-agent --bench cgroup_tree -- --on-this-machine`, as root, in a guest.

use std::collections::HashSet;
use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use schedrig_agent::kernel::{CgroupFs, CgroupMount, RealFiles};
use schedrig_model::RunId;
use schedrig_model::plan::{CgroupNode, CgroupTree, CpuMax};

fn main() -> Result<(), Box<dyn Error>> {
    if !std::env::args().any(|a| a == "--on-this-machine") {
        println!("cgroup_tree changes this machine's cgroups: give --on-this-machine, in a guest");
        return Ok(());
    }
    let files = RealFiles::new(Utf8Path::new("/"));
    let mount = CgroupMount::detect(&files)?;
    let base = mount.base(&files)?;
    let point = mount
        .point
        .clone()
        .unwrap_or_else(|| "sys/fs/cgroup".to_owned());
    for (name, widths) in [
        ("200 leaves, 5 deep", &[2, 2, 2, 5, 5][..]),
        ("10,000 groups", &[10_000]),
    ] {
        let tree = tree(widths);
        let cgroups = CgroupFs::new(files.clone(), &point, &base, &RunId::from("bench"));
        let start = Instant::now();
        let report = cgroups.create(&tree)?;
        let removal = cgroups.remove();
        let ours = start.elapsed();
        if !removal.left.is_empty() {
            return Err(format!("left over: {:?}", removal.left).into());
        }
        let shell = by_shell(&format!("/{point}/{base}/schedrig-shell"), &tree)?;
        println!(
            "{name}: {} groups: {ours:?}, by shell: {shell:?}",
            report.groups
        );
    }
    Ok(())
}

fn tree(widths: &[u32]) -> CgroupTree {
    let limit = CpuMax {
        quota_us: Some(100_000),
        period_us: 100_000,
        burst_us: None,
    };
    let mut groups = Vec::new();
    let mut level = vec![String::new()];
    for (depth, width) in widths.iter().enumerate() {
        let mut next = Vec::new();
        for (parent, n) in level.iter().flat_map(|p| (0..*width).map(move |n| (p, n))) {
            let path = if parent.is_empty() {
                format!("g{n}")
            } else {
                format!("{parent}/g{n}")
            };
            let cpu_max = (depth == 0).then_some(limit);
            groups.push(CgroupNode {
                path: path.clone(),
                cpu_max,
                ..CgroupNode::default()
            });
            next.push(path);
        }
        level = next;
    }
    CgroupTree {
        controllers: vec!["cpu".to_owned()],
        groups,
    }
}

/// What someone would write by hand: mkdir, echo, rmdir.
fn by_shell(top: &str, tree: &CgroupTree) -> Result<Duration, Box<dyn Error>> {
    let parents: HashSet<&str> = tree
        .groups
        .iter()
        .filter_map(|g| Some(g.path.rsplit_once('/')?.0))
        .collect();
    let mut script = format!("set -e\nmkdir {top}\necho +cpu > {top}/cgroup.subtree_control\n");
    for node in &tree.groups {
        let path = format!("{top}/{}", node.path);
        script.push_str(&format!("mkdir {path}\n"));
        if node.cpu_max.is_some() {
            script.push_str(&format!("echo 100000 100000 > {path}/cpu.max\n"));
        }
        if parents.contains(node.path.as_str()) {
            script.push_str(&format!("echo +cpu > {path}/cgroup.subtree_control\n"));
        }
    }
    for node in tree.groups.iter().rev() {
        script.push_str(&format!("rmdir {top}/{}\n", node.path));
    }
    script.push_str(&format!("rmdir {top}\n"));
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("tree.sh");
    std::fs::write(&file, script)?;
    let start = Instant::now();
    let status = Command::new("sh").arg(&file).status()?;
    if status.success() {
        Ok(start.elapsed())
    } else {
        Err("the shell script failed".into())
    }
}
