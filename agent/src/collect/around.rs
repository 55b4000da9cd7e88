//! perf and turbostat, run beside a repetition: started before the start signal, ended after the last
//! instance, their output kept as the kernel's counters are. They run in the agent's own group, never
//! in one of the workload's: a limit on the workload is not spent by who watches it (case B15).

use std::process::Stdio;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use schedrig_model::host::{AroundTool, ToolControl, around_tool};
use schedrig_model::plan::Collector;
use schedrig_model::record::{Snapshot, SnapshotEdge};

use crate::exec::{MARKER, find_in_path};

/// How long a tool may take until it counts: it says so, or has opened its output.
const START_MAX: Duration = Duration::from_secs(5);
/// How long a tool may take to write what it counted. `perf record` of many CPUs reads the build
/// identities of every object at its end.
const END_MAX: Duration = Duration::from_secs(60);
/// Output that is kept of a tool, in bytes.
const TEXT_MAX: u64 = 1 << 20;
/// The longest answer of a tool, in bytes.
const ANSWER_MAX: u64 = 64;
/// What is kept of a tool's complaint, in bytes.
const COMPLAINT_MAX: u64 = 16 << 10;

/// What every tool of an agent has in common.
#[derive(Clone, Debug)]
pub struct ToolPlace {
    /// Where its files go; it exists.
    pub dir: Utf8PathBuf,
    /// Where programs are looked up.
    pub search_path: String,
    /// Marks the process as this agent's (see [`MARKER`]).
    pub marker: String,
}

/// The tools that run beside one repetition.
#[derive(Debug, Default)]
pub struct AroundTools {
    running: Vec<Running>,
    gaps: Vec<String>,
}

/// What they left.
#[derive(Debug, Default)]
pub struct AroundTexts {
    /// One for each tool that counted, at the end edge.
    pub snapshots: Vec<Snapshot>,
    /// Tools that are missing or failed, with the reason.
    pub gaps: Vec<String>,
}

#[derive(Debug)]
struct Running {
    collector: Collector,
    tool: AroundTool,
    child: Child,
}

impl AroundTools {
    /// Starts the tools of these collectors. One that cannot be started is a gap, not an error.
    pub async fn start(collectors: &[Collector], place: &ToolPlace) -> Self {
        let mut tools = AroundTools::default();
        for &collector in collectors {
            let Some(tool) = around_tool(collector, place.dir.as_str()) else {
                continue;
            };
            if tools.running.iter().any(|r| r.collector == collector) {
                continue;
            }
            let name = tool.argv.first().cloned().unwrap_or_default();
            match start(&tool, place).await {
                Ok(child) => tools.running.push(Running {
                    collector,
                    tool,
                    child,
                }),
                Err(reason) => tools.gaps.push(format!("{name}: {reason}")),
            }
        }
        tools
    }

    /// Their process numbers.
    pub fn pids(&self) -> Vec<u32> {
        self.running.iter().filter_map(|r| r.child.id()).collect()
    }

    /// Ends them and reads what they wrote. `at_ns`: the monotonic clock of the end.
    pub async fn end(self, place: &ToolPlace, at_ns: u64) -> AroundTexts {
        let mut texts = AroundTexts {
            snapshots: Vec::new(),
            gaps: self.gaps,
        };
        // All are told before any is waited for: each counts for as long as the others.
        for running in &self.running {
            interrupt(&running.child);
        }
        for running in self.running {
            let source = running.tool.argv.join(" ");
            let name = running.tool.argv.first().cloned().unwrap_or_default();
            let collector = running.collector;
            match finish(running, place).await {
                Ok(text) => texts.snapshots.push(Snapshot {
                    collector,
                    edge: SnapshotEdge::End,
                    source,
                    at_ns,
                    text,
                }),
                Err(reason) => texts.gaps.push(format!("{name}: {reason}")),
            }
        }
        texts
    }
}

fn interrupt(child: &Child) {
    if let Some(pid) = child.id().and_then(|p| i32::try_from(p).ok()) {
        // One that ended by itself is found out when it is waited for.
        let _ = kill(Pid::from_raw(pid), Signal::SIGINT);
    }
}

/// The command, with the clean environment that every tool gets: a locale changes what they print.
fn command(argv: &[String], place: &ToolPlace) -> Result<Command, String> {
    let (name, args) = argv.split_first().ok_or("no program")?;
    let program =
        find_in_path(name, &place.search_path).ok_or_else(|| format!("no `{name}` in PATH"))?;
    let mut command = Command::new(program);
    command.args(args).current_dir(&place.dir);
    command.env_clear().envs([
        ("LC_ALL", "C"),
        ("TZ", "UTC"),
        ("PATH", &place.search_path),
        ("HOME", place.dir.as_str()),
        (MARKER, &place.marker),
    ]);
    command.stdin(Stdio::null()).kill_on_drop(true);
    // A terminal's Ctrl-C is for the agent, which ends the tool in its turn.
    command.process_group(0);
    // SAFETY: prctl is async-signal-safe and touches no memory of the parent.
    unsafe {
        command.pre_exec(|| {
            nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(std::io::Error::from)
        });
    }
    Ok(command)
}

