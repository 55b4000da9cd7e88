//! The small phrases of the language: times, shares, CPU lists, affinities, places, stop rules.

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;

use super::amount::{Part, parse_percent};

/// Which CPUs an arm may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affinity {
    /// Every allowed CPU.
    All,
    /// The first part of this kind: `one cpu`, `one llc`.
    One(Part),
    /// The first CPU of each core: refused where there is no SMT.
    OneThreadPerCore,
    /// A part by its number: `node 1`.
    Numbered(Part, u32),
    /// A list of CPUs.
    List(CpuSet),
}

/// What an affinity looks like, for messages.
pub(super) const AFFINITY: &str = "`all cpus`, `one cpu` (core, cluster, llc, node, package), `one thread per core`, `node N`, `llc N`, `cpus LIST` such as `cpus 0-3`";

/// Reads an affinity.
///
/// # Errors
/// What would be right.
pub(super) fn parse_affinity(text: &str) -> Result<Affinity, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["all", "cpus"] | ["all"] => Ok(Affinity::All),
        ["one", "thread", "per", "core"] | ["half", "the", "smt", "threads"] => {
            Ok(Affinity::OneThreadPerCore)
        }
        ["one" | "1", part] => Part::by_word(part)
            .map(Affinity::One)
            .ok_or_else(|| AFFINITY.to_owned()),
        ["cpus" | "cpu" | "cpus:", list] => parse_cpus(list).map(Affinity::List),
        [part, number] => match (Part::by_word(part), number.parse()) {
            (Some(part), Ok(number)) => Ok(Affinity::Numbered(part, number)),
            _ => Err(AFFINITY.to_owned()),
        },
        [list] if list.starts_with(|c: char| c.is_ascii_digit()) => {
            parse_cpus(list).map(Affinity::List)
        }
        _ => Err(AFFINITY.to_owned()),
    }
}

/// Where the copies of a workload run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In the agent's own group, on every CPU of the arm.
    Root,
    /// One in each leaf of the cgroup tree.
    Leaves,
    /// In a named group.
    Group(String),
    /// One on each part of the machine.
    Each(Part),
    /// On a part by its number: `node 1`.
    Numbered(Part, u32),
    /// On these CPUs.
    Cpus(CpuSet),
}

/// What a place looks like, for messages.
pub(super) const PLACE: &str = "`leaves`, `root`, `group NAME`, `each llc` (node, core, cluster, package, cpu), `node N`, `cpus LIST`";

/// Reads a place.
///
/// # Errors
/// What would be right.
pub(crate) fn parse_place(text: &str) -> Result<Place, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["leaves"] => Ok(Place::Leaves),
        ["root"] => Ok(Place::Root),
        ["group", name] => Ok(Place::Group((*name).to_owned())),
        ["each", part] => Part::by_word(part)
            .map(Place::Each)
            .ok_or_else(|| PLACE.to_owned()),
        ["cpus" | "cpu", list] => parse_cpus(list).map(Place::Cpus),
        [part, number] => match (Part::by_word(part), number.parse()) {
            (Some(part), Ok(number)) => Ok(Place::Numbered(part, number)),
            _ => Err(PLACE.to_owned()),
        },
        _ => Err(PLACE.to_owned()),
    }
}

/// What a CPU list looks like, for messages.
pub(super) const CPUS: &str = "a CPU list such as `0-3,8`";

/// Reads a CPU list that names at least one CPU.
///
/// # Errors
/// What would be right.
pub(super) fn parse_cpus(text: &str) -> Result<CpuSet, String> {
    let set = CpuSet::parse_list(text.trim().trim_start_matches("cpus ").trim())
        .map_err(|e| format!("{CPUS}: {e}"))?;
    if set.is_empty() {
        return Err(format!("{CPUS}, with at least one CPU"));
    }
    Ok(set)
}

/// What a time looks like, for messages.
pub(super) const TIME: &str =
    "a time with its unit, such as `500 us`, `100 ms`, `30 s`, `10 min`, `2 h`";

/// Reads a time, in microseconds.
///
/// # Errors
/// What would be right.
pub(super) fn parse_time_us(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(|| format!("{TIME}: the unit is missing"))?;
    let (number, unit) = text.split_at(split);
    let value: f64 = number.parse().map_err(|_| TIME.to_owned())?;
    let factor = match unit.trim() {
        "us" | "usec" => 1.0,
        "ms" | "msec" => 1e3,
        "s" | "sec" => 1e6,
        "min" => 60e6,
        "h" => 3600e6,
        other => return Err(format!("{TIME}: `{other}` is none of us, ms, s, min, h")),
    };
    let us = value * factor;
    if !us.is_finite() || us > 3.2e13 {
        return Err("a time of less than a year".into());
    }
    Ok(us.round() as u64)
}

/// What a stop rule looks like, for messages.
pub(super) const UNTIL: &str = "a precision such as `ci <= 2%` (never significance)";

