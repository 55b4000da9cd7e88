//! The controller's end of the agents' streams.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};

use schedrig_model::HostId;
use schedrig_model::host::HostFacts;
use schedrig_model::run::{AgentReport, Numbered};
use schedrig_proto::convert::{event_from, from_document};
use schedrig_proto::v1::agent_link_server::AgentLink;
use schedrig_proto::v1::{self, agent_message, controller_message};
use schedrig_proto::version::negotiate;

use super::registry::{Fleet, FleetEvent};
use crate::store::Store;

/// An agent that has said nothing for three of these is gone.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
const HELLO_MAX: Duration = Duration::from_secs(10);

/// Who may connect.
#[derive(Clone, Debug)]
pub enum Admission {
    /// Whoever knows the secret: the loopback of `schedrig run --local`.
    Secret(String),
    /// Whoever has a certificate of this controller's authority that names the host.
    Certificate,
}

/// The service.
pub struct LinkService {
    fleet: Fleet,
    store: Arc<dyn Store>,
    admission: Admission,
}

impl LinkService {
    /// A service that takes agents into a fleet. The store is for results of runs that have no
    /// driver any more.
    pub fn new(fleet: Fleet, store: Arc<dyn Store>, admission: Admission) -> Self {
        LinkService {
            fleet,
            store,
            admission,
        }
    }

    fn admit(&self, hello: &v1::Hello, name_in_certificate: Option<String>) -> Result<(), Status> {
        match &self.admission {
            Admission::Secret(secret)
                if constant_time_eq(secret.as_bytes(), hello.loopback_secret.as_bytes()) =>
            {
                Ok(())
            }
            Admission::Secret(_) => Err(Status::unauthenticated(
                "this agent was not started by the command that listens",
            )),
            Admission::Certificate => match name_in_certificate {
                Some(name) if name == hello.host => Ok(()),
                Some(name) => Err(Status::permission_denied(format!(
                    "the certificate is of `{name}`, the agent calls itself `{}`: give --name {name}",
                    hello.host
                ))),
                None => Err(Status::unauthenticated(
                    "the agent's certificate names no host",
                )),
            },
        }
    }
}

fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}

type Outgoing = Pin<Box<dyn Stream<Item = Result<v1::ControllerMessage, Status>> + Send>>;

#[tonic::async_trait]
impl AgentLink for LinkService {
    type AttachStream = Outgoing;

    async fn attach(
        &self,
        request: Request<Streaming<v1::AgentMessage>>,
    ) -> Result<Response<Outgoing>, Status> {
        let name = crate::ca::peer_name(&request);
        let mut incoming = request.into_inner();
        let first = tokio::time::timeout(HELLO_MAX, incoming.next())
            .await
            .map_err(|_| Status::deadline_exceeded("no Hello came"))?
            .ok_or_else(|| Status::invalid_argument("the stream ended before Hello"))??;
        let Some(agent_message::Body::Hello(hello)) = first.body else {
            return Err(Status::invalid_argument("the first message is not Hello"));
        };
        self.admit(&hello, name)?;
        let wire = negotiate(hello.wire_min, hello.wire_max)
            .map_err(|e| Status::permission_denied(e.to_string()))?;
        let facts: HostFacts = from_document("host-facts", hello.facts.as_ref())
            .map_err(|e| Status::permission_denied(crate::error::chain(&e)))?;
        let host = HostId(hello.host);
        let Some(queue) = self.fleet.join(&host, hello.epoch, facts) else {
            let text = format!(
                "a younger agent of the name `{host}` is connected: end this one, or give it another --name"
            );
            return Err(Status::permission_denied(text));
        };
        tracing::info!(%host, "agent connected");
        let heartbeat_ms = HEARTBEAT.as_millis() as u32;
        let welcome = controller_message::Body::Welcome(v1::Welcome { wire, heartbeat_ms });
        let welcome = tokio_stream::once(Ok(v1::ControllerMessage {
            body: Some(welcome),
        }));
        let reader = Reader {
            fleet: self.fleet.clone(),
            store: Arc::clone(&self.store),
            host,
            epoch: hello.epoch,
        };
        tokio::spawn(reader.read(incoming));
        Ok(Response::new(Box::pin(
            welcome.chain(ReceiverStream::new(queue).map(Ok)),
        )))
    }
}

/// Reads one stream to its end.
struct Reader {
    fleet: Fleet,
    store: Arc<dyn Store>,
    host: HostId,
    epoch: u64,
}

impl Reader {
    async fn read(self, mut incoming: Streaming<v1::AgentMessage>) {
        self.tell(FleetEvent::Up(self.host.clone())).await;
        loop {
            let body = match tokio::time::timeout(HEARTBEAT * 3, incoming.next()).await {
                Ok(Some(Ok(message))) => message.body,
                Ok(Some(Err(status))) => {
                    tracing::info!(host = %self.host, status = status.message(), "agent's stream broke");
                    break;
                }
                Ok(None) => break,
                Err(_) => {
                    tracing::warn!(host = %self.host, "agent has said nothing for {:?}", HEARTBEAT * 3);
                    break;
                }
            };
            if let Some(agent_message::Body::Event(event)) = body {
                match event_from(&event) {
                    Ok(numbered) => self.report(numbered).await,
                    Err(error) => {
                        // Never acknowledged: the agent keeps it for a controller that understands it.
                        tracing::error!(host = %self.host, error = crate::error::chain(&error), "unreadable report");
                    }
                }
            }
        }
        if self.fleet.leave(&self.host, self.epoch) {
            self.tell(FleetEvent::Down(self.host.clone())).await;
        }
    }

    async fn tell(&self, event: FleetEvent) {
        if let Some((_, listener)) = self.fleet.listener(&self.host) {
            // A driver that is gone wants no news.
            let _ = listener.send(event).await;
        }
    }

    async fn report(&self, numbered: Numbered) {
        match self.fleet.listener(&self.host) {
            Some((run, listener)) if run == numbered.run => {
                let _ = listener
                    .send(FleetEvent::Report(self.host.clone(), numbered))
                    .await;
            }
            // The run's driver is gone; what was measured for it is not.
            _ => self.keep_without_driver(numbered).await,
        }
    }

    async fn keep_without_driver(&self, numbered: Numbered) {
        let store = Arc::clone(&self.store);
        let Numbered { seq, run, report } = numbered;
        let kept = tokio::task::spawn_blocking(move || match report {
            AgentReport::Done {
                repetition: Some(mut repetition),
                ..
            } => {
                let plan = store.load(&run)?.plan;
                schedrig_model::record::interpret(&plan, &mut repetition);
                store.append(&run, &repetition)
            }
            _ => Ok(()),
        });
        match kept.await {
            Ok(Ok(())) => self.fleet.acknowledge(&self.host, seq).await,
            Ok(Err(crate::store::StoreError::NoSuchRun(run))) => {
                tracing::warn!(host = %self.host, run, "a result of a run this store does not have");
                self.fleet.acknowledge(&self.host, seq).await;
            }
            Ok(Err(error)) => tracing::error!(
                error = crate::error::chain(&error),
                "a result could not be kept"
            ),
            Err(error) => tracing::error!(%error, "a result could not be kept"),
        }
    }
}
