//! Pairs of threads that wake each other through a futex, in turns. schedrig's own; its output has
//! the grammar of `perf bench futex`, whose benchmarks have no ping.

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::perf_bench::averaged;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{lines, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, ParamDef, ParamError,
    Params, PreflightFinding, WorkloadDef,
};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |_, output| outcome(&DEF, read(output)),
    duration_ms,
};

/// The catalogue entry.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "futex",
    summary: "pairs of threads that wake each other through a futex",
    tool: None,
    implementations: &[Implementation::Builtin],
    params: &[
        ParamDef::count("pairs", 1, Some("1"), "pairs of threads (-t)"),
        ParamDef::count("seconds", 1, Some("10"), "how long to run (-r)").in_unit("s"),
    ],
    metrics: &[MetricDef::higher(
        "round-trip-rate",
        "ops/s",
        "wake-ups there and back per second, mean of the pairs",
    )
    .over(Aggregate::Mean)
    .primary()],
    simulated: "all of it: wait, wake, the wake-up path; the bucket lock as a station",
};

fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let pairs = reader.count("pairs")?;
    let seconds = reader.count("seconds")?;
    let args = [
        "-t".to_owned(),
        pairs.to_string(),
        "-r".to_owned(),
        seconds.to_string(),
    ];
    Ok((
        Command::of("futex", implementation, args.into()),
        reader.finish(),
    ))
}

fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let pairs = resolved_count(params, "pairs").unwrap_or(1);
    let need = Need {
        who: format!("futex with {pairs} pairs"),
        tasks: pairs
            .saturating_mul(2)
            .saturating_add(1)
            .saturating_mul(instances.into()),
        files: 16,
        ..Need::default()
    };
    check(&need, limits)
}

fn duration_ms(params: &Params) -> Option<u64> {
    resolved_count(params, "seconds")?.checked_mul(1000)
}

/// `# Running 'futex/ping' benchmark:`, `Run summary [PID N]: P pairs ... for S secs.`,
/// `Averaged N operations/sec (+- P%), total secs = S`.
fn read(output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let mut runs = Vec::new();
    let mut run = Run::default();
    let mut seen = false;
    for line in &lines {
        let text = line.text.trim();
        if let Some(name) = text.strip_prefix("# Running '") {
            seen = true;
            let name = name.split('\'').next().unwrap_or("");
            if name != "futex/ping" {
                return Err(Failure::WrongTest {
                    asked: "futex/ping".to_owned(),
                    found: name.to_owned(),
                });
            }
        } else if text.starts_with("Run summary [PID ") {
            if let Some(pairs) = word_after(text, "]:") {
                run.says("pairs", pairs);
            }
        } else if let Some(rate) = averaged(text, line)? {
            if rate <= 0.0 {
                return Err(Failure::ZeroWork {
                    message: "0 round trips".to_owned(),
                });
            }
            run.push("round-trip-rate", rate);
            runs.push(std::mem::take(&mut run));
        }
    }
    if runs.is_empty() {
        return Err(no_result(
            output,
            &lines,
            seen,
            "the line `Averaged N operations/sec`",
        ));
    }
    Ok((runs, Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_benchmark_is_no_ping() {
        let text = "# Running 'futex/ping' benchmark:\nRun summary [PID 1]: 2 pairs waking each other for 1 secs.\n\nAveraged 170000 operations/sec (+- 0.71%), total secs = 1\n";
        let (runs, _) = read(&Captured::from_stdout(text)).unwrap();
        assert_eq!(runs[0].values[0].1, 170_000.0);
        assert_eq!(runs[0].resolved["pairs"], "2");
        let hash = text.replace("futex/ping", "futex/hash");
        assert!(matches!(
            read(&Captured::from_stdout(&hash)),
            Err(Failure::WrongTest { .. })
        ));
    }
}
