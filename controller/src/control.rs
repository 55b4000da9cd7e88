//! The calls of clients: the command line on another machine, pipelines.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};

use schedrig_model::RunId;
use schedrig_model::plan::Overrides;
use schedrig_proto::convert::to_document;
use schedrig_proto::v1;
use schedrig_proto::v1::control_server::Control;
use schedrig_proto::v1::run_update::Body;

use crate::ca::{CLIENT_NAME, peer_name};
use crate::drive::in_store;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::fleet::Fleet;
use crate::progress::Progress;
use crate::session::{self, Wanted};
use crate::store::{Store, StoreError};

/// Updates that may wait for a client; progress beyond that is dropped.
const UPDATES: usize = 64;
/// Size of the parts a record is sent in, bytes.
const CHUNK: usize = 256 << 10;

type Updates = Pin<Box<dyn Stream<Item = Result<v1::RunUpdate, Status>> + Send>>;
type Chunks = Pin<Box<dyn Stream<Item = Result<v1::Chunk, Status>> + Send>>;
type Running = Arc<Mutex<BTreeMap<RunId, watch::Sender<bool>>>>;

/// The service.
pub struct ControlService {
    fleet: Fleet,
    store: Arc<dyn Store>,
    running: Running,
}

impl ControlService {
    /// A service over a fleet and a store.
    pub fn new(fleet: Fleet, store: Arc<dyn Store>) -> Self {
        ControlService {
            fleet,
            store,
            running: Running::default(),
        }
    }
}

/// An agent's certificate lets nobody dispatch.
fn only_clients<T>(request: &Request<T>) -> Result<(), Status> {
    match peer_name(request) {
        Some(name) if name == CLIENT_NAME => Ok(()),
        _ => Err(Status::permission_denied(
            "this certificate is no client's: use the files in the `client` directory of the controller's data",
        )),
    }
}

fn store_status(error: &StoreError) -> Status {
    match error {
        StoreError::NoSuchRun(_) | StoreError::Ambiguous { .. } => {
            Status::not_found(error.to_string())
        }
        other => Status::internal(crate::error::chain(other)),
    }
}

fn document<T: serde::Serialize>(kind: &'static str, value: &T) -> Result<v1::Document, Status> {
    to_document(kind, value).map_err(|e| Status::internal(crate::error::chain(&e)))
}

#[tonic::async_trait]
impl Control for ControlService {
    type GetRunStream = Chunks;
    type SubmitStream = Updates;

    async fn list_hosts(
        &self,
        request: Request<v1::ListHostsRequest>,
    ) -> Result<Response<v1::ListHostsReply>, Status> {
        only_clients(&request)?;
        let hosts = self.fleet.hosts().into_iter().map(|view| {
            Ok(v1::HostStatus {
                host: view.host.0,
                connected: view.connected,
                busy_with: view.busy_with.map(|r| r.0).unwrap_or_default(),
                facts: Some(document("host-facts", &view.facts)?),
            })
        });
        Ok(Response::new(v1::ListHostsReply {
            hosts: hosts.collect::<Result<_, Status>>()?,
        }))
    }

    async fn list_runs(
        &self,
        request: Request<v1::ListRunsRequest>,
    ) -> Result<Response<v1::ListRunsReply>, Status> {
        only_clients(&request)?;
        let store = Arc::clone(&self.store);
        let runs = in_store(move || store.list())
            .await
            .map_err(|e| store_status(&e))?;
        Ok(Response::new(v1::ListRunsReply {
            runs: Some(document("run-summaries", &runs)?),
        }))
    }

