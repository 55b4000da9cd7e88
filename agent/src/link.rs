//! The stream to the controller: opened, kept, opened again.

use std::time::Duration;

use camino::Utf8PathBuf;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use schedrig_model::HostId;
use schedrig_model::host::HostFacts;
use schedrig_proto::convert::{ConvertError, to_document};
use schedrig_proto::v1::agent_link_client::AgentLinkClient;
use schedrig_proto::v1::{self, agent_message, controller_message};
use schedrig_proto::{MESSAGE_BYTES_MAX, WINDOW_BYTES, version};

/// Messages that may wait for the wire: reports come one at a time, heartbeats are dropped when full.
const OUTGOING: usize = 16;
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(5);
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Certificates of an enrolled agent.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The controller's authority.
    pub ca: Utf8PathBuf,
    /// This agent's certificate.
    pub certificate: Utf8PathBuf,
    /// Its key.
    pub key: Utf8PathBuf,
}

impl TlsFiles {
    /// The files of a bundle that `schedrig enroll` made.
    pub fn in_dir(dir: &camino::Utf8Path) -> Self {
        TlsFiles {
            ca: dir.join("ca.pem"),
            certificate: dir.join("cert.pem"),
            key: dir.join("key.pem"),
        }
    }
}

/// Who and where.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// `host:port` of the controller.
    pub controller: String,
    /// The name this agent goes by.
    pub host: HostId,
    /// Certificates; `None` only on the loopback of `schedrig run --local`.
    pub tls: Option<TlsFiles>,
    /// The secret of that loopback.
    pub loopback_secret: String,
    /// Grows with every start.
    pub epoch: u64,
    /// Build of this agent.
    pub build: String,
    /// What this machine is.
    pub facts: HostFacts,
}

/// What the link tells the driver.
#[derive(Debug)]
pub enum LinkEvent {
    /// The controller welcomed this agent; messages go here.
    Up(mpsc::Sender<v1::AgentMessage>, Duration),
    /// The controller says something.
    Message(controller_message::Body),
    /// The stream broke; it is being opened again.
    Down(String),
    /// The controller will never welcome this agent.
    Refused(String),
}

/// A stream that could not be opened.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error("`{0}` is not an address of a controller (host:port)")]
    Address(String),
    #[error("failed to read `{path}`")]
    Certificate {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("failed to reach the controller")]
    Transport(#[from] tonic::transport::Error),
    #[error("the controller ended the stream: {0}")]
    Status(String),
    #[error("failed to describe this machine")]
    Facts(#[from] ConvertError),
    #[error("{0}")]
    Refused(String),
    #[error("the controller closed the stream")]
    Closed,
}

impl LinkError {
    fn lasting(&self) -> bool {
        matches!(
            self,
            LinkError::Address(_)
                | LinkError::Certificate { .. }
                | LinkError::Facts(_)
                | LinkError::Refused(_)
        )
    }
}

/// Keeps the stream open until the driver is gone or the controller refuses for good.
pub async fn keep_link(config: LinkConfig, events: mpsc::Sender<LinkEvent>) {
    let mut pause = RETRY_FIRST;
    loop {
        let mut welcomed = false;
        let error = match attach(&config, &events, &mut welcomed).await {
            Ok(()) => return,
            Err(error) => error,
        };
        let text = crate::error::chain(&error);
        let event = if error.lasting() {
            LinkEvent::Refused(text)
        } else {
            LinkEvent::Down(text)
        };
        let over = error.lasting();
        if events.send(event).await.is_err() || over {
            return;
        }
        pause = if welcomed {
            RETRY_FIRST
        } else {
            (pause * 2).min(RETRY_MAX)
        };
        tokio::time::sleep(pause).await;
    }
}

/// One stream, from Hello to its end. `Ok` once the driver is gone.
async fn attach(
    config: &LinkConfig,
    events: &mpsc::Sender<LinkEvent>,
    welcomed: &mut bool,
) -> Result<(), LinkError> {
    let channel = connect(config).await?;
    let mut client = AgentLinkClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let (outgoing, queue) = mpsc::channel(OUTGOING);
    let hello = agent_message::Body::Hello(hello(config)?);
    let first = v1::AgentMessage { body: Some(hello) };
    outgoing.send(first).await.map_err(|_| LinkError::Closed)?;
    let status = |s: tonic::Status| match s.code() {
        tonic::Code::Unauthenticated | tonic::Code::PermissionDenied => {
            LinkError::Refused(s.message().to_owned())
        }
        _ => LinkError::Status(s.message().to_owned()),
    };
    let mut stream = client
        .attach(ReceiverStream::new(queue))
        .await
        .map_err(status)?
        .into_inner();
    while let Some(message) = stream.next().await {
        let event = match message.map_err(status)?.body {
            Some(controller_message::Body::Welcome(w)) => {
                *welcomed = true;
                LinkEvent::Up(
                    outgoing.clone(),
                    Duration::from_millis(u64::from(w.heartbeat_ms.max(100))),
                )
            }
            Some(controller_message::Body::Refused(r)) if !r.retryable => {
                return Err(LinkError::Refused(r.reason));
            }
            Some(controller_message::Body::Refused(r)) => return Err(LinkError::Status(r.reason)),
            Some(body) => LinkEvent::Message(body),
            None => continue,
        };
        if events.send(event).await.is_err() {
            return Ok(());
        }
    }
    Err(LinkError::Closed)
}

async fn connect(config: &LinkConfig) -> Result<Channel, LinkError> {
    let scheme = if config.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let address = || LinkError::Address(config.controller.clone());
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{}", config.controller))
        .map_err(|_| address())?
        .connect_timeout(CONNECT_MAX)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .keep_alive_while_idle(true)
        .tcp_nodelay(true);
    if let Some(files) = &config.tls {
        endpoint = endpoint.tls_config(tls_config(files).await?)?;
    }
    Ok(endpoint.connect().await?)
}

async fn tls_config(files: &TlsFiles) -> Result<ClientTlsConfig, LinkError> {
    let read = |path: Utf8PathBuf| async move {
        tokio::fs::read(&path)
            .await
            .map_err(|source| LinkError::Certificate { path, source })
    };
    let ca = Certificate::from_pem(read(files.ca.clone()).await?);
    let identity = Identity::from_pem(
        read(files.certificate.clone()).await?,
        read(files.key.clone()).await?,
    );
    // The controller's certificate carries this name whatever address it is reached by.
    Ok(ClientTlsConfig::new()
        .ca_certificate(ca)
        .identity(identity)
        .domain_name("schedrig-controller"))
}

fn hello(config: &LinkConfig) -> Result<v1::Hello, ConvertError> {
    Ok(v1::Hello {
        host: config.host.0.clone(),
        epoch: config.epoch,
        boot_id: config.facts.boot_id.clone().unwrap_or_default(),
        wire_min: version::WIRE_MIN,
        wire_max: version::WIRE_MAX,
        build: config.build.clone(),
        facts: Some(to_document("host-facts", &config.facts)?),
        loopback_secret: config.loopback_secret.clone(),
    })
}
