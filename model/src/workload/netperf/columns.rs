//! The classic output: rows of numbers, told apart by how many there are and by the row that follows.

use crate::workload::Failure;
use crate::workload::text::{Line, finite, unreadable};

use super::keyval::decimals;
use super::parse::{Found, Section, unit_factor};

struct Row<'l> {
    words: Vec<&'l str>,
    line: &'l Line,
}

/// A row of the classic output, by the number of its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `snd rcv request response elapsed rate`, a row of 2 after it; with CPU use 10 words.
    Transactions,
    /// `rcv snd message elapsed throughput`; with CPU use 9 words.
    Stream,
    /// `socket message elapsed ok errors throughput`, a row `socket elapsed ok throughput` after it;
    /// with CPU use 8 words and 6.
    Udp,
}

pub(super) fn read(section: &Section) -> Result<Vec<Found>, Failure> {
    let rows: Vec<Row<'_>> = section.lines.iter().filter_map(row).collect();
    let mut found = Vec::new();
    for (i, this) in rows.iter().enumerate() {
        ends_whole(this)?;
        let next = rows.get(i + 1).map_or(0, |r| r.words.len());
        match shape(section, this.words.len(), next) {
            Some(Shape::Transactions) => found.push(transactions(this)?),
            Some(Shape::Stream) => found.push(stream(section, this)?),
            Some(Shape::Udp) => found.push(udp(section, this, &rows[i + 1])?),
            None => {}
        }
        // After a header one result follows; what else has numbers (`-v 2`) is no result.
        if section.test.is_some() && !found.is_empty() {
            return Ok(found);
        }
    }
    if found.is_empty() {
        found.extend(bare(section, &rows)?);
    }
    if found.is_empty() {
        found.extend(with_units(section)?);
    }
    Ok(found)
}

/// Rates and CPU use have two decimals, service demands three: fewer of them where the output ends
/// mean that the number is cut.
fn ends_whole(row: &Row<'_>) -> Result<(), Failure> {
    let least = match row.words.len() {
        0..=3 => return Ok(()),
        4..=6 => 2,
        _ => 3,
    };
    let last = row.words.last().map_or(0, |w| decimals(w));
    if row.line.cut && last < least {
        return Err(Failure::Partial {
            message: "the output ends within a row of numbers".to_owned(),
        });
    }
    Ok(())
}

/// A line of numbers alone.
fn row(line: &Line) -> Option<Row<'_>> {
    let words: Vec<&str> = line.text.split_whitespace().collect();
    words
        .iter()
        .all(|w| w.parse::<f64>().is_ok())
        .then_some(Row { words, line })
}

fn shape(section: &Section, words: usize, next: usize) -> Option<Shape> {
    let udp_stream = section.test.as_deref() == Some("UDP_STREAM");
    let shape = match (words, next) {
        (6, 4) | (8, 6) if section.transactions() != Some(true) => Shape::Udp,
        (6 | 10, 2) => Shape::Transactions,
        (6 | 10, _) if section.transactions() == Some(true) => Shape::Transactions,
        (5 | 9, _) => Shape::Stream,
        _ => return None,
    };
    let fits = match shape {
        Shape::Transactions => section.transactions() != Some(false),
        Shape::Stream => section.transactions() != Some(true) && !udp_stream,
        Shape::Udp => section.test.is_none() || udp_stream,
    };
    fits.then_some(shape)
}

fn transactions(row: &Row<'_>) -> Result<Found, Failure> {
    let mut found = Found::default();
    let at = |i: usize, name: &str| finite(name, row.words[i], row.line);
    found.elapsed = Some(at(4, "elapsed time")?);
    found.run.says("request", row.words[2]);
    found.run.says("response", row.words[3]);
    found
        .run
        .push("transaction-rate", at(5, "transaction-rate")?);
    if row.words.len() == 10 {
        measured(&mut found, "local-cpu", at(6, "local-cpu")?);
        measured(&mut found, "remote-cpu", at(7, "remote-cpu")?);
        measured(&mut found, "local-demand", at(8, "local-demand")?);
        measured(&mut found, "remote-demand", at(9, "remote-demand")?);
    }
    Ok(found)
}