    async fn get_run(
        &self,
        request: Request<v1::GetRunRequest>,
    ) -> Result<Response<Chunks>, Status> {
        only_clients(&request)?;
        let (store, name) = (Arc::clone(&self.store), request.into_inner().run);
        let record = in_store(move || store.load(&store.find(&name)?))
            .await
            .map_err(|e| store_status(&e))?;
        let bytes = serde_json::to_vec(&record).map_err(|e| Status::internal(e.to_string()))?;
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            let bytes = bytes::Bytes::from(bytes);
            for start in (0..bytes.len()).step_by(CHUNK) {
                let data = bytes.slice(start..bytes.len().min(start + CHUNK));
                if sender.send(Ok(v1::Chunk { data })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<Updates>, Status> {
        only_clients(&request)?;
        let message = request.into_inner();
        let wanted = wanted(message)?;
        let (updates, receiver) = mpsc::channel(UPDATES);
        let (fleet, store, running) = (
            self.fleet.clone(),
            Arc::clone(&self.store),
            Arc::clone(&self.running),
        );
        // The run goes on where the client does not stay to watch.
        tokio::spawn(async move {
            if let Err(error) = submit(&wanted, &fleet, &store, &running, &updates).await {
                let refused = v1::RunRefused {
                    text: error.text,
                    usage: error.exit == Exit::Usage,
                };
                let _ = updates
                    .send(Ok(v1::RunUpdate {
                        body: Some(Body::Refused(refused)),
                    }))
                    .await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn cancel_run(
        &self,
        request: Request<v1::CancelRunRequest>,
    ) -> Result<Response<v1::CancelRunReply>, Status> {
        only_clients(&request)?;
        let run = RunId(request.into_inner().run);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let known = running
            .get(&run)
            .is_some_and(|cancel| cancel.send(true).is_ok());
        Ok(Response::new(v1::CancelRunReply { known }))
    }
}

fn wanted(message: v1::SubmitRequest) -> Result<Wanted, Status> {
    let v1::SubmitRequest {
        playbook_name,
        playbook,
        files,
        on,
        set,
        seed,
        only,
    } = message;
    let pairs = |given: &[String]| -> Result<BTreeMap<String, String>, Status> {
        given
            .iter()
            .map(|p| p.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned())))
            .collect::<Option<_>>()
            .ok_or_else(|| Status::invalid_argument("expected NAME=VALUE"))
    };
    let overrides = Overrides {
        params: pairs(&set)?,
        seed,
        only,
    };
    let files = files.into_iter().collect();
    Ok(Wanted {
        name: playbook_name,
        text: playbook,
        files,
        on: pairs(&on)?,
        overrides,
    })
}

async fn submit(
    wanted: &Wanted,
    fleet: &Fleet,
    store: &Arc<dyn Store>,
    running: &Running,
    updates: &mpsc::Sender<Result<v1::RunUpdate, Status>>,
) -> Result<(), CommandError> {
    let connected: Vec<_> = fleet.hosts().into_iter().filter(|h| h.connected).collect();
    let planned = session::plan_for(wanted, &connected)?;
    let (news, mut shown) = mpsc::channel::<Progress>(UPDATES);
    let (cancel, cancelled) = watch::channel(false);
    let forward = updates.clone();
    let forwarder = tokio::spawn(async move {
        while let Some(progress) = shown.recv().await {
            if let Ok(document) = document("progress", &progress) {
                // A client that is slow, or gone, misses lines.
                let _ = forward.try_send(Ok(v1::RunUpdate {
                    body: Some(Body::Progress(document)),
                }));
            }
        }
    });
    let named = |run: &RunId| {
        running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run.clone(), cancel);
        let _ = updates.try_send(Ok(v1::RunUpdate {
            body: Some(Body::Run(run.0.clone())),
        }));
    };
    let measured = session::measure(wanted, planned, fleet, store, news, cancelled, named).await;
    let _ = forwarder.await;
    // Whatever it came to, nobody can cancel it any more.
    running
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .retain(|_, cancel| !cancel.is_closed());
    let measured = measured?;
    let _ = updates
        .send(Ok(v1::RunUpdate {
            body: Some(Body::Finished(measured.run.0)),
        }))
        .await;
    Ok(())
}
