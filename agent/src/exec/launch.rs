//! The agent's side of a launcher.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Stdio;
use std::time::Duration;

use camino::Utf8PathBuf;
use nix::fcntl::OFlag;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinHandle;

use super::capture::{CAPTURE_BYTES, Kept, keep};
use super::protocol::{Exited, MARKER, Ready, Word};
use schedrig_model::CpuSet;

/// How long a launcher may take to be in its place.
const READY_MAX: Duration = Duration::from_secs(30);
/// The descriptor a launcher reports to.
const REPORT_FD: i32 = 3;

/// What is to be started, and where.
#[derive(Clone, Debug)]
pub struct LaunchRequest {
    /// This agent's executable.
    pub own_program: Utf8PathBuf,
    /// The program and its arguments, nothing left to fill in.
    pub argv: Vec<String>,
    /// Environment beyond the clean one.
    pub env: BTreeMap<String, String>,
    /// The search path that the program itself sees.
    pub search_path: String,
    /// Which step it is of: the value of [`MARKER`].
    pub marker: String,
    /// CPUs it may use.
    pub cpus: Option<CpuSet>,
    /// `cgroup.procs` of the group it is started in.
    pub cgroup_procs: Option<Utf8PathBuf>,
    /// Soft limit of open files.
    pub nofile: Option<u64>,
    /// Working directory, also `HOME`.
    pub dir: Utf8PathBuf,
}

/// A launcher that could not be brought into its place.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The launcher itself could not be started.
    #[error("failed to start a launcher")]
    Spawn(#[source] std::io::Error),
    /// It says why it is not in its place.
    #[error("{0}")]
    Place(String),
    /// It ended, or said nothing for too long.
    #[error("the launcher did not get ready")]
    NotReady,
}

/// A launcher in its place.
#[derive(Debug)]
pub struct Launched {
    child: Child,
    control: Option<ChildStdin>,
    reports: Lines<BufReader<Receiver>>,
    stdout: JoinHandle<Kept>,
    stderr: JoinHandle<Kept>,
    /// `/proc/self/cgroup` of the launcher in its place.
    pub cgroup: String,
}

/// Starts a launcher and waits until it is in its place.
///
/// # Errors
/// It cannot be started, or cannot take its place: the reason is the launcher's own.
pub async fn launch(request: &LaunchRequest) -> Result<Launched, LaunchError> {
    let (read_end, write_end) =
        nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(|e| LaunchError::Spawn(e.into()))?;
    let mut child = command(request, &write_end)
        .spawn()
        .map_err(LaunchError::Spawn)?;
    drop(write_end);
    let capture = |stream: Option<_>| {
        stream.ok_or_else(|| LaunchError::Spawn(std::io::ErrorKind::BrokenPipe.into()))
    };
    let stdout = tokio::spawn(keep(capture(child.stdout.take())?, CAPTURE_BYTES));
    let stderr = match child.stderr.take() {
        Some(stream) => tokio::spawn(keep(stream, CAPTURE_BYTES)),
        None => tokio::spawn(async { Kept::default() }),
    };
    set_nonblocking(&read_end).map_err(LaunchError::Spawn)?;
    let receiver = Receiver::from_owned_fd(read_end).map_err(LaunchError::Spawn)?;
    let mut reports = BufReader::new(receiver).lines();
    let ready = tokio::time::timeout(READY_MAX, reports.next_line()).await;
    let line = ready
        .ok()
        .and_then(Result::ok)
        .flatten()
        .ok_or(LaunchError::NotReady)?;
    let ready: Ready = serde_json::from_str(&line).map_err(|_| LaunchError::NotReady)?;
    if let Some(error) = ready.error {
        return Err(LaunchError::Place(error));
    }
    let control = child.stdin.take();
    Ok(Launched {
        child,
        control,
        reports,
        stdout,
        stderr,
        cgroup: ready.cgroup,
    })
}

fn set_nonblocking(fd: &OwnedFd) -> std::io::Result<()> {
    let flags = nix::fcntl::FcntlArg::F_SETFL(OFlag::O_NONBLOCK);
    nix::fcntl::fcntl(fd, flags)
        .map(drop)
        .map_err(std::io::Error::from)
}

fn command(request: &LaunchRequest, report: &OwnedFd) -> Command {
    let mut command = Command::new(&request.own_program);
    command.args([
        "launch",
        "--report-fd",
        &REPORT_FD.to_string(),
        "--dir",
        request.dir.as_str(),
    ]);
    if let Some(cpus) = &request.cpus {
        command.args(["--cpus", &cpus.to_string()]);
    }
    if let Some(path) = &request.cgroup_procs {
        command.args(["--cgroup-procs", path.as_str()]);
    }
    if let Some(nofile) = request.nofile {
        command.args(["--nofile", &nofile.to_string()]);
    }
    command.arg("--").args(&request.argv);
    command.env_clear().envs([
        ("LC_ALL", "C"),
        ("TZ", "UTC"),
        ("PATH", &request.search_path),
    ]);
    command
        .env("HOME", &request.dir)
        .env(MARKER, &request.marker)
        .envs(&request.env);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let report = report.as_raw_fd();
    // SAFETY: dup2 is async-signal-safe; the descriptor is open in the parent until after the spawn.
    unsafe {
        command.pre_exec(move || {
            let result = if report == REPORT_FD {
                // dup2 onto itself would leave close-on-exec set.
                libc::fcntl(report, libc::F_SETFD, 0)
            } else {
                libc::dup2(report, REPORT_FD)
            };
            if result < 0 {
                Err(std::io::Error::last_os_error())
            } else {
                Ok(())
            }
        });
    }
    command
}

impl Launched {
    /// Tells the launcher something. A launcher that is gone cannot be told: its end is reported by
    /// [`Launched::ended`].
    pub async fn tell(&mut self, word: Word) {
        if let Some(control) = &mut self.control {
            let _ = control.write_all(&[word as u8]).await;
        }
    }

    /// Takes the control pipe, so that words can be sent while [`Launched::ended`] waits.
    pub fn take_control(&mut self) -> Option<ChildStdin> {
        self.control.take()
    }

    /// Waits for the end: what the launcher reports, and what the program printed. `None` where the
    /// launcher itself was killed.
    pub async fn ended(mut self) -> (Option<Exited>, Kept, Kept) {
        let line = self.reports.next_line().await.ok().flatten();
        let exited = line.and_then(|l| serde_json::from_str(&l).ok());
        let _ = self.child.wait().await;
        drop(self.control.take());
        // Nothing that holds the pipes is alive, unless the launcher was killed: then the caller
        // ends the rest, and this must not wait for it.
        let limit = Duration::from_secs(if exited.is_some() { 10 } else { 1 });
        (
            exited,
            output(self.stdout, limit).await,
            output(self.stderr, limit).await,
        )
    }

    /// The launcher's process number.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }
}

async fn output(task: JoinHandle<Kept>, limit: Duration) -> Kept {
    match tokio::time::timeout(limit, task).await {
        Ok(Ok(kept)) => kept,
        _ => Kept {
            text: String::new(),
            truncated: true,
        },
    }
}
