//! Removing a tree: everything in it is killed, then it goes bottom up. Bounded; what is left is named.

use std::io;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use schedrig_model::procfmt::parse_cgroup_events;

use super::fs::CgroupFs;
use crate::kernel::HostFiles;

/// A killed process may take this long to go: seen above 1 s, others wait 5 s.
const EMPTY_WITHIN: Duration = Duration::from_secs(10);
/// Between attempts to remove a group that is still busy though it is empty.
const RETRY_AFTER: Duration = Duration::from_millis(20);
const RETRIES: u32 = 500;

/// A group that could not be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// Its folder.
    pub path: String,
    /// What is still in it.
    pub pids: Vec<u32>,
}

/// What removing gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Groups removed.
    pub removed: usize,
    /// Groups that are still there.
    pub left: Vec<LeftOver>,
}

impl<F: HostFiles> CgroupFs<F> {
    /// Kills everything in the run's group, waits until it is gone, and removes the group and all below
    /// it. Doing it where there is nothing does no harm.
    pub fn remove(&self) -> Removal {
        let top = self.folder("");
        let mut removal = Removal::default();
        if !self.files().exists(&top) {
            return removal;
        }
        self.kill_all();
        let empty = |text: &str| parse_cgroup_events(text).is_ok_and(|e| !e.populated);
        // Not empty in time, or gone: removing tells which.
        let _ = self
            .files()
            .wait_until(&format!("{top}/cgroup.events"), EMPTY_WITHIN, &empty);
        let mut retries = RETRIES;
        for folder in self.bottom_up(&top) {
            match self.remove_one(&folder, &mut retries) {
                Ok(()) => removal.removed += 1,
                Err(_) => {
                    let pids = self.pids_in(&folder);
                    removal.left.push(LeftOver { path: folder, pids });
                }
            }
        }
        removal
    }

    /// Ends every process of the run at once, those included that changed their process group.
    pub fn kill_all(&self) {
        let top = self.folder("");
        if self
            .files()
            .write(&format!("{top}/cgroup.kill"), "1")
            .is_ok()
        {
            return;
        }
        // Kernels before 5.14: one by one, until a round finds none. A process that forks as fast as
        // this loop runs is named as a left-over.
        for _ in 0..16 {
            let pids = self.members("");
            if pids.is_empty() {
                return;
            }
            for pid in pids
                .into_iter()
                .filter_map(|p| i32::try_from(p).ok())
                .filter(|p| *p > 1)
            {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }

    /// Folders of groups, children before parents.
    fn bottom_up(&self, top: &str) -> Vec<String> {
        let mut found = vec![top.to_owned()];
        let mut next = 0;
        while next < found.len() {
            let folder = found[next].clone();
            let entries = self.files().list(&folder).unwrap_or_default();
            found.extend(
                entries
                    .into_iter()
                    .filter(|e| e.folder)
                    .map(|e| format!("{folder}/{}", e.name)),
            );
            next += 1;
        }
        found.reverse();
        found
    }

    fn remove_one(&self, folder: &str, retries: &mut u32) -> io::Result<()> {
        loop {
            match self.files().remove_folder(folder) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(err) if err.raw_os_error() == Some(libc::EBUSY) && *retries > 0 => {
                    *retries -= 1;
                    self.files().pause(RETRY_AFTER);
                }
                other => return other,
            }
        }
    }
}
