//! One repetition: its instances, from the launchers to the record.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::process::ChildStdin;

use schedrig_model::plan::{Collector, Instance, RunStep};
use schedrig_model::record::{InstanceRecord, RepetitionRecord, RepetitionState, Snapshot};
use schedrig_model::run::{Assignment, RepetitionEnd, StepError};
use schedrig_model::workload::{Command, ExitState, Program, ServerCommand};

use crate::collect::{AroundTools, EdgeReading, ToolPlace};
use crate::exec::{
    Allotted, Exited, Kept, LaunchRequest, Launched, ResolvedProgram, Word, fill_in, launch,
    resolve,
};

/// How long a server may take to listen.
const LISTEN_MAX: Duration = Duration::from_secs(10);
/// Result files larger than this are cut, in bytes.
const RESULT_FILE_MAX: u64 = 4 << 20;
/// The most open files a workload is given, where the hard limit allows it: 10,000 groups of
/// hackbench in one process need 40 each.
const NOFILE_MAX: u64 = 1 << 20;

/// What every instance of an agent has in common.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// This agent's executable.
    pub own_program: Utf8PathBuf,
    /// Where programs are looked up.
    pub search_path: String,
    /// Where working directories are made.
    pub work_dir: Utf8PathBuf,
    /// Begins the marker of every process: tells this agent's from another's.
    pub marker: String,
}

/// An instance that waits at the barrier or runs.
pub struct Standing {
    control: Option<ChildStdin>,
    meta: InstanceMeta,
}

/// What is known of an instance before it ends.
struct InstanceMeta {
    argv: Vec<String>,
    program: ResolvedProgram,
    builtin: bool,
    cgroup: String,
    dir: Utf8PathBuf,
    result_files: Vec<String>,
}

/// What an instance left.
pub struct Ended {
    exited: Option<Exited>,
    stdout: Kept,
    stderr: Kept,
    /// It was told to end before it did.
    told: bool,
}

/// A repetition whose instances are in their places.
pub struct Repetition {
    standing: Vec<Standing>,
    servers: Vec<ServerStanding>,
    ended: Vec<Option<Ended>>,
    told: bool,
    released_ns: Option<u64>,
    started_at: String,
    /// Both edges.
    pub snapshots: Vec<Snapshot>,
    /// What could not be collected, each with its reason.
    gaps: Vec<String>,
    tools: AroundTools,
    tool_place: ToolPlace,
    dir: tempfile::TempDir,
}

struct ServerStanding {
    control: Option<ChildStdin>,
    task: tokio::task::JoinHandle<()>,
}

/// An instance's end, told to the driver.
pub type EndedInstance = (usize, Ended);

impl Repetition {
    /// Brings every instance to the barrier. On an error whatever was started ends with the control
    /// pipes that are dropped here.
    ///
    /// # Errors
    /// A program is missing, a place cannot be taken, a server does not listen.
    pub async fn launch(
        step: &RunStep,
        assignment: &Assignment,
        around: &Surroundings,
        procs: &BTreeMap<String, Utf8PathBuf>,
        tell_end: impl Fn(usize, Ended) + Clone + Send + 'static,
    ) -> Result<Self, StepError> {
        let dir = tempfile::tempdir_in(&around.work_dir).map_err(|e| {
            StepError::passing(format!(
                "failed to make a directory in `{}`: {e}",
                around.work_dir
            ))
        })?;
        let base = Utf8PathBuf::from_path_buf(dir.path().to_path_buf())
            .map_err(|p| StepError::lasting(format!("`{}` is not UTF-8", p.display())))?;
        let marker = format!(
            "{}/{}/{}",
            around.marker, assignment.run, assignment.step.id
        );
        let tool_place = ToolPlace {
            dir: base.join("around"),
            search_path: around.search_path.clone(),
            marker: marker.clone(),
        };
        let mut repetition = Repetition {
            standing: Vec::new(),
            servers: Vec::new(),
            ended: Vec::new(),
            told: false,
            released_ns: None,
            started_at: crate::clock::utc_now(),
            snapshots: Vec::new(),
            gaps: Vec::new(),
            tools: AroundTools::default(),
            tool_place,
            dir,
        };
        for (index, instance) in step.instances.iter().enumerate() {
            let place = Place::new(
                instance,
                &base.join(index.to_string()),
                procs,
                &marker,
                around,
            )?;
            let allotted = repetition.serve(&instance.command, &place).await?;
            let launched = place
                .launch(&instance.command.program, &instance.command.args, &allotted)
                .await?;
            let (launched, meta) = (launched.0, launched.1);
            repetition.stand(index, launched, meta, &instance.command, tell_end.clone());
        }
        repetition.ended.resize_with(step.instances.len(), || None);
        repetition.watch(&step.collect).await?;
        Ok(repetition)
    }

