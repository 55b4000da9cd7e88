//! What a stressor measures beside its operations: a value and free words, in which the unit and the
//! kind of mean stand. `13522.55 nanosecs per context switch (pipe method) (geometic mean of 1
//! instances)` is the metric `context-switch-pipe-method` in ns, lower is better, a geometric mean.

use schedrig_stats::{Direction, Unit};

/// One such metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Miscellaneous {
    /// Without its unit.
    pub(super) name: String,
    pub(super) unit: Unit,
    pub(super) direction: Direction,
    /// `geometric`, `harmonic`, `total`, ...; `None`: not said.
    pub(super) aggregation: Option<String>,
    /// Copies the value is over.
    pub(super) instances: Option<u64>,
    /// The word of the aggregation is none that was known when this was written.
    pub(super) unknown_aggregation: bool,
}

/// Words of time that stand before `per`: the unit of a cost.
const TIMES: &[(&str, &str)] = &[
    ("nanosecs", "ns"),
    ("nanoseconds", "ns"),
    ("nanosec", "ns"),
    ("microsecs", "us"),
    ("microseconds", "us"),
    ("usecs", "us"),
    ("millisecs", "ms"),
    ("milliseconds", "ms"),
    ("msecs", "ms"),
    ("seconds", "s"),
    ("secs", "s"),
];

/// Words of a bandwidth, or of another rate that is more when it is better.
const BANDWIDTHS: &[(&str, &str)] = &[
    ("Mflop per sec", "Mflop/s"),
    ("mflop per sec", "Mflop/s"),
    ("MB per sec", "MB/s"),
    ("MB per second", "MB/s"),
    ("MB/sec", "MB/s"),
    ("GB per sec", "GB/s"),
    ("GB/sec", "GB/s"),
    ("KB per sec", "kB/s"),
    ("KB/sec", "kB/s"),
    ("mb per sec", "MB/s"),
    ("gb per sec", "GB/s"),
    ("kb per sec", "kB/s"),
];

/// Reads the words after the value.
pub(super) fn describe(words: &str) -> Miscellaneous {
    let (words, aggregation) = split_aggregation(words);
    let (name, unit, direction) = unit_of(words.trim());
    let mut found = Miscellaneous {
        name: slug(&name),
        unit: Unit::new(unit),
        direction,
        aggregation: None,
        instances: None,
        unknown_aggregation: false,
    };
    if let Some((word, instances)) = aggregation {
        found.unknown_aggregation = !matches!(
            word.as_str(),
            "geometric" | "harmonic" | "total" | "average" | "arithmetic" | "maximum" | "minimum"
        );
        found.aggregation = Some(word);
        found.instances = instances;
    }
    found
}

/// Takes `(harmonic mean of 224 instances)` off the end. One version leaves a bracket open before it.
fn split_aggregation(words: &str) -> (&str, Option<(String, Option<u64>)>) {
    let Some((before, last)) = words.rsplit_once('(') else {
        return (words, None);
    };
    let inner = last.trim_end().trim_end_matches(')');
    let (kind, instances) = match inner.split_once(" of ") {
        Some((kind, rest)) if rest.contains("instance") => {
            let count = rest.split_whitespace().next().and_then(|n| n.parse().ok());
            (kind, count)
        }
        _ if inner.ends_with(" mean") => (inner, None),
        _ if inner == "average per stressor" => ("average", None),
        _ => return (words, None),
    };
    let word = kind.trim().trim_end_matches(" mean").trim();
    // "geometic" until 2023.
    let word = if word == "geometic" {
        "geometric"
    } else {
        word
    };
    (before.trim_end(), Some((word.to_owned(), instances)))
}

/// Name, unit and direction.
fn unit_of(words: &str) -> (String, &'static str, Direction) {
    for (time, unit) in TIMES {
        if let Some(what) = words
            .strip_prefix(time)
            .and_then(|w| w.strip_prefix(" per "))
        {
            return (what.to_owned(), unit, Direction::LowerIsBetter);
        }
    }
    for (bandwidth, unit) in BANDWIDTHS {
        if let Some((before, after)) = words.split_once(bandwidth) {
            let name = format!("{before} {}", after.trim_start_matches("ond"));
            return (name, unit, Direction::HigherIsBetter);
        }
    }
    for ending in [" per second", " per sec", "/sec"] {
        if let Some((what, after)) = words.split_once(ending) {
            return (
                format!("{what} {after} rate"),
                "1/s",
                Direction::HigherIsBetter,
            );
        }
    }
    if let Some(what) = words.strip_prefix("% ") {
        return (what.to_owned(), "%", Direction::Unknown);
    }
    (words.to_owned(), "count", Direction::Unknown)
}

/// Lower case, words joined by dashes.
fn slug(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let trimmed = out.trim_end_matches('-');
    if trimmed.is_empty() { "value" } else { trimmed }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Case B1: every wording of the mean, and a bracket that nobody closed.
    #[test]
    fn every_wording_of_the_aggregation_is_read() {
        let open = "nanosecs per lock (excluding test overhead (harmonic mean of 224 instances)";
        let found = describe(open);
        assert_eq!(found.aggregation.as_deref(), Some("harmonic"));
        assert_eq!(found.instances, Some(224));
        assert_eq!(found.name, "lock-excluding-test-overhead");
        for (words, aggregation, instances) in [
            ("% x (geometic mean of 1 instances)", "geometric", Some(1)),
            (
                "% x (geometric mean of 128 instances)",
                "geometric",
                Some(128),
            ),
            ("% x (harmonic mean of 1 instance)", "harmonic", Some(1)),
            ("% x (total of 256 instances)", "total", Some(256)),
            ("% x (geometic mean)", "geometric", None),
            ("% x (average per stressor)", "average", None),
        ] {
            let found = describe(words);
            assert_eq!(found.aggregation.as_deref(), Some(aggregation), "{words}");
            assert_eq!(found.instances, instances, "{words}");
            assert!(!found.unknown_aggregation);
        }
        assert!(describe("% x (median of 4 instances)").unknown_aggregation);
    }

    // Case H9: the unit is a field, not a part of the name.
    #[test]
    fn the_unit_leaves_the_name() {
        for (words, name, unit, direction) in [
            (
                "nanosecs per context switch (pipe method)",
                "context-switch-pipe-method",
                "ns",
                Direction::LowerIsBetter,
            ),
            (
                "MB per sec pipe write rate",
                "pipe-write-rate",
                "MB/s",
                Direction::HigherIsBetter,
            ),
            (
                "write128 MB/sec",
                "write128",
                "MB/s",
                Direction::HigherIsBetter,
            ),
            (
                "sendto calls per sec",
                "sendto-calls-rate",
                "1/s",
                Direction::HigherIsBetter,
            ),
            (
                "% compression ratio",
                "compression-ratio",
                "%",
                Direction::Unknown,
            ),
            (
                "context switches per bogo op",
                "context-switches-per-bogo-op",
                "count",
                Direction::Unknown,
            ),
        ] {
            let found = describe(words);
            assert_eq!(found.name, name);
            assert_eq!(found.unit.symbol(), unit);
            assert_eq!(found.direction, direction);
            assert_eq!(found.aggregation, None);
        }
    }
}