/// Reads a stop rule: the share the confidence interval must not exceed.
///
/// # Errors
/// What would be right.
pub(super) fn parse_until(text: &str) -> Result<f64, String> {
    let rest = text.trim().strip_prefix("ci").map(str::trim_start);
    let share = rest
        .and_then(|r| r.strip_prefix("<="))
        .ok_or_else(|| UNTIL.to_owned())?;
    match parse_percent(share) {
        Ok(share) if share > 0.0 => Ok(share),
        _ => Err(UNTIL.to_owned()),
    }
}

/// What a share looks like, for messages.
pub(super) const SHARE: &str = "a share with its sign, such as `1%`";

/// Reads a share: `1%` is 0.01.
///
/// # Errors
/// What would be right.
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    parse_percent(text)
}

/// What a frequency looks like, for messages.
pub(super) const FREQUENCY: &str = "a frequency with its unit, such as `2400 MHz`, `2.4 GHz`";

/// Reads a frequency, in kHz.
///
/// # Errors
/// What would be right.
pub(super) fn parse_khz(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(|| format!("{FREQUENCY}: the unit is missing"))?;
    let (number, unit) = text.split_at(split);
    let value: f64 = number.parse().map_err(|_| FREQUENCY.to_owned())?;
    let factor = match unit.trim() {
        "kHz" => 1.0,
        "MHz" => 1e3,
        "GHz" => 1e6,
        _ => return Err(FREQUENCY.to_owned()),
    };
    Ok((value * factor).round() as u64)
}

/// What a size looks like, for messages.
pub(super) const SIZE: &str = "a size with its unit, such as `64 B`, `64 KiB`, `8 MiB`, `1 GiB`";

/// Reads a size, in bytes.
///
/// # Errors
/// What would be right.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .ok_or_else(|| format!("{SIZE}: the unit is missing"))?;
    let (number, unit) = text.split_at(split);
    let value: f64 = number.parse().map_err(|_| SIZE.to_owned())?;
    let factor = match unit.trim() {
        "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return Err(SIZE.to_owned()),
    };
    Ok((value * factor).round() as u64)
}

/// What a bound looks like, for messages.
pub(super) const BOUND: &str = "a bound such as `>= 16`, `<= 64`, `= 2`, `16`";

/// Reads a bound on a count: the least and the most that pass.
///
/// # Errors
/// What would be right.
pub(crate) fn parse_bound(text: &str) -> Result<(u64, u64), String> {
    let text = text.trim();
    let number = |rest: &str| rest.trim().parse::<u64>().map_err(|_| BOUND.to_owned());
    if let Some(rest) = text.strip_prefix(">=") {
        Ok((number(rest)?, u64::MAX))
    } else if let Some(rest) = text.strip_prefix("<=") {
        Ok((0, number(rest)?))
    } else {
        let n = number(text.trim_start_matches('='))?;
        Ok((n, n))
    }
}

/// What a memory bound looks like, for messages.
pub(super) const MEMORY_BOUND: &str = "a bound with its unit, such as `>= 64 GiB`";

/// Reads a least amount of memory, in bytes.
///
/// # Errors
/// What would be right.
pub(crate) fn parse_memory_bound(text: &str) -> Result<u64, String> {
    let rest = text
        .trim()
        .strip_prefix(">=")
        .ok_or_else(|| MEMORY_BOUND.to_owned())?;
    parse_bytes(rest).map_err(|_| MEMORY_BOUND.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_a_unit() {
        assert_eq!(parse_time_us("10 min"), Ok(600_000_000));
        assert_eq!(parse_time_us("500us"), Ok(500));
        assert!(parse_time_us("30").unwrap_err().contains("unit is missing"));
        assert!(parse_time_us("30 parsecs").unwrap_err().contains("none of"));
    }

    #[test]
    fn affinities_are_words() {
        assert_eq!(parse_affinity("one cpu"), Ok(Affinity::One(Part::Cpus)));
        assert_eq!(parse_affinity("all cpus"), Ok(Affinity::All));
        assert_eq!(
            parse_affinity("0-3"),
            Ok(Affinity::List(CpuSet::range(0, 3)))
        );
        assert_eq!(
            parse_affinity("cpus 0-3"),
            Ok(Affinity::List(CpuSet::range(0, 3)))
        );
        assert_eq!(
            parse_affinity("node 1"),
            Ok(Affinity::Numbered(Part::Nodes, 1))
        );
        assert!(parse_affinity("some cpus").is_err());
    }

    #[test]
    fn places_are_words() {
        assert_eq!(parse_place("each node"), Ok(Place::Each(Part::Nodes)));
        assert_eq!(parse_place("group web/a"), Ok(Place::Group("web/a".into())));
        assert!(parse_place("leafs").is_err());
    }

    #[test]
    fn a_stop_rule_is_a_precision() {
        assert_eq!(parse_until("ci <= 2%"), Ok(0.02));
        assert!(parse_until("p <= 5%").is_err());
    }

    #[test]
    fn bounds_read_both_ways() {
        assert_eq!(parse_bound(">= 16"), Ok((16, u64::MAX)));
        assert_eq!(parse_bound("2"), Ok((2, 2)));
        assert_eq!(parse_memory_bound(">= 1 GiB"), Ok(1 << 30));
    }
}
