//! What ran where: kept while simulating, written as a Chrome trace (Perfetto opens it) or as lines.
//!
//! CPUs are tracks, runs of tasks are slices, wake-ups are arrows from the waker's CPU to the
//! beginning of the wakee's next run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schedrig_model::id::CpuId;
use serde_json::{Value, json};

use crate::cpu::CpuIx;

/// Most records a trace keeps where nothing else is said: about 300 MB of JSON.
pub const RECORDS_MAX: usize = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    Slice {
        cpu: CpuIx,
        comm: &'static str,
        task: u32,
        from_ns: u64,
        to_ns: u64,
    },
    Wake {
        waker: CpuIx,
        target: CpuIx,
        task: u32,
        at_ns: u64,
    },
}

impl Record {
    fn begins(&self) -> (u64, CpuIx) {
        match *self {
            Record::Slice { cpu, from_ns, .. } => (from_ns, cpu),
            Record::Wake { waker, at_ns, .. } => (at_ns, waker),
        }
    }
}

/// A trace being kept. One that is off keeps nothing and costs a test.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    records: Vec<Record>,
    limit: usize,
    dropped: u64,
}

impl Trace {
    /// Keeps nothing.
    pub fn off() -> Self {
        Trace::default()
    }

    /// Keeps the first `limit` records and counts the rest.
    pub fn on(limit: usize) -> Self {
        Trace {
            limit,
            ..Trace::default()
        }
    }

    /// Whether anything is kept.
    pub fn is_on(&self) -> bool {
        self.limit > 0
    }

    /// How many records did not fit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// A task ran on a CPU. `task` is its number, `comm` what kind of task it is.
    #[inline]
    pub fn slice(&mut self, cpu: CpuIx, comm: &'static str, task: u32, from_ns: u64, to_ns: u64) {
        if self.is_on() {
            self.keep(Record::Slice {
                cpu,
                comm,
                task,
                from_ns,
                to_ns,
            });
        }
    }

    /// A CPU woke a task and queued it on `target`.
    #[inline]
    pub fn wake(&mut self, waker: CpuIx, target: CpuIx, task: u32, at_ns: u64) {
        if self.is_on() {
            self.keep(Record::Wake {
                waker,
                target,
                task,
                at_ns,
            });
        }
    }

    fn keep(&mut self, record: Record) {
        match self.records.len() < self.limit {
            true => self.records.push(record),
            false => self.dropped += 1,
        }
    }

    /// In order of time, then CPU, then as they were kept.
    fn sorted(&self) -> Vec<Record> {
        let mut records = self.records.clone();
        records.sort_by_key(Record::begins);
        records
    }

    /// The trace as one JSON object in Chrome's trace event format. `os_cpu` gives the kernel's
    /// number of each CPU.
    pub fn chrome_json(&self, os_cpu: &[CpuId]) -> String {
        let records = self.sorted();
        let runs = Runs::of(&records);
        let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        let name = json!({"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "CPUs"}});
        let mut events = vec![name];
        for (at, cpu) in os_cpu.iter().enumerate() {
            let args = json!({"name": format!("CPU {cpu}")});
            events.push(json!({
                "ph": "M", "pid": 0, "tid": at, "name": "thread_name", "args": args
            }));
        }
        write_events(&mut out, events, true);
        for (id, record) in records.iter().enumerate() {
            write_events(&mut out, record_events(id, record, &runs), false);
        }
        let dropped = self.dropped;
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n],\"otherData\":{{\"dropped_records\":{dropped}}}}}\n"
        );
        out
    }

    /// The trace as one line a record: time in s, CPU, what happened.
    pub fn lines(&self, os_cpu: &[CpuId]) -> String {
        let os = |cpu: CpuIx| os_cpu.get(cpu.at()).map_or(u32::from(cpu.0), |id| id.0);
        let mut out = String::new();
        for record in self.sorted() {
            let (at, cpu) = record.begins();
            let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
            let _ = write!(out, "{s}.{ns:09} [{:03}] ", os(cpu));
            let _ = match record {
                Record::Slice {
                    comm,
                    task,
                    from_ns,
                    to_ns,
                    ..
                } => {
                    writeln!(
                        out,
                        "run {comm}-{task} {} ns",
                        to_ns.saturating_sub(from_ns)
                    )
                }
                Record::Wake { target, task, .. } => {
                    writeln!(out, "wake task {task} on CPU {}", os(target))
                }
            };
        }
        if self.dropped > 0 {
            let _ = writeln!(out, "... {} records did not fit", self.dropped);
        }
        out
    }
}

/// When and where each task's runs begin.
struct Runs(BTreeMap<(u32, u64), CpuIx>);