    /// Starts the tools that run beside the repetition.
    async fn watch(&mut self, collectors: &[Collector]) -> Result<(), StepError> {
        let dir = &self.tool_place.dir;
        std::fs::create_dir(dir)
            .map_err(|e| StepError::passing(format!("failed to make `{dir}`: {e}")))?;
        self.tools = AroundTools::start(collectors, &self.tool_place).await;
        Ok(())
    }

    /// Takes note of what an edge gave and what it could not give.
    pub fn note_edge(&mut self, reading: EdgeReading) {
        self.snapshots.extend(reading.snapshots);
        for note in reading.notes {
            if !self.gaps.contains(&note) {
                self.gaps.push(note);
            }
        }
    }

    fn stand(
        &mut self,
        index: usize,
        mut launched: Launched,
        mut meta: InstanceMeta,
        command: &Command,
        tell_end: impl Fn(usize, Ended) + Send + 'static,
    ) {
        let control = launched.take_control();
        meta.result_files = command.result_files.clone();
        tokio::spawn(async move {
            let (exited, stdout, stderr) = launched.ended().await;
            tell_end(
                index,
                Ended {
                    exited,
                    stdout,
                    stderr,
                    told: false,
                },
            );
        });
        self.standing.push(Standing { control, meta });
    }

    async fn serve(&mut self, command: &Command, place: &Place<'_>) -> Result<Allotted, StepError> {
        let dir = Some(place.dir.to_string());
        let Some(server) = &command.server else {
            return Ok(Allotted {
                dir,
                ..Allotted::default()
            });
        };
        let port = match server.fixed_port {
            Some(port) => port,
            None => free_port()
                .map_err(|e| StepError::passing(format!("no free port on loopback: {e}")))?,
        };
        let allotted = Allotted {
            port: Some(port),
            server: Some("127.0.0.1".into()),
            dir,
        };
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            let text = format!(
                "port {port} is taken by another program; end it or use a tool that takes a port"
            );
            return Err(StepError::passing(text));
        }
        let (mut launched, meta) = place
            .launch(&server.program, &server.args, &allotted)
            .await?;
        launched.tell(Word::Go).await;
        let control = launched.take_control();
        let (gone_tx, mut gone_rx) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(async move {
            let (_, stdout, stderr) = launched.ended().await;
            // Nobody listens once the server has been seen to listen.
            let _ = gone_tx.send(last_line(&stderr.text).or_else(|| last_line(&stdout.text)));
        });
        self.servers.push(ServerStanding { control, task });
        tokio::select! {
            biased;
            gone = &mut gone_rx => {
                let why = gone.ok().flatten().unwrap_or_else(|| "it said nothing".into());
                Err(StepError::passing(format!("`{}` ended before it listened on port {port}: {why}", meta.argv.join(" "))))
            }
            listens = listens(port, server) => listens.map(|()| allotted),
        }
    }

    /// Lets every instance go, as close together as one write after the other can be.
    pub async fn release(&mut self) {
        self.released_ns = Some(crate::clock::monotonic_ns());
        self.tell(Word::Go).await;
    }

    /// Tells every living instance to end.
    pub async fn end(&mut self, word: Word) {
        self.told = true;
        self.tell(word).await;
    }

    async fn tell(&mut self, word: Word) {
        for standing in &mut self.standing {
            if let Some(control) = &mut standing.control {
                // One that is gone has been, or will be, reported as ended.
                let _ = control.write_all(&[word as u8]).await;
            }
        }
    }

    /// Takes note of an instance's end.
    pub fn note_end(&mut self, index: usize, mut ended: Ended) {
        ended.told = self.told;
        if let Some(slot) = self.ended.get_mut(index) {
            *slot = Some(ended);
        }
    }

    /// Ends the servers and puts the record together.
    pub async fn assemble(
        mut self,
        assignment: &Assignment,
        step: &RunStep,
        end: RepetitionEnd,
    ) -> RepetitionRecord {
        let now_ns = crate::clock::monotonic_ns();
        let watched = self.tools.end(&self.tool_place, now_ns).await;
        self.snapshots.extend(watched.snapshots);
        self.gaps.extend(watched.gaps);
        for server in &mut self.servers {
            if let Some(control) = &mut server.control {
                let _ = control.write_all(&[Word::Kill as u8]).await;
            }
        }
        for server in self.servers {
            // A server's launcher ends once everything below it is gone, at most after its kill wait.
            let _ = tokio::time::timeout(LISTEN_MAX, server.task).await;
        }
        let instances: Vec<InstanceRecord> = self
            .standing
            .into_iter()
            .zip(self.ended)
            .map(|(standing, ended)| instance_record(standing.meta, ended, end))
            .collect();
        let state = match end {
            RepetitionEnd::Completed => RepetitionState::Valid,
            RepetitionEnd::DeadlinePassed => RepetitionState::Invalid("its deadline passed".into()),
            RepetitionEnd::Cancelled => RepetitionState::Invalid("cancelled".into()),
        };
        // Removal may fail where a workload left a mount; the next start sweeps the work directory.
        let _ = self.dir.close();
        RepetitionRecord {
            step: assignment.step.id,
            host: assignment.step.host.clone(),
            cell: step.cell.clone(),
            arm: step.arm.clone(),
            repetition: step.repetition,
            warmup: step.warmup,
            boot: step.boot,
            attempt: assignment.attempt,
            started_at: self.started_at,
            elapsed_ns: self.released_ns.map_or(0, |r| now_ns.saturating_sub(r)),
            state,
            metrics: Vec::new(),
            spread: BTreeMap::new(),
            instances,
            snapshots: self.snapshots,
            taints: Vec::new(),
            gaps: self.gaps,
        }
    }
}

