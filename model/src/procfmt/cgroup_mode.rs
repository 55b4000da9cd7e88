//! Whether CPU limits can be set through cgroup v2 here, and what to do where not. A mounted cgroup2
//! is not enough: its root has to list the cpu controller.

use serde::{Deserialize, Serialize};

use super::line::LineError;

/// A line of `/proc/cgroups`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// The controller.
    pub controller: String,
    /// 0: bound to no v1 hierarchy.
    pub hierarchy: u32,
    /// Not disabled on the command line.
    pub enabled: bool,
}

/// Reads `/proc/cgroups`.
///
/// # Errors
/// A line without four columns.
pub fn parse_proc_cgroups(text: &str) -> Result<Vec<Hierarchy>, LineError> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.starts_with('#') && !l.is_empty());
    let parse = |(index, line): (usize, &str)| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let hierarchy = words.get(1).and_then(|w| w.parse().ok());
        match (words.as_slice(), hierarchy) {
            ([controller, _, _, enabled], Some(hierarchy)) => Ok(Hierarchy {
                controller: (*controller).to_owned(),
                hierarchy,
                enabled: *enabled == "1",
            }),
            _ => Err(LineError::new(
                index,
                line,
                "controller, hierarchy, groups, enabled",
            )),
        }
    };
    lines.map(parse).collect()
}

/// A mount of `/proc/PID/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub point: String,
    /// Type of file system: `cgroup2`.
    pub fs_type: String,
    /// Options of the super block: the controllers of a v1 hierarchy.
    pub super_options: Vec<String>,
}

/// Reads `/proc/PID/mountinfo`; lines that are none are passed over, as the kernel escapes all odd
/// characters.
pub fn parse_mountinfo(text: &str) -> Vec<Mount> {
    let parse = |line: &str| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let fs_type = right.next()?.to_owned();
        let options = right.nth(1).unwrap_or("").split(',').map(str::to_owned);
        let point = left.split(' ').nth(4)?.replace("\\040", " ");
        Some(Mount {
            point,
            fs_type,
            super_options: options.collect(),
        })
    };
    text.lines().filter_map(parse).collect()
}

/// How a machine has its cgroups mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupMode {
    /// v2 alone.
    Unified,
    /// v2 beside v1.
    Hybrid,
    /// v1 alone.
    V1,
    /// None is mounted.
    None,
}

impl CgroupMode {
    /// As host facts state it.
    pub fn word(self) -> &'static str {
        match self {
            CgroupMode::Unified => "unified",
            CgroupMode::Hybrid => "hybrid",
            CgroupMode::V1 => "v1",
            CgroupMode::None => "none",
        }
    }
}

/// What the decision is made of.
#[derive(Clone, Debug)]
pub struct CgroupFacts {
    /// Of `/proc/self/mountinfo`.
    pub mounts: Vec<Mount>,
    /// Of `/proc/cgroups`.
    pub hierarchies: Vec<Hierarchy>,
    /// `cgroup.controllers` of the v2 root; `None` where there is no v2 mount.
    pub v2_controllers: Option<Vec<String>>,
}

/// The mode, and the mount point of v2 where there is one.
pub fn decide_cgroup_mode(mounts: &[Mount]) -> (CgroupMode, Option<&str>) {
    let v2 = mounts
        .iter()
        .find(|m| m.fs_type == "cgroup2")
        .map(|m| m.point.as_str());
    // A named hierarchy (name=systemd) has no controller and takes nothing from v2.
    let binds = |m: &Mount| {
        m.fs_type == "cgroup" && !m.super_options.iter().any(|o| o.starts_with("name="))
    };
    let mode = match (v2, mounts.iter().any(binds)) {
        (Some(_), false) => CgroupMode::Unified,
        (Some(_), true) => CgroupMode::Hybrid,
        (None, true) => CgroupMode::V1,
        (None, false) => CgroupMode::None,
    };
    (mode, v2)
}

