//! `schedrig workload list|show|parse`.

use std::io::Read;

use camino::Utf8PathBuf;
use clap::Subcommand;

use schedrig_model::workload::{ALL, ExitState, Outcome, Workload, outcome_json, read_saved};

use crate::error::CommandError;
use crate::exit::Exit;

/// A saved output is at most this long, in bytes.
const SAVED_MAX: u64 = 64 << 20;

/// The verbs of `workload`.
#[derive(Debug, Subcommand)]
pub(super) enum WorkloadVerb {
    /// The catalogue, a line each
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// One workload: parameters, metrics, what the simulator models of it
    Show {
        /// Its name
        name: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// What a tool's saved output means: metrics, or the named outcome
    Parse {
        /// The workload's name
        name: String,
        /// Saved outputs; none: standard input
        files: Vec<Utf8PathBuf>,
        /// Its standard error, where it was saved apart (with one file)
        #[arg(long, value_name = "FILE")]
        stderr: Option<Utf8PathBuf>,
        /// The exit status, where it is known
        #[arg(long, value_name = "N")]
        exit: Option<i32>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Does what the verb says.
pub(super) fn run(verb: WorkloadVerb) -> Result<Exit, CommandError> {
    match verb {
        WorkloadVerb::List { json } => Ok(list(json)),
        WorkloadVerb::Show { name, json } => show(by_name(&name)?, json),
        WorkloadVerb::Parse {
            name,
            files,
            stderr,
            exit,
            json,
        } => {
            let workload = by_name(&name)?;
            let exit = exit.map_or(ExitState::Unknown, |code| match code {
                129..=192 => ExitState::Signal(code - 128),
                code => ExitState::Code(code),
            });
            parse(workload, &files, stderr, exit, json)
        }
    }
}

fn by_name(name: &str) -> Result<Workload, CommandError> {
    Workload::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|w| w.def().name).collect();
        CommandError::usage(format!(
            "unknown workload `{name}` (known: {})",
            known.join(", ")
        ))
    })
}

fn list(json: bool) -> Exit {
    if json {
        let rows: Vec<_> = ALL
            .iter()
            .map(|w| serde_json::json!({"name": w.def().name, "summary": w.def().summary}))
            .collect();
        println!("{:#}", serde_json::json!({"format": 1, "workloads": rows}));
    } else {
        for workload in ALL {
            println!("{:<12} {}", workload.def().name, workload.def().summary);
        }
    }
    Exit::Done
}

fn show(workload: Workload, json: bool) -> Result<Exit, CommandError> {
    let def = workload.def();
    if json {
        let params: Vec<_> = def
            .params
            .iter()
            .map(|p| serde_json::json!({"name": p.name, "kind": format!("{:?}", p.kind), "default": p.default, "unit": p.unit, "doc": p.doc}))
            .collect();
        let metrics: Vec<_> = def
            .metrics
            .iter()
            .map(|m| serde_json::json!({"name": m.name, "unit": m.unit, "direction": m.direction, "primary": m.primary, "doc": m.doc}))
            .collect();
        println!(
            "{:#}",
            serde_json::json!({"format": 1, "name": def.name, "summary": def.summary, "params": params, "metrics": metrics, "simulated": def.simulated})
        );
        return Ok(Exit::Done);
    }
    println!("{}: {}", def.name, def.summary);
    if let Some(tool) = &def.tool {
        println!(
            "  tool: {} ({})",
            tool.program,
            tool.package
                .map_or("source only".into(), |p| format!("package {p}"))
        );
    }
    println!(
        "  implementations: {}",
        def.implementations
            .iter()
            .map(|i| format!("{i:?}").to_lowercase())
            .collect::<Vec<_>>()
            .join(", ")
    );
    println!("  parameters:");
    for p in def.params {
        println!(
            "    {:<18} {} [default: {}{}]",
            p.name,
            p.doc,
            p.default.unwrap_or("none"),
            if p.unit.is_empty() {
                String::new()
            } else {
                format!(" {}", p.unit)
            }
        );
    }
    println!("  metrics:");
    for m in def.metrics {
        println!(
            "    {:<28} [{}] {} is better: {}",
            m.name,
            m.unit,
            m.direction.word(),
            m.doc
        );
    }
    println!("  simulated: {}", def.simulated);
    Ok(Exit::Done)
}

fn parse(
    workload: Workload,
    files: &[Utf8PathBuf],
    stderr: Option<Utf8PathBuf>,
    exit: ExitState,
    json: bool,
) -> Result<Exit, CommandError> {
    if stderr.is_some() && files.len() > 1 {
        return Err(CommandError::usage(
            "--stderr goes with one file of standard output",
        ));
    }
    let stderr = stderr.map(|path| read(&path)).transpose()?;
    let mut outputs = Vec::new();
    if files.is_empty() {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(SAVED_MAX)
            .read_to_end(&mut bytes)
            .map_err(|e| CommandError::failed(&e))?;
        outputs.push((None, String::from_utf8_lossy(&bytes).into_owned()));
    }
    for path in files {
        outputs.push((Some(path.clone()), read(path)?));
    }
    let mut exit_code = Exit::Done;
    let mut rows = Vec::new();
    for (path, text) in &outputs {
        let outcome = read_saved(workload, text, stderr.as_deref(), exit);
        if matches!(outcome, Outcome::Failed(_)) {
            exit_code = Exit::Failed;
        }
        if json {
            let mut row = outcome_json(workload, &outcome);
            if let (Some(path), Some(map)) = (path, row.as_object_mut()) {
                map.insert("file".into(), path.as_str().into());
            }
            rows.push(row);
        } else {
            print_outcome(path.as_ref(), &outcome);
        }
    }
    if json {
        // One output: its object; several: a list, in the order given.
        match rows.as_slice() {
            [only] => println!("{only:#}"),
            _ => println!("{:#}", serde_json::Value::Array(rows)),
        }
    }
    Ok(exit_code)
}

fn print_outcome(path: Option<&Utf8PathBuf>, outcome: &Outcome) {
    let name = path.map_or("-", |p| p.as_str());
    match outcome {
        Outcome::Failed(failure) => println!("{name}: failed: {failure}"),
        Outcome::Ok(parsed) => {
            println!("{name}:");
            for m in &parsed.metrics {
                println!(
                    "  {:<28} {} {} ({} is better)",
                    m.metric,
                    m.value,
                    m.unit,
                    m.direction.word()
                );
            }
            for (key, value) in &parsed.resolved {
                println!("  {key}: {value}");
            }
            for warning in &parsed.warnings {
                println!("  warning: {warning}");
            }
        }
    }
}

fn read(path: &Utf8PathBuf) -> Result<String, CommandError> {
    let file = std::fs::File::open(path)
        .map_err(|e| CommandError::usage(format!("failed to read `{path}`: {e}")))?;
    let mut bytes = Vec::new();
    file.take(SAVED_MAX)
        .read_to_end(&mut bytes)
        .map_err(|e| CommandError::usage(format!("failed to read `{path}`: {e}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
