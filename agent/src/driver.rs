//! Feeds the state machine and performs what it decides. The only place that waits for several
//! things at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use schedrig_model::RunId;
use schedrig_model::host::Granted;
use schedrig_model::plan::{RunStep, StepAction};
use schedrig_model::record::{RepetitionRecord, SnapshotEdge};
use schedrig_model::run::{
    AgentEffect, AgentFsm, AgentInput, AgentReport, AgentTimes, Assignment, Numbered, Outbox,
    RepetitionEnd, StepError,
};
use schedrig_proto::convert::{assignment_from, event_to};
use schedrig_proto::v1::{self, agent_message, controller_message};

use crate::clock::monotonic_ns;
use crate::exec::Word;
use crate::host::Host;
use crate::link::LinkEvent;
use crate::repetition::{Ended, Repetition, Surroundings};
use crate::spool::Spool;

/// Events that may wait for the driver: it handles each in microseconds, except around a repetition,
/// when nothing else is to happen. 10,000 instances may end at once; their tasks wait for room.
pub const QUEUE: usize = 256;

/// What happened, for the driver.
pub enum DriverEvent {
    /// About the stream to the controller.
    Link(LinkEvent),
    /// A blocking effect ended.
    Performed(Result<Vec<Granted>, StepError>),
    /// A launch ended.
    Launched(Box<Result<Repetition, StepError>>),
    /// An instance ended.
    InstanceEnded(usize, Ended),
    /// A record is complete.
    Assembled(Box<RepetitionRecord>),
    /// The agent is to end.
    Shutdown,
}

/// Why the agent ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// It was told to.
    Told,
    /// The controller refuses it.
    Refused(String),
    /// Its own disk fails: a result cannot be kept.
    Spool(String),
}

/// The agent at work.
pub struct Driver<H: Host> {
    fsm: AgentFsm,
    outbox: Outbox,
    spool: Spool,
    host: Arc<Mutex<H>>,
    around: Surroundings,
    events: mpsc::Sender<DriverEvent>,
    link: Option<mpsc::Sender<v1::AgentMessage>>,
    heartbeat: Duration,
    current: Option<Assignment>,
    owner: Option<RunId>,
    repetition: Option<Repetition>,
    /// Instances whose launcher died before the whole repetition stood at the barrier.
    early: Vec<(usize, Ended)>,
    ending: bool,
    end: Option<AgentEnd>,
}

impl<H: Host> Driver<H> {
    /// An agent with the reports that an earlier life left in its spool.
    pub fn new(
        host: H,
        around: Surroundings,
        spool: Spool,
        left: Vec<Numbered>,
        events: mpsc::Sender<DriverEvent>,
    ) -> Self {
        Driver {
            fsm: AgentFsm::new(AgentTimes::default()),
            outbox: Outbox::from_spool(left),
            spool,
            host: Arc::new(Mutex::new(host)),
            around,
            events,
            link: None,
            heartbeat: Duration::from_secs(10),
            current: None,
            owner: None,
            repetition: None,
            early: Vec::new(),
            ending: false,
            end: None,
        }
    }

