//! cgroup v2, as seen on 6.1, 6.12 and 7.2.

use schedrig_model::CpuSet;

use super::{CGROUP, FakeMachine, State};

/// Gives a machine a cgroup v2 root with these controllers, and CPUs 0-7.
pub(crate) fn mount(fake: &FakeMachine, controllers: &str) {
    fake.with(|state| {
        state.folders.insert(CGROUP.to_owned());
        for (file, text) in [
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", ""),
            ("cgroup.procs", ""),
            ("cpuset.cpus.effective", "0-7"),
        ] {
            state
                .files
                .insert(format!("{CGROUP}/{file}"), format!("{text}\n"));
        }
    });
}

/// Puts a process into a group (relative to the root of cgroup v2).
pub(crate) fn spawn(fake: &FakeMachine, pid: u32, group: &str) {
    fake.with(|state| {
        state.pids.insert(pid, group.to_owned());
        state.refresh();
    });
}

fn join(group: &str, file: &str) -> String {
    if group.is_empty() {
        format!("{CGROUP}/{file}")
    } else {
        format!("{CGROUP}/{group}/{file}")
    }
}

impl State {
    fn group_text(&self, group: &str, file: &str) -> &str {
        self.files.get(&join(group, file)).map_or("", |t| t.trim())
    }

    fn set_group(&mut self, group: &str, file: &str, text: &str) {
        self.files.insert(join(group, file), format!("{text}\n"));
    }

    fn children(&self, group: &str) -> Vec<String> {
        let prefix = join(group, "");
        let below = self.folders.iter().filter_map(|f| f.strip_prefix(&prefix));
        let direct = below.filter(|f| !f.contains('/'));
        direct
            .map(|f| {
                if group.is_empty() {
                    f.to_owned()
                } else {
                    format!("{group}/{f}")
                }
            })
            .collect()
    }

