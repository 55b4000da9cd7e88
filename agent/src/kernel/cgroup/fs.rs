//! The groups of one run.

use schedrig_model::RunId;
use schedrig_model::host::cgroups::{GroupAction, GroupContext, SUPERVISOR, explain_group_errno};

use super::error::CgroupError;
use crate::kernel::{HostFiles, ProcFs, errno_of};

/// Names of our groups begin so; nothing else is ever touched.
const PREFIX: &str = "schedrig-";
/// Real-time threads named in a message.
const RT_THREADS_NAMED: usize = 3;

/// The groups of one run, below the agent's base group.
#[derive(Debug)]
pub struct CgroupFs<F> {
    files: F,
    /// Where v2 is mounted, relative to the root.
    mount: String,
    /// The agent's base group, relative to the mount; empty: the root of v2.
    base: String,
    /// `schedrig-RUN`.
    name: String,
}

impl<F: HostFiles> CgroupFs<F> {
    /// The groups of `run` below `base` (see [`super::CgroupMount::base`]).
    pub fn new(files: F, mount: &str, base: &str, run: &RunId) -> Self {
        let clean = |c: char| {
            if c.is_ascii_alphanumeric() || "-_".contains(c) {
                c
            } else {
                '_'
            }
        };
        CgroupFs {
            files,
            mount: mount.trim_matches('/').to_owned(),
            base: base.trim_matches('/').to_owned(),
            name: format!(
                "{PREFIX}{}",
                run.as_str().chars().map(clean).collect::<String>()
            ),
        }
    }

    /// The files it works on.
    pub fn files(&self) -> &F {
        &self.files
    }

    /// A group as `/proc/PID/cgroup` states it.
    pub fn kernel_path(&self, group: &str) -> String {
        let parts = [self.base.as_str(), self.name.as_str(), group];
        let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
        format!("/{}", parts.join("/"))
    }

    /// The folder of a group of this run; the empty path is the run's own group.
    pub(super) fn folder(&self, group: &str) -> String {
        format!("{}{}", self.mount, self.kernel_path(group))
    }

    /// `cgroup.procs` of a group, relative to the root.
    pub fn procs_file(&self, group: &str) -> String {
        format!("{}/cgroup.procs", self.folder(group))
    }

    /// The folder of the base group.
    pub(super) fn base_folder(&self) -> String {
        if self.base.is_empty() {
            self.mount.clone()
        } else {
            format!("{}/{}", self.mount, self.base)
        }
    }

    pub(super) fn folder_of_mount(&self) -> &str {
        &self.mount
    }

    /// A file of a group.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self, group: &str, file: &str) -> Result<String, CgroupError> {
        let path = format!("{}/{file}", self.folder(group));
        self.files
            .read(&path)
            .map_err(|err| CgroupError::Read { path, err })
    }

    /// Makes the base group fit for children: the agent and whatever else is in it moves into a leaf,
    /// as the group may not hold processes and hand controllers down. At the root of v2 nothing has to
    /// move.
    ///
    /// # Errors
    /// The subtree is not delegated; a controller is refused.
    pub fn settle(&self, controllers: &[String]) -> Result<(), CgroupError> {
        let base = self.base_folder();
        if !self.base.is_empty() {
            let leaf = format!("{base}/{SUPERVISOR}");
            if !self.files.exists(&leaf) {
                self.make(&leaf)?;
            }
            for pid in self.pids_in(&base) {
                // A process that ended meanwhile needs no move.
                let _ = self
                    .files
                    .write(&format!("{leaf}/cgroup.procs"), &pid.to_string());
            }
        }
        self.enable(&base, controllers)
    }

    /// Names of runs whose groups are still there: left by an agent that was killed.
    pub fn left_over_runs(&self) -> Vec<String> {
        let entries = self.files.list(&self.base_folder()).unwrap_or_default();
        let names = entries.into_iter().filter(|e| e.folder);
        names
            .filter_map(|e| Some(e.name.strip_prefix(PREFIX)?.to_owned()))
            .collect()
    }

    pub(super) fn make(&self, folder: &str) -> Result<(), CgroupError> {
        self.files.make_folder(folder).map_err(|err| {
            self.explained(GroupAction::Make, format!("make `{folder}`"), folder, &err)
        })
    }

    pub(super) fn enable(&self, folder: &str, controllers: &[String]) -> Result<(), CgroupError> {
        if controllers.is_empty() {
            return Ok(());
        }
        let path = format!("{folder}/cgroup.subtree_control");
        let now = self.files.read(&path).unwrap_or_default();
        let missing = controllers
            .iter()
            .filter(|c| !now.split_ascii_whitespace().any(|n| n == **c));
        let words: Vec<String> = missing.map(|c| format!("+{c}")).collect();
        if words.is_empty() {
            return Ok(());
        }
        self.files.write(&path, &words.join(" ")).map_err(|err| {
            let what = format!("hand {} down in `{folder}`", controllers.join(" "));
            self.explained(GroupAction::Enable { controllers }, what, folder, &err)
        })
    }

    pub(super) fn set(&self, folder: &str, file: &str, value: &str) -> Result<(), CgroupError> {
        self.files
            .write(&format!("{folder}/{file}"), value)
            .map_err(|err| {
                let what = format!("write `{value}` to {file} of `{folder}`");
                self.explained(GroupAction::Set { file }, what, folder, &err)
            })
    }

    pub(super) fn pids_in(&self, folder: &str) -> Vec<u32> {
        let text = self
            .files
            .read(&format!("{folder}/cgroup.procs"))
            .unwrap_or_default();
        text.split_ascii_whitespace()
            .filter_map(|w| w.parse().ok())
            .collect()
    }

    pub(super) fn explained(
        &self,
        action: GroupAction<'_>,
        what: String,
        folder: &str,
        err: &std::io::Error,
    ) -> CgroupError {
        let errno = errno_of(err);
        let context = self.context(folder);
        CgroupError::Operation {
            what,
            errno,
            reason: explain_group_errno(action, errno, &context),
        }
    }

    /// Looks up what may explain an error.
    fn context(&self, folder: &str) -> GroupContext {
        let text = |file: &str| {
            let text = self.files.read(&format!("{folder}/{file}")).ok()?;
            Some(text.trim().to_owned())
        };
        let threads = ProcFs::new(&self.files).rt_threads(RT_THREADS_NAMED);
        let in_words = threads
            .iter()
            .map(|t| format!("{} (policy {}, prio {})", t.name, t.policy, t.priority));
        GroupContext {
            kind: text("cgroup.type"),
            populated_ancestor: self.populated_ancestor(folder),
            rt_threads: in_words.collect(),
            hands_down: text("cgroup.subtree_control").is_some_and(|t| !t.is_empty()),
        }
    }

    fn populated_ancestor(&self, folder: &str) -> Option<String> {
        let mut at = folder;
        while let Some((parent, _)) = at.rsplit_once('/') {
            if parent == self.mount || !parent.starts_with(&self.mount) {
                return None;
            }
            if !self.pids_in(parent).is_empty() {
                return Some(parent[self.mount.len() + 1..].to_owned());
            }
            at = parent;
        }
        None
    }
}