async fn start(tool: &AroundTool, place: &ToolPlace) -> Result<Child, String> {
    let complaint = complaint_of(tool);
    let stderr = std::fs::File::create(&complaint)
        .map_err(|e| format!("failed to make `{complaint}`: {e}"))?;
    let pipes = tool.control.as_ref().map(Pipes::make).transpose()?;
    let mut child = command(&tool.argv, place)?
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|e| format!("failed to start: {e}"))?;
    let counts = async {
        match pipes {
            Some(pipes) => pipes.enable().await,
            None => appears(Utf8Path::new(&tool.output)).await,
        }
    };
    tokio::select! {
        biased;
        _ = child.wait() => Err(said(&complaint).await),
        counts = timeout(START_MAX, counts) => match counts {
            Ok(Ok(())) => Ok(child),
            Ok(Err(e)) => Err(format!("cannot be told to count: {e}")),
            Err(_) => Err(format!("does not count within {START_MAX:?}")),
        },
    }
}

/// Both ends of the pipes to a tool, opened so that neither side waits for the other to open.
struct Pipes {
    commands: pipe::Sender,
    answers: pipe::Receiver,
}

impl Pipes {
    fn make(control: &ToolControl) -> Result<Self, String> {
        let make = |path: &str| {
            nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)
                .map_err(|e| format!("failed to make the pipe `{path}`: {e}"))
        };
        make(&control.commands)?;
        make(&control.answers)?;
        let failed = |e: std::io::Error| format!("failed to open a pipe to it: {e}");
        let mut options = pipe::OpenOptions::new();
        options.read_write(true);
        Ok(Pipes {
            commands: options.open_sender(&control.commands).map_err(failed)?,
            answers: options.open_receiver(&control.answers).map_err(failed)?,
        })
    }

    /// Lets the tool count, and returns when it does.
    async fn enable(self) -> std::io::Result<()> {
        let Pipes {
            mut commands,
            answers,
        } = self;
        commands.write_all(b"enable\n").await?;
        let mut line = Vec::new();
        // perf ends its answer with a zero byte too.
        BufReader::new(answers.take(ANSWER_MAX))
            .read_until(b'\n', &mut line)
            .await?;
        if line.starts_with(b"ack") {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        Err(std::io::Error::other(format!(
            "it answers `{}`",
            text.trim()
        )))
    }
}

/// Returns when there is such a file.
async fn appears(path: &Utf8Path) -> std::io::Result<()> {
    let mut pause = Duration::from_millis(1);
    while !path.exists() {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    Ok(())
}

async fn finish(mut running: Running, place: &ToolPlace) -> Result<String, String> {
    if timeout(END_MAX, running.child.wait()).await.is_err() {
        // Dropped with its child, which ends it.
        return Err(format!("did not end within {END_MAX:?} of SIGINT"));
    }
    let complaint = complaint_of(&running.tool);
    let text = match &running.tool.report {
        None => read(Utf8Path::new(&running.tool.output), TEXT_MAX).await,
        Some(report) => reported(report, &complaint, place).await?,
    };
    if text
        .lines()
        .all(|l| l.trim().is_empty() || l.starts_with('#'))
    {
        return Err(said(&complaint).await);
    }
    Ok(text)
}

/// What the report program prints; the head of it where there is more than is kept.
async fn reported(
    argv: &[String],
    complaint: &Utf8Path,
    place: &ToolPlace,
) -> Result<String, String> {
    let stderr = std::fs::File::create(complaint)
        .map_err(|e| format!("failed to make `{complaint}`: {e}"))?;
    let mut child = command(argv, place)?
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .map_err(|e| format!("failed to report: {e}"))?;
    let mut text = Vec::new();
    let Some(stdout) = child.stdout.take() else {
        return Err("its report has no output".to_owned());
    };
    let mut head = stdout.take(TEXT_MAX);
    let reading = async {
        // What could be read is kept.
        let _ = head.read_to_end(&mut text).await;
    };
    if timeout(END_MAX, reading).await.is_err() {
        return Err(format!("its report took longer than {END_MAX:?}"));
    }
    Ok(whole_lines(String::from_utf8_lossy(&text).into_owned()))
}

/// A text that was cut ends with its last whole line.
fn whole_lines(mut text: String) -> String {
    if text.len() as u64 >= TEXT_MAX {
        text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
    }
    text
}

async fn read(path: &Utf8Path, most: u64) -> String {
    let Ok(file) = tokio::fs::File::open(path).await else {
        return String::new();
    };
    let mut bytes = Vec::new();
    // What could be read is kept.
    let _ = file.take(most).read_to_end(&mut bytes).await;
    whole_lines(String::from_utf8_lossy(&bytes).into_owned())
}

fn complaint_of(tool: &AroundTool) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{}.stderr", tool.output))
}

/// The last line it said, which names the cause with perf and turbostat alike where there is one line;
/// the first that is not empty otherwise.
async fn said(complaint: &Utf8Path) -> String {
    let text = read(complaint, COMPLAINT_MAX).await;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let telling = lines.iter().find(|l| !l.is_empty() && !l.ends_with(':'));
    telling.map_or_else(
        || "ended without output".to_owned(),
        |line| format!("ended without output: {line}"),
    )
}

#[cfg(test)]
#[path = "around_tests.rs"]
mod tests;
