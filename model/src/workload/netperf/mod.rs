//! netperf: request/response and stream tests between a client and its own netserver. The builtin
//! does the request/response tests with the same flags, over the loopback or between two hosts.

mod columns;
mod command;
mod keyval;
mod parse;
mod version;

pub use command::NetperfParams;
pub use version::{netperf_version, versions_differ};

use crate::workload::catalogue::Entry;
use crate::workload::{
    Aggregate, Implementation, MetricDef, ParamDef, ParamKind, ToolDef, WorkloadDef,
};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command: command::command,
    preflight: command::preflight,
    parse: parse::parse,
    duration_ms: command::duration_ms,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "netperf",
    summary: "request/response and stream over TCP and UDP, a netserver of its own for each client",
    tool: Some(ToolDef {
        program: "netperf",
        package: Some("netperf"),
        version_args: &["-V"],
    }),
    implementations: &[Implementation::Tool, Implementation::Builtin],
    params: PARAMS,
    metrics: METRICS,
    simulated: "TCP_RR, UDP_RR and TCP_STREAM over the loopback: wake-ups of the peer, softirq work on \
                the sender's CPU, socket buffers; no network between hosts, no connection set-up",
};

const PARAMS: &[ParamDef] = &[
    ParamDef::new(
        "test",
        ParamKind::Choice(&[
            "TCP_RR",
            "UDP_RR",
            "TCP_CRR",
            "TCP_STREAM",
            "TCP_MAERTS",
            "UDP_STREAM",
        ]),
        Some("TCP_RR"),
        "the test (-t); the builtin has TCP_RR and UDP_RR. Several pairs: several instances",
    ),
    ParamDef::count("seconds", 1, Some("10"), "how long to run (-l)").in_unit("s"),
    ParamDef::new(
        "cpu",
        ParamKind::Switch,
        Some("off"),
        "measure CPU use of both sides and service demand (-c -C)",
    ),
    ParamDef::count("request", 1, Some("1"), "bytes of a request (-r)").in_unit("B"),
    ParamDef::count("response", 1, Some("1"), "bytes of a response (-r)").in_unit("B"),
    ParamDef::count("message", 1, None, "stream tests: bytes of a send (-m)").in_unit("B"),
];

macro_rules! latency {
    ($name:literal, $what:literal) => {
        MetricDef::lower($name, "us", $what)
    };
}

const METRICS: &[MetricDef] = &[
    MetricDef::higher("transaction-rate", "trans/s", "transactions per second").primary(),
    MetricDef::higher(
        "throughput",
        "Mbit/s",
        "stream tests: what the receiver got, 10^6 bits per second",
    )
    .primary(),
    MetricDef::counted(
        "send-throughput",
        "Mbit/s",
        "UDP_STREAM: what the sender sent, losses included",
    ),
    latency!("latency-mean", "mean time of a transaction"),
    latency!("latency-p50", "median time of a transaction"),
    latency!("latency-p90", "90th percentile"),
    latency!("latency-p99", "99th percentile"),
    latency!("latency-min", "the least seen"),
    latency!("latency-max", "the most seen").over(Aggregate::Max),
    latency!(
        "latency-stddev",
        "standard deviation of the time of a transaction"
    ),
    MetricDef::counted(
        "local-cpu",
        "%",
        "CPU use of the client's machine, all CPUs",
    )
    .over(Aggregate::Mean),
    MetricDef::counted(
        "remote-cpu",
        "%",
        "CPU use of the server's machine, all CPUs",
    )
    .over(Aggregate::Mean),
    MetricDef::lower(
        "local-demand",
        "us/trans",
        "CPU time of the client's side for a transaction",
    ),
    MetricDef::lower(
        "remote-demand",
        "us/trans",
        "CPU time of the server's side for a transaction",
    ),
    MetricDef::lower(
        "local-transfer-demand",
        "us/KB",
        "CPU time of the client's side for 1024 bytes",
    ),
    MetricDef::lower(
        "remote-transfer-demand",
        "us/KB",
        "CPU time of the server's side for 1024 bytes",
    ),
];
