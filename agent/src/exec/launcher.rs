//! The launcher's own side: see [`super::protocol`] for what it is for. Runs before any thread
//! exists, and must stay single-threaded.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, killpg, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, setsid};

use schedrig_model::CpuSet;

use super::descendants::descendants_of;
use super::protocol::{Exited, Ready, Word};

/// How long killed processes may take to go. A process in uninterruptible sleep may not go at all:
/// it is then named.
const KILL_WAIT: Duration = Duration::from_secs(10);
/// A program that cannot be executed: the shell's status for it.
const EXEC_FAILED: u8 = 127;

/// What the agent tells a launcher on its command line.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct LauncherArgs {
    /// Descriptor that reports go to
    #[arg(long)]
    pub report_fd: RawFd,
    /// CPUs the program may use
    #[arg(long)]
    pub cpus: Option<String>,
    /// A cgroup.procs file to enter
    #[arg(long)]
    pub cgroup_procs: Option<Utf8PathBuf>,
    /// Soft limit of open files
    #[arg(long)]
    pub nofile: Option<u64>,
    /// Working directory
    #[arg(long)]
    pub dir: Option<Utf8PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub argv: Vec<String>,
}

/// Runs one program to its end and ends whatever it left behind. Returns the process's status.
pub fn run_launcher(args: &LauncherArgs) -> u8 {
    // SAFETY: the agent handed this descriptor over for reports and uses it for nothing else.
    let mut report = unsafe { File::from_raw_fd(args.report_fd) };
    let ready = match take_place(args, &report) {
        Ok(signals) => Ok(signals),
        Err(error) => Err(error.to_string()),
    };
    let cgroup = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let said = say(
        &mut report,
        &Ready {
            cgroup,
            error: ready.as_ref().err().cloned(),
        },
    );
    let (Ok(signals), true) = (ready, said) else {
        return EXEC_FAILED;
    };
    let control = std::io::stdin();
    match wait_for_word(control.as_fd()) {
        Some(Word::Go) => {}
        // Told to end before it began, or the agent is gone.
        _ => {
            say(
                &mut report,
                &Exited {
                    signal: Some(Signal::SIGKILL as i32),
                    ..Exited::default()
                },
            );
            return 0;
        }
    }
    let started = Instant::now();
    let exited = match start(args) {
        Ok(child) => Watch::new(&child, signals).until_end(control.as_fd(), started),
        Err(error) => Exited {
            exec_errno: Some(error.raw_os_error().unwrap_or(0)),
            ..Exited::default()
        },
    };
    say(&mut report, &exited);
    0
}

#[derive(Debug, thiserror::Error)]
enum PlaceError {
    #[error("failed to enter cgroup through `{path}`: {source}")]
    Cgroup {
        path: Utf8PathBuf,
        source: std::io::Error,
    },
    #[error("CPU list of the step is malformed: {0}")]
    CpuList(#[from] schedrig_model::cpuset::CpuSetError),
    #[error("failed to use CPUs {cpus}: {source}")]
    Affinity {
        cpus: String,
        source: std::io::Error,
    },
    #[error("failed to raise the limit of open files to {wanted}: {source}")]
    Nofile { wanted: u64, source: Errno },
    #[error("failed to set up the launcher: {0}")]
    Setup(#[from] Errno),
}

fn take_place(args: &LauncherArgs, report: &File) -> Result<SignalFd, PlaceError> {
    // Already a session leader when started by hand.
    let _ = setsid();
    nix::sys::prctl::set_child_subreaper(true)?;
    nix::fcntl::fcntl(
        report.as_fd(),
        nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC),
    )?;
    let mut watched = SigSet::empty();
    [
        Signal::SIGCHLD,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
    ]
    .into_iter()
    .for_each(|s| watched.add(s));
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&watched), None)?;
    let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    if let Some(wanted) = args.nofile {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard)
            .map_err(|source| PlaceError::Nofile { wanted, source })?;
    }
    if let Some(path) = &args.cgroup_procs {
        std::fs::write(path, "0").map_err(|source| PlaceError::Cgroup {
            path: path.clone(),
            source,
        })?;
    }
    if let Some(cpus) = &args.cpus {
        let set = CpuSet::parse_list(cpus)?;
        set_affinity(&set).map_err(|source| PlaceError::Affinity {
            cpus: cpus.clone(),
            source,
        })?;
    }
    Ok(signals)
}

