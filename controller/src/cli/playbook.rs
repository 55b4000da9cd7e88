//! `schedrig playbook check|plan|list|schema`.

use camino::Utf8PathBuf;
use clap::Subcommand;

use schedrig_model::plan::{self, Inventory, Machine, Overrides, Plan};
use schedrig_model::playbook::Diagnostics;

use super::source;
use crate::error::CommandError;
use crate::exit::Exit;

/// The verbs of `playbook`.
#[derive(Debug, Subcommand)]
pub(super) enum PlaybookVerb {
    /// Say whether playbooks are valid
    Check {
        /// The playbooks
        #[arg(required = true)]
        playbooks: Vec<Utf8PathBuf>,
        /// Print the diagnostics as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print every step a playbook would take, and how long
    Plan(PlanArgs),
    /// List the playbooks of a directory with their titles
    List {
        /// The directory
        #[arg(default_value = "playbooks")]
        dir: Utf8PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the playbook language, for editors
    Schema,
}

/// Flags of `playbook plan`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct PlanArgs {
    /// The playbook
    #[arg(required_unless_present = "diff")]
    pub playbook: Option<Utf8PathBuf>,
    /// Print what differs between the plans of two playbooks, or two plans saved with --json
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["playbook", "origins"])]
    pub diff: Vec<Utf8PathBuf>,
    /// A topology: an hwloc XML file, a description like `pack:2 l3:4 core:4 pu:2`, or a machine of
    /// the simulator [default: this machine]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The machine of one role, named as for --machine
    #[arg(long, value_name = "ROLE=NAME|FILE")]
    pub on: Vec<String>,
    /// Give a parameter another value
    #[arg(long, value_name = "PARAM=VALUE")]
    pub set: Vec<String>,
    /// What the order of repetitions is drawn from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only these workload entries, or cells that match
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Show where each value of the playbook comes from
    #[arg(long)]
    pub origins: bool,
    /// Print the plan as JSON, canonical
    #[arg(long)]
    pub json: bool,
}

/// Does what the verb says.
pub(super) fn run(verb: PlaybookVerb) -> Result<Exit, CommandError> {
    match verb {
        PlaybookVerb::Check { playbooks, json } => check(&playbooks, json),
        PlaybookVerb::Plan(args) => print_plan(&args),
        PlaybookVerb::List { dir, json } => list(&dir, json),
        PlaybookVerb::Schema => {
            println!("{}", schedrig_model::playbook::schema_text());
            Ok(Exit::Done)
        }
    }
}

fn check(playbooks: &[Utf8PathBuf], json: bool) -> Result<Exit, CommandError> {
    let mut exit = Exit::Done;
    let mut reports = Vec::new();
    for path in playbooks {
        let loader = |wanted: &str| source::read_bounded(camino::Utf8Path::new(wanted));
        let diagnostics = match source::read_bounded(path) {
            Ok(text) => match schedrig_model::playbook::parse(path.as_str(), &text, &loader) {
                Ok(playbook) => playbook.warnings,
                Err(diagnostics) => diagnostics,
            },
            Err(why) => Diagnostics::unreadable(path.as_str(), &why),
        };
        if diagnostics.has_errors() {
            exit = Exit::Usage;
        }
        if json {
            reports.push(serde_json::json!({"playbook": path, "report": diagnostics.to_json()}));
        } else if diagnostics.items.is_empty() {
            println!("{path}: ok");
        } else {
            eprint!("{}", diagnostics.to_text());
        }
    }
    if json {
        println!(
            "{:#}",
            serde_json::json!({"format": 1, "playbooks": reports})
        );
    }
    Ok(exit)
}

