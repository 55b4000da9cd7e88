//! `schedrig run PLAYBOOK`: measure, simulate, compare.

use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::ValueEnum;
use tokio::sync::{mpsc, watch};

use schedrig_model::RunId;
use schedrig_model::plan::Overrides;
use schedrig_model::record::{RunRecord, RunState};

use super::paths::{StoreArg, state_dir};
use super::source;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::local::{self, LocalAgent};
use crate::progress::{self, Show};
use crate::report::{CompareOptions, Format, compare_records};
use crate::session::{self, Wanted};
use crate::simulator::{self, SimMachine};
use crate::store::Store;

/// News that may wait to be shown; more are dropped.
pub(super) const NEWS: usize = 64;

/// Which backends run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum BackendArg {
    /// Agents on machines.
    Measured,
    /// The simulator.
    Expected,
    /// Both, side by side.
    Both,
}

/// Flags of `run`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct RunArgs {
    /// The playbook
    pub playbook: Utf8PathBuf,
    /// Measure on this machine
    #[arg(long, conflicts_with_all = ["on", "controller"])]
    pub local: bool,
    /// Which machine plays a role
    #[arg(long, value_name = "ROLE=HOST")]
    pub on: Vec<String>,
    /// Address of a running `schedrig serve`, host:port
    #[arg(long, value_name = "ADDR")]
    pub controller: Option<String>,
    /// Directory with the client certificates that `schedrig serve` made
    #[arg(long, value_name = "DIR", requires = "controller")]
    pub certs: Option<Utf8PathBuf>,
    /// Measured, expected, or both
    #[arg(long, value_enum, default_value = "both")]
    pub backend: BackendArg,
    /// Give a parameter another value
    #[arg(long, value_name = "PARAM=VALUE")]
    pub set: Vec<String>,
    /// What the order of repetitions and the simulator's noise are drawn from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only these workload entries, or cells that match (`*` stands for anything)
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
    /// Say nothing while it runs
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    store: StoreArg,
}

/// Runs a playbook.
///
/// # Errors
/// An invalid playbook, a machine that cannot be had, a store that cannot be written.
pub(super) fn run(args: RunArgs) -> Result<Exit, CommandError> {
    let overrides = Overrides {
        params: source::pairs("--set", &args.set)?,
        seed: args.seed,
        only: args.only.clone(),
    };
    let (_, mut wanted) = source::read(&args.playbook, overrides)?;
    wanted.on = source::pairs("--on", &args.on)?;
    if let Some(address) = args.controller.clone() {
        return super::remote::run(&args, &address, wanted);
    }
    if !args.local {
        return Err(CommandError::usage(
            "where? give --local for this machine, or --controller ADDR for a lab",
        ));
    }
    let store = args.store.open()?;
    runtime()?.block_on(run_local(&args, &wanted, &store))
}

pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| CommandError::failed(&e))
}

async fn run_local(
    args: &RunArgs,
    wanted: &Wanted,
    store: &Arc<dyn Store>,
) -> Result<Exit, CommandError> {
    let state = state_dir().join("agent");
    let agent = local::start(Arc::clone(store), &state)
        .await
        .map_err(|e| CommandError::failed(&e))?;
    let result = on_agent(args, wanted, store, &agent).await;
    agent.leave().await;
    finish(args, store, &result?)
}

async fn on_agent(
    args: &RunArgs,
    wanted: &Wanted,
    store: &Arc<dyn Store>,
    agent: &LocalAgent,
) -> Result<RunId, CommandError> {
    let planned = session::plan_for(wanted, std::slice::from_ref(&agent.view))?;
    let (news, shown) = mpsc::channel(NEWS);
    let show = if args.quiet {
        Show::Nothing
    } else {
        Show::Auto
    };
    let shower = tokio::spawn(progress::show(shown, show));
    let (cancel, cancelled) = watch::channel(false);
    let interrupt = tokio::spawn(cancel_on_interrupt(cancel));
    let named = |run: &RunId| {
        if !args.quiet {
            eprintln!("run {run}");
        }
    };
    let measured =
        session::measure(wanted, planned, &agent.fleet, store, news, cancelled, named).await;
    interrupt.abort();
    let _ = shower.await;
    measured.map(|m| m.run)
}

/// The first interrupt ends the run in order; the second ends this command at once, and the agent
/// with it, which then puts the machine back by itself.
async fn cancel_on_interrupt(cancel: watch::Sender<bool>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return;
    };
    for round in 0..2 {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if round == 0 {
            eprintln!(
                "interrupted: ending the workload and putting the machine back (again: at once)"
            );
            let _ = cancel.send(true);
        }
    }
    std::process::exit(130);
}

/// Prints what a run came to.
fn finish(args: &RunArgs, store: &Arc<dyn Store>, run: &RunId) -> Result<Exit, CommandError> {
    let record = store.load(run).map_err(|e| CommandError::failed(&e))?;
    let expected = expected(args, &record);
    if let Some(expected) = &expected {
        store
            .create(expected)
            .map_err(|e| CommandError::failed(&e))?;
    }
    compare_and_print(args, record, expected)
}

/// What the simulator expects of a measured run on its machine.
pub(super) fn expected(args: &RunArgs, record: &RunRecord) -> Option<RunRecord> {
    if args.backend == BackendArg::Measured || record.plan.simulate_seeds == 0 {
        return None;
    }
    // A model of several machines at once is none that this simulator has.
    let [facts] = record.hosts.values().collect::<Vec<_>>()[..] else {
        return None;
    };
    match SimMachine::discovered(facts) {
        Ok(machine) => Some(simulator::expect(
            &record.id,
            &record.plan,
            &record.playbook,
            &machine,
        )),
        Err(error) => {
            eprintln!("note: not simulated: {}", crate::error::chain(&error));
            None
        }
    }
}

/// Prints the comparison of a measured run, with what the simulator expects beside it.
pub(super) fn compare_and_print(
    args: &RunArgs,
    record: RunRecord,
    expected: Option<RunRecord>,
) -> Result<Exit, CommandError> {
    let complete = record.state == RunState::Complete;
    let records: Vec<RunRecord> = std::iter::once(record).chain(expected).collect();
    let format = if args.json {
        Format::Json
    } else {
        Format::Text
    };
    let options = CompareOptions {
        format,
        ..CompareOptions::default()
    };
    let compared = compare_records(&records, &options).map_err(|e| CommandError::failed(&e))?;
    println!("{}", compared.text.trim_end());
    if complete {
        return Ok(Exit::Done);
    }
    eprintln!("schedrig: the run is incomplete; what was measured is kept");
    Ok(Exit::Failed)
}