/// Where an instance and its server are started.
struct Place<'a> {
    dir: Utf8PathBuf,
    cgroup_procs: Option<Utf8PathBuf>,
    instance: &'a Instance,
    marker: &'a str,
    around: &'a Surroundings,
}

impl<'a> Place<'a> {
    fn new(
        instance: &'a Instance,
        dir: &Utf8Path,
        procs: &BTreeMap<String, Utf8PathBuf>,
        marker: &'a str,
        around: &'a Surroundings,
    ) -> Result<Self, StepError> {
        std::fs::create_dir(dir)
            .map_err(|e| StepError::passing(format!("failed to make `{dir}`: {e}")))?;
        let cgroup_procs = match &instance.cgroup {
            Some(group) => Some(
                procs
                    .get(group)
                    .cloned()
                    .ok_or_else(|| StepError::lasting(format!("no cgroup `{group}` was made")))?,
            ),
            None => None,
        };
        Ok(Place {
            dir: dir.to_owned(),
            cgroup_procs,
            instance,
            marker,
            around,
        })
    }

    async fn launch(
        &self,
        program: &Program,
        args: &[String],
        allotted: &Allotted,
    ) -> Result<(Launched, InstanceMeta), StepError> {
        let resolved = resolve(program, &self.around.own_program, &self.around.search_path)
            .map_err(|e| StepError::lasting(e.to_string()))?;
        let mut argv = vec![resolved.path.to_string()];
        argv.extend(resolved.leading_args.iter().cloned());
        argv.extend(args.iter().map(|a| fill_in(a, allotted)));
        let request = LaunchRequest {
            own_program: self.around.own_program.clone(),
            argv: argv.clone(),
            env: self.instance.command.env.clone(),
            search_path: self.around.search_path.clone(),
            marker: self.marker.to_owned(),
            cpus: self.instance.cpus.clone(),
            cgroup_procs: self.cgroup_procs.clone(),
            nofile: Some(NOFILE_MAX),
            dir: self.dir.clone(),
        };
        let launched = launch(&request)
            .await
            .map_err(|e| StepError::passing(crate::error::chain(&e)))?;
        let meta = InstanceMeta {
            argv,
            builtin: matches!(program, Program::Builtin(_)),
            program: resolved,
            cgroup: launched.cgroup.clone(),
            dir: self.dir.clone(),
            result_files: Vec::new(),
        };
        Ok((launched, meta))
    }
}

