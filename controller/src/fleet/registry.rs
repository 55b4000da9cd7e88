//! Who is connected, and which run has which machine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc};

use schedrig_model::host::HostFacts;
use schedrig_model::run::{Assignment, Numbered};
use schedrig_model::{HostId, RunId};
use schedrig_proto::convert::assignment_to;
use schedrig_proto::v1::{self, controller_message};

/// Messages that may wait for one agent's stream: an assignment, acknowledgements, a cancellation.
const OUTGOING: usize = 64;
/// Events that may wait for a run's driver. A full queue holds back the streams that fill it.
const EVENTS: usize = 64;

/// What a run's driver hears of its machines.
#[derive(Debug)]
pub enum FleetEvent {
    /// Connected.
    Up(HostId),
    /// Gone.
    Down(HostId),
    /// Said something; it waits for the acknowledgement.
    Report(HostId, Numbered),
}

/// A machine as others see it.
#[derive(Clone, Debug)]
pub struct HostView {
    /// Its name.
    pub host: HostId,
    /// Whether its agent is connected.
    pub connected: bool,
    /// The run that has it.
    pub busy_with: Option<RunId>,
    /// What it said of itself when it last connected.
    pub facts: HostFacts,
}

/// A machine that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// No agent of that name has ever connected.
    #[error("no machine `{host}` is known here (known: {known})")]
    Unknown {
        /// The name.
        host: HostId,
        /// Those there are.
        known: String,
    },
    /// Another run has it.
    #[error("`{host}` is busy with run {run}")]
    Busy {
        /// The name.
        host: HostId,
        /// The run.
        run: RunId,
    },
}

#[derive(Debug)]
struct Slot {
    facts: HostFacts,
    epoch: u64,
    link: Option<mpsc::Sender<v1::ControllerMessage>>,
    lease: Option<(RunId, mpsc::Sender<FleetEvent>)>,
}

/// The agents of one controller.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    slots: Arc<Mutex<BTreeMap<HostId, Slot>>>,
    changed: Arc<Notify>,
}

/// The right to use some machines for one run; given back on drop.
#[derive(Debug)]
pub struct Lease {
    fleet: Fleet,
    run: RunId,
    hosts: Vec<HostId>,
    /// What the machines say.
    pub events: mpsc::Receiver<FleetEvent>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut slots = self.fleet.slots();
        for host in &self.hosts {
            if let Some(slot) = slots.get_mut(host) {
                slot.lease = slot.lease.take().filter(|(run, _)| *run != self.run);
            }
        }
    }
}

impl Fleet {
    fn slots(&self) -> MutexGuard<'_, BTreeMap<HostId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in an agent. `None` where a younger life of the same agent is connected.
    pub(super) fn join(
        &self,
        host: &HostId,
        epoch: u64,
        facts: HostFacts,
    ) -> Option<mpsc::Receiver<v1::ControllerMessage>> {
        let (sender, receiver) = mpsc::channel(OUTGOING);
        {
            let mut slots = self.slots();
            match slots.get_mut(host) {
                Some(slot) if slot.epoch > epoch => return None,
                // Dropping the older life's sender ends its stream.
                Some(slot) => {
                    slot.facts = facts;
                    slot.epoch = epoch;
                    slot.link = Some(sender);
                }
                None => drop(slots.insert(
                    host.clone(),
                    Slot {
                        facts,
                        epoch,
                        link: Some(sender),
                        lease: None,
                    },
                )),
            }
        }
        self.changed.notify_waiters();
        Some(receiver)
    }

    /// Notes that a stream ended, unless a younger life has taken its place.
    pub(super) fn leave(&self, host: &HostId, epoch: u64) -> bool {
        let mut slots = self.slots();
        match slots.get_mut(host).filter(|s| s.epoch == epoch) {
            Some(slot) => slot.link.take().is_some(),
            None => false,
        }
    }

    /// Where events of a machine go.
    pub(super) fn listener(&self, host: &HostId) -> Option<(RunId, mpsc::Sender<FleetEvent>)> {
        self.slots().get(host).and_then(|s| s.lease.clone())
    }

    /// Every machine that has ever connected.
    pub fn hosts(&self) -> Vec<HostView> {
        let view = |(host, slot): (&HostId, &Slot)| HostView {
            host: host.clone(),
            connected: slot.link.is_some(),
            busy_with: slot.lease.as_ref().map(|(run, _)| run.clone()),
            facts: slot.facts.clone(),
        };
        self.slots().iter().map(view).collect()
    }

    /// Waits until some machine is connected.
    pub async fn first_host(&self) -> HostView {
        loop {
            let notified = self.changed.notified();
            if let Some(host) = self.hosts().into_iter().find(|h| h.connected) {
                return host;
            }
            notified.await;
        }
    }

    /// Takes machines for a run: all of them, or none.
    ///
    /// # Errors
    /// One is unknown or busy.
    pub fn lease(&self, run: &RunId, hosts: &[HostId]) -> Result<Lease, LeaseError> {
        let (sender, events) = mpsc::channel(EVENTS);
        let mut slots = self.slots();
        for host in hosts {
            match slots.get(host) {
                None => {
                    let known: Vec<&str> = slots.keys().map(HostId::as_str).collect();
                    let known = if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    };
                    return Err(LeaseError::Unknown {
                        host: host.clone(),
                        known,
                    });
                }
                Some(Slot {
                    lease: Some((run, _)),
                    ..
                }) => {
                    return Err(LeaseError::Busy {
                        host: host.clone(),
                        run: run.clone(),
                    });
                }
                Some(_) => {}
            }
        }
        for host in hosts {
            if let Some(slot) = slots.get_mut(host) {
                slot.lease = Some((run.clone(), sender.clone()));
                if slot.link.is_some() {
                    // Cannot be full: it was made above with more room than a plan has machines.
                    let _ = sender.try_send(FleetEvent::Up(host.clone()));
                }
            }
        }
        Ok(Lease {
            fleet: self.clone(),
            run: run.clone(),
            hosts: hosts.to_vec(),
            events,
        })
    }

    /// Sends to an agent. Where it is not connected nothing happens: its state machine is told the
    /// same again when it comes back.
    async fn send(&self, host: &HostId, body: controller_message::Body) {
        let link = self.slots().get(host).and_then(|s| s.link.clone());
        if let Some(link) = link {
            let _ = link.send(v1::ControllerMessage { body: Some(body) }).await;
        }
    }

    /// Gives a step to a machine.
    pub async fn assign(&self, host: &HostId, assignment: &Assignment) {
        match assignment_to(assignment) {
            Ok(message) => {
                self.send(host, controller_message::Body::Assign(message))
                    .await
            }
            Err(error) => {
                tracing::error!(error = crate::error::chain(&error), "unsendable assignment")
            }
        }
    }

    /// Acknowledges everything up to `seq`: the store has it.
    pub async fn acknowledge(&self, host: &HostId, seq: u64) {
        self.send(host, controller_message::Body::Ack(v1::Ack { seq }))
            .await;
    }

    /// Ends a run on a machine.
    pub async fn cancel(&self, host: &HostId, run: &RunId) {
        self.send(
            host,
            controller_message::Body::Cancel(v1::Cancel { run: run.0.clone() }),
        )
        .await;
    }

    /// Lets an agent go: the command that started it is done.
    pub async fn dismiss(&self, host: &HostId) {
        self.send(host, controller_message::Body::Leave(v1::Leave {}))
            .await;
    }
}
