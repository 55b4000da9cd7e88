//! tbench of dbench: file-server traffic over TCP, without the file system.
//!
//! Result: the last line `Throughput X MB/sec  N clients  N procs  max_latency=L ms`; older versions
//! print fewer words. Without a server the program never ends and floods its output.

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, ParamDef, ParamError,
    ParamKind, Params, PreflightFinding, Program, ServerCommand, ToolDef, WorkloadDef,
};

/// `tbench_srv` has no option for its port.
const SERVER_PORT: u16 = 7003;

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |_, output| outcome(&DEF, read(output)),
    duration_ms,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "tbench",
    summary: "file-server traffic over TCP: client processes against one server",
    tool: Some(ToolDef {
        program: "tbench",
        package: Some("dbench"),
        version_args: &["--help"],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::count(
            "clients",
            1,
            None,
            "client processes; left out: the CPUs that may be used",
        ),
        ParamDef::count(
            "seconds",
            1,
            Some("60"),
            "how long to run (-t), a fifth of it warm-up",
        )
        .in_unit("s"),
        ParamDef::new(
            "load",
            ParamKind::Text,
            None,
            "the load file (-c); left out: the package's client.txt",
        ),
    ],
    metrics: &[
        MetricDef::higher(
            "throughput",
            "MB/s",
            "traffic of all clients, 10^6 bytes per second",
        )
        .primary(),
        MetricDef::lower("latency-max", "ms", "the slowest operation").over(Aggregate::Max),
    ],
    simulated: "clients and server threads over loopback sockets: wake-ups and request sizes of the \
                package's load file; one latency, no table of operations",
};

fn command(
    params: &Params,
    implementation: Implementation,
    machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let cpus = u64::try_from(machine.usable().len()).unwrap_or(1).max(1);
    let clients = reader.count_or("clients", cpus)?;
    let seconds = reader.count("seconds")?;
    let mut args = vec!["-t".to_owned(), seconds.to_string()];
    if let Some(load) = reader.optional_text("load") {
        args.extend(["-c".to_owned(), load]);
    }
    args.extend([clients.to_string(), "{server}".to_owned()]);
    let mut command = Command::of("tbench", implementation, args);
    command.server = Some(ServerCommand {
        program: Program::Tool("tbench_srv".to_owned()),
        args: Vec::new(),
        fixed_port: Some(SERVER_PORT),
    });
    Ok((command, reader.finish()))
}

/// The server has a child for each client.
fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let clients = resolved_count(params, "clients").unwrap_or(1);
    let need = Need {
        who: format!("tbench with {clients} clients"),
        tasks: clients.saturating_mul(2).saturating_add(2),
        files: 16,
        ports: clients,
        ..Need::default()
    };
    let mut findings = check(&need, limits);
    if instances > 1 {
        findings.push(PreflightFinding::Refuse(format!(
            "tbench_srv listens on port {SERVER_PORT} always: {instances} instances cannot have one each"
        )));
    }
    findings
}

fn duration_ms(params: &Params) -> Option<u64> {
    resolved_count(params, "seconds")?.checked_mul(1000)
}

fn read(output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let mut lines = lines(output);
    // Printed by good runs as well: the clients then start without a barrier.
    lines.retain(|l| !l.text.contains("failed to create barrier semaphore"));
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let mut runs = Vec::new();
    let mut started = 0_usize;
    for line in &lines {
        let text = line.text.trim();
        if text.starts_with("Running for ") {
            started += 1;
        } else if text.starts_with("Throughput ") {
            runs.push(result(text, line)?);
        }
    }
    if runs.is_empty() {
        let seen = lines.iter().any(|l| l.text.contains("dbench version"));
        return Err(no_result(
            output,
            &lines,
            seen,
            "the line `Throughput X MB/sec`",
        ));
    }
    if started > runs.len() {
        return Err(Failure::Partial {
            message: format!(
                "{started} runs started, {} printed a throughput",
                runs.len()
            ),
        });
    }
    Ok((runs, Vec::new()))
}

fn result(text: &str, line: &Line) -> Result<Run, Failure> {
    let mut run = Run::default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, value, unit, rest @ ..] = words.as_slice() else {
        return Err(unreadable(
            line,
            "`Throughput X MB/sec  N clients  N procs`",
        ));
    };
    let throughput = finite("throughput", value, line)?;
    if *unit != "MB/sec" {
        return Err(unreadable(line, "a throughput in MB/sec"));
    }
    let latency_cut = text.contains("max_latency") && !text.ends_with("ms");
    if line.cut && (!rest.contains(&"procs") || latency_cut) {
        return Err(Failure::Partial {
            message: "the output ends within the line `Throughput`".to_owned(),
        });
    }
    if throughput <= 0.0 {
        return Err(Failure::ZeroWork {
            message: excerpt(text),
        });
    }
    run.push("throughput", throughput);
    for pair in rest.windows(2) {
        if let [count, what @ ("clients" | "procs")] = pair {
            run.says(what, count);
        }
    }
    if let Some(latency) = word_after(text, "max_latency=") {
        let latency = latency.trim_end_matches("ms");
        run.push("latency-max", finite("latency-max", latency, line)?);
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::test_machine::machine;

    fn values(text: &str) -> Vec<(String, f64)> {
        read(&Captured::from_stdout(text)).unwrap().0[0]
            .values
            .clone()
    }

    // Case A15: the lines as they stand in the mail.
    #[test]
    fn every_form_of_the_last_line_is_read() {
        let new = "Throughput 3285.04 MB/sec  8 clients  8 procs  max_latency=3.481 ms\n";
        let (runs, _) = read(&Captured::from_stdout(new)).unwrap();
        assert_eq!(
            runs[0].values,
            [
                ("throughput".to_owned(), 3285.04),
                ("latency-max".to_owned(), 3.481)
            ]
        );
        assert_eq!(runs[0].resolved["clients"], "8");
        assert_eq!(runs[0].resolved["procs"], "8");
        assert_eq!(
            values("Throughput 3246.3 MB/sec  8 clients  8 procs  max_latency=6.226 ms\n")[0].1,
            3246.3
        );
        // dbench 3 says neither clients nor a latency.
        assert_eq!(
            values("Throughput 3246.3 MB/sec 8 procs\n"),
            [("throughput".to_owned(), 3246.3)]
        );
    }

    #[test]
    fn a_line_cut_within_its_number_is_partial() {
        let failure = read(&Captured::from_stdout("Throughput 3285.04 MB/s")).unwrap_err();
        assert!(matches!(failure, Failure::Unreadable { .. }), "{failure}");
        let failure = read(&Captured::from_stdout("Throughput 3285.04 MB/sec  8 cli")).unwrap_err();
        assert!(matches!(failure, Failure::Partial { .. }), "{failure}");
    }

    #[test]
    fn the_server_has_its_fixed_port_and_one_instance() {
        let (command, resolved) =
            command(&Params::default(), Implementation::Tool, &machine()).unwrap();
        assert_eq!(command.args.join(" "), "-t 60 4 {server}");
        assert_eq!(command.server.unwrap().fixed_port, Some(7003));
        let findings = preflight(
            &resolved,
            Implementation::Tool,
            2,
            &machine(),
            &Limits::default(),
        );
        assert!(matches!(findings.as_slice(), [PreflightFinding::Refuse(_)]));
    }
}
