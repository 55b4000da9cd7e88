//! The command line of the builtin: the program as JSON in one argument.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::{
    Command, Implementation, Limits, ParamError, Params, PreflightFinding, phases::DEF,
};

use super::read::{PhaseError, read_program};
use super::rt_app::import_rt_app;
use super::tree::Program;

pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    if !reader.is_given("threads") && !reader.is_given("rt_app") {
        return Err(ParamError::Missing {
            workload: DEF.name,
            name: "threads",
            doc: "the threads and what each does",
        });
    }
    if reader.is_given("threads") && reader.is_given("rt_app") {
        return Err(reader.conflict("`threads` and `rt_app` both describe the program"));
    }
    let seconds = reader.count("seconds")?;
    reader.tree("threads");
    reader.optional_text("rt_app");
    let program = program(params).map_err(|err| reader.conflict(err.to_string()))?;
    let json = serde_json::to_string(&program).map_err(|err| reader.conflict(err.to_string()))?;
    let args = [
        "--seconds".to_owned(),
        seconds.to_string(),
        "--program".to_owned(),
        json,
    ];
    Ok((
        Command::of("phases", implementation, args.into()),
        reader.finish(),
    ))
}

/// The program that these parameters describe.
fn program(params: &Params) -> Result<Program, PhaseError> {
    match (params.get("threads"), params.get("rt_app")) {
        (Some(tree), _) => read_program(tree),
        (None, Some(text)) => import_rt_app(&text.to_string()).map(|(program, ..)| program),
        (None, None) => Err(PhaseError::new("threads", "expected at least one thread")),
    }
}

pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let threads = program(params).map_or(1, |p| p.thread_count());
    let need = Need {
        who: format!("phases with {threads} threads"),
        tasks: threads.saturating_add(1).saturating_mul(instances.into()),
        files: 16,
        ..Need::default()
    };
    let mut findings = check(&need, limits);
    if let Some(text) = params.get("rt_app")
        && let Ok((_, _, lost)) = import_rt_app(&text.to_string())
        && !lost.is_empty()
    {
        findings.push(PreflightFinding::Warn(format!(
            "left out of the rt-app file: {}",
            lost.join(", ")
        )));
    }
    findings
}

pub(super) fn duration_ms(params: &Params) -> Option<u64> {
    resolved_count(params, "seconds")?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;
    use crate::workload::test_machine::machine;

    #[test]
    fn the_builtin_gets_the_program_as_json() {
        let text = r#"{"tasks": {"a": {"loop": 3, "run": 10}}}"#;
        let given = Params([("rt_app".to_owned(), ParamValue::Text(text.to_owned()))].into());
        let (command, _) = command(&given, Implementation::Builtin, &machine()).unwrap();
        assert_eq!(&command.args[..3], ["--seconds", "10", "--program"]);
        let program: Program = serde_json::from_str(&command.args[3]).unwrap();
        assert_eq!(program.threads[0].loops, Some(3));
    }
}
