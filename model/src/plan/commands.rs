//! Which implementation runs a cell, and its command.

use crate::playbook::{Diagnostic, EntrySpec, ImplWish, Pos, Report};
use crate::workload::{Command, Implementation, ParamError, Params, PreflightFinding};

use super::machine::Machine;

/// The implementation of an entry on all of its machines; `None` after an error.
pub(super) fn implementation(
    entry: &EntrySpec,
    machines: &[&Machine],
    notes: &mut Vec<String>,
    report: &mut Report,
) -> Option<Implementation> {
    let def = entry.workload.def();
    let offers = |i: Implementation| def.implementations.contains(&i);
    let lacking: Vec<&Machine> = match def.tool {
        Some(tool) => machines
            .iter()
            .copied()
            .filter(|m| m.has_tool(tool.program) == Some(false))
            .collect(),
        None => Vec::new(),
    };
    match entry.implementation {
        ImplWish::Builtin if offers(Implementation::Builtin) => Some(Implementation::Builtin),
        ImplWish::Builtin => {
            report.push(
                Diagnostic::error(entry.workload_pos, format!("{} has no builtin", def.name))
                    .expected("`impl: tool`"),
            );
            None
        }
        // A workload of schedrig's own has no other implementation to mix it up with.
        _ if !offers(Implementation::Tool) => Some(Implementation::Builtin),
        _ if lacking.is_empty() => Some(Implementation::Tool),
        ImplWish::Auto if offers(Implementation::Builtin) => {
            notes.push(format!(
                "{}: builtin {} for `{}`: the program is not installed{}",
                lacking[0].host,
                def.name,
                entry.name,
                package_hint(entry)
            ));
            Some(Implementation::Builtin)
        }
        _ => {
            let program = def.tool.map_or(def.name, |t| t.program);
            let more = if offers(Implementation::Builtin) {
                ", or `impl: auto`"
            } else {
                ""
            };
            report.push(
                Diagnostic::error(
                    entry.workload_pos,
                    format!("{program} is not installed on {}", lacking[0].host),
                )
                .expected(format!(
                    "an installed {program}{}{more}",
                    package_hint(entry)
                )),
            );
            None
        }
    }
}

fn package_hint(entry: &EntrySpec) -> String {
    match entry.workload.def().tool.and_then(|t| t.package) {
        Some(package) => format!(" (package {package})"),
        None => " (no package has it: built from source)".into(),
    }
}

/// The command of a cell, and its parameters with every default filled in.
pub(super) fn command(
    entry: &EntrySpec,
    params: &Params,
    implementation: Implementation,
    machine: &Machine,
    report: &mut Report,
) -> Option<(Command, Params)> {
    match entry
        .workload
        .command(params, implementation, &machine.topology)
    {
        Ok(found) => Some(found),
        Err(error) => {
            report.push(Diagnostic::error(
                position(entry, &error),
                format!("`{}` on {}: {error}", entry.name, machine.host),
            ));
            None
        }
    }
}

/// Where the parameter stands that a workload refuses.
fn position(entry: &EntrySpec, error: &ParamError) -> Pos {
    let name = match error {
        ParamError::Unknown { name, .. } | ParamError::Value { name, .. } => name.as_str(),
        ParamError::Missing { name, .. } => name,
        ParamError::Conflict { .. } => return entry.workload_pos,
    };
    let stated = entry
        .params
        .iter()
        .find(|(n, _, _)| n == name)
        .map(|(_, _, pos)| *pos);
    let of_matrix = entry
        .matrix
        .product
        .iter()
        .chain(&entry.matrix.zip)
        .find(|d| d.key == name)
        .map(|d| d.pos);
    stated.or(of_matrix).unwrap_or(entry.workload_pos)
}

/// What the machine must allow for a cell, as far as it is known now.
pub(super) fn preflight(
    entry: &EntrySpec,
    cell: &str,
    params: &Params,
    (implementation, instances): (Implementation, u32),
    machine: &Machine,
    notes: &mut Vec<String>,
    report: &mut Report,
) {
    let findings = entry.workload.preflight(
        params,
        implementation,
        instances,
        &machine.topology,
        &machine.limits,
    );
    for finding in findings {
        match finding {
            PreflightFinding::Refuse(text) => report.push(Diagnostic::error(
                entry.workload_pos,
                format!("`{cell}` on {}: {text}", machine.host),
            )),
            PreflightFinding::Warn(text) => {
                let text = format!("{}: `{cell}`: {text}", machine.host);
                if !notes.contains(&text) {
                    notes.push(text);
                }
            }
            PreflightFinding::RaiseNofile(limit) => notes.push(format!(
                "{}: `{cell}`: the limit of open files is raised to {limit}",
                machine.host
            )),
        }
    }
}
