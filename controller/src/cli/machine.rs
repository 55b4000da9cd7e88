//! `schedrig machine list|show`, `schedrig doctor`.

use clap::Subcommand;

use schedrig_model::host::diagnose;
use schedrig_model::topology::draw;

use crate::describe;
use crate::error::CommandError;
use crate::exit::Exit;

/// The verbs of `machine`.
#[derive(Debug, Subcommand)]
pub(super) enum MachineVerb {
    /// Machines the simulator ships
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Draw a topology: this machine's, an hwloc XML file's, a description's, the simulator's
    Show {
        /// A file, a description like `pack:2 l3:4 core:4 pu:2`, or a machine of the simulator
        /// [default: this machine]
        machine: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Does what the verb says.
pub(super) fn run(verb: MachineVerb) -> Result<Exit, CommandError> {
    match verb {
        MachineVerb::List { json } => {
            let names: Vec<&str> = schedrig_sim::machine::shipped_machines().collect();
            if json {
                println!("{:#}", serde_json::json!({"format": 1, "machines": names}));
            } else {
                names.iter().for_each(|name| println!("{name}"));
            }
        }
        MachineVerb::Show { machine, json } => {
            let topology = describe::machine(machine.as_deref())?.topology;
            if json {
                println!(
                    "{:#}",
                    serde_json::json!({"format": 1, "topology": topology})
                );
            } else {
                print!("{}", draw(&topology));
            }
        }
    }
    Ok(Exit::Done)
}

/// Says what this machine can and cannot do.
pub(super) fn doctor(json: bool) -> Result<Exit, CommandError> {
    let machine = describe::machine(None)?;
    let Some(facts) = machine.facts else {
        return Ok(Exit::Done);
    };
    let lines = diagnose(&facts);
    if json {
        let rows: Vec<_> = lines
            .iter()
            .map(|l| serde_json::json!({"health": format!("{:?}", l.health).to_lowercase(), "subject": l.subject, "found": l.found, "mend": l.mend}))
            .collect();
        println!("{:#}", serde_json::json!({"format": 1, "diagnoses": rows}));
    } else {
        lines.iter().for_each(|line| println!("{line}"));
    }
    Ok(Exit::Done)
}
