//! `--local`: an agent for this machine inside the command, over a real loopback connection.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

use schedrig_proto::v1::agent_link_server::AgentLinkServer;
use schedrig_proto::{MESSAGE_BYTES_MAX, WINDOW_BYTES};

use crate::fleet::{Admission, Fleet, HostView, LinkService};
use crate::store::Store;

/// How long the agent may take to connect: it discovers the machine first.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// How long the agent may take to end the workload and put the machine back.
const LEAVE_MAX: Duration = Duration::from_secs(60);
/// Read by the agent; an environment is not visible to other users.
const SECRET_VARIABLE: &str = "SCHEDRIG_LOOPBACK_SECRET";

/// What keeps the local agent from working.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// No loopback.
    #[error("failed to listen on the loopback")]
    Listen(#[source] std::io::Error),
    /// The agent's program is not beside this one.
    #[error(
        "`{0}` is missing: schedrig and schedrig-agent are installed together, in one directory"
    )]
    NoAgent(Utf8PathBuf),
    /// It cannot be started.
    #[error("failed to start `{path}`")]
    Start {
        /// The program.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It ended before it connected, with these last words.
    #[error("the agent ended before it connected: {0}")]
    Ended(String),
    /// It takes too long.
    #[error("the agent did not connect within {CONNECT_MAX:?}")]
    Slow,
}

/// An agent that lives as long as the command.
pub struct LocalAgent {
    /// Where it is connected.
    pub fleet: Fleet,
    /// It, as it described itself.
    pub view: HostView,
    child: Child,
    /// The agent ends when this closes, whatever ends this command.
    lifeline: Option<ChildStdin>,
}

/// Starts the agent and waits until it is connected.
///
/// # Errors
/// See [`LocalError`].
pub async fn start(store: Arc<dyn Store>, state: &Utf8Path) -> Result<LocalAgent, LocalError> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(LocalError::Listen)?;
    let address = listener.local_addr().map_err(LocalError::Listen)?;
    let fleet = Fleet::default();
    let secret = secret().map_err(LocalError::Listen)?;
    let service = LinkService::new(fleet.clone(), store, Admission::Secret(secret.clone()));
    let service = AgentLinkServer::new(service).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let server = Server::builder()
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .add_service(service)
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(server);

    let path = sibling_agent()?;
    let mut child = Command::new(&path)
        .args([
            "run",
            "--controller",
            &address.to_string(),
            "--state",
            state.as_str(),
            "--end-with-stdin",
        ])
        .env(SECRET_VARIABLE, secret)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C on the terminal is for this command: it tells the agent what to do.
        .process_group(0)
        .spawn()
        .map_err(|source| LocalError::Start { path, source })?;
    // Held apart: waiting for a child closes the input it still holds, which tells the agent to end.
    let lifeline = child.stdin.take();
    let last_words = last_words(&mut child);
    let view = tokio::select! {
        view = fleet.first_host() => view,
        _ = child.wait() => {
            let words = last_words.await.unwrap_or_default();
            return Err(LocalError::Ended(if words.is_empty() { "it said nothing".into() } else { words }));
        }
        () = tokio::time::sleep(CONNECT_MAX) => return Err(LocalError::Slow),
    };
    Ok(LocalAgent {
        fleet,
        view,
        child,
        lifeline,
    })
}

impl LocalAgent {
    /// Lets the agent go and waits until it has put the machine back.
    pub async fn leave(mut self) {
        self.fleet.dismiss(&self.view.host).await;
        if tokio::time::timeout(LEAVE_MAX, self.child.wait())
            .await
            .is_err()
        {
            // It ends by itself as soon as it can.
            drop(self.lifeline.take());
            tracing::warn!("the agent is still putting the machine back");
        }
    }
}

/// Passes on what the agent says, and keeps its last line.
fn last_words(child: &mut Child) -> tokio::task::JoinHandle<String> {
    let stderr = child.stderr.take();
    tokio::spawn(async move {
        let mut last = String::new();
        let Some(stderr) = stderr else { return last };
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            eprintln!("{line}");
            last = line;
        }
        last
    })
}

/// The agent's program: beside this one.
///
/// # Errors
/// It is not there.
pub fn sibling_agent() -> Result<Utf8PathBuf, LocalError> {
    let own = std::env::current_exe()
        .ok()
        .and_then(|p| Utf8PathBuf::from_path_buf(p).ok());
    let path = own
        .as_deref()
        .and_then(Utf8Path::parent)
        .unwrap_or(Utf8Path::new("."))
        .join("schedrig-agent");
    if path.is_file() {
        Ok(path)
    } else {
        Err(LocalError::NoAgent(path))
    }
}

/// 128 bits that nobody can guess.
fn secret() -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
