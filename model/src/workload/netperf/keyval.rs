//! The omni output `KEY=VALUE`, and the same as CSV with a header.

use std::collections::BTreeMap;

use crate::workload::Failure;
use crate::workload::text::{Line, finite, unreadable};

use super::parse::{Found, Section, unit_factor};

/// Omni keys that are metrics as they stand; -1 means "not measured".
const PLAIN: &[(&str, &str)] = &[
    ("MEAN_LATENCY", "latency-mean"),
    ("P50_LATENCY", "latency-p50"),
    ("P90_LATENCY", "latency-p90"),
    ("P99_LATENCY", "latency-p99"),
    ("MIN_LATENCY", "latency-min"),
    ("MAX_LATENCY", "latency-max"),
    ("STDDEV_LATENCY", "latency-stddev"),
    ("LOCAL_CPU_UTIL", "local-cpu"),
    ("REMOTE_CPU_UTIL", "remote-cpu"),
];

/// Column titles of the CSV form and the keys they stand for.
const TITLES: &[(&str, &str)] = &[
    ("Throughput", "THROUGHPUT"),
    ("Throughput Units", "THROUGHPUT_UNITS"),
    ("Elapsed Time (sec)", "ELAPSED_TIME"),
    ("Mean Latency Microseconds", "MEAN_LATENCY"),
    ("50th Percentile Latency Microseconds", "P50_LATENCY"),
    ("90th Percentile Latency Microseconds", "P90_LATENCY"),
    ("99th Percentile Latency Microseconds", "P99_LATENCY"),
    ("Minimum Latency Microseconds", "MIN_LATENCY"),
    ("Maximum Latency Microseconds", "MAX_LATENCY"),
    ("Stddev Latency Microseconds", "STDDEV_LATENCY"),
    ("Local CPU Util %", "LOCAL_CPU_UTIL"),
    ("Remote CPU Util %", "REMOTE_CPU_UTIL"),
];

type Entries<'l> = BTreeMap<&'l str, (&'l str, &'l Line)>;

/// One run for each group of keys; a key that comes again begins the next.
pub(super) fn read(section: &Section) -> Result<Vec<Found>, Failure> {
    let mut groups: Vec<Entries<'_>> = Vec::new();
    let mut titles: Option<Vec<&str>> = None;
    for line in &section.lines {
        if let Some((key, value)) = key_value(&line.text) {
            if line.cut && decimals(value) < 2 {
                // The output ends here: digits of this value may be missing.
                if key == "THROUGHPUT" {
                    return Err(Failure::Partial {
                        message: "the output ends within THROUGHPUT".to_owned(),
                    });
                }
                continue;
            }
            match groups.last_mut() {
                Some(group) if !group.contains_key(key) => {
                    group.insert(key, (value, line));
                }
                _ => groups.push([(key, (value, line))].into()),
            }
            continue;
        }
        let cells: Vec<&str> = line.text.split(',').map(str::trim).collect();
        if cells.contains(&"Throughput") {
            titles = Some(cells);
        } else if let Some(titles) = titles.as_ref().filter(|t| t.len() == cells.len()) {
            let group = titles.iter().zip(cells).filter_map(|(title, cell)| {
                let (_, key) = TITLES.iter().find(|(t, _)| t == title)?;
                Some((*key, (cell, line)))
            });
            groups.push(group.collect());
        }
    }
    groups.retain(|g| g.contains_key("THROUGHPUT"));
    groups.iter().map(|group| found(section, group)).collect()
}

/// Digits after the point.
pub(super) fn decimals(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, d)| d.len())
}

fn key_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.trim().split_once('=')?;
    let is_key = key.len() > 1
        && key
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_key.then_some((key, value.trim().trim_matches('"')))
}

fn found(section: &Section, keys: &Entries<'_>) -> Result<Found, Failure> {
    let mut found = Found::default();
    let number = |key: &str| -> Result<Option<f64>, Failure> {
        keys.get(key)
            .map(|(text, line)| finite(key, text, line))
            .transpose()
    };
    let Some(rate) = number("THROUGHPUT")? else {
        return Ok(found);
    };
    found.elapsed = number("ELAPSED_TIME")?;
    let units = keys.get("THROUGHPUT_UNITS").map(|(text, _)| *text);
    let transactions = match units {
        Some(units) => units.starts_with("Trans/s"),
        None => section.transactions().unwrap_or(false),
    };
    if transactions {
        found.run.push("transaction-rate", rate);
    } else {
        let (_, line) = keys["THROUGHPUT"];
        let factor = units
            .and_then(unit_factor)
            .or(section.to_mbit)
            .ok_or_else(|| unreadable(line, "a throughput beside its THROUGHPUT_UNITS"))?;
        stream(section, &number, rate, factor, &mut found)?;
    }
    for (key, metric) in PLAIN {
        if let Some(value) = number(key)?.filter(|v| *v >= 0.0) {
            found.run.push(*metric, value);
        }
    }
    let per_transaction = keys
        .get("SD_UNITS")
        .map_or(transactions, |(text, _)| text.contains("Tran"));
    for (key, transaction, transfer) in [
        ("LOCAL_SD", "local-demand", "local-transfer-demand"),
        ("REMOTE_SD", "remote-demand", "remote-transfer-demand"),
    ] {
        if let Some(value) = number(key)?.filter(|v| *v >= 0.0) {
            let name = if per_transaction {
                transaction
            } else {
                transfer
            };
            found.run.push(name, value);
        }
    }
    for (key, name) in [("REQUEST_SIZE", "request"), ("RESPONSE_SIZE", "response")] {
        if let Some((text, _)) = keys.get(key).filter(|(text, _)| !text.starts_with('-')) {
            found.run.says(name, text);
        }
    }
    Ok(found)
}

/// UDP loses: what arrived is the throughput, what was sent is said apart.
fn stream(
    section: &Section,
    number: &dyn Fn(&str) -> Result<Option<f64>, Failure>,
    rate: f64,
    factor: f64,
    found: &mut Found,
) -> Result<(), Failure> {
    let udp = section
        .test
        .as_deref()
        .is_some_and(|t| t.starts_with("UDP"));
    let received = number("REMOTE_RECV_THROUGHPUT")?.filter(|v| *v >= 0.0);
    match received.filter(|_| udp) {
        Some(received) => {
            let sent = number("LOCAL_SEND_THROUGHPUT")?.unwrap_or(rate);
            found.run.push("throughput", received * factor);
            found.run.push("send-throughput", sent * factor);
        }
        None => found.run.push("throughput", rate * factor),
    }
    Ok(())
}
