//! What schbench prints.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::builtin::histogram::Histogram;

/// Rows of a block; `*` marks the one of interest.
pub(super) struct Rows {
    percents: &'static [f64],
    marked: f64,
}

/// Wakeup and request latencies.
pub(super) const LATENCY_ROWS: Rows = Rows {
    percents: &[50.0, 90.0, 99.0, 99.9],
    marked: 99.0,
};
/// Wakeup latencies in pipe mode.
pub(super) const PIPE_ROWS: Rows = Rows {
    percents: &[20.0, 50.0, 90.0, 99.0, 99.9],
    marked: 99.0,
};
/// Requests per second.
pub(super) const RPS_ROWS: Rows = Rows {
    percents: &[20.0, 50.0, 90.0],
    marked: 50.0,
};
/// All of the JSON.
const JSON_PERCENTS: &[f64] = &[20.0, 50.0, 90.0, 99.0, 99.9];

/// A block of percentiles: `title` names what and its unit, `runtime_s` since when. The rows of an
/// empty histogram are zero in the tool's grammar, and its title says `0 total samples`.
pub(super) fn block(title: &str, runtime_s: u64, histogram: &Histogram, rows: &Rows) -> String {
    let unit = if title == "RPS" { "requests" } else { "usec" };
    let name = if title == "RPS" {
        title.to_owned()
    } else {
        format!("{title} Latencies")
    };
    let mut text = format!(
        "{name} percentiles ({unit}) runtime {runtime_s} (s) ({} total samples)\n",
        histogram.total()
    );
    let found = histogram.percentiles(rows.percents);
    for (at, percent) in rows.percents.iter().enumerate() {
        let mark = if *percent == rows.marked { '*' } else { ' ' };
        let (value, samples) = found.get(at).map_or((0, 0), |row| (row.value, row.samples));
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "\t{mark} {percent:.1}th: {value:<10} ({samples} samples)"
        );
    }
    let _ = writeln!(
        text,
        "\t  min={}, max={}",
        histogram.min().unwrap_or(0),
        histogram.max().unwrap_or(0)
    );
    text
}

/// `Y` of `avg worker transfer: X ops/sec YMB/s`.
pub(super) fn transfer_rate(bytes_per_second: f64) -> String {
    let mut rate = bytes_per_second;
    let mut unit = "B";
    for next in ["KB", "MB", "GB", "TB"] {
        if rate < 1024.0 {
            break;
        }
        rate /= 1024.0;
        unit = next;
    }
    format!("{rate:.2}{unit}/s")
}

/// Facts for the JSON's `normal` part.
pub(super) struct Circumstances {
    /// The kernel's release.
    pub(super) kernel: String,
    pub(super) job_name: Option<String>,
    pub(super) hostname: String,
    /// State of sched_ext, `disabled` where the kernel has none.
    pub(super) sched_ext: String,
    pub(super) cmdline: String,
    /// Seconds since 1970.
    pub(super) time: u64,
}

/// The JSON text, without a newline at its end. What has no samples is left out.
pub(super) fn json(facts: &Circumstances, runtime_s: u64, named: &[(&str, &Histogram)]) -> String {
    let mut normal = Map::new();
    normal.insert("version".into(), json!(facts.kernel));
    if let Some(name) = &facts.job_name {
        normal.insert("jobname".into(), json!(name));
    }
    normal.insert("hostname".into(), json!(facts.hostname));
    normal.insert("sched_ext".into(), json!(facts.sched_ext));
    normal.insert("cmdline".into(), json!(facts.cmdline));
    let mut int = Map::new();
    int.insert("time".into(), json!(facts.time));
    for (name, histogram) in named {
        for row in histogram.percentiles(JSON_PERCENTS) {
            int.insert(format!("{name}_pct{:.1}", row.percent), json!(row.value));
        }
        if let (Some(min), Some(max)) = (histogram.min(), histogram.max()) {
            int.insert(format!("{name}_min"), json!(min));
            int.insert(format!("{name}_max"), json!(max));
        }
    }
    int.insert("runtime".into(), json!(runtime_s));
    let mut all = Map::new();
    all.insert("normal".into(), Value::Object(normal));
    all.insert("int".into(), Value::Object(int));
    Value::Object(all).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram() -> Histogram {
        let mut histogram = Histogram::default();
        for value in 1..=200 {
            histogram.record(value);
        }
        histogram
    }

    #[test]
    fn a_block_reads_like_the_tools() {
        assert_eq!(
            block("Wakeup", 3, &histogram(), &LATENCY_ROWS),
            "Wakeup Latencies percentiles (usec) runtime 3 (s) (200 total samples)\n\
             \t  50.0th: 100        (100 samples)\n\
             \t  90.0th: 180        (80 samples)\n\
             \t* 99.0th: 198        (18 samples)\n\
             \t  99.9th: 200        (2 samples)\n\
             \t  min=1, max=200\n"
        );
        assert!(
            block("RPS", 3, &histogram(), &RPS_ROWS).starts_with(
                "RPS percentiles (requests) runtime 3 (s) (200 total samples)\n\t  20"
            )
        );
    }

    #[test]
    fn an_empty_block_says_so() {
        let text = block("Request", 1, &Histogram::default(), &LATENCY_ROWS);
        assert!(text.contains("(0 total samples)"), "{text}");
        assert!(text.ends_with("\t  min=0, max=0\n"), "{text}");
    }

    #[test]
    fn json_leaves_out_what_was_not_measured() {
        let facts = Circumstances {
            kernel: "6.1".into(),
            job_name: None,
            hostname: "vm".into(),
            sched_ext: "disabled".into(),
            cmdline: "schbench -r 1".into(),
            time: 5,
        };
        let text = json(
            &facts,
            1,
            &[
                ("wakeup_latency", &histogram()),
                ("rps", &Histogram::default()),
            ],
        );
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["int"]["wakeup_latency_pct99.0"], 198);
        assert_eq!(value["int"]["wakeup_latency_max"], 200);
        assert_eq!(value["int"]["runtime"], 1);
        assert!(value["int"].get("rps_min").is_none());
        assert_eq!(value["normal"]["sched_ext"], "disabled");
    }

    #[test]
    fn rates_have_a_readable_unit() {
        assert_eq!(transfer_rate(27_882.97 * 100.0), "2.66MB/s");
        assert_eq!(transfer_rate(10.0), "10.00B/s");
    }
}