/// Sets the affinity of this process, for machines of any number of CPUs: libc's fixed set stops
/// at 1024.
fn set_affinity(cpus: &CpuSet) -> std::io::Result<()> {
    let words = cpus.last().map_or(1, |last| last.0 as usize / 64 + 1);
    let mut mask = vec![0_u64; words];
    cpus.iter()
        .for_each(|c| mask[c.0 as usize / 64] |= 1 << (c.0 % 64));
    // SAFETY: the mask is `words` 64-bit words long and outlives the call; the kernel only reads it.
    let result = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, words * 8, mask.as_ptr()) };
    if result < 0 {
        Err(std::io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn say<T: serde::Serialize>(report: &mut File, value: &T) -> bool {
    let Ok(mut line) = serde_json::to_string(value) else {
        return false;
    };
    line.push('\n');
    report.write_all(line.as_bytes()).is_ok()
}

fn read_word(control: BorrowedFd<'_>) -> Option<Word> {
    let mut byte = [0_u8];
    loop {
        match nix::unistd::read(control, &mut byte) {
            Ok(1) => return Word::from_byte(byte[0]),
            Err(Errno::EINTR) => {}
            _ => return None,
        }
    }
}

fn wait_for_word(control: BorrowedFd<'_>) -> Option<Word> {
    read_word(control)
}

fn start(args: &LauncherArgs) -> std::io::Result<Child> {
    let (program, rest) = args
        .argv
        .split_first()
        .ok_or_else(|| std::io::Error::from_raw_os_error(libc::EINVAL))?;
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null());
    if let Some(dir) = &args.dir {
        command.current_dir(dir);
    }
    // A session of its own: AIM7's runner and others signal their whole process group.
    // SAFETY: setsid is async-signal-safe and touches no memory of the parent.
    unsafe {
        command.pre_exec(|| setsid().map(drop).map_err(std::io::Error::from));
    }
    command.spawn()
}

struct Watch {
    program: Pid,
    signals: SignalFd,
    status: Option<WaitStatus>,
    schedstat: Option<String>,
    ended_at: Option<Instant>,
}

impl Watch {
    fn new(child: &Child, signals: SignalFd) -> Self {
        let program = Pid::from_raw(child.id() as i32);
        Watch {
            program,
            signals,
            status: None,
            schedstat: None,
            ended_at: None,
        }
    }

    fn until_end(mut self, control: BorrowedFd<'_>, started: Instant) -> Exited {
        let mut control_open = true;
        while self.status.is_none() {
            self.wait(control, &mut control_open);
            self.reap();
        }
        let ended_at = self.ended_at.unwrap_or_else(Instant::now);
        let (left_over, immortal) = end_descendants();
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok();
        let micros = |t: nix::sys::time::TimeVal| (t.tv_sec() * 1_000_000 + t.tv_usec()) as u64;
        let (code, signal) = match self.status {
            Some(WaitStatus::Exited(_, code)) => (Some(code), None),
            Some(WaitStatus::Signaled(_, signal, _)) => (None, Some(signal as i32)),
            _ => (None, None),
        };
        Exited {
            code,
            signal,
            exec_errno: None,
            elapsed_ns: ended_at.duration_since(started).as_nanos() as u64,
            user_us: usage.map_or(0, |u| micros(u.user_time())),
            system_us: usage.map_or(0, |u| micros(u.system_time())),
            voluntary_switches: usage.map_or(0, |u| u.voluntary_context_switches() as u64),
            involuntary_switches: usage.map_or(0, |u| u.involuntary_context_switches() as u64),
            left_over,
            immortal,
            schedstat: self.schedstat,
        }
    }

    /// Sleeps until a child ends or a word comes, and obeys the word.
    fn wait(&mut self, control: BorrowedFd<'_>, control_open: &mut bool) {
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        if *control_open {
            fds.push(PollFd::new(control, PollFlags::POLLIN));
        }
        if poll(&mut fds, PollTimeout::NONE).is_err() {
            return;
        }
        let word_waits = fds
            .get(1)
            .and_then(|f| f.revents())
            .is_some_and(|r| !r.is_empty());
        let mut stop_asked = false;
        while let Ok(Some(info)) = self.signals.read_signal() {
            stop_asked |= info.ssi_signo != Signal::SIGCHLD as u32;
        }
        if word_waits {
            match read_word(control) {
                Some(Word::Terminate) => drop(killpg(self.program, Signal::SIGTERM)),
                Some(Word::Kill) => kill_all(),
                Some(Word::Go) => {}
                None => {
                    *control_open = false;
                    kill_all();
                }
            }
        }
        if stop_asked {
            kill_all();
        }
    }

    /// Reaps what has ended. The program itself is looked at first: its counters are still there.
    fn reap(&mut self) {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        if self.status.is_none()
            && matches!(waitid(Id::Pid(self.program), flags), Ok(s) if s != WaitStatus::StillAlive)
        {
            self.ended_at = Some(Instant::now());
            self.schedstat =
                std::fs::read_to_string(format!("/proc/{}/schedstat", self.program)).ok();
        }
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            if status == WaitStatus::StillAlive {
                return;
            }
            if status.pid() == Some(self.program) {
                self.status = Some(status);
            }
        }
    }
}

fn own_descendants() -> Vec<i32> {
    descendants_of(Utf8Path::new("/proc"), std::process::id() as i32)
}

fn kill_all() {
    for pid in own_descendants() {
        // One that ended meanwhile is what was wanted.
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Ends what outlived the program. Returns how many there were, and which could not be ended.
fn end_descendants() -> (u32, Vec<i32>) {
    let deadline = Instant::now() + KILL_WAIT;
    let mut left_over = 0_usize;
    loop {
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            if status == WaitStatus::StillAlive {
                break;
            }
        }
        let alive = own_descendants();
        left_over = left_over.max(alive.len());
        if alive.is_empty() {
            return (left_over as u32, Vec::new());
        }
        if Instant::now() >= deadline {
            return (left_over as u32, alive);
        }
        kill_all();
        // Blocks until one of them is gone; at least one was just killed.
        wait_for_child(Duration::from_millis(100));
    }
}

/// Sleeps until a child can be reaped, at most `limit`.
fn wait_for_child(limit: Duration) {
    let mut set = SigSet::empty();
    set.add(Signal::SIGCHLD);
    let Ok(signals) = SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
    else {
        return;
    };
    let mut fds = [PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(limit).unwrap_or(PollTimeout::ZERO);
    let _ = poll(&mut fds, timeout);
    while let Ok(Some(_)) = signals.read_signal() {}
}
