//! iperf3: TCP and UDP streams, read from its JSON, or from the last lines of its text. In JSON mode
//! it exits 0 with a key `error`.

use serde_json::Value;

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, json_objects, lines, unreadable};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, ParamDef, ParamError,
    ParamKind, Params, PreflightFinding, Program, ServerCommand, ToolDef, WorkloadDef,
};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |_, output| outcome(&DEF, read(output)),
    duration_ms,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "iperf3",
    summary: "TCP and UDP streams between a client and its own server",
    tool: Some(ToolDef {
        program: "iperf3",
        package: Some("iperf3"),
        version_args: &["--version"],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::new(
            "protocol",
            ParamKind::Choice(&["tcp", "udp"]),
            Some("tcp"),
            "what carries the stream",
        ),
        ParamDef::count("seconds", 1, Some("10"), "how long to run (-t)").in_unit("s"),
        ParamDef::count("streams", 1, Some("1"), "parallel streams (-P)"),
        ParamDef::count(
            "bitrate",
            1,
            None,
            "target rate of each stream (-b); left out: TCP unlimited, UDP 1 Mbit/s",
        )
        .in_unit("bit/s"),
        ParamDef::new(
            "reverse",
            ParamKind::Switch,
            Some("off"),
            "the server sends (-R)",
        ),
        ParamDef::count("length", 1, None, "bytes of a read or write (-l)").in_unit("B"),
    ],
    metrics: &[
        MetricDef::higher("throughput", "Mbit/s", "what the receiver got, all streams").primary(),
        MetricDef::counted(
            "send-throughput",
            "Mbit/s",
            "what the sender sent, all streams",
        ),
        MetricDef::lower("retransmits", "count", "TCP: segments sent again").over(Aggregate::Sum),
        MetricDef::lower("jitter", "ms", "UDP: variation of the time between packets"),
        MetricDef::lower("loss", "%", "UDP: packets that did not arrive"),
        MetricDef::counted("local-cpu", "%", "CPU use of the client process").over(Aggregate::Mean),
        MetricDef::counted("remote-cpu", "%", "CPU use of the server process")
            .over(Aggregate::Mean),
    ],
    simulated: "TCP streams over the loopback, as netperf TCP_STREAM; no UDP losses, no network between hosts",
};

fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let mut args: Vec<String> = ["-c", "{server}", "-p", "{port}", "-J"]
        .map(str::to_owned)
        .into();
    if reader.choice("protocol")? == "udp" {
        args.push("-u".to_owned());
    }
    let seconds = reader.count("seconds")?;
    args.extend(["-t".to_owned(), seconds.to_string()]);
    let streams = reader.count("streams")?;
    args.extend(["-P".to_owned(), streams.to_string()]);
    for (name, flag) in [("bitrate", "-b"), ("length", "-l")] {
        if let Some(value) = reader.optional_count(name)? {
            args.extend([flag.to_owned(), value.to_string()]);
        }
    }
    if reader.switch("reverse")? {
        args.push("-R".to_owned());
    }
    let mut command = Command::of("iperf3", implementation, args);
    command.server = Some(ServerCommand {
        program: Program::Tool("iperf3".to_owned()),
        args: ["-s", "-B", "{server}", "-p", "{port}"]
            .map(str::to_owned)
            .into(),
        fixed_port: None,
    });
    Ok((command, reader.finish()))
}

fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let streams = resolved_count(params, "streams").unwrap_or(1);
    let each = streams.saturating_add(1);
    let need = Need {
        who: format!("iperf3 with {streams} streams"),
        // From 3.16 on each side has a thread for each stream.
        tasks: each.saturating_mul(2).saturating_mul(instances.into()),
        files: each.saturating_add(16),
        ports: each.saturating_mul(instances.into()),
        ..Need::default()
    };
    check(&need, limits)
}

fn duration_ms(params: &Params) -> Option<u64> {
    resolved_count(params, "seconds")?.checked_mul(1000)
}

fn read(output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let objects: Vec<Value> = [output.stdout, output.stderr]
        .into_iter()
        .flat_map(json_objects)
        .filter(|v| v.get("end").is_some() || v.get("error").is_some())
        .collect();
    let lines = lines(output);
    if let Some(message) = objects.iter().find_map(|v| v.get("error")) {
        let message = excerpt(message.as_str().unwrap_or("error"));
        return Err(if message.starts_with("interrupt") {
            Failure::Interrupted { message }
        } else {
            Failure::ToolError { message }
        });
    }
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let mut runs: Vec<Run> = objects.iter().map(json_run).collect::<Result<_, _>>()?;
    if runs.is_empty() {
        runs.extend(text_run(&lines)?);
    }
    if runs.is_empty() {
        let seen = lines.iter().any(|l| {
            let text = l.text.trim_start();
            text.starts_with("Connecting to host") || text.starts_with("\"start\"")
        });
        return Err(no_result(output, &lines, seen, "the sums at the end"));
    }
    Ok((runs, Vec::new()))
}

