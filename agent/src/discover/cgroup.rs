//! What cgroups this machine has.

use schedrig_model::procfmt::{self, CgroupFacts};

use super::roots::{Roots, line_of};

/// The mounts, the hierarchies, the controllers of the v2 root.
pub(super) fn cgroup_facts(roots: &Roots) -> CgroupFacts {
    let mountinfo = line_of(&roots.proc.join("self/mountinfo")).unwrap_or_default();
    let mounts = procfmt::parse_mountinfo(&mountinfo);
    let cgroups = line_of(&roots.proc.join("cgroups")).unwrap_or_default();
    // Mount points are absolute; below another root they hang off that root's sys folder.
    let point = procfmt::decide_cgroup_mode(&mounts)
        .1
        .map(|p| match p.strip_prefix("/sys/") {
            Some(rest) => roots.sys.join(rest),
            None => p.into(),
        });
    let v2_controllers = point.map(|p| {
        let text = line_of(&p.join("cgroup.controllers")).unwrap_or_default();
        text.split_ascii_whitespace().map(str::to_owned).collect()
    });
    CgroupFacts {
        mounts,
        hierarchies: procfmt::parse_proc_cgroups(&cgroups).unwrap_or_default(),
        v2_controllers,
    }
}
