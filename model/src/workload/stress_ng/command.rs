//! The command line of stress-ng.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::{
    Command, Implementation, Limits, ParamError, ParamValue, Params, PreflightFinding,
    stress_ng::DEF,
};

pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let cpus = u64::try_from(machine.usable().len()).unwrap_or(1).max(1);
    let stressor = reader.optional_text("stressor").unwrap_or_default();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if stressor.is_empty() || stressor.starts_with('-') || !stressor.chars().all(is_name) {
        let found = ParamValue::Text(stressor);
        return Err(reader.bad("stressor", &found, "a stressor's name, such as futex"));
    }
    let instances = reader.count_or("instances", cpus)?;
    let seconds = reader.count("seconds")?;
    let mut args = vec![format!("--{stressor}"), instances.to_string()];
    if let Some(ops) = reader.optional_count("ops")? {
        args.extend([format!("--{stressor}-ops"), ops.to_string()]);
    }
    args.extend(["--timeout".to_owned(), format!("{seconds}s")]);
    args.extend(["--metrics-brief", "--yaml", "{dir}/metrics.yaml"].map(str::to_owned));
    args.extend(reader.words("options"));
    let mut command = Command::of("stress-ng", implementation, args);
    command.result_files = vec!["metrics.yaml".to_owned()];
    Ok((command, reader.finish()))
}

/// The parent, and for each copy a process with at most one child of its own (futex, switch, pipe).
pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let copies = resolved_count(params, "instances").unwrap_or(1);
    let need = Need {
        who: format!("stress-ng with {copies} copies"),
        tasks: copies
            .saturating_mul(2)
            .saturating_add(1)
            .saturating_mul(instances.into()),
        files: 64,
        ..Need::default()
    };
    check(&need, limits)
}

/// With `ops` the run may end before its time.
pub(super) fn duration_ms(params: &Params) -> Option<u64> {
    if params.get("ops").is_some() {
        return None;
    }
    resolved_count(params, "seconds")?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::test_machine::machine;

    #[test]
    fn the_first_stressor_is_futex_on_every_cpu() {
        let (command, _) = command(&Params::default(), Implementation::Tool, &machine()).unwrap();
        assert_eq!(
            command.args.join(" "),
            "--futex 4 --timeout 30s --metrics-brief --yaml {dir}/metrics.yaml"
        );
    }

    #[test]
    fn a_stressor_is_a_name_and_no_option() {
        let given = Params([("stressor".to_owned(), ParamValue::Text("cpu --vm".into()))].into());
        assert!(command(&given, Implementation::Tool, &machine()).is_err());
    }
}
