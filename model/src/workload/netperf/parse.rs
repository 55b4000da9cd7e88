//! What netperf prints: a header that names the test, then `KEY=VALUE` lines (asked for by our
//! commands), or rows of numbers told apart by how many there are, or CSV, or columns with units.
//!
//! Outputs of several clients in one file are several runs: the mean of one client, not the sum.

use crate::workload::resolve::{resolved_count, resolved_word};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, lines};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, netperf::DEF};

use super::{columns, keyval};

/// The part of the time asked for that a whole run lasts at least: a client that got SIGINT ends
/// early with a normal result and status 0.
const LEAST_SHARE_OF_TIME: f64 = 0.9;

pub(super) fn parse(params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, read(params, output))
}

/// What lies between two headers.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The test by the header, or as asked.
    pub(super) test: Option<String>,
    /// Factor from the header's unit to 10^6 bits per second; `None`: no unit was seen.
    pub(super) to_mbit: Option<f64>,
    pub(super) lines: Vec<Line>,
    /// A header of netperf begins it.
    pub(super) headed: bool,
}

impl Section {
    /// Whether the test counts transactions; `None`: nothing says which test it is.
    pub(super) fn transactions(&self) -> Option<bool> {
        self.test.as_deref().map(|t| t.ends_with("RR"))
    }
}

/// What one section yields for one run: metrics, and how long it lasted.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) run: Run,
    pub(super) elapsed: Option<f64>,
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let asked = resolved_word(params, "test");
    let sections = sections(&lines, asked.as_deref());
    let mut runs = Vec::new();
    for section in &sections {
        if let (Some(asked), Some(found)) = (&asked, &section.test)
            && asked != found
            && !found.starts_with("OMNI")
        {
            return Err(Failure::WrongTest {
                asked: asked.clone(),
                found: found.clone(),
            });
        }
        let found = keyval::read(section)?;
        let found = if found.is_empty() {
            columns::read(section)?
        } else {
            found
        };
        for mut found in found {
            whole(params, &found)?;
            if let Some(test) = &section.test {
                found.run.says("test", test);
            }
            runs.push(found.run);
        }
    }
    let headers = lines.iter().filter(|l| test_of(&l.text).is_some()).count();
    if runs.is_empty() {
        return Err(no_result(
            output,
            &lines,
            headers > 0,
            "a row or `THROUGHPUT=` with the rate",
        ));
    }
    if headers > runs.len() {
        return Err(Failure::Partial {
            message: format!("{headers} tests started, {} printed a result", runs.len()),
        });
    }
    Ok((runs, warnings(&lines)))
}

/// Cuts at the headers. What stands before the first header is a section where it has numbers.
fn sections(lines: &[Line], asked: Option<&str>) -> Vec<Section> {
    let mut sections = vec![Section {
        test: asked.map(str::to_owned),
        ..Section::default()
    }];
    for line in lines {
        if let Some(test) = test_of(&line.text) {
            sections.push(Section {
                test: Some(test),
                headed: true,
                ..Section::default()
            });
        }
        if let Some(section) = sections.last_mut() {
            if let Some(factor) = unit_factor(&line.text) {
                section.to_mbit = Some(factor);
            }
            section.lines.push(line.clone());
        }
    }
    sections
}

/// `TCP_RR` for `MIGRATED TCP REQUEST/RESPONSE TEST from ...`.
fn test_of(text: &str) -> Option<String> {
    let (name, _) = text.split_once(" TEST from ")?;
    let name = name.trim().trim_start_matches("MIGRATED ").to_uppercase();
    let protocol = name.split_whitespace().next()?;
    let kind = if name.contains("CONNECT/") || name.contains("CONNECT/REQUEST") {
        "CRR"
    } else if name.contains("REQUEST/RESPONSE") || name.contains("SEND|RECV") {
        "RR"
    } else if name.contains("MAERTS") {
        "MAERTS"
    } else {
        "STREAM"
    };
    let many = if name.contains("1-TO-MANY") {
        "_MANY"
    } else {
        ""
    };
    Some(format!("{protocol}_{kind}{many}"))
}

