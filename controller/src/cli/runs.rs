//! `schedrig runs list|show|export`.

use camino::Utf8PathBuf;
use clap::Subcommand;

use schedrig_model::record::{RepetitionState, RunRecord};

use super::paths::StoreArg;
use crate::error::CommandError;
use crate::exit::Exit;

/// The verbs of `runs`.
#[derive(Debug, Subcommand)]
pub(super) enum RunsVerb {
    /// Every run, the newest first
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArg,
    },
    /// One run: circumstances, what was granted, every repetition
    Show {
        /// Its name, the beginning of it, or `latest`
        run: String,
        /// Print as JSON, without raw output
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArg,
    },
    /// The raw output of a run's repetitions
    Logs {
        /// Its name, the beginning of it, or `latest`
        run: String,
        #[command(flatten)]
        store: StoreArg,
    },
    /// The whole record as JSON
    Export {
        /// Its name, the beginning of it, or `latest`
        run: String,
        /// Write it here [default: standard output]
        #[arg(long, short)]
        output: Option<Utf8PathBuf>,
        #[command(flatten)]
        store: StoreArg,
    },
}

/// Does what the verb says.
pub(super) fn run(verb: RunsVerb) -> Result<Exit, CommandError> {
    match verb {
        RunsVerb::List { json, store } => list(&store, json),
        RunsVerb::Show { run, json, store } => show(&load(&store, &run)?, json),
        RunsVerb::Logs { run, store } => logs(&load(&store, &run)?),
        RunsVerb::Export { run, output, store } => export(&load(&store, &run)?, output),
    }
}

fn load(store: &StoreArg, name: &str) -> Result<RunRecord, CommandError> {
    let store = store.open()?;
    let run = store.find(name).map_err(|e| CommandError::failed(&e))?;
    store.load(&run).map_err(|e| CommandError::failed(&e))
}

/// A value of the model by its serialised word.
fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn list(store: &StoreArg, json: bool) -> Result<Exit, CommandError> {
    let runs = store.open()?.list().map_err(|e| CommandError::failed(&e))?;
    if json {
        println!("{:#}", serde_json::json!({"format": 1, "runs": runs}));
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        println!("no runs yet: `schedrig run playbooks/quickstart.yaml --local` makes one");
    }
    for run in runs {
        println!(
            "{:<34} {:<9} {:<10} {:>4} repetitions  {}",
            run.id,
            word(&run.backend),
            word(&run.state),
            run.repetitions,
            run.title
        );
    }
    Ok(Exit::Done)
}

fn show(record: &RunRecord, json: bool) -> Result<Exit, CommandError> {
    if json {
        let mut bare = record.clone();
        for repetition in &mut bare.repetitions {
            repetition.snapshots.clear();
            for instance in &mut repetition.instances {
                instance.stdout.clear();
                instance.stderr.clear();
                instance.files.clear();
            }
        }
        println!("{}", to_json(&bare)?);
        return Ok(Exit::Done);
    }
    println!(
        "run {}  {}  {}  {}",
        record.id,
        word(&record.backend),
        word(&record.state),
        record.plan.title
    );
    println!(
        "  started {}  finished {}",
        record.started_at,
        record.finished_at.as_deref().unwrap_or("unknown")
    );
    for (host, facts) in &record.hosts {
        println!(
            "  host {host}: {} {}",
            facts.topology.cpu_model.as_deref().unwrap_or("unknown CPU"),
            facts.kernel_release
        );
        for (name, reason) in &facts.gaps {
            println!("    gap: {name}: {reason}");
        }
    }
    for (host, granted) in &record.granted {
        for knob in granted {
            println!("  {host} {}: {}", knob.place, knob.outcome);
        }
    }
    for note in &record.notes {
        println!("  note: {note}");
    }
    for repetition in &record.repetitions {
        let metrics: Vec<String> = repetition
            .metrics
            .iter()
            .map(|m| format!("{} {:.4} {}", m.metric, m.value, m.unit))
            .collect();
        let state = match &repetition.state {
            RepetitionState::Valid => String::new(),
            RepetitionState::Invalid(reason) => format!("  INVALID: {reason}"),
        };
        let kind = if repetition.warmup { "warm-up" } else { "" };
        println!(
            "  {} [{}] #{} {kind} {}{state}",
            repetition.cell,
            repetition.arm,
            repetition.repetition + 1,
            metrics.join(", ")
        );
        for taint in &repetition.taints {
            println!("    {}: {}", taint.kind, taint.detail);
        }
        for gap in &repetition.gaps {
            println!("    not collected: {gap}");
        }
    }
    Ok(Exit::Done)
}

fn logs(record: &RunRecord) -> Result<Exit, CommandError> {
    for repetition in &record.repetitions {
        for (index, instance) in repetition.instances.iter().enumerate() {
            println!(
                "== {} [{}] #{} instance {index}: {}",
                repetition.cell,
                repetition.arm,
                repetition.repetition + 1,
                instance.argv.join(" ")
            );
            println!("-- {:?}", instance.exit);
            for (name, text) in [("stdout", &instance.stdout), ("stderr", &instance.stderr)] {
                if !text.is_empty() {
                    println!("-- {name}\n{}", text.trim_end());
                }
            }
        }
    }
    Ok(Exit::Done)
}

fn export(record: &RunRecord, output: Option<Utf8PathBuf>) -> Result<Exit, CommandError> {
    let text = to_json(record)?;
    match output {
        Some(path) => std::fs::write(&path, text + "\n")
            .map_err(|e| CommandError::failed_text(format!("failed to write `{path}`: {e}")))?,
        None => println!("{text}"),
    }
    Ok(Exit::Done)
}

fn to_json(record: &RunRecord) -> Result<String, CommandError> {
    serde_json::to_string_pretty(record).map_err(|e| CommandError::failed(&e))
}