fn json_run(object: &Value) -> Result<Run, Failure> {
    let mut run = Run::default();
    if let Some(version) = object.pointer("/start/version").and_then(Value::as_str) {
        run.says("version", version.trim_start_matches("iperf "));
    }
    for (pointer, name) in [
        ("/start/test_start/protocol", "protocol"),
        ("/start/test_start/num_streams", "streams"),
        ("/start/test_start/reverse", "reverse"),
        ("/start/test_start/blksize", "length"),
    ] {
        match object.pointer(pointer) {
            Some(Value::String(text)) => run.says(name, text.to_lowercase()),
            Some(value @ Value::Number(_)) => run.says(name, value),
            _ => {}
        }
    }
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_f64);
    // Servers before 3.? report no receiver side of UDP: `sum` is then all there is.
    let received = number("/end/sum_received/bits_per_second");
    let Some(received) = received.or_else(|| number("/end/sum/bits_per_second")) else {
        return Err(Failure::Partial {
            message: "the JSON object has no sums at its end".to_owned(),
        });
    };
    if received <= 0.0 {
        return Err(Failure::ZeroWork {
            message: "nothing arrived".to_owned(),
        });
    }
    run.push("throughput", received / 1e6);
    if let Some(sent) = number("/end/sum_sent/bits_per_second") {
        run.push("send-throughput", sent / 1e6);
    }
    let udp = run.resolved.get("protocol").is_some_and(|p| p == "udp");
    let plain = [
        ("/end/sum_sent/retransmits", "retransmits", !udp),
        ("/end/sum/jitter_ms", "jitter", udp),
        ("/end/sum/lost_percent", "loss", udp),
        ("/end/cpu_utilization_percent/host_total", "local-cpu", true),
        (
            "/end/cpu_utilization_percent/remote_total",
            "remote-cpu",
            true,
        ),
    ];
    for (pointer, name, _) in plain.iter().filter(|(_, _, fits)| *fits) {
        if let Some(value) = number(pointer) {
            run.push(*name, value);
        }
    }
    Ok(run)
}

/// `[  5]   0.00-2.00   sec  2.46 GBytes  10.6 Gbits/sec   receiver`; with several streams the lines
/// that begin with `[SUM]` count.
fn text_run(lines: &[Line]) -> Result<Option<Run>, Failure> {
    let mut run = Run::default();
    for (ending, metric) in [("receiver", "throughput"), ("sender", "send-throughput")] {
        let sides = lines.iter().filter(|l| l.text.trim_end().ends_with(ending));
        let sides: Vec<&Line> = sides.collect();
        let summed = sides
            .iter()
            .find(|l| l.text.trim_start().starts_with("[SUM]"));
        let Some(line) = summed.or_else(|| sides.last()) else {
            continue;
        };
        if summed.is_none() && sides.len() > 1 {
            return Err(unreadable(line, "a line `[SUM]` over several streams"));
        }
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some(at) = words.iter().position(|w| w.ends_with("bits/sec")) else {
            return Err(unreadable(line, "a rate in bits/sec"));
        };
        let factor = match words[at] {
            "bits/sec" => 1e-6,
            "Kbits/sec" => 1e-3,
            "Mbits/sec" => 1.0,
            "Gbits/sec" => 1e3,
            "Tbits/sec" => 1e6,
            _ => return Err(unreadable(line, "a rate in bits/sec")),
        };
        let value = at.checked_sub(1).map_or("", |i| words[i]);
        run.push(metric, finite(metric, value, line)? * factor);
    }
    let throughput = run.values.iter().find(|(n, _)| n == "throughput");
    match throughput {
        Some((_, value)) if *value > 0.0 => Ok(Some(run)),
        Some(_) => Err(Failure::ZeroWork {
            message: "nothing arrived".to_owned(),
        }),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_key_is_a_failure_although_the_status_is_0() {
        let text = r#"{"start":{},"end":{},"error":"the server is busy running a test"}"#;
        let mut output = Captured::from_stdout(text);
        output.exit = crate::workload::ExitState::Code(0);
        assert!(matches!(read(&output), Err(Failure::ToolError { .. })));
    }

    #[test]
    fn an_object_that_is_cut_is_partial() {
        let text = "{\n\t\"start\":\t{\n\t\t\"connected\":\t[{";
        assert!(matches!(
            read(&Captured::from_stdout(text)),
            Err(Failure::Partial { .. })
        ));
    }
}