fn print_plan(args: &PlanArgs) -> Result<Exit, CommandError> {
    let overrides = Overrides {
        params: source::pairs("--set", &args.set)?,
        seed: args.seed,
        only: args.only.clone(),
    };
    if let [a, b] = &args.diff[..] {
        let difference = plan::diff(
            &plan_or_saved(a, args, &overrides)?,
            &plan_or_saved(b, args, &overrides)?,
        );
        if args.json {
            println!(
                "{:#}",
                serde_json::json!({"format": 1, "same": difference.is_empty(), "diff": difference})
            );
        } else {
            print!("{}", difference.to_text());
        }
        return Ok(Exit::Done);
    }
    let Some(path) = &args.playbook else {
        return Err(CommandError::usage("which playbook?"));
    };
    let plan = plan_of(path, args, &overrides)?;
    let origins = match args.origins {
        true => {
            let (playbook, _) = source::read(path, overrides.clone())?;
            playbook.origins(&overrides.params)
        }
        false => Vec::new(),
    };
    if args.json && args.origins {
        println!(
            "{:#}",
            serde_json::json!({"format": 1, "plan": plan, "origins": origins})
        );
        return Ok(Exit::Done);
    }
    if args.json {
        println!("{}", String::from_utf8_lossy(&plan.to_bytes()));
        return Ok(Exit::Done);
    }
    print!("{}", plan::to_text(&plan, &plan::RenderOptions::default()));
    if args.origins {
        println!("\nvalues and where they come from:");
        for origin in origins {
            println!(
                "  {:<40} {:<30} {}:{}",
                origin.path, origin.value, origin.file, origin.line
            );
        }
    }
    Ok(Exit::Done)
}

/// The plan of a playbook, or the one that a `.json` file holds.
fn plan_or_saved(
    path: &Utf8PathBuf,
    args: &PlanArgs,
    overrides: &Overrides,
) -> Result<Plan, CommandError> {
    if path.extension() != Some("json") {
        return plan_of(path, args, overrides);
    }
    let text = std::fs::read_to_string(path)
        .map_err(|e| CommandError::usage(format!("failed to read `{path}`: {e}")))?;
    serde_json::from_str(&text)
        .map_err(|e| CommandError::usage(format!("`{path}` is no plan of `--json`: {e}")))
}

fn plan_of(
    path: &Utf8PathBuf,
    args: &PlanArgs,
    overrides: &Overrides,
) -> Result<Plan, CommandError> {
    let (playbook, _) = source::read(path, overrides.clone())?;
    let spec = playbook
        .with_params(&overrides.params)
        .map_err(|d| CommandError::usage(d.to_text()))?;
    let on = source::pairs("--on", &args.on)?;
    let roles: Vec<&str> = spec.roles.iter().map(|r| r.name.as_str()).collect();
    if let Some(unknown) = on.keys().find(|role| !roles.contains(&role.as_str())) {
        return Err(CommandError::usage(format!(
            "`--on {unknown}=...`: `{path}` has the roles {}",
            roles.join(", ")
        )));
    }
    let others: Vec<&str> = roles
        .iter()
        .copied()
        .filter(|r| !on.contains_key(*r))
        .collect();
    let mut inventory = Inventory::default();
    if !others.is_empty() {
        let machine: Machine = crate::describe::machine(args.machine.as_deref())?;
        inventory = Inventory::everywhere(others, &machine);
    }
    for (role, name) in on {
        let machine = crate::describe::machine(Some(&name))?;
        inventory.machines.insert(role, machine);
    }
    plan::build(&playbook, &inventory, overrides).map_err(|d| CommandError::usage(d.to_text()))
}

fn list(dir: &Utf8PathBuf, json: bool) -> Result<Exit, CommandError> {
    let read_error =
        |e: std::io::Error| CommandError::usage(format!("failed to read `{dir}`: {e}"));
    let mut paths = Vec::new();
    let mut open = vec![dir.clone()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir_utf8().map_err(read_error)? {
            let path = entry.map_err(read_error)?.into_path();
            // Published results, the schema, and parts that playbooks include are none themselves.
            let is_other = matches!(path.file_name(), Some("reference" | "schema" | "parts"));
            if path.is_dir() && !is_other {
                open.push(path);
            } else if path.extension() == Some("yaml") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        let title = match source::read(&path, Overrides::default()) {
            Ok((playbook, _)) => playbook.spec.title.clone(),
            Err(_) => "(invalid: see `schedrig playbook check`)".to_owned(),
        };
        rows.push((path, title));
    }
    if json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(p, t)| serde_json::json!({"playbook": p, "title": t}))
            .collect();
        println!("{:#}", serde_json::json!({"format": 1, "playbooks": rows}));
    } else {
        let width = rows
            .iter()
            .map(|(p, _)| p.as_str().len())
            .max()
            .unwrap_or(0);
        for (path, title) in rows {
            println!("{:<width$}  {title}", path.as_str());
        }
    }
    Ok(Exit::Done)
}
