//! The omni outputs: `KEY=VALUE` lines for the keys that were asked for.

use std::fmt::Write as _;

use crate::builtin::histogram::Histogram;

/// An output that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Throughput,
    ThroughputUnits,
    ElapsedTime,
    MeanLatency,
    StddevLatency,
    MinLatency,
    MaxLatency,
    /// 50, 90 or 99.
    Percentile(u8),
    RequestSize,
    ResponseSize,
    LocalCpuUtil,
    RemoteCpuUtil,
    LocalDemand,
    RemoteDemand,
    DemandUnits,
}

const NAMES: &[(&str, Key)] = &[
    ("THROUGHPUT", Key::Throughput),
    ("THROUGHPUT_UNITS", Key::ThroughputUnits),
    ("ELAPSED_TIME", Key::ElapsedTime),
    ("MEAN_LATENCY", Key::MeanLatency),
    ("STDDEV_LATENCY", Key::StddevLatency),
    ("MIN_LATENCY", Key::MinLatency),
    ("MAX_LATENCY", Key::MaxLatency),
    ("P50_LATENCY", Key::Percentile(50)),
    ("P90_LATENCY", Key::Percentile(90)),
    ("P99_LATENCY", Key::Percentile(99)),
    ("REQUEST_SIZE", Key::RequestSize),
    ("RESPONSE_SIZE", Key::ResponseSize),
    ("LOCAL_CPU_UTIL", Key::LocalCpuUtil),
    ("REMOTE_CPU_UTIL", Key::RemoteCpuUtil),
    ("LOCAL_SD", Key::LocalDemand),
    ("REMOTE_SD", Key::RemoteDemand),
    ("SD_UNITS", Key::DemandUnits),
];

impl Key {
    /// The key of this name.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, key)| *key)
    }
}

/// CPU use of one side during the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CpuUse {
    /// Percent of all CPUs.
    pub(super) percent: f64,
    pub(super) cpus: u32,
}

/// Latencies, nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Latencies {
    histogram: Histogram,
    count: u64,
    mean: f64,
    /// Sum of squared differences from the mean (Welford).
    squares: f64,
}

impl Latencies {
    /// Counts one transaction.
    pub(super) fn record(&mut self, nanoseconds: u64) {
        self.histogram.record(nanoseconds);
        self.count += 1;
        let difference = nanoseconds as f64 - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (nanoseconds as f64 - self.mean);
    }

    /// Transactions.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    fn stddev(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

/// What a run yielded.
#[derive(Clone, Debug)]
pub(super) struct Results {
    pub(super) seconds: f64,
    pub(super) latencies: Latencies,
    pub(super) request: usize,
    pub(super) response: usize,
    /// `None`: not asked for, or this kernel does not say.
    pub(super) local: Option<CpuUse>,
    pub(super) remote: Option<CpuUse>,
}

impl Results {
    /// The lines for `keys`, in their order. What was not measured is -1, as in the tool.
    pub(super) fn lines(&self, keys: &[Key]) -> String {
        let mut text = String::new();
        for key in keys {
            let name = NAMES.iter().find(|(_, k)| k == key).map_or("", |(n, _)| n);
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{name}={}", self.value(*key));
        }
        text
    }

    fn value(&self, key: Key) -> String {
        let latencies = &self.latencies;
        match key {
            Key::Throughput => format!("{:.2}", latencies.count() as f64 / self.seconds),
            Key::ThroughputUnits => "Trans/s".to_owned(),
            Key::ElapsedTime => format!("{:.2}", self.seconds),
            Key::MeanLatency => microseconds((latencies.count() > 0).then_some(latencies.mean)),
            Key::StddevLatency => microseconds(latencies.stddev()),
            Key::MinLatency => microseconds(latencies.histogram.min().map(|v| v as f64)),
            Key::MaxLatency => microseconds(latencies.histogram.max().map(|v| v as f64)),
            Key::Percentile(percent) => {
                let rows = latencies.histogram.percentiles(&[f64::from(percent)]);
                microseconds(rows.first().map(|row| row.value as f64))
            }
            Key::RequestSize => self.request.to_string(),
            Key::ResponseSize => self.response.to_string(),
            Key::LocalCpuUtil => percent(self.local),
            Key::RemoteCpuUtil => percent(self.remote),
            Key::LocalDemand => self.demand(self.local),
            Key::RemoteDemand => self.demand(self.remote),
            Key::DemandUnits => "usec/Tran".to_owned(),
        }
    }

    /// CPU time per transaction, microseconds.
    fn demand(&self, side: Option<CpuUse>) -> String {
        match side {
            Some(used) if self.latencies.count() > 0 => {
                let cpu_us = used.percent / 100.0 * f64::from(used.cpus) * self.seconds * 1e6;
                format!("{:.3}", cpu_us / self.latencies.count() as f64)
            }
            _ => "-1.000".to_owned(),
        }
    }
}

fn microseconds(nanoseconds: Option<f64>) -> String {
    nanoseconds.map_or_else(|| "-1".to_owned(), |ns| format!("{:.2}", ns / 1000.0))
}

fn percent(side: Option<CpuUse>) -> String {
    side.map_or_else(|| "-1.00".to_owned(), |used| format!("{:.2}", used.percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut latencies = Latencies::default();
        for microseconds in 1..=100 {
            latencies.record(microseconds * 1000);
        }
        Results {
            seconds: 0.5,
            latencies,
            request: 1,
            response: 2,
            local: Some(CpuUse {
                percent: 50.0,
                cpus: 2,
            }),
            remote: None,
        }
    }

    #[test]
    fn keys_come_in_the_order_they_were_asked_for() {
        assert_eq!(
            results().lines(&[
                Key::ElapsedTime,
                Key::Throughput,
                Key::ThroughputUnits,
                Key::MeanLatency,
                Key::StddevLatency,
                Key::MinLatency,
                Key::MaxLatency,
                Key::ResponseSize,
            ]),
            "ELAPSED_TIME=0.50\nTHROUGHPUT=200.00\nTHROUGHPUT_UNITS=Trans/s\nMEAN_LATENCY=50.50\n\
             STDDEV_LATENCY=29.01\nMIN_LATENCY=1.00\nMAX_LATENCY=100.00\nRESPONSE_SIZE=2\n"
        );
    }

    #[test]
    fn percentiles_are_as_precise_as_the_histogram() {
        let text = results().lines(&[Key::Percentile(99)]);
        let value: f64 = text
            .trim_start_matches("P99_LATENCY=")
            .trim()
            .parse()
            .unwrap();
        assert!((value - 99.0).abs() < 0.5, "{text}");
    }

    #[test]
    fn what_was_not_measured_is_minus_one() {
        assert_eq!(
            results().lines(&[
                Key::LocalCpuUtil,
                Key::LocalDemand,
                Key::RemoteCpuUtil,
                Key::RemoteDemand
            ]),
            "LOCAL_CPU_UTIL=50.00\nLOCAL_SD=5000.000\nREMOTE_CPU_UTIL=-1.00\nREMOTE_SD=-1.000\n"
        );
    }

    #[test]
    fn every_name_reads_back() {
        for (name, key) in NAMES {
            assert_eq!(Key::by_name(name), Some(*key));
        }
        assert_eq!(Key::by_name("P42_LATENCY"), None);
    }
}