/// Why CPU limits cannot be set, and what would mend it; `None` where they can.
pub fn cpu_controller_gap(facts: &CgroupFacts) -> Option<String> {
    controller_gap(facts, "cpu")
}

fn controller_gap(facts: &CgroupFacts, controller: &str) -> Option<String> {
    let listed = |names: &Vec<String>| names.iter().any(|n| n == controller);
    if facts.v2_controllers.as_ref().is_some_and(listed) {
        return None;
    }
    let head = format!("cgroup v2 '{controller}' controller is not available");
    let boot =
        "Boot with systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all, or run without CPU limits.";
    let on_v1 = facts
        .mounts
        .iter()
        .find(|m| m.fs_type == "cgroup" && m.super_options.iter().any(|o| o == controller));
    let known = facts
        .hierarchies
        .iter()
        .find(|h| h.controller == controller);
    let number = known.map_or(0, |h| h.hierarchy);
    Some(match (on_v1, known) {
        (Some(mount), _) => {
            let point = &mount.point;
            format!("{head}: it is mounted as cgroup v1 at {point} (hierarchy {number}). {boot}")
        }
        (None, Some(h)) if !h.enabled => {
            format!(
                "{head}: it is disabled on the kernel command line (cgroup_disable={controller})"
            )
        }
        (None, Some(_)) if number != 0 => {
            format!("{head}: it is bound to cgroup v1 (hierarchy {number}). {boot}")
        }
        (None, _) if facts.v2_controllers.is_none() => {
            format!("{head}: no cgroup2 file system is mounted. {boot}")
        }
        (None, _) => format!(
            "{head}: the root of cgroup v2 lists only `{}`; the kernel may lack CONFIG_CGROUP_SCHED, or a container hides it",
            facts
                .v2_controllers
                .as_deref()
                .unwrap_or_default()
                .join(" ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
        40 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    fn facts(mounts: &str, cgroups: &str, v2: Option<&str>) -> CgroupFacts {
        CgroupFacts {
            mounts: parse_mountinfo(mounts),
            hierarchies: parse_proc_cgroups(cgroups).unwrap(),
            v2_controllers: v2.map(|v| v.split(' ').map(str::to_owned).collect()),
        }
    }

    #[test]
    fn hybrid_is_refused_with_the_boot_parameter() {
        let facts = facts(
            HYBRID,
            "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t1\t1\t1\n",
            Some("memory"),
        );
        assert_eq!(
            decide_cgroup_mode(&facts.mounts),
            (CgroupMode::Hybrid, Some("/sys/fs/cgroup/unified"))
        );
        assert_eq!(
            cpu_controller_gap(&facts).unwrap(),
            "cgroup v2 'cpu' controller is not available: it is mounted as cgroup v1 at \
             /sys/fs/cgroup/cpu,cpuacct (hierarchy 1). Boot with \
             systemd.unified_cgroup_hierarchy=1 cgroup_no_v1=all, or run without CPU limits."
        );
    }

    #[test]
    fn unified_with_cpu_has_no_gap() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n\
            33 31 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n";
        let facts = facts(mounts, "cpu\t0\t4\t1\n", Some("cpuset cpu io"));
        assert_eq!(decide_cgroup_mode(&facts.mounts).0, CgroupMode::Unified);
        assert_eq!(cpu_controller_gap(&facts), None);
    }

    #[test]
    fn a_mounted_cgroup2_without_cpu_is_a_gap() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n";
        let gap = cpu_controller_gap(&facts(mounts, "memory\t0\t4\t1\n", Some("memory"))).unwrap();
        assert!(gap.contains("lists only `memory`"), "{gap}");
        let gap = cpu_controller_gap(&facts(mounts, "cpu\t0\t4\t0\n", Some("memory"))).unwrap();
        assert!(gap.contains("cgroup_disable=cpu"), "{gap}");
        let gap = cpu_controller_gap(&facts("", "cpu\t0\t4\t1\n", None)).unwrap();
        assert!(gap.contains("no cgroup2 file system is mounted"), "{gap}");
    }
}
