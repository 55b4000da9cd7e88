//! A machine in memory: files that behave as the kernel's do where this program depends on it. It
//! can be stopped after any operation, as by SIGKILL or power loss.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use super::super::files::{Entry, Held, HostFiles};

/// Where cgroup v2 is in this machine.
pub(crate) const CGROUP: &str = "sys/fs/cgroup";

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) folders: BTreeSet<String>,
    /// Writes to these fail with this number.
    pub(crate) refuse: BTreeMap<String, i32>,
    /// Processes by group.
    pub(crate) pids: BTreeMap<u32, String>,
    /// Processes that cgroup.kill does not end at once: waits until they go.
    pub(crate) dying: BTreeMap<u32, u32>,
    pub(crate) rt_group_sched_refuses: bool,
    /// Changes of the machine until it stops; `None`: it does not.
    changes_left: Option<usize>,
    dead: bool,
    /// Every write to a file of the kernel, in order.
    pub(crate) writes: Vec<(String, String)>,
}

/// A machine; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeMachine {
    state: Rc<RefCell<State>>,
}

fn error(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

impl FakeMachine {
    pub(crate) fn with(&self, change: impl FnOnce(&mut State)) -> &Self {
        change(&mut self.state.borrow_mut());
        self
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        self.state
            .borrow_mut()
            .files
            .insert(path.to_owned(), text.to_owned());
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.state.borrow().files.get(path).cloned()
    }

    pub(crate) fn refuse(&self, path: &str, errno: i32) {
        self.state
            .borrow_mut()
            .refuse
            .insert(path.to_owned(), errno);
    }

    /// Stops everything after so many more changes: a torn journal line may be left.
    pub(crate) fn stop_after(&self, changes: usize) {
        self.state.borrow_mut().changes_left = Some(changes);
    }

    /// Goes on after a stop; whether it had stopped.
    pub(crate) fn revive(&self) -> bool {
        let mut state = self.state.borrow_mut();
        state.changes_left = None;
        std::mem::take(&mut state.dead)
    }

    /// Files of the kernel, without the agent's own.
    pub(crate) fn kernel_files(&self) -> BTreeMap<String, String> {
        let files = self.state.borrow().files.clone();
        files
            .into_iter()
            .filter(|(path, _)| !path.starts_with("var/"))
            .collect()
    }

    pub(crate) fn writes(&self) -> Vec<(String, String)> {
        self.state.borrow().writes.clone()
    }

    fn alive(&self) -> io::Result<()> {
        if self.state.borrow().dead {
            Err(io::Error::other("the machine has stopped"))
        } else {
            Ok(())
        }
    }

    /// Counts a change; an error where the machine stops before it.
    fn change(&self) -> io::Result<()> {
        self.alive()?;
        let mut state = self.state.borrow_mut();
        match &mut state.changes_left {
            Some(0) => {
                state.dead = true;
                Err(io::Error::other("the machine stops here"))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl HostFiles for FakeMachine {
    fn read(&self, path: &str) -> io::Result<String> {
        self.alive()?;
        self.state.borrow_mut().read(path).map_err(error)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        self.change()?;
        self.state.borrow_mut().write(path, text).map_err(error)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Entry>> {
        self.alive()?;
        let state = self.state.borrow();
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let paths = state.files.keys().chain(&state.folders);
        let below = paths
            .filter_map(|p| p.strip_prefix(&prefix))
            .filter(|p| !p.is_empty());
        let mut entries: BTreeMap<String, bool> = BTreeMap::new();
        for rest in below {
            let name = rest.split('/').next().unwrap_or(rest);
            let folder = rest.contains('/') || state.folders.contains(&format!("{prefix}{rest}"));
            *entries.entry(name.to_owned()).or_default() |= folder;
        }
        if entries.is_empty() && !state.folders.contains(folder) {
            return Err(error(libc::ENOENT));
        }
        Ok(entries
            .into_iter()
            .map(|(name, folder)| Entry { name, folder })
            .collect())
    }

    fn exists(&self, path: &str) -> bool {
        let state = self.state.borrow();
        let below = format!("{path}/");
        state.files.contains_key(path)
            || state.folders.contains(path)
            || state
                .files
                .range(below.clone()..)
                .next()
                .is_some_and(|(p, _)| p.starts_with(&below))
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        self.change()?;
        self.state.borrow_mut().make_group(path).map_err(error)
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        self.change()?;
        self.state.borrow_mut().remove_group(path).map_err(error)
    }

    fn append_durably(&self, path: &str, text: &str) -> io::Result<()> {
        let stopped = self.change();
        let mut state = self.state.borrow_mut();
        // What the disk has of the line at which power was lost: half of it.
        let part = if stopped.is_ok() {
            text
        } else {
            &text[..text.len() / 2]
        };
        state
            .files
            .entry(path.to_owned())
            .or_default()
            .push_str(part);
        stopped
    }

    fn remove_file(&self, path: &str) -> io::Result<()> {
        self.change()?;
        match self.state.borrow_mut().files.remove(path) {
            Some(_) => Ok(()),
            None => Err(error(libc::ENOENT)),
        }
    }

    fn hold_open(&self, path: &str, _: &[u8]) -> io::Result<Held> {
        self.change()?;
        if self.exists(path) {
            Ok(Box::new(()))
        } else {
            Err(error(libc::ENOENT))
        }
    }

    fn open_folder(&self, _: &str) -> io::Result<OwnedFd> {
        Err(error(libc::ENOSYS))
    }

    fn wait_until(&self, path: &str, _: Duration, done: &dyn Fn(&str) -> bool) -> io::Result<bool> {
        for _ in 0..10 {
            if done(&self.read(path)?) {
                return Ok(true);
            }
            self.pause(Duration::ZERO);
        }
        Ok(false)
    }

    fn read_log(&self) -> io::Result<String> {
        self.read("dev/kmsg")
    }

    fn pause(&self, _: Duration) {
        self.state.borrow_mut().time_passes();
    }
}

impl State {
    fn read(&self, path: &str) -> Result<String, i32> {
        if path.ends_with("cgroup.kill") {
            return Err(libc::EINVAL);
        }
        self.files.get(path).cloned().ok_or(libc::ENOENT)
    }

    fn write(&mut self, path: &str, text: &str) -> Result<(), i32> {
        if !self.files.contains_key(path) {
            return Err(libc::ENOENT);
        }
        if let Some(errno) = self.refuse.get(path) {
            return Err(*errno);
        }
        self.writes.push((path.to_owned(), text.to_owned()));
        let text = text.trim_end();
        if let Some(inside) = path.strip_prefix(CGROUP) {
            return self.write_group(&inside[1..], text);
        }
        self.write_cpu(path, text)
    }
}
