//! The command line of schbench and what it needs of the machine.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::{
    Command, Implementation, Limits, ParamError, Params, PreflightFinding, schbench::DEF,
};

/// Parameters after defaults; the ones without a default are passed on only where they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchbenchParams {
    /// The options of before 2023.
    pub old: bool,
    /// Message threads.
    pub message_threads: u64,
    /// Workers of each message thread.
    pub workers: u64,
    /// How long to run.
    pub seconds: u64,
}

/// Options both generations know or one has alone: parameter, flag, whether `old` has it,
/// whether `current` has it.
const COUNTS: &[(&str, &str, bool, bool)] = &[
    ("rps", "-R", true, true),
    ("auto_rps", "-A", false, true),
    ("operations", "-n", false, true),
    ("cache_footprint", "-F", false, true),
    ("split", "--split", false, true),
    ("pipe", "-p", true, true),
    ("sleep", "-s", true, true),
    ("cpu_time", "-c", true, false),
    ("warmup", "-w", false, true),
];

pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let old = reader.choice("options")? == "old";
    let message_threads = reader.count("message_threads")?;
    let cpus = u64::try_from(machine.usable().len()).unwrap_or(1).max(1);
    let p = SchbenchParams {
        old,
        message_threads,
        workers: reader.count_or("workers", cpus.div_ceil(message_threads))?,
        seconds: reader.count("seconds")?,
    };
    let mut args: Vec<String> = Vec::new();
    for (flag, value) in [
        ("-m", p.message_threads),
        ("-t", p.workers),
        ("-r", p.seconds),
    ] {
        args.extend([flag.to_owned(), value.to_string()]);
    }
    counts(&mut reader, old, &mut args)?;
    switches(&mut reader, old, &mut args)?;
    Ok((
        Command::of("schbench", implementation, args),
        reader.finish(),
    ))
}

fn counts(reader: &mut Reader<'_>, old: bool, args: &mut Vec<String>) -> Result<(), ParamError> {
    for (name, flag, in_old, in_current) in COUNTS {
        let mut value = reader.optional_count(name)?;
        // Both are always stated for the old generation: `-c` also tells the builtin which one it is.
        if old && value.is_none() && matches!(*name, "sleep" | "cpu_time") {
            value = Some(10_000);
            reader.note(name, 10_000);
        }
        let Some(value) = value else { continue };
        if !(if old { *in_old } else { *in_current }) {
            let word = if old { "old" } else { "current" };
            return Err(reader.conflict(format!("`{name}` is no option of the {word} program")));
        }
        args.extend([(*flag).to_owned(), value.to_string()]);
    }
    if reader.is_given("rps") && reader.is_given("auto_rps") {
        return Err(reader.conflict("`rps` and `auto_rps` both set the rate"));
    }
    Ok(())
}

fn switches(reader: &mut Reader<'_>, old: bool, args: &mut Vec<String>) -> Result<(), ParamError> {
    let auto = reader.switch("auto")?;
    let locking = reader.switch("locking")?;
    let json = reader.switch("json")?;
    if old && (!locking || json) {
        return Err(reader.conflict("`locking` and `json` are no options of the old program"));
    }
    if auto && !old {
        return Err(reader.conflict("`auto` is an option of the old program; see `auto_rps`"));
    }
    for (set, flag) in [(auto, "-a"), (!locking, "-L")] {
        if set {
            args.push(flag.to_owned());
        }
    }
    if json {
        args.extend(["-j".to_owned(), "-".to_owned()]);
    }
    for (name, flag) in [("message_cpus", "-M"), ("worker_cpus", "-W")] {
        if let Some(cpus) = reader.optional_text(name) {
            if old {
                return Err(reader.conflict(format!("`{name}` is no option of the old program")));
            }
            args.extend([flag.to_owned(), cpus]);
        }
    }
    Ok(())
}

/// `m * (t + 1)` threads and the first one.
pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let message = resolved_count(params, "message_threads").unwrap_or(1);
    let workers = resolved_count(params, "workers").unwrap_or(1);
    let each = message
        .saturating_mul(workers.saturating_add(1))
        .saturating_add(1);
    let need = Need {
        who: format!("schbench with {message} x {workers} workers"),
        tasks: each.saturating_mul(instances.into()),
        files: if resolved_count(params, "pipe").is_some() {
            each.saturating_mul(2).saturating_add(10)
        } else {
            16
        },
        ..Need::default()
    };
    check(&need, limits)
}

pub(super) fn duration_ms(params: &Params) -> Option<u64> {
    resolved_count(params, "seconds")?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;
    use crate::workload::test_machine::machine;

    fn params(pairs: &[(&str, i64)]) -> Params {
        let value = |v| ParamValue::Int(v);
        Params(
            pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), value(*v)))
                .collect(),
        )
    }

    #[test]
    fn workers_left_out_are_the_cpus_over_the_message_threads_rounded_up() {
        let given = params(&[("message_threads", 3)]);
        let (command, resolved) = command(&given, Implementation::Tool, &machine()).unwrap();
        assert_eq!(command.args.join(" "), "-m 3 -t 2 -r 30");
        assert_eq!(resolved_count(&resolved, "workers"), Some(2));
        assert_eq!(duration_ms(&resolved), Some(30_000));
    }

    #[test]
    fn the_old_program_has_its_own_options() {
        let mut given = params(&[("cpu_time", 20_000)]);
        given
            .0
            .insert("options".into(), ParamValue::Text("old".into()));
        let (command, _) = command(&given, Implementation::Builtin, &machine()).unwrap();
        assert_eq!(command.args.join(" "), "-m 1 -t 4 -r 30 -s 10000 -c 20000");
        given.0.insert("auto_rps".into(), ParamValue::Int(50));
        let error = super::command(&given, Implementation::Builtin, &machine()).unwrap_err();
        assert!(error.to_string().contains("auto_rps"), "{error}");
    }

    // Case B3: `error 11 from pthread_create` beyond what pid_max leaves.
    #[test]
    fn more_threads_than_pid_max_leaves_are_refused_by_name() {
        let resolved = params(&[("message_threads", 32), ("workers", 1024)]);
        let limits = Limits {
            pid_max: Some(32_768),
            tasks_now: Some(384),
            ..Limits::default()
        };
        let findings = preflight(&resolved, Implementation::Tool, 1, &machine(), &limits);
        assert_eq!(
            findings,
            [PreflightFinding::Refuse(
                "schbench with 32 x 1024 workers needs 32801 threads, \
                 kernel.pid_max 32768 allows 32384 beside 384 that exist"
                    .into()
            )]
        );
    }
}
