//! Processes in their groups.

use std::os::fd::OwnedFd;

use schedrig_model::host::cgroups::GroupAction;

use super::error::CgroupError;
use super::fs::CgroupFs;
use crate::kernel::{HostFiles, ProcFs};

impl<F: HostFiles> CgroupFs<F> {
    /// Moves a process into a group of this run. Called by the child's starter before exec, or for a
    /// child that waits: never for a process that already runs the workload.
    ///
    /// # Errors
    /// The process has ended; the group cannot hold processes.
    pub fn attach_pid(&self, group: &str, pid: u32) -> Result<(), CgroupError> {
        let folder = self.folder(group);
        self.files()
            .write(&format!("{folder}/cgroup.procs"), &pid.to_string())
            .map_err(|err| {
                let what = format!("move pid {pid} into `{folder}`");
                self.explained(GroupAction::Attach, what, &folder, &err)
            })
    }

    /// The folder of a group, open: for clone3 with CLONE_INTO_CGROUP.
    ///
    /// # Errors
    /// It is not there.
    pub fn open_dir_fd(&self, group: &str) -> Result<OwnedFd, CgroupError> {
        let path = self.folder(group);
        self.files()
            .open_folder(&path)
            .map_err(|err| CgroupError::Read { path, err })
    }

    /// Checks that a process is in the group, by `/proc/PID/cgroup`. A process that has ended is in
    /// none: `Ok(false)`.
    ///
    /// # Errors
    /// It is in another group.
    pub fn verify_member(&self, group: &str, pid: u32) -> Result<bool, CgroupError> {
        let wanted = self.kernel_path(group);
        let Ok(found) = ProcFs::new(self.files()).cgroup_of(pid) else {
            return Ok(false);
        };
        match found {
            Some(found) if found == wanted => Ok(true),
            found => {
                let found = found.unwrap_or_else(|| "no v2 group".to_owned());
                Err(CgroupError::Member { pid, wanted, found })
            }
        }
    }

    /// The processes of a group and of all below it.
    pub fn members(&self, group: &str) -> Vec<u32> {
        let mut pids = Vec::new();
        let mut folders = vec![self.folder(group)];
        while let Some(folder) = folders.pop() {
            pids.extend(self.pids_in(&folder));
            let entries = self.files().list(&folder).unwrap_or_default();
            folders.extend(
                entries
                    .into_iter()
                    .filter(|e| e.folder)
                    .map(|e| format!("{folder}/{}", e.name)),
            );
        }
        pids.sort_unstable();
        pids
    }
}
