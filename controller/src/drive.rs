//! Feeds a run's state machine and performs what it decides.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use schedrig_model::plan::{Plan, StepAction};
use schedrig_model::record::{RepetitionState, RunState};
use schedrig_model::run::{AgentReport, Numbered, RunEffect, RunFsm, RunInput, RunLimits};
use schedrig_model::{HostId, RunId, record};
use schedrig_stats::{Assumption, Direction, Sample, Unit, summarise};

use crate::fleet::{Fleet, FleetEvent, Lease};
use crate::progress::{Progress, RepetitionLine};
use crate::store::{Store, StoreError};

/// How often a lost machine is looked for.
const TICK: Duration = Duration::from_secs(1);

/// What a run needs.
pub struct Drive {
    /// Its name; the store has its head already.
    pub run: RunId,
    /// What to do.
    pub plan: Plan,
    /// The machines.
    pub lease: Lease,
    /// Where they are connected.
    pub fleet: Fleet,
    /// Where results go before they are acknowledged.
    pub store: Arc<dyn Store>,
    /// Who watches. A slow watcher misses lines, never holds up the run.
    pub progress: mpsc::Sender<Progress>,
    /// Becomes true when nobody wants the run any more.
    pub cancelled: watch::Receiver<bool>,
}

/// What kept a run from going on.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The store failed: nothing is measured that cannot be kept. What was stored stays.
    #[error("the run was stopped: results cannot be kept")]
    Store(#[source] StoreError),
}

/// Half of the 95 % confidence interval of the median, as a share of it.
fn relative_ci(values: &[f64]) -> Option<f64> {
    let sample = Sample::new(values.to_vec(), Unit::new("count"), Direction::Unknown).ok()?;
    summarise(&sample, Assumption::Nothing)
        .half_interval_pct()
        .map(|percent| percent / 100.0)
}

/// Does a run to its end. Whatever ends it, the store says how it stands.
///
/// # Errors
/// The store failed.
pub async fn drive(mut drive: Drive) -> Result<RunState, DriveError> {
    let fsm = RunFsm::new(
        drive.run.clone(),
        drive.plan.clone(),
        RunLimits::default(),
        relative_ci,
    );
    let outcome = Driver {
        fsm,
        began: Instant::now(),
        finished: None,
    }
    .run(&mut drive)
    .await;
    if outcome.is_err() {
        for host in hosts(&drive.plan) {
            drive.fleet.cancel(&host, &drive.run).await;
        }
    }
    let state = *outcome.as_ref().unwrap_or(&RunState::Incomplete);
    let (store, run) = (Arc::clone(&drive.store), drive.run.clone());
    let ended = in_store(move || store.finish(&run, state, &crate::clock::utc_now())).await;
    match (outcome, ended) {
        (Ok(state), Ok(())) => Ok(state),
        (Err(error), _) | (Ok(_), Err(error)) => Err(DriveError::Store(error)),
    }
}

fn hosts(plan: &Plan) -> std::collections::BTreeSet<HostId> {
    plan.steps.iter().map(|s| s.host.clone()).collect()
}

struct Driver {
    fsm: RunFsm,
    began: Instant,
    finished: Option<RunState>,
}

impl Driver {
    async fn run(mut self, drive: &mut Drive) -> Result<RunState, StoreError> {
        let mut tick = tokio::time::interval(TICK);
        loop {
            if let Some(state) = self.finished {
                return Ok(state);
            }
            tokio::select! {
                event = drive.lease.events.recv() => match event {
                    Some(FleetEvent::Up(host)) => self.feed(drive, RunInput::HostUp(host)).await?,
                    Some(FleetEvent::Down(host)) => {
                        self.note(drive, format!("{host} is gone; waiting for it")).await?;
                        self.feed(drive, RunInput::HostDown(host)).await?;
                    }
                    Some(FleetEvent::Report(host, report)) => self.report(drive, host, report).await?,
                    None => return Ok(RunState::Incomplete),
                },
                Ok(()) = drive.cancelled.changed() => {
                    if *drive.cancelled.borrow() {
                        self.feed(drive, RunInput::Cancel).await?;
                    }
                }
                _ = tick.tick() => self.feed(drive, RunInput::Tick).await?,
            }
        }
    }