impl Runs {
    fn of(records: &[Record]) -> Self {
        let begin = |record: &Record| match *record {
            Record::Slice {
                cpu, task, from_ns, ..
            } => Some(((task, from_ns), cpu)),
            Record::Wake { .. } => None,
        };
        Runs(records.iter().filter_map(begin).collect())
    }

    /// The first run of a task that begins at or after `at_ns`.
    fn next(&self, task: u32, at_ns: u64) -> Option<(u64, CpuIx)> {
        let mut later = self.0.range((task, at_ns)..=(task, u64::MAX));
        later.next().map(|(&(_, from), &cpu)| (from, cpu))
    }
}

fn record_events(id: usize, record: &Record, runs: &Runs) -> Vec<Value> {
    match *record {
        Record::Slice {
            cpu,
            comm,
            task,
            from_ns,
            to_ns,
        } => vec![json!({
            "ph": "X", "pid": 0, "tid": cpu.0, "name": format!("{comm}-{task}"), "cat": "run",
            "ts": micros(from_ns), "dur": micros(to_ns.saturating_sub(from_ns)),
        })],
        Record::Wake {
            waker, task, at_ns, ..
        } => {
            // An arrow needs both ends: a wakee that never ran has none.
            let Some((from_ns, cpu)) = runs.next(task, at_ns) else {
                return Vec::new();
            };
            let end = |ph: &str, tid: u16, ts: u64| {
                json!({
                    "ph": ph, "pid": 0, "tid": tid, "id": id, "name": "wake", "cat": "wake",
                    "bp": "e", "ts": micros(ts),
                })
            };
            vec![end("s", waker.0, at_ns), end("f", cpu.0, from_ns)]
        }
    }
}

/// Trace timestamps are microseconds; three digits keep the nanosecond below 2^53 / 1000 us.
fn micros(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

fn write_events(out: &mut String, events: Vec<Value>, first: bool) {
    for (at, event) in events.into_iter().enumerate() {
        if !(first && at == 0) {
            out.push_str(",\n");
        }
        let _ = write!(out, "{event}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_cpus() -> Trace {
        let mut trace = Trace::on(10);
        trace.wake(CpuIx(0), CpuIx(1), 7, 1_500);
        trace.slice(CpuIx(0), "sender", 3, 1_000, 4_001);
        trace.slice(CpuIx(1), "receiver", 7, 2_250, 9_000);
        trace
    }

    const OS: [CpuId; 2] = [CpuId(0), CpuId(4)];

    #[test]
    fn a_wake_up_is_an_arrow_from_the_waker_to_the_wakees_next_run() {
        let text = two_cpus().chrome_json(&OS);
        let parsed: Value = serde_json::from_str(&text).unwrap();
        let events = parsed["traceEvents"].as_array().unwrap();
        let of = |ph: &str| events.iter().filter(|e| e["ph"] == ph).collect::<Vec<_>>();
        assert_eq!(of("M")[2]["args"]["name"], "CPU 4");
        let slices = of("X");
        assert_eq!(slices[0]["name"], "sender-3");
        assert_eq!(
            (slices[0]["ts"].as_f64(), slices[0]["dur"].as_f64()),
            (Some(1.0), Some(3.001))
        );
        let (start, finish) = (of("s")[0], of("f")[0]);
        assert_eq!(start["id"], finish["id"]);
        assert_eq!(
            (start["tid"].as_u64(), start["ts"].as_f64()),
            (Some(0), Some(1.5))
        );
        assert_eq!(
            (finish["tid"].as_u64(), finish["ts"].as_f64()),
            (Some(1), Some(2.25))
        );
    }

    #[test]
    fn lines_are_in_order_of_time() {
        let expected = "0.000001000 [000] run sender-3 3001 ns\n\
                        0.000001500 [000] wake task 7 on CPU 4\n\
                        0.000002250 [004] run receiver-7 6750 ns\n";
        assert_eq!(two_cpus().lines(&OS), expected);
    }

    #[test]
    fn a_full_trace_counts_what_did_not_fit_and_one_that_is_off_keeps_nothing() {
        let mut full = Trace::on(1);
        let mut off = Trace::off();
        for trace in [&mut full, &mut off] {
            trace.slice(CpuIx(0), "a", 1, 0, 5);
            trace.wake(CpuIx(0), CpuIx(1), 2, 5);
        }
        assert_eq!(full.dropped(), 1);
        assert!(full.lines(&OS).ends_with("... 1 records did not fit\n"));
        assert_eq!((off.lines(&OS), off.dropped()), (String::new(), 0));
        // An arrow without a run to end in is left out, the JSON stays whole.
        let mut lost = Trace::on(5);
        lost.wake(CpuIx(0), CpuIx(1), 2, 5);
        let parsed: Value = serde_json::from_str(&lost.chrome_json(&OS)).unwrap();
        assert_eq!(parsed["traceEvents"].as_array().unwrap().len(), 3);
    }
}
