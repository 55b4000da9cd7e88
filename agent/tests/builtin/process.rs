//! Starting a builtin as its own process group, and looking at what is left of it.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than anything here takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// `None`: killed by a signal.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// `schedrig-agent builtin NAME ARGS`.
pub(crate) fn builtin(name: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedrig-agent"));
    command.arg("builtin").arg(name).args(args);
    command
}

/// The same with a limit of open files.
pub(crate) fn with_open_files(limit: u64, command: Command) -> Command {
    limited(Resource::RLIMIT_NOFILE, limit, command)
}

/// The same with a limit of the address space, bytes.
pub(crate) fn with_address_space(limit: u64, command: Command) -> Command {
    limited(Resource::RLIMIT_AS, limit, command)
}

fn limited(resource: Resource, limit: u64, mut command: Command) -> Command {
    // SAFETY: setrlimit is a plain system call and takes no lock.
    unsafe {
        command.pre_exec(move || Ok(setrlimit(resource, limit, limit)?));
    }
    command
}

/// Runs to the end.
pub(crate) fn run(command: Command) -> Run {
    start(command).wait()
}

/// Starts in a process group of its own. Output goes into files: a child left over cannot keep the
/// test waiting for the end of a pipe.
pub(crate) fn start(mut command: Command) -> Running {
    let output = [file(), file()];
    let [stdout, stderr] = output
        .each_ref()
        .map(|f| Stdio::from(f.try_clone().expect("a second handle")));
    let child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .expect("the built program");
    Running { child, output }
}

fn file() -> File {
    tempfile::tempfile().expect("a temporary file")
}

fn text(file: &mut File) -> String {
    let mut text = String::new();
    file.rewind().expect("a file that can be rewound");
    file.read_to_string(&mut text).expect("UTF-8 output");
    text
}

/// A started builtin.
pub(crate) struct Running {
    child: Child,
    output: [File; 2],
}

impl Running {
    /// Its process group: that of all its children.
    pub(crate) fn group(&self) -> i32 {
        self.child.id() as i32
    }

    /// Waits for a line on stdout that begins with `start`.
    pub(crate) fn wait_for_line(&mut self, start: &str) -> String {
        let mut line = None;
        let file = &mut self.output[0];
        until(start, || {
            let text = text(file);
            line = text
                .split_inclusive('\n')
                .find(|l| l.starts_with(start) && l.ends_with('\n'))
                .map(|l| l.trim_end().to_owned());
            line.is_some().then_some(()).ok_or(text)
        });
        line.expect("found above")
    }

    /// Waits until the group has so many tasks (threads of all processes).
    pub(crate) fn wait_for_tasks(&mut self, tasks: usize) {
        let group = self.group();
        until(&format!("{tasks} tasks"), || {
            let now: usize = members(group).iter().map(|pid| threads(*pid)).sum();
            (now >= tasks).then_some(()).ok_or(format!("{now} tasks"))
        });
    }

    /// Sends SIGTERM to the main process alone and waits for it.
    pub(crate) fn terminate(self) -> Run {
        kill(Pid::from_raw(self.group()), Signal::SIGTERM).expect("our own process");
        self.wait()
    }

    /// Kills one of the children, as the kernel does when memory runs out.
    pub(crate) fn kill_one_child(&self) {
        let child = members(self.group())
            .into_iter()
            .find(|pid| *pid != self.group())
            .expect("a child");
        kill(Pid::from_raw(child), Signal::SIGKILL).expect("our own child");
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> Run {
        let deadline = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("our own child") {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().expect("our own child");
                panic!("still running after {LIMIT:?}");
            }
            std::thread::park_timeout(Duration::from_millis(5));
        };
        let [stdout, stderr] = self.output.each_mut().map(text);
        Run {
            status: status.code(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Running {
    /// A test that failed leaves nothing behind.
    fn drop(&mut self) {
        // It may have ended and been reaped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is left of a process group.
pub(crate) struct Orphans {
    group: i32,
}

/// Looks at the group of a builtin that has ended.
pub(crate) fn orphans(group: i32) -> Orphans {
    Orphans { group }
}

impl Orphans {
    /// Waits until nothing is left: the kernel kills children a moment after their parent.
    pub(crate) fn gone(&self) {
        until("an empty process group", || {
            let left = members(self.group);
            left.is_empty()
                .then_some(())
                .ok_or(format!("left over: {left:?}"))
        });
    }
}

/// Waits for a state; says the last one when it does not come.
fn until(what: &str, mut state: impl FnMut() -> Result<(), String>) {
    let deadline = Instant::now() + LIMIT;
    loop {
        match state() {
            Ok(()) => return,
            Err(last) if Instant::now() > deadline => {
                panic!("no {what} within {LIMIT:?}: {last}")
            }
            Err(_) => std::thread::park_timeout(Duration::from_millis(5)),
        }
    }
}

/// Living processes (no zombies) of a process group.
fn members(group: i32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("a /proc").flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<i32>().ok())
        else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
            continue;
        };
        // pid (comm) state ppid pgrp ...
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .collect();
        if fields.first() != Some(&"Z") && fields.get(2).and_then(|p| p.parse().ok()) == Some(group)
        {
            found.push(pid);
        }
    }
    found
}

fn threads(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}