    /// Works until told to end; the machine is put back by then.
    pub async fn run(mut self, mut events: mpsc::Receiver<DriverEvent>) -> AgentEnd {
        loop {
            if let Some(end) = self.end.take().or_else(|| self.settled_end()) {
                return end;
            }
            let tick = async {
                match self.fsm.next_tick_ns() {
                    Some(at) => {
                        tokio::time::sleep(Duration::from_nanos(at.saturating_sub(monotonic_ns())))
                            .await
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.recv() => match event {
                    Some(event) => self.handle(event).await,
                    None => return AgentEnd::Told,
                },
                () = tick => self.feed(AgentInput::Tick).await,
                () = tokio::time::sleep(self.heartbeat), if self.link.is_some() => self.send_heartbeat(),
            }
        }
    }

    fn settled_end(&self) -> Option<AgentEnd> {
        (self.ending && self.fsm.is_settled()).then_some(AgentEnd::Told)
    }

    async fn handle(&mut self, event: DriverEvent) {
        match event {
            DriverEvent::Link(event) => self.link_event(event).await,
            DriverEvent::Performed(result) => self.feed(AgentInput::Performed(result)).await,
            DriverEvent::Launched(result) => {
                let input = match *result {
                    Ok(repetition) => {
                        self.repetition = Some(repetition);
                        AgentInput::Launched(Ok(()))
                    }
                    Err(error) => AgentInput::Launched(Err(error)),
                };
                self.feed(input).await;
                for (index, ended) in std::mem::take(&mut self.early) {
                    self.instance_ended(index, ended).await;
                }
            }
            DriverEvent::InstanceEnded(index, ended) => self.instance_ended(index, ended).await,
            DriverEvent::Assembled(record) => self.feed(AgentInput::Assembled(record)).await,
            DriverEvent::Shutdown => {
                self.ending = true;
                for run in [
                    self.current.as_ref().map(|a| a.run.clone()),
                    self.owner.clone(),
                ]
                .into_iter()
                .flatten()
                {
                    self.feed(AgentInput::Cancel(run)).await;
                }
            }
        }
    }

    async fn instance_ended(&mut self, index: usize, ended: Ended) {
        match &mut self.repetition {
            Some(repetition) => {
                repetition.note_end(index, ended);
                self.feed(AgentInput::InstanceExited).await;
            }
            None if !self.fsm.is_idle() => self.early.push((index, ended)),
            None => {}
        }
    }

    async fn link_event(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Up(sender, heartbeat) => {
                tracing::info!("connected to the controller");
                self.heartbeat = heartbeat;
                self.link = Some(sender);
                let unsent: Vec<Numbered> = self.outbox.unacknowledged().cloned().collect();
                for report in &unsent {
                    self.send(report).await;
                }
                self.feed(AgentInput::LinkUp).await;
            }
            LinkEvent::Down(reason) => {
                tracing::warn!(reason, "lost the controller");
                self.link = None;
                self.feed(AgentInput::LinkDown).await;
            }
            LinkEvent::Refused(reason) => self.end = Some(AgentEnd::Refused(reason)),
            LinkEvent::Message(body) => self.message(body).await,
        }
    }

    async fn message(&mut self, body: controller_message::Body) {
        match body {
            controller_message::Body::Assign(message) => match assignment_from(&message) {
                Ok(assignment) => {
                    if self.fsm.is_idle() {
                        self.current = Some(assignment.clone());
                    }
                    self.feed(AgentInput::Assigned(Box::new(assignment))).await;
                }
                Err(error) => {
                    tracing::error!(error = crate::error::chain(&error), "unreadable assignment")
                }
            },
            controller_message::Body::Ack(ack) => {
                for seq in self.outbox.acknowledge(ack.seq) {
                    self.spool.forget(seq);
                }
            }
            controller_message::Body::Cancel(cancel) => {
                self.feed(AgentInput::Cancel(RunId(cancel.run))).await
            }
            controller_message::Body::Leave(v1::Leave {}) => self.ending = true,
            controller_message::Body::Welcome(_) | controller_message::Body::Refused(_) => {}
        }
    }

    async fn feed(&mut self, input: AgentInput) {
        let effects = self.fsm.step(monotonic_ns(), input);
        for effect in effects {
            self.perform(effect).await;
        }
    }

    async fn perform(&mut self, effect: AgentEffect) {
        match effect {
            AgentEffect::Perform(action) => self.perform_action(action),
            AgentEffect::Launch(step) => self.launch(*step),
            AgentEffect::Snapshot(edge) => self.snapshot(edge),
            AgentEffect::Release => {
                if let Some(repetition) = &mut self.repetition {
                    repetition.release().await;
                }
            }
            AgentEffect::Terminate => self.end_instances(Word::Terminate).await,
            AgentEffect::Kill => self.end_instances(Word::Kill).await,
            AgentEffect::Assemble(end) => self.assemble(end),
            AgentEffect::Report(run, report) => self.report(run, report).await,
        }
    }

    fn perform_action(&mut self, action: StepAction) {
        let run = self
            .current
            .as_ref()
            .map(|a| a.run.clone())
            .or_else(|| self.owner.clone());
        let run = run.unwrap_or_else(|| RunId::from("none"));
        self.owner = Some(run.clone());
        let (host, events) = (Arc::clone(&self.host), self.events.clone());
        tokio::task::spawn_blocking(move || {
            let result = host
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .perform(&run, &action);
            // A driver that is gone needs no answer.
            let _ = events.blocking_send(DriverEvent::Performed(result));
        });
    }

    fn launch(&mut self, step: RunStep) {
        let Some(assignment) = self.current.clone() else {
            return;
        };
        let procs = self.group_files(&step);
        let (around, events) = (self.around.clone(), self.events.clone());
        tokio::spawn(async move {
            let result = match procs {
                Ok(procs) => {
                    let to_driver = events.clone();
                    let tell_end = move |index, ended| {
                        let to_driver = to_driver.clone();
                        tokio::spawn(async move {
                            let _ = to_driver
                                .send(DriverEvent::InstanceEnded(index, ended))
                                .await;
                        });
                    };
                    Repetition::launch(&step, &assignment, &around, &procs, tell_end).await
                }
                Err(error) => Err(error),
            };
            let _ = events.send(DriverEvent::Launched(Box::new(result))).await;
        });
    }

    fn group_files(
        &self,
        step: &RunStep,
    ) -> Result<BTreeMap<String, camino::Utf8PathBuf>, StepError> {
        let host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = step.instances.iter().filter_map(|i| i.cgroup.as_deref());
        groups
            .map(|g| host.cgroup_procs(g).map(|path| (g.to_owned(), path)))
            .collect()
    }

    /// Blocks the driver on purpose: between the edges nothing else is to happen here.
    fn snapshot(&mut self, edge: SnapshotEdge) {
        let Some(StepAction::Run(step)) = self.current.as_ref().map(|a| &a.step.action) else {
            return;
        };
        let taken = self
            .host
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .snapshot(&step.collect, edge);
        if let Some(repetition) = &mut self.repetition {
            repetition.note_edge(taken);
        }
    }

    async fn end_instances(&mut self, word: Word) {
        if let Some(repetition) = &mut self.repetition {
            repetition.end(word).await;
        }
    }

    fn assemble(&mut self, end: RepetitionEnd) {
        let (Some(repetition), Some(assignment)) = (self.repetition.take(), self.current.clone())
        else {
            return;
        };
        let StepAction::Run(step) = assignment.step.action.clone() else {
            return;
        };
        let taints = self
            .host
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .taints(&step);
        let events = self.events.clone();
        tokio::spawn(async move {
            let mut record = repetition.assemble(&assignment, &step, end).await;
            record.taints = taints;
            let _ = events.send(DriverEvent::Assembled(Box::new(record))).await;
        });
    }

    async fn report(&mut self, run: RunId, report: AgentReport) {
        let keep = !matches!(report, AgentReport::Started { .. });
        let numbered = match self.outbox.push(run, report) {
            Ok(numbered) => numbered,
            Err(full) => {
                self.end = Some(AgentEnd::Spool(full.to_string()));
                return;
            }
        };
        if keep && let Err(error) = self.spool.keep(&numbered) {
            self.end = Some(AgentEnd::Spool(crate::error::chain(&error)));
            return;
        }
        self.send(&numbered).await;
    }

    async fn send(&mut self, report: &Numbered) {
        let Some(link) = &self.link else { return };
        match event_to(report) {
            Ok(event) => {
                let message = v1::AgentMessage {
                    body: Some(agent_message::Body::Event(event)),
                };
                // A broken stream: the report is sent again when it is back.
                let _ = link.send(message).await;
            }
            Err(error) => tracing::error!(error = crate::error::chain(&error), "unsendable report"),
        }
    }

    fn send_heartbeat(&self) {
        if let Some(link) = &self.link {
            let body = agent_message::Body::Heartbeat(v1::Heartbeat {
                monotonic_ns: monotonic_ns(),
            });
            // Where the queue is full, what fills it says that this agent is alive.
            let _ = link.try_send(v1::AgentMessage { body: Some(body) });
        }
    }
}
