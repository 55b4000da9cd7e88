//! The command line of `perf bench`.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::{
    Command, Implementation, Limits, ParamError, Params, PreflightFinding, perf_bench::DEF,
};

/// Which parameters each benchmark takes.
fn takes(bench: &str) -> &'static [&'static str] {
    match bench {
        "sched-messaging" => &["groups", "loops", "mode", "ipc"],
        "sched-pipe" => &["loops", "mode"],
        "syscall-basic" => &["loops"],
        "mem-memcpy" | "mem-memset" => &["loops", "size"],
        "futex-wake" | "futex-wake-parallel" | "futex-requeue" => &["threads"],
        _ => &["threads", "seconds"],
    }
}

pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let bench = reader.choice("bench")?;
    let takes = takes(bench);
    for param in DEF.params {
        if param.name != "bench" && reader.is_given(param.name) && !takes.contains(&param.name) {
            return Err(reader.conflict(format!("{bench} has no `{}`", param.name)));
        }
    }
    let (collection, name) = bench.split_once('-').unwrap_or((bench, ""));
    let mut args: Vec<String> = ["bench", collection, name].map(str::to_owned).into();
    let seconds_flag = ("seconds", "-r");
    for (param, flag) in [
        ("groups", "-g"),
        ("loops", "-l"),
        ("threads", "-t"),
        seconds_flag,
    ] {
        if let Some(value) = reader.optional_count(param)? {
            args.extend([flag.to_owned(), value.to_string()]);
        }
    }
    if let Some(bytes) = reader.optional_size("size")? {
        args.extend(["-s".to_owned(), format!("{bytes}B")]);
    }
    if reader.is_given("mode") && reader.choice("mode")? == "thread" {
        args.push(if bench == "sched-pipe" { "-T" } else { "-t" }.to_owned());
    }
    if reader.is_given("ipc") && reader.choice("ipc")? == "pipe" {
        args.push("-p".to_owned());
    }
    Ok((Command::of("perf", implementation, args), reader.finish()))
}

/// Messaging is hackbench: 40 tasks and 80 descriptors in a group.
pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let groups = resolved_count(params, "groups").unwrap_or(10);
    let threads = resolved_count(params, "threads").unwrap_or(0);
    let tasks = groups.saturating_mul(40).max(threads).saturating_add(1);
    let need = Need {
        who: "perf bench".to_owned(),
        tasks: tasks.saturating_mul(instances.into()),
        files: groups.saturating_mul(40).saturating_add(16),
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

    fn args(pairs: &[(&str, &str)]) -> Result<String, ParamError> {
        let text = |v: &str| ParamValue::Text(v.to_owned());
        let given = pairs.iter().map(|(k, v)| ((*k).to_owned(), text(v)));
        let given = Params(given.collect());
        let (command, _) = command(&given, Implementation::Tool, &machine())?;
        Ok(command.args.join(" "))
    }

    #[test]
    fn each_benchmark_has_its_own_letters() {
        assert_eq!(
            args(&[
                ("bench", "sched-messaging"),
                ("mode", "thread"),
                ("ipc", "pipe")
            ])
            .unwrap(),
            "bench sched messaging -t -p"
        );
        assert_eq!(
            args(&[("mode", "thread"), ("loops", "5")]).unwrap(),
            "bench sched pipe -l 5 -T"
        );
        assert_eq!(
            args(&[("bench", "futex-wake-parallel"), ("threads", "4")]).unwrap(),
            "bench futex wake-parallel -t 4"
        );
        assert!(args(&[("bench", "sched-pipe"), ("groups", "4")]).is_err());
    }
}
