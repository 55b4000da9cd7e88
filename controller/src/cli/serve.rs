//! `schedrig serve`: the controller's service.

use std::net::SocketAddr;
use std::sync::Arc;

use camino::Utf8PathBuf;
use tokio::signal::unix::{SignalKind, signal};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

use schedrig_proto::v1::agent_link_server::AgentLinkServer;
use schedrig_proto::v1::control_server::ControlServer;
use schedrig_proto::{MESSAGE_BYTES_MAX, WINDOW_BYTES};

use super::paths::data_dir;
use super::run::runtime;
use crate::ca::Authority;
use crate::control::ControlService;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::fleet::{Admission, Fleet, LinkService};
use crate::store::{SqliteStore, Store};

/// Flags of `serve`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// Where agents and clients connect
    #[arg(long, value_name = "ADDR", default_value = "0.0.0.0:7700")]
    pub listen: SocketAddr,
    /// Certificates and runs [default: this user's data directory]
    #[arg(long, value_name = "DIR")]
    pub data: Option<Utf8PathBuf>,
}

/// Serves until it is told to end.
pub(super) fn run(args: ServeArgs) -> Result<Exit, CommandError> {
    runtime()?.block_on(serve(args))
}

async fn serve(args: ServeArgs) -> Result<Exit, CommandError> {
    let data = args.data.unwrap_or_else(data_dir);
    let authority = Authority::open_or_make(&data).map_err(|e| CommandError::failed(&e))?;
    let client = authority
        .client_bundle()
        .map_err(|e| CommandError::failed(&e))?;
    let store: Arc<dyn Store> = Arc::new(
        SqliteStore::open(&data.join("runs.sqlite")).map_err(|e| CommandError::failed(&e))?,
    );
    let fleet = Fleet::default();
    let links = LinkService::new(fleet.clone(), Arc::clone(&store), Admission::Certificate);
    let links = AgentLinkServer::new(links).max_decoding_message_size(MESSAGE_BYTES_MAX);
    let control = ControlServer::new(ControlService::new(fleet, store))
        .max_decoding_message_size(MESSAGE_BYTES_MAX);
    let tls = authority
        .server_config()
        .map_err(|e| CommandError::failed(&e))?;
    let listener = tokio::net::TcpListener::bind(args.listen)
        .await
        .map_err(|e| {
            CommandError::failed_text(format!("failed to listen on {}: {e}", args.listen))
        })?;
    let address = listener
        .local_addr()
        .map_err(|e| CommandError::failed(&e))?;
    // One line on standard output, for whoever waits for it.
    println!("listening on {address}; client certificates in {client}");
    Server::builder()
        .tls_config(tls)
        .map_err(|e| CommandError::failed(&e))?
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_keepalive_interval(Some(crate::fleet::HEARTBEAT))
        .tcp_nodelay(true)
        .add_service(links)
        .add_service(control)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), told_to_end())
        .await
        .map_err(|e| CommandError::failed(&e))?;
    Ok(Exit::Done)
}

async fn told_to_end() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