    fn parent(group: &str) -> &str {
        group.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    pub(super) fn make_group(&mut self, path: &str) -> Result<(), i32> {
        let Some(group) = path
            .strip_prefix(CGROUP)
            .map(|p| p.trim_matches('/').to_owned())
        else {
            self.folders.insert(path.to_owned());
            return Ok(());
        };
        if self.folders.contains(path) {
            return Err(libc::EEXIST);
        }
        let parent = Self::parent(&group).to_owned();
        if !self
            .folders
            .contains(join(&parent, "").trim_end_matches('/'))
        {
            return Err(libc::ENOENT);
        }
        self.folders.insert(path.to_owned());
        let files = [
            ("cgroup.procs", ""),
            ("cgroup.subtree_control", ""),
            ("cgroup.controllers", ""),
            ("cgroup.kill", ""),
            ("cgroup.type", "domain"),
            ("cgroup.events", "populated 0\nfrozen 0"),
            ("cpu.stat", "usage_usec 0\nuser_usec 0\nsystem_usec 0"),
        ];
        for (file, text) in files {
            self.set_group(&group, file, text);
        }
        if self
            .group_text(&parent, "cgroup.type")
            .starts_with("domain threaded")
        {
            self.set_group(&group, "cgroup.type", "domain invalid");
        }
        self.inherit(&group);
        Ok(())
    }

    /// Files of the controllers that the parent hands down.
    fn inherit(&mut self, group: &str) {
        let handed = self
            .group_text(Self::parent(group), "cgroup.subtree_control")
            .to_owned();
        self.set_group(group, "cgroup.controllers", &handed);
        for controller in handed.split_whitespace() {
            let files: &[(&str, &str)] = match controller {
                "cpu" => &[
                    ("cpu.max", "max 100000"),
                    ("cpu.max.burst", "0"),
                    ("cpu.weight", "100"),
                ],
                "cpuset" => &[
                    ("cpuset.cpus", ""),
                    ("cpuset.cpus.effective", "0-7"),
                    ("cpuset.cpus.partition", "member"),
                ],
                _ => &[],
            };
            for (file, text) in files {
                if !self.files.contains_key(&join(group, file)) {
                    self.set_group(group, file, text);
                }
            }
        }
    }

    pub(super) fn remove_group(&mut self, path: &str) -> Result<(), i32> {
        let group = path
            .strip_prefix(CGROUP)
            .unwrap_or(path)
            .trim_matches('/')
            .to_owned();
        if !self.folders.contains(path) {
            return Err(libc::ENOENT);
        }
        if !self.children(&group).is_empty() || self.pids.values().any(|g| *g == group) {
            return Err(libc::EBUSY);
        }
        self.folders.remove(path);
        let prefix = format!("{path}/");
        self.files.retain(|file, _| !file.starts_with(&prefix));
        Ok(())
    }

    pub(super) fn write_group(&mut self, path: &str, text: &str) -> Result<(), i32> {
        let (group, file) = path.rsplit_once('/').unwrap_or(("", path));
        let group = group.to_owned();
        match file {
            "cgroup.subtree_control" => self.enable(&group, text),
            "cgroup.procs" => self.attach(&group, text),
            "cgroup.kill" if text == "1" => {
                self.kill(&group);
                Ok(())
            }
            "cgroup.kill" => Err(libc::ERANGE),
            "cpu.max" => self.cpu_max(&group, text),
            "cpu.max.burst" => {
                let burst: u64 = text.parse().map_err(|_| libc::EINVAL)?;
                let quota = self
                    .group_text(&group, "cpu.max")
                    .split(' ')
                    .next()
                    .unwrap_or("");
                let fits = quota.parse::<u64>().is_ok_and(|q| burst <= q) || burst == 0;
                if !fits {
                    return Err(libc::EINVAL);
                }
                self.set_group(&group, file, text);
                Ok(())
            }
            "cpu.weight" => match text.parse::<u32>() {
                Ok(1..=10_000) => {
                    self.set_group(&group, file, text);
                    Ok(())
                }
                _ => Err(libc::ERANGE),
            },
            "cpuset.cpus" => {
                let cpus = CpuSet::parse_list(text).map_err(|_| libc::EINVAL)?;
                if !cpus.is_subset(&CpuSet::range(0, 7)) {
                    return Err(libc::ERANGE);
                }
                self.set_group(&group, file, text);
                self.set_group(&group, "cpuset.cpus.effective", text);
                Ok(())
            }
            "cpuset.cpus.partition" => {
                let parent = self.group_text(Self::parent(&group), "cpuset.cpus.partition");
                let valid = text == "member" || Self::parent(&group).is_empty() || parent == "root";
                let reads = if valid {
                    text.to_owned()
                } else {
                    format!("{text} invalid (Parent is not a partition root)")
                };
                self.set_group(&group, file, &reads);
                Ok(())
            }
            _ => {
                self.set_group(&group, file, text);
                Ok(())
            }
        }
    }

    fn enable(&mut self, group: &str, text: &str) -> Result<(), i32> {
        let has: Vec<String> = self
            .group_text(group, "cgroup.controllers")
            .split(' ')
            .map(str::to_owned)
            .collect();
        let wanted: Vec<&str> = text
            .split_whitespace()
            .filter_map(|w| w.strip_prefix('+'))
            .collect();
        if wanted.contains(&"cpu") && self.rt_group_sched_refuses {
            return Err(libc::EINVAL);
        }
        if wanted.iter().any(|w| !has.iter().any(|h| h == w)) {
            return Err(libc::ENOENT);
        }
        let populated = !group.is_empty() && self.pids.values().any(|g| g == group);
        if populated && wanted.contains(&"memory") {
            return Err(libc::EBUSY);
        }
        let mut now: Vec<String> = self
            .group_text(group, "cgroup.subtree_control")
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        for word in &wanted {
            if !now.iter().any(|n| n == word) {
                now.push((*word).to_owned());
            }
        }
        self.set_group(group, "cgroup.subtree_control", &now.join(" "));
        if populated {
            self.set_group(group, "cgroup.type", "domain threaded");
        }
        for child in self.children(group) {
            self.inherit(&child);
            if populated {
                self.set_group(&child, "cgroup.type", "domain invalid");
            }
        }
        Ok(())
    }

    fn attach(&mut self, group: &str, text: &str) -> Result<(), i32> {
        let pid: u32 = text.parse().map_err(|_| libc::EINVAL)?;
        if !self.pids.contains_key(&pid) {
            return Err(libc::ESRCH);
        }
        if self.group_text(group, "cgroup.type") == "domain invalid" {
            return Err(libc::EOPNOTSUPP);
        }
        if !group.is_empty() && !self.group_text(group, "cgroup.subtree_control").is_empty() {
            return Err(libc::EBUSY);
        }
        self.pids.insert(pid, group.to_owned());
        self.refresh();
        Ok(())
    }

    fn kill(&mut self, group: &str) {
        let inside = |g: &String| g == group || g.starts_with(&format!("{group}/"));
        let dying = self.dying.clone();
        self.pids
            .retain(|pid, g| !inside(g) || dying.contains_key(pid));
        self.refresh();
    }

    pub(super) fn time_passes(&mut self) {
        for left in self.dying.values_mut() {
            *left = left.saturating_sub(1);
        }
        let gone: Vec<u32> = self
            .dying
            .iter()
            .filter(|(_, l)| **l == 0)
            .map(|(p, _)| *p)
            .collect();
        for pid in gone {
            self.dying.remove(&pid);
            self.pids.remove(&pid);
        }
        self.refresh();
    }

    fn cpu_max(&mut self, group: &str, text: &str) -> Result<(), i32> {
        let (quota, period) = text.split_once(' ').unwrap_or((text, "100000"));
        let period: u64 = period.parse().map_err(|_| libc::EINVAL)?;
        let burst: u64 = self.group_text(group, "cpu.max.burst").parse().unwrap_or(0);
        if !(1000..=1_000_000).contains(&period) {
            return Err(libc::EINVAL);
        }
        if quota != "max" {
            let quota: u64 = quota.parse().map_err(|_| libc::EINVAL)?;
            if quota < 1000 || burst > quota {
                return Err(libc::EINVAL);
            }
        }
        self.set_group(group, "cpu.max", text);
        Ok(())
    }

    /// What follows from where the processes are.
    fn refresh(&mut self) {
        self.files
            .retain(|path, _| !(path.starts_with("proc/") && path.ends_with("/cgroup")));
        let pids = self.pids.clone();
        for (pid, group) in &pids {
            self.files
                .insert(format!("proc/{pid}/cgroup"), format!("0::/{group}\n"));
        }
        let prefix = format!("{CGROUP}/");
        let groups: Vec<String> = self
            .folders
            .iter()
            .filter_map(|f| f.strip_prefix(&prefix))
            .map(str::to_owned)
            .collect();
        for group in groups.iter().map(String::as_str).chain([""]) {
            let inside = |g: &&String| *g == group || g.starts_with(&format!("{group}/"));
            let populated = u8::from(pids.values().any(|g| inside(&g)));
            let here = pids
                .iter()
                .filter(|(_, g)| *g == group)
                .map(|(p, _)| p.to_string());
            let here: Vec<String> = here.collect();
            self.set_group(group, "cgroup.procs", &here.join("\n"));
            if !group.is_empty() {
                let events = format!("populated {populated}\nfrozen 0");
                self.set_group(group, "cgroup.events", &events);
            }
        }
    }
}
