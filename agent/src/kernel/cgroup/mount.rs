//! Where cgroup v2 is, and whether it has the cpu controller.

use schedrig_model::host::cgroups::decide_base;
use schedrig_model::procfmt::{
    CgroupFacts, CgroupMode, cpu_controller_gap, decide_cgroup_mode, parse_mountinfo,
    parse_proc_cgroup, parse_proc_cgroups,
};

use super::error::CgroupError;
use crate::kernel::HostFiles;

/// The cgroups of a machine as the agent finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupMount {
    /// How they are mounted.
    pub mode: CgroupMode,
    /// Where v2 is, relative to the root; `None` where it is not mounted.
    pub point: Option<String>,
    /// What the root of v2 offers.
    pub controllers: Vec<String>,
    /// Why CPU limits cannot be set, and what would mend it.
    pub gap: Option<String>,
    /// The agent's own group, as `/proc/self/cgroup` states it.
    pub own: Option<String>,
    /// systemd manages this machine.
    pub systemd: bool,
}

impl CgroupMount {
    /// Looks at a machine.
    ///
    /// # Errors
    /// /proc is not there or not as it should be.
    pub fn detect(files: &impl HostFiles) -> Result<Self, CgroupError> {
        let read = |path: &str| {
            files.read(path).map_err(|err| CgroupError::Read {
                path: path.to_owned(),
                err,
            })
        };
        let mounts = parse_mountinfo(&read("proc/self/mountinfo")?);
        // Kernels that only know v2 may have no /proc/cgroups.
        let text = files.read("proc/cgroups").unwrap_or_default();
        let parse = |err| CgroupError::Parse {
            path: "proc/cgroups".to_owned(),
            err,
        };
        let hierarchies = parse_proc_cgroups(&text).map_err(parse)?;
        let (mode, point) = decide_cgroup_mode(&mounts);
        let point = point.map(|p| p.trim_start_matches('/').to_owned());
        let words = |path: String| -> Option<Vec<String>> {
            let text = files.read(&path).ok()?;
            Some(text.split_ascii_whitespace().map(str::to_owned).collect())
        };
        let v2 = point
            .as_ref()
            .and_then(|p| words(format!("{p}/cgroup.controllers")));
        let own = files.read("proc/self/cgroup").ok();
        let own = own
            .as_deref()
            .and_then(parse_proc_cgroup)
            .map(str::to_owned);
        let facts = CgroupFacts {
            mounts,
            hierarchies,
            v2_controllers: v2.clone(),
        };
        Ok(CgroupMount {
            mode,
            gap: cpu_controller_gap(&facts),
            point,
            controllers: v2.unwrap_or_default(),
            own,
            systemd: files.exists("run/systemd/system"),
        })
    }

    /// The group to work under, relative to the root of cgroup v2.
    ///
    /// # Errors
    /// No v2 with the cpu controller; systemd owns the place.
    pub fn base(&self, files: &impl HostFiles) -> Result<String, CgroupError> {
        if let Some(gap) = &self.gap {
            return Err(CgroupError::Unavailable(gap.clone()));
        }
        let own = self.own.as_deref().unwrap_or("/");
        let point = self.point.as_deref().unwrap_or("sys/fs/cgroup");
        let unit = own.trim_matches('/');
        let unit = unit.strip_suffix("/supervisor").unwrap_or(unit);
        let path = format!("{point}/{unit}/cgroup.controllers").replace("//", "/");
        let text = files
            .read(&path)
            .map_err(|err| CgroupError::Read { path, err })?;
        let here: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
        decide_base(own, self.systemd, &here).map_err(CgroupError::Unavailable)
    }
}
