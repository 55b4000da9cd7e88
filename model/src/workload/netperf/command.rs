//! The command lines of netperf and of its netserver.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count, resolved_word};
use crate::workload::{
    Command, Implementation, Limits, ParamError, Params, PreflightFinding, Program, ServerCommand,
    netperf::DEF,
};

/// Parameters after defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetperfParams {
    /// `TCP_RR`, ...
    pub test: &'static str,
    /// How long to run.
    pub seconds: u64,
    /// Whether CPU use is measured.
    pub cpu: bool,
}

/// Selected with `-k` for every test.
const KEYS: &str = "THROUGHPUT,THROUGHPUT_UNITS,ELAPSED_TIME";
const RR_KEYS: &str = "MEAN_LATENCY,P50_LATENCY,P90_LATENCY,P99_LATENCY,MIN_LATENCY,MAX_LATENCY,\
                       STDDEV_LATENCY,REQUEST_SIZE,RESPONSE_SIZE";
const STREAM_KEYS: &str = "LOCAL_SEND_THROUGHPUT,REMOTE_RECV_THROUGHPUT,LOCAL_SEND_SIZE";
const CPU_KEYS: &str = "LOCAL_CPU_UTIL,REMOTE_CPU_UTIL,LOCAL_SD,REMOTE_SD,SD_UNITS";

pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let p = NetperfParams {
        test: reader.choice("test")?,
        seconds: reader.count("seconds")?,
        cpu: reader.switch("cpu")?,
    };
    let transactions = p.test.ends_with("RR");
    if implementation == Implementation::Builtin && !matches!(p.test, "TCP_RR" | "UDP_RR") {
        return Err(reader.conflict(format!(
            "the builtin has TCP_RR and UDP_RR, not {}: `impl: tool`",
            p.test
        )));
    }
    let mut args: Vec<String> = ["-4", "-H", "{server}", "-p", "{port}", "-t", p.test, "-l"]
        .map(str::to_owned)
        .into();
    args.push(p.seconds.to_string());
    if p.cpu {
        args.extend(["-c".to_owned(), "-C".to_owned()]);
    }
    args.push("--".to_owned());
    if transactions {
        let request = reader.count("request")?;
        let response = reader.count("response")?;
        args.extend(["-r".to_owned(), format!("{request},{response}")]);
        if reader.is_given("message") {
            return Err(reader.conflict("`message` is for stream tests; see `request`, `response`"));
        }
    } else {
        if reader.is_given("request") || reader.is_given("response") {
            return Err(reader.conflict("`request` and `response` are for RR tests; see `message`"));
        }
        if let Some(bytes) = reader.optional_count("message")? {
            args.extend(["-m".to_owned(), bytes.to_string()]);
        }
    }
    let of_kind = if transactions { RR_KEYS } else { STREAM_KEYS };
    let mut keys = format!("{KEYS},{of_kind}");
    if p.cpu {
        keys = format!("{keys},{CPU_KEYS}");
    }
    args.extend(["-k".to_owned(), keys]);
    let mut command = Command::of("netperf", implementation, args);
    command.server = Some(ServerCommand {
        program: Program::of("netserver", implementation),
        args: ["-4", "-L", "{server}", "-p", "{port}", "-D"]
            .map(str::to_owned)
            .into(),
        fixed_port: None,
    });
    Ok((command, reader.finish()))
}

/// A client, its netserver and the child that netserver makes for it; a control and a data
/// connection. TCP_CRR leaves a port in TIME-WAIT for a minute after each transaction.
pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let instances = u64::from(instances);
    let need = Need {
        who: format!("netperf, {instances} pairs"),
        tasks: instances.saturating_mul(3),
        files: 16,
        ports: instances.saturating_mul(3),
        ..Need::default()
    };
    let mut findings = check(&need, limits);
    if resolved_word(params, "test").as_deref() == Some("TCP_CRR") {
        findings.push(PreflightFinding::Warn(
            "TCP_CRR uses a new local port for each transaction: its rate is bounded by the ports \
             that leave TIME-WAIT"
                .to_owned(),
        ));
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

    fn params(test: &str) -> Params {
        Params([("test".to_owned(), ParamValue::Text(test.to_owned()))].into())
    }

    // Case B10: each client has a netserver of its own, on a port that the agent picks.
    #[test]
    fn a_client_talks_to_its_own_netserver_on_an_allotted_port() {
        let (command, _) = command(&params("UDP_RR"), Implementation::Tool, &machine()).unwrap();
        assert!(
            command
                .args
                .join(" ")
                .starts_with("-4 -H {server} -p {port} -t UDP_RR -l 10 -- -r 1,1 -k THROUGHPUT,")
        );
        let server = command.server.unwrap();
        assert_eq!(server.program, Program::Tool("netserver".into()));
        assert_eq!(server.args.join(" "), "-4 -L {server} -p {port} -D");
        assert_eq!(server.fixed_port, None);
    }

    #[test]
    fn the_builtin_has_no_streams() {
        let error = command(&params("TCP_STREAM"), Implementation::Builtin, &machine());
        assert!(error.unwrap_err().to_string().contains("impl: tool"));
    }
}