/// The factor to 10^6 bits per second of a unit that stands in a header or beside a value.
pub(super) fn unit_factor(text: &str) -> Option<f64> {
    [
        ("10^3bits/s", 1e-3),
        ("10^6bits/s", 1.0),
        ("10^9bits/s", 1e3),
        ("KBytes/s", 1024.0 * 8.0 / 1e6),
        ("MBytes/s", 1_048_576.0 * 8.0 / 1e6),
        ("GBytes/s", 1_073_741_824.0 * 8.0 / 1e6),
    ]
    .iter()
    .find(|(unit, _)| text.contains(unit))
    .map(|(_, factor)| *factor)
}

fn whole(params: &Params, found: &Found) -> Result<(), Failure> {
    let main = |name: &str| name == "transaction-rate" || name == "throughput";
    if let Some((name, _)) = found.run.values.iter().find(|(n, v)| main(n) && *v <= 0.0) {
        return Err(Failure::ZeroWork {
            message: format!("{name} is 0"),
        });
    }
    let asked = resolved_count(params, "seconds").map(|s| s as f64);
    if let (Some(asked), Some(elapsed)) = (asked, found.elapsed)
        && elapsed < asked * LEAST_SHARE_OF_TIME
    {
        return Err(Failure::Interrupted {
            message: format!("ran {elapsed} s of {asked} s"),
        });
    }
    Ok(())
}

fn warnings(lines: &[Line]) -> Vec<String> {
    let notable = |text: &str| {
        text.contains("Desired confidence was not achieved") || text.contains("invalid option")
    };
    lines
        .iter()
        .filter(|l| notable(&l.text))
        .map(|l| excerpt(l.text.trim_start_matches(['!', ' '])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;

    const RR: &str = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 () port 0 AF_INET : demo : first burst 0\n\
        Send   Recv   Size     Size    Time     Rate\n\n16384  131072 1        1       0.99     35052.15\n16384  131072\n";

    fn asked(test: &str, seconds: i64) -> Params {
        Params(
            [
                ("test".to_owned(), ParamValue::Text(test.to_owned())),
                ("seconds".to_owned(), ParamValue::Int(seconds)),
            ]
            .into(),
        )
    }

    #[test]
    fn a_client_that_was_interrupted_shows_by_its_time() {
        let output = Captured::from_stdout(RR);
        let failure = read(&asked("TCP_RR", 10), &output).unwrap_err();
        assert!(matches!(failure, Failure::Interrupted { .. }), "{failure}");
        assert!(read(&asked("TCP_RR", 1), &output).is_ok());
    }

    #[test]
    fn another_test_than_asked_is_named() {
        let failure = read(&asked("UDP_RR", 1), &Captured::from_stdout(RR)).unwrap_err();
        assert_eq!(failure.to_string(), "asked for UDP_RR, output is of TCP_RR");
    }

    #[test]
    fn a_header_without_its_row_is_partial() {
        let cut = format!("{RR}{}", RR.lines().next().unwrap());
        let failure = read(&Params::default(), &Captured::from_stdout(&cut)).unwrap_err();
        assert!(matches!(failure, Failure::Partial { .. }), "{failure}");
    }

    #[test]
    fn both_sides_of_udp_stream_are_told_apart() {
        let text = "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 127.0.0.1 () port 0 AF_INET : demo\n\
            Size    Size     Time         Okay Errors   Throughput\nbytes   bytes    secs            #      #   10^6bits/sec\n\n\
            212992   65507   10.00      363953      0    19073.2\n212992           10.00      353146           18506.8\n";
        let (runs, _) = read(&Params::default(), &Captured::from_stdout(text)).unwrap();
        assert_eq!(
            runs[0].values,
            [
                ("throughput".to_owned(), 18506.8),
                ("send-throughput".to_owned(), 19073.2)
            ]
        );
    }
}