    /// Stores what a report brings, tells the state machine, then acknowledges.
    async fn report(
        &mut self,
        drive: &mut Drive,
        host: HostId,
        numbered: Numbered,
    ) -> Result<(), StoreError> {
        let Numbered {
            seq,
            run,
            mut report,
        } = numbered;
        if run != drive.run {
            return Ok(());
        }
        if let AgentReport::Done {
            repetition: Some(repetition),
            ..
        } = &mut report
        {
            record::interpret(&drive.plan, repetition);
            let (store, run, stored) = (Arc::clone(&drive.store), run.clone(), repetition.clone());
            in_store(move || store.append(&run, &stored)).await?;
        }
        let granted = match &report {
            AgentReport::Done { granted, .. } => granted.clone(),
            AgentReport::Failed { error, .. } => error.granted.clone(),
            AgentReport::Started { .. } => Vec::new(),
        };
        if !granted.is_empty() {
            let (store, run, host) = (Arc::clone(&drive.store), run.clone(), host.clone());
            in_store(move || store.add_granted(&run, &host, &granted)).await?;
        }
        self.show(drive, &report);
        self.feed(drive, RunInput::Report(host.clone(), &report))
            .await?;
        drive.fleet.acknowledge(&host, seq).await;
        Ok(())
    }

    async fn feed(&mut self, drive: &Drive, input: RunInput<'_>) -> Result<(), StoreError> {
        let now_ns = self.began.elapsed().as_nanos() as u64;
        for effect in self.fsm.step(now_ns, input) {
            match effect {
                RunEffect::Assign(host, assignment) => drive.fleet.assign(&host, &assignment).await,
                RunEffect::Cancel(host) => drive.fleet.cancel(&host, &drive.run).await,
                RunEffect::Note(text) => self.note(drive, text).await?,
                RunEffect::Finished(state) => self.finished = Some(state),
            }
        }
        Ok(())
    }

    async fn note(&self, drive: &Drive, text: String) -> Result<(), StoreError> {
        let _ = drive.progress.try_send(Progress::Note(text.clone()));
        let (store, run) = (Arc::clone(&drive.store), drive.run.clone());
        in_store(move || store.add_note(&run, &text)).await
    }

    fn show(&self, drive: &Drive, report: &AgentReport) {
        let (step, line) = match report {
            AgentReport::Started { step, .. } => (*step, None),
            AgentReport::Failed { step, .. } => (*step, None),
            AgentReport::Done {
                step, repetition, ..
            } => {
                let line = repetition.as_deref().map(|r| RepetitionLine {
                    cell: r.cell.clone(),
                    arm: r.arm.clone(),
                    repetition: r.repetition,
                    warmup: r.warmup,
                    value: r.metrics.first().map(|m| (m.value, m.unit.clone())),
                    invalid: match &r.state {
                        RepetitionState::Invalid(reason) => Some(reason.clone()),
                        RepetitionState::Valid => None,
                    },
                });
                (*step, line)
            }
        };
        let doing = self.fsm.step_of(step).map(|s| match &s.action {
            StepAction::Run(r) => format!("{} [{}]", r.cell, r.arm),
            StepAction::Prepare(_) => "preparing the machine".into(),
            StepAction::MakeCgroups(_) => "making cgroups".into(),
            StepAction::EnterArm { arm, .. } => format!("entering arm {arm}"),
            StepAction::Reboot => "rebooting".into(),
            StepAction::RemoveCgroups => "removing cgroups".into(),
            StepAction::Restore => "putting the machine back".into(),
        });
        let _ = drive.progress.try_send(Progress::Step {
            step: step.0 + 1,
            of: self.fsm.states().len() as u32,
            doing: doing.unwrap_or_default(),
            remaining_ms: self.fsm.remaining_ms(),
            done: line,
        });
    }
}

/// The store blocks on the disk: it is called from a thread that may.
pub(crate) async fn in_store<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(call).await {
        Ok(result) => result,
        Err(panic) => Err(StoreError::Database {
            action: "finish a call",
            source: panic.into(),
        }),
    }
}
