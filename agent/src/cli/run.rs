//! `schedrig-agent run`: connect to a controller and do its steps.

use camino::Utf8PathBuf;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use schedrig_model::HostId;

use crate::driver::{AgentEnd, Driver, DriverEvent, QUEUE};
use crate::exec::{MARKER, marked_processes};
use crate::link::{LinkConfig, TlsFiles, keep_link};
use crate::machine::Machine;
use crate::repetition::Surroundings;
use crate::spool::Spool;

/// Environment variable with the secret of the loopback of `schedrig run --local`.
const SECRET_VARIABLE: &str = "SCHEDRIG_LOOPBACK_SECRET";

/// Flags of `run`.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// Address of the controller, host:port
    #[arg(long, value_name = "ADDR")]
    pub controller: String,
    /// Directory with ca.pem, cert.pem and key.pem, as `schedrig enroll` made them
    #[arg(long, value_name = "DIR")]
    pub certs: Option<Utf8PathBuf>,
    /// The name this machine goes by [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Where the journal, the host lock and unsent results are kept
    #[arg(long, value_name = "DIR", default_value = "/var/lib/schedrig")]
    pub state: Utf8PathBuf,
    /// End when standard input is closed: the command that started this agent is gone
    #[arg(long, hide = true)]
    pub end_with_stdin: bool,
}

/// What keeps an agent from working.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its directory cannot be used.
    #[error("failed to use `{dir}`; give another directory with --state")]
    State {
        /// The directory.
        dir: Utf8PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// This executable cannot be found.
    #[error("failed to find this program's own file")]
    OwnProgram(#[source] std::io::Error),
    /// The machine is in use, or an earlier run left it changed.
    #[error("this machine cannot be measured on")]
    Machine(#[source] crate::machine::MachineError),
    /// Signals cannot be caught.
    #[error("failed to catch signals")]
    Signals(#[source] std::io::Error),
    /// Plain text is for the loopback alone.
    #[error(
        "`{0}` is not a loopback address: give --certs DIR with the files that `schedrig enroll` made"
    )]
    PlainText(String),
    /// The controller does not want this agent.
    #[error("the controller refuses this agent: {0}")]
    Refused(String),
    /// The disk fails.
    #[error("a result cannot be kept: {0}")]
    Spool(String),
}

/// Works until told to end.
///
/// # Errors
/// See [`RunError`]; each is for a person.
pub async fn run(args: RunArgs) -> Result<(), RunError> {
    let state_error = |source| RunError::State {
        dir: args.state.clone(),
        source,
    };
    let work_dir = args.state.join("work");
    std::fs::create_dir_all(&work_dir).map_err(state_error)?;
    let state = args.state.canonicalize_utf8().map_err(state_error)?;
    if args.certs.is_none() && !is_loopback(&args.controller) {
        return Err(RunError::PlainText(args.controller));
    }
    let machine = Machine::open(&state).map_err(RunError::Machine)?;
    end_survivors(&state);
    empty(&work_dir).map_err(state_error)?;
    let (spool, left) = Spool::open(&state.join("spool")).map_err(state_error)?;
    let own_program = std::env::current_exe().map_err(RunError::OwnProgram)?;
    let own_program = Utf8PathBuf::from_path_buf(own_program).map_err(|_| {
        RunError::OwnProgram(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "its path is not UTF-8",
        ))
    })?;
    let search_path =
        std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into());
    let facts = crate::machine::facts(&search_path).map_err(RunError::Machine)?;
    let name = args.name.clone().unwrap_or_else(|| facts.hostname.clone());
    let config = LinkConfig {
        controller: args.controller.clone(),
        host: HostId(name),
        tls: args.certs.as_deref().map(TlsFiles::in_dir),
        loopback_secret: std::env::var(SECRET_VARIABLE).unwrap_or_default(),
        epoch: crate::clock::epoch_ms(),
        build: env!("CARGO_PKG_VERSION").into(),
        facts,
    };
    let around = Surroundings {
        own_program,
        search_path,
        work_dir: work_dir.clone(),
        marker: state.to_string(),
    };
    let (events, queue) = mpsc::channel(QUEUE);
    forward_link(config, events.clone());
    forward_signals(&events).map_err(RunError::Signals)?;
    if args.end_with_stdin {
        forward_end_of_stdin(events.clone());
    }
    let end = Driver::new(machine, around, spool, left, events)
        .run(queue)
        .await;
    match end {
        AgentEnd::Told => Ok(()),
        AgentEnd::Refused(reason) => Err(RunError::Refused(reason)),
        AgentEnd::Spool(reason) => Err(RunError::Spool(reason)),
    }
}

/// Whether an address names this machine's own loopback.
fn is_loopback(address: &str) -> bool {
    let host = address
        .rsplit_once(':')
        .map_or(address, |(host, _)| host)
        .trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

/// Ends processes of an earlier life of this agent: their launchers were killed with it.
fn end_survivors(state: &camino::Utf8Path) {
    for pid in marked_processes(camino::Utf8Path::new("/proc"), MARKER, &format!("{state}/")) {
        tracing::warn!(pid, "ending a process that an earlier run left");
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(pid),
            nix::sys::signal::Signal::SIGKILL,
        );
    }
}

/// Working directories of an earlier life.
fn empty(dir: &camino::Utf8Path) -> std::io::Result<()> {
    for entry in dir.read_dir_utf8()? {
        std::fs::remove_dir_all(entry?.path())?;
    }
    Ok(())
}

fn forward_link(config: LinkConfig, events: mpsc::Sender<DriverEvent>) {
    // One message under way is enough: the driver takes them as they come.
    let (link_events, mut from_link) = mpsc::channel(4);
    tokio::spawn(keep_link(config, link_events));
    tokio::spawn(async move {
        while let Some(event) = from_link.recv().await {
            if events.send(DriverEvent::Link(event)).await.is_err() {
                return;
            }
        }
    });
}

fn forward_signals(events: &mpsc::Sender<DriverEvent>) -> std::io::Result<()> {
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ] {
        let mut stream = signal(kind)?;
        let events = events.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                if events.send(DriverEvent::Shutdown).await.is_err() {
                    return;
                }
            }
        });
    }
    Ok(())
}

fn forward_end_of_stdin(events: mpsc::Sender<DriverEvent>) {
    tokio::spawn(async move {
        let mut byte = [0_u8; 64];
        let mut stdin = tokio::io::stdin();
        while !matches!(stdin.read(&mut byte).await, Ok(0) | Err(_)) {}
        let _ = events.send(DriverEvent::Shutdown).await;
    });
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn plain_text_is_for_the_loopback_alone() {
        for yes in ["127.0.0.1:1", "[::1]:1", "localhost:7", "127.9.9.9:1"] {
            assert!(is_loopback(yes), "{yes}");
        }
        for no in [
            "10.0.0.1:1",
            "example:1",
            "127.0.0.1.example:1",
            "[2001:db8::1]:1",
        ] {
            assert!(!is_loopback(no), "{no}");
        }
    }
}