fn stream(section: &Section, row: &Row<'_>) -> Result<Found, Failure> {
    let mut found = Found::default();
    let at = |i: usize, name: &str| finite(name, row.words[i], row.line);
    found.elapsed = Some(at(3, "elapsed time")?);
    let rate = at(4, "throughput")? * factor(section);
    found.run.push("throughput", rate);
    if row.words.len() == 9 {
        measured(&mut found, "local-cpu", at(5, "local-cpu")?);
        measured(&mut found, "remote-cpu", at(6, "remote-cpu")?);
        measured(
            &mut found,
            "local-transfer-demand",
            at(7, "local-transfer-demand")?,
        );
        measured(
            &mut found,
            "remote-transfer-demand",
            at(8, "remote-transfer-demand")?,
        );
    }
    Ok(found)
}

fn udp(section: &Section, local: &Row<'_>, remote: &Row<'_>) -> Result<Found, Failure> {
    let mut found = Found::default();
    let factor = factor(section);
    let at = |row: &Row<'_>, i: usize, name: &str| finite(name, row.words[i], row.line);
    found.elapsed = Some(at(local, 2, "elapsed time")?);
    found
        .run
        .push("throughput", at(remote, 3, "throughput")? * factor);
    found
        .run
        .push("send-throughput", at(local, 5, "send-throughput")? * factor);
    if local.words.len() == 8 {
        measured(&mut found, "local-cpu", at(local, 6, "local-cpu")?);
        measured(&mut found, "remote-cpu", at(remote, 4, "remote-cpu")?);
        measured(
            &mut found,
            "local-transfer-demand",
            at(local, 7, "local-transfer-demand")?,
        );
        measured(
            &mut found,
            "remote-transfer-demand",
            at(remote, 5, "remote-transfer-demand")?,
        );
    }
    Ok(found)
}

/// The unit stands in the header alone; without a header it is the default of every version.
fn factor(section: &Section) -> f64 {
    section.to_mbit.unwrap_or(1.0)
}

/// -1 means that this side was not measured.
fn measured(found: &mut Found, metric: &str, value: f64) {
    if value >= 0.0 {
        found.run.push(metric, value);
    }
}

/// `-v 0 -P 0` prints the number alone: it means something only where the test is known.
fn bare(section: &Section, rows: &[Row<'_>]) -> Result<Vec<Found>, Failure> {
    if section.headed {
        return Ok(Vec::new());
    }
    let [Row { words, line }] = rows else {
        return Ok(Vec::new());
    };
    let [word] = words.as_slice() else {
        return Ok(Vec::new());
    };
    let Some(transactions) = section.transactions() else {
        return Err(unreadable(
            line,
            "a rate with the test it is of: a bare number has no unit",
        ));
    };
    let mut found = Found::default();
    let rate = finite("rate", word, line)?;
    if transactions {
        found.run.push("transaction-rate", rate);
    } else {
        found.run.push("throughput", rate * factor(section));
    }
    Ok(vec![found])
}

/// Columns of `-O` that have the unit beside the rate: `... 24912.27 Trans/s`.
fn with_units(section: &Section) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for line in &section.lines {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some(at) = words
            .iter()
            .position(|w| *w == "Trans/s" || unit_factor(w).is_some())
        else {
            continue;
        };
        let value = at.checked_sub(1).map(|before| words[before]);
        let is_row = words.iter().filter(|w| w.parse::<f64>().is_ok()).count() + 1 == words.len();
        let Some(value) = value.filter(|_| is_row) else {
            continue;
        };
        let mut found = Found::default();
        match unit_factor(words[at]) {
            Some(factor) => found
                .run
                .push("throughput", finite("throughput", value, line)? * factor),
            None => found
                .run
                .push("transaction-rate", finite("transaction-rate", value, line)?),
        }
        all.push(found);
    }
    Ok(all)
}