fn instance_record(meta: InstanceMeta, ended: Option<Ended>, end: RepetitionEnd) -> InstanceRecord {
    let Ended {
        exited,
        stdout,
        stderr,
        told,
    } = ended.unwrap_or(Ended {
        exited: None,
        stdout: Kept::default(),
        stderr: Kept::default(),
        told: false,
    });
    let exit = match (&exited, told, end) {
        (_, true, RepetitionEnd::DeadlinePassed) => ExitState::DeadlinePassed,
        (_, true, RepetitionEnd::Cancelled) => ExitState::Cancelled,
        (Some(e), ..) => match (e.code, e.signal, e.exec_errno) {
            (Some(code), ..) => ExitState::Code(code),
            (_, Some(signal), _) => ExitState::Signal(signal),
            // The shell's status for a program that cannot be executed.
            (.., Some(_)) => ExitState::Code(127),
            _ => ExitState::Unknown,
        },
        (None, ..) => ExitState::Signal(9),
    };
    let files = read_files(&meta.dir, &meta.result_files);
    let of = |f: fn(&Exited) -> u64| exited.as_ref().map(f);
    InstanceRecord {
        argv: meta.argv,
        tool_path: if meta.builtin {
            "builtin".into()
        } else {
            meta.program.path.to_string()
        },
        tool_version: None,
        tool_sha256: meta.program.sha256,
        cgroup: Some(meta.cgroup.trim_end().to_owned()),
        exit,
        truncated: stdout.truncated || stderr.truncated,
        stdout: stdout.text,
        stderr: stderr.text,
        files,
        outcome: None,
        elapsed_ns: of(|e| e.elapsed_ns),
        left_over: exited.as_ref().map_or(0, |e| e.left_over),
        schedstat: exited.as_ref().and_then(|e| e.schedstat.clone()),
        user_us: of(|e| e.user_us),
        system_us: of(|e| e.system_us),
        voluntary_switches: of(|e| e.voluntary_switches),
        involuntary_switches: of(|e| e.involuntary_switches),
    }
}

fn read_files(dir: &Utf8Path, names: &[String]) -> BTreeMap<String, String> {
    use std::io::Read;
    let read = |name: &String| {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(dir.join(name)).ok()?;
        file.take(RESULT_FILE_MAX).read_to_end(&mut bytes).ok()?;
        Some((name.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    names.iter().filter_map(read).collect()
}

fn last_line(text: &str) -> Option<String> {
    text.lines()
        .rev()
        .find(|l| !l.trim().is_empty())
        .map(|l| l.trim().chars().take(200).collect())
}

fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?
        .local_addr()?
        .port())
}

/// Waits until something listens on a port, by connecting to it.
async fn listens(port: u16, server: &ServerCommand) -> Result<(), StepError> {
    let attempts = async {
        let mut pause = Duration::from_millis(5);
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    };
    let name = match &server.program {
        Program::Tool(name) | Program::Builtin(name) => name,
    };
    let too_late = |_| {
        StepError::passing(format!(
            "`{name}` does not listen on port {port} after {LISTEN_MAX:?}"
        ))
    };
    tokio::time::timeout(LISTEN_MAX, attempts)
        .await
        .map_err(too_late)
}
