//! The command line of hackbench and what it needs of the machine.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count, resolved_word};
use crate::workload::{
    Command, Implementation, Limits, ParamError, Params, PreflightFinding, hackbench::DEF,
};

/// Parameters after defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HackbenchParams {
    /// Threads of one process instead of processes.
    pub threads: bool,
    /// `pipe`, `socket` or `inet`.
    pub ipc: &'static str,
    /// Groups.
    pub groups: u64,
    /// Senders, and receivers, in a group.
    pub fds: u64,
    /// Messages from each sender to each receiver.
    pub loops: u64,
    /// Bytes in a message.
    pub size: u64,
}

pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let p = HackbenchParams {
        threads: reader.choice("mode")? == "thread",
        ipc: reader.choice("ipc")?,
        groups: reader.count("groups")?,
        fds: reader.count("fds")?,
        loops: reader.count("loops")?,
        size: reader.count("size")?,
    };
    let mut args = Vec::new();
    args.push(if p.threads { "-T" } else { "-P" }.to_owned());
    match p.ipc {
        "pipe" => args.push("-p".to_owned()),
        "inet" => args.push("-i".to_owned()),
        _ => {}
    }
    for (flag, value) in [
        ("-g", p.groups),
        ("-f", p.fds),
        ("-l", p.loops),
        ("-s", p.size),
    ] {
        args.extend([flag.to_owned(), value.to_string()]);
    }
    Ok((
        Command::of("hackbench", implementation, args),
        reader.finish(),
    ))
}

/// Open files, from the tool's source: `fds` pairs of two descriptors for each group. Thread mode
/// holds all of them in one process. In process mode the parent closes a group's descriptors before
/// it makes the next; a sender holds `fds` write ends. Ten more for the streams, the two start pipes
/// and what the runtime opens.
pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let groups = resolved_count(params, "groups").unwrap_or(10);
    let fds = resolved_count(params, "fds").unwrap_or(20);
    let threads = resolved_word(params, "mode").as_deref() == Some("thread");
    let tasks = groups.saturating_mul(fds).saturating_mul(2);
    let need = Need {
        who: format!(
            "hackbench in {} mode with {groups} groups",
            if threads { "thread" } else { "process" }
        ),
        tasks: tasks.saturating_add(1).saturating_mul(instances.into()),
        files: if threads {
            tasks.saturating_add(10)
        } else {
            fds.saturating_add(12)
        },
        ports: if resolved_word(params, "ipc").as_deref() == Some("inet") {
            groups.saturating_mul(fds).saturating_mul(instances.into())
        } else {
            0
        },
        ..Need::default()
    };
    check(&need, limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;
    use crate::workload::test_machine::machine;

    fn params(text: &[(&str, ParamValue)]) -> Params {
        Params(
            text.iter()
                .map(|(k, v)| ((*k).to_owned(), v.clone()))
                .collect(),
        )
    }

    #[test]
    fn the_command_states_every_parameter() {
        let given = params(&[
            ("mode", ParamValue::Text("thread".into())),
            ("ipc", ParamValue::Text("pipe".into())),
            ("groups", ParamValue::Text("4".into())),
        ]);
        let (command, resolved) = command(&given, Implementation::Builtin, &machine()).unwrap();
        assert_eq!(command.args.join(" "), "-T -p -g 4 -f 20 -l 100 -s 100");
        assert_eq!(resolved.get("groups"), Some(&ParamValue::Int(4)));
        assert_eq!(resolved.get("loops"), Some(&ParamValue::Int(100)));
    }

    #[test]
    fn a_mistyped_parameter_is_refused_with_the_likely_name() {
        let given = params(&[("group", ParamValue::Int(1))]);
        let error = command(&given, Implementation::Tool, &machine()).unwrap_err();
        assert!(
            error.to_string().contains("did you mean `groups`"),
            "{error}"
        );
    }

    // Case B6: 150 groups of threads ran out of descriptors at the usual soft limit.
    #[test]
    fn thread_mode_with_150_groups_needs_about_6010_files() {
        let given = params(&[
            ("mode", ParamValue::Text("thread".into())),
            ("groups", ParamValue::Int(150)),
        ]);
        let (_, resolved) = command(&given, Implementation::Tool, &machine()).unwrap();
        let mut limits = Limits {
            nofile_soft: Some(1024),
            nofile_hard: Some(1024),
            ..Limits::default()
        };
        let findings = preflight(&resolved, Implementation::Tool, 1, &machine(), &limits);
        assert_eq!(
            findings,
            [PreflightFinding::Refuse(
                "hackbench in thread mode with 150 groups needs about 6010 open files, \
                 RLIMIT_NOFILE is 1024 and can be raised to 1024"
                    .into()
            )]
        );
        limits.nofile_hard = Some(1_048_576);
        let findings = preflight(&resolved, Implementation::Tool, 1, &machine(), &limits);
        assert_eq!(findings, [PreflightFinding::RaiseNofile(6010)]);
        let twenty_five = params(&[
            ("mode", ParamValue::Text("thread".into())),
            ("groups", ParamValue::Int(25)),
        ]);
        assert!(preflight(&twenty_five, Implementation::Tool, 1, &machine(), &limits).is_empty());
    }

    #[test]
    fn process_mode_needs_few_files_and_many_tasks() {
        let given = params(&[("groups", ParamValue::Int(1000))]);
        let limits = Limits {
            nofile_soft: Some(1024),
            pid_max: Some(32_768),
            ..Limits::default()
        };
        let findings = preflight(&given, Implementation::Tool, 1, &machine(), &limits);
        assert!(
            matches!(findings.as_slice(), [PreflightFinding::Refuse(t)] if t.contains("kernel.pid_max")),
            "{findings:?}"
        );
    }
}
