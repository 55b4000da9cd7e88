//! `perf stat -x,`: one event a line. Run with LC_ALL=C; a decimal comma adds fields and is refused.

use super::line::LineError;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct PerfCounter {
    /// `cycles`.
    pub event: String,
    /// The cgroup, with `--for-each-cgroup` or `-G`.
    pub cgroup: Option<String>,
    /// `msec`; empty for plain counts.
    pub unit: String,
    /// What was counted.
    pub count: PerfCount,
    /// Nanoseconds that the event was counted.
    pub run_ns: u64,
    /// Percent of the time that it was counted: below 100 it is scaled up.
    pub running_percent: f64,
}

/// A value, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PerfCount {
    /// It was counted.
    Value(f64),
    /// It never had a counter.
    NotCounted,
    /// This machine has no such event.
    NotSupported,
}

/// Reads the output of `perf stat -x,`. Comment lines and empty lines are passed over.
///
/// # Errors
/// A line with another number of fields, or whose percentage has no decimal point: a locale with a
/// decimal comma.
pub fn parse_perf_stat(text: &str) -> Result<Vec<PerfCounter>, LineError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    lines.map(|(index, line)| event(index, line)).collect()
}

fn event(index: usize, line: &str) -> Result<PerfCounter, LineError> {
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    // Without a derived metric old versions leave its two fields out.
    let (count, unit, event, cgroup, rest) = match fields.as_slice() {
        [count, unit, event, rest @ ..] if matches!(rest.len(), 2 | 4) => {
            (count, unit, event, None, rest)
        }
        [count, unit, event, cgroup, rest @ ..] if matches!(rest.len(), 2 | 4) => {
            (count, unit, event, Some((*cgroup).to_owned()), rest)
        }
        other => {
            let found = other.len();
            let want = format!("field count {found}, want 7 or 8: decimal comma?");
            return Err(LineError::new(
                index,
                line,
                format!("a line of perf stat -x, ({want})"),
            ));
        }
    };
    let bad = |what: &str| LineError::new(index, line, what);
    let percent = Some(rest[1])
        .filter(|p| p.contains('.'))
        .and_then(|p| p.parse().ok());
    let running_percent = percent.ok_or_else(|| {
        bad("a line of perf stat -x, (percentage without a point: decimal comma?)")
    })?;
    let count = match *count {
        "<not counted>" => PerfCount::NotCounted,
        "<not supported>" => PerfCount::NotSupported,
        value => PerfCount::Value(value.parse().map_err(|_| bad("a count"))?),
    };
    Ok(PerfCounter {
        event: (*event).to_owned(),
        cgroup,
        unit: (*unit).to_owned(),
        count,
        run_ns: rest[0]
            .parse()
            .map_err(|_| bad("a run time in nanoseconds"))?,
        running_percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_perf_6_1() {
        let text = "0,,cpu-migrations,1669011,100.00,0.000,/sec\n<not supported>,,cycles,0,100.00,,\n1.67,msec,task-clock,1669011,100.00,0.710,CPUs utilized\n";
        let events = parse_perf_stat(text).unwrap();
        assert_eq!(events[0].count, PerfCount::Value(0.0));
        assert_eq!(events[1].count, PerfCount::NotSupported);
        assert_eq!(
            (events[2].unit.as_str(), events[2].run_ns),
            ("msec", 1_669_011)
        );
    }

    #[test]
    fn a_decimal_comma_is_refused() {
        let good = "6376827291,,cycles,mesos_test,2011741096,100.00,3.17,GHz";
        assert_eq!(
            parse_perf_stat(good).unwrap()[0].cgroup.as_deref(),
            Some("mesos_test")
        );
        let nine = "6376827291,,cycles,mesos_test,2011741096,100,00,3,GHz";
        let err = parse_perf_stat(nine).unwrap_err().to_string();
        assert!(
            err.contains("field count 9, want 7 or 8: decimal comma?"),
            "{err}"
        );
        let eight = "6376827291,,cycles,2011741096,100,00,3,GHz";
        assert!(
            parse_perf_stat(eight).is_err(),
            "not read as a cgroup named 2011741096"
        );
        assert!(parse_perf_stat("1,,cycles,20,100,00\n").is_err());
    }
}
