//! AIM7: many users, each doing a mix of jobs; jobs per minute by number of users. Two programs: the
//! rewritten `reaim`, and the old `multitask`, fed by its standard input, which ends with
//! `kill(0, SIGINT)` and exit status 130.

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, fixed, lines, unreadable};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, ExitState, Failure, Implementation, Limits, MetricDef, ParamDef,
    ParamError, ParamKind, ParamValue, Params, PreflightFinding, ToolDef, WorkloadDef,
};

/// The status of `multitask` after it interrupted its own process group.
const INTERRUPTED_ITSELF: i32 = 130;
const SIGINT: i32 = 2;

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |params, output| outcome(&DEF, read(params, output)),
    duration_ms: |_| None,
};

/// The catalogue entry. Where an output has several numbers of users, `users=N/` stands before the
/// metric.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "aim7",
    summary: "users that each do a mix of jobs: jobs per minute",
    tool: Some(ToolDef {
        program: "reaim",
        package: None,
        version_args: &[],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::count("users_from", 1, Some("10"), "users of the first step (-s)"),
        ParamDef::count("users_to", 1, Some("90"), "users of the last step (-e)"),
        ParamDef::count(
            "users_step",
            1,
            Some("10"),
            "users more from step to step (-i)",
        ),
        ParamDef::count(
            "iterations",
            1,
            Some("1"),
            "how often the whole is repeated (-r)",
        ),
        ParamDef::count(
            "jobs",
            1,
            None,
            "jobs of a user (-j); left out: as configured",
        ),
        ParamDef::new(
            "workfile",
            ParamKind::Text,
            Some("workfile.compute"),
            "the mix of jobs (-f)",
        ),
        ParamDef::new(
            "config",
            ParamKind::Text,
            Some("reaim.config"),
            "the configuration file (-c)",
        ),
        ParamDef::new(
            "file_size",
            ParamKind::Size,
            None,
            "FILESIZE of the configuration, for the plan: bytes of each user's file",
        ),
        ParamDef::new(
            "pool_size",
            ParamKind::Size,
            None,
            "POOLSIZE of the configuration, for the plan: divided among the users",
        ),
    ],
    metrics: &[
        MetricDef::higher("jobs-rate", "jobs/min", "jobs of all users per minute").primary(),
        MetricDef::higher(
            "jobs-rate-per-user",
            "jobs/min",
            "jobs of one user per minute",
        )
        .over(Aggregate::Mean),
        MetricDef::higher(
            "jti",
            "%",
            "job timing index: 100 where all users finish together",
        )
        .over(Aggregate::Mean),
        MetricDef::lower("time", "s", "from start to end of the step").over(Aggregate::Max),
        MetricDef::counted("child-system-time", "s", "system time of the users"),
        MetricDef::counted("child-user-time", "s", "user time of the users"),
        MetricDef::higher("jobs-rate-max", "jobs/min", "the best of all steps"),
    ],
    simulated: "a mix of phases with run, sleep, fork and IPC as the workfile weighs them; no disk, no \
                memory",
};

fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let from = reader.count("users_from")?;
    let to = reader.count("users_to")?;
    if to < from {
        return Err(reader.conflict(format!("users_from: from {from} to {to} is empty")));
    }
    let step = reader.count("users_step")?;
    let iterations = reader.count("iterations")?;
    let workfile = reader.optional_text("workfile").unwrap_or_default();
    let config = reader.optional_text("config").unwrap_or_default();
    // The program takes a value only attached to its letter.
    let mut args = vec![
        format!("-s{from}"),
        format!("-e{to}"),
        format!("-i{step}"),
        format!("-r{iterations}"),
        format!("-f{workfile}"),
        format!("-c{config}"),
        "-l{dir}/reaim".to_owned(),
    ];
    if let Some(jobs) = reader.optional_count("jobs")? {
        args.push(format!("-j{jobs}"));
    }
    reader.optional_size("file_size")?;
    reader.optional_size("pool_size")?;
    let mut command = Command::of("reaim", implementation, args);
    command.result_files = vec!["reaim.csv".to_owned()];
    Ok((command, reader.finish()))
}

/// Bytes of one user's file: the file's own size and its share of the pool.
pub fn file_bytes(file_size: u64, pool_size: u64, users: u64) -> u64 {
    file_size.saturating_add(pool_size / users.max(1))
}

fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let users = resolved_count(params, "users_to").unwrap_or(1);
    let first = resolved_count(params, "users_from").unwrap_or(1);
    let size = |name: &str| -> u64 {
        let text = params.get(name).map(ParamValue::to_string);
        text.and_then(|t| crate::workload::size_bytes(&t))
            .unwrap_or(0)
    };
    let (file, pool) = (size("file_size"), size("pool_size"));
    let need = Need {
        who: format!("aim7 with {users} users"),
        tasks: users.saturating_mul(2).saturating_mul(instances.into()),
        files: 64,
        disk_bytes: file_bytes(file, pool, users).saturating_mul(users),
        ..Need::default()
    };
    let mut findings = check(&need, limits);
    if pool > 0 && users != first {
        findings.push(PreflightFinding::Warn(format!(
            "a user's file has {} bytes with {first} users and {} with {users}: the load changes with \
             the users, this is no scaling curve",
            file_bytes(file, pool, first),
            file_bytes(file, pool, users)
        )));
    }
    findings
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    let exit = match output.exit {
        // The table decides below: with it this is how a good run of the old program ends.
        ExitState::Code(INTERRUPTED_ITSELF) | ExitState::Signal(SIGINT) => ExitState::Unknown,
        other => other,
    };
    if let Some(failure) = by_end(exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(exit, &lines) {
        return Err(failure);
    }
    let (mut rows, best) = table(&lines)?;
    if rows.is_empty() {
        rows = csv(output)?;
    }
    let sigterms = lines.iter().filter(|l| l.text.trim() == "sigterm").count();
    if rows.is_empty() {
        if sigterms > 0 {
            return Err(Failure::Interrupted {
                message: format!("{sigterms} users got SIGTERM, no row of the table"),
            });
        }
        if exit != output.exit {
            return Err(Failure::Signal { signal: SIGINT });
        }
        let seen = lines.iter().any(|l| l.text.contains("REAIM Workload"));
        return Err(no_result(
            output,
            &lines,
            seen,
            "a row of the table of jobs per minute",
        ));
    }
    if sigterms > 0 {
        return Err(Failure::Interrupted {
            message: format!("{sigterms} users got SIGTERM"),
        });
    }
    complete(params, &rows)?;
    // The best of all steps is of the whole table; beside several steps it stands in each.
    let several = rows.iter().any(|r| r.resolved != rows[0].resolved);
    if let (Some(best), false) = (best, several) {
        rows[0].push("jobs-rate-max", best);
    }
    Ok((rows, Vec::new()))
}

/// Every step of users as often as it was asked for.
fn complete(params: &Params, rows: &[Run]) -> Result<(), Failure> {
    let count = |name: &str| resolved_count(params, name);
    let (Some(from), Some(to), Some(step), Some(iterations)) = (
        count("users_from"),
        count("users_to"),
        count("users_step"),
        count("iterations"),
    ) else {
        return Ok(());
    };
    let steps = to.saturating_sub(from) / step.max(1) + 1;
    let asked = steps.saturating_mul(iterations);
    if (rows.len() as u64) < asked {
        return Err(Failure::Partial {
            message: format!(
                "asked {iterations} iterations of {steps} steps, found {} samples",
                rows.len()
            ),
        });
    }
    Ok(())
}

/// Rows of both programs, and `Max Jobs per Minute`.
fn table(lines: &[Line]) -> Result<(Vec<Run>, Option<f64>), Failure> {
    let mut rows = Vec::new();
    let mut best: Option<f64> = None;
    // Which table the rows below a header are of.
    let mut columns: Option<usize> = None;
    for line in lines {
        let text = line.text.trim();
        let words: Vec<&str> = text.split_whitespace().collect();
        if text.starts_with("Forked") && text.contains("SysTime") {
            columns = Some(9);
        } else if text.starts_with("Tasks") && text.to_lowercase().contains("jobs/min") {
            columns = Some(5);
        } else if let Some(value) = text.strip_prefix("Max Jobs per Minute") {
            let value = fixed("jobs-rate-max", value, 2, line)?;
            best = Some(best.map_or(value, |b| b.max(value)));
        } else if words.first().is_some_and(|w| w.parse::<u64>().is_ok()) {
            match columns {
                Some(9) if words.len() == 9 => rows.push(reaim_row(&words, line)?),
                Some(5) if words.len() >= 5 => rows.push(multitask_row(&words, line)?),
                Some(n) if line.cut && words.len() < n => {
                    return Err(Failure::Partial {
                        message: "the output ends within a row of the table".to_owned(),
                    });
                }
                _ => {}
            }
        } else if words.len() > 1 && words.contains(&"Skipping") {
            return Err(Failure::Skipped {
                message: excerpt(text),
            });
        }
    }
    if columns == Some(9) && !rows.is_empty() && best.is_none() {
        return Err(Failure::Partial {
            message: "the line `Max Jobs per Minute` is missing".to_owned(),
        });
    }
    Ok((rows, best))
}

/// `Forked ParentTime ChildSysTime ChildUTime JobsPerMinute JobsPerMinutePerChild StdDev StdDev% JTI`.
fn reaim_row(words: &[&str], line: &Line) -> Result<Run, Failure> {
    let mut run = Run::default();
    let at = |i: usize, name: &str| finite(name, words[i], line);
    run.says("users", words[0]);
    run.push("time", at(1, "time")?);
    run.push("child-system-time", at(2, "child-system-time")?);
    run.push("child-user-time", at(3, "child-user-time")?);
    run.push("jobs-rate", positive(at(4, "jobs-rate")?, line)?);
    run.push("jobs-rate-per-user", at(5, "jobs-rate-per-user")?);
    run.push("jti", at(8, "jti")?);
    Ok(run)
}

/// `Tasks jobs/min jti jobs/min/task real cpu`, with a time and a date after them.
fn multitask_row(words: &[&str], line: &Line) -> Result<Run, Failure> {
    let mut run = Run::default();
    let at = |i: usize, name: &str| finite(name, words[i], line);
    run.says("users", words[0]);
    run.push("jobs-rate", positive(at(1, "jobs-rate")?, line)?);
    run.push("jti", at(2, "jti")?);
    run.push("jobs-rate-per-user", at(3, "jobs-rate-per-user")?);
    run.push("time", at(4, "time")?);
    Ok(run)
}

/// The CSV file of `reaim`, which has a row for each step.
fn csv(output: &Captured<'_>) -> Result<Vec<Run>, Failure> {
    let mut rows = Vec::new();
    for text in output
        .files
        .values()
        .map(String::as_str)
        .chain([output.stdout])
    {
        let lines = crate::workload::text::lines_of(text);
        let mut titles: Option<Vec<String>> = None;
        for line in &lines {
            let cells: Vec<&str> = line.text.split(',').map(str::trim).collect();
            if cells.first() == Some(&"Forks") && cells.contains(&"JPM") {
                titles = Some(cells.iter().map(|c| (*c).to_owned()).collect());
            } else if let Some(titles) = titles.as_ref() {
                if cells.len() != titles.len() {
                    return Err(unreadable(line, "a row with as many fields as the header"));
                }
                rows.push(csv_row(titles, &cells, line)?);
            }
        }
    }
    Ok(rows)
}

fn csv_row(titles: &[String], cells: &[&str], line: &Line) -> Result<Run, Failure> {
    let mut run = Run::default();
    for (title, cell) in titles.iter().zip(cells) {
        let metric = match title.as_str() {
            "Forks" => {
                run.says("users", cell);
                continue;
            }
            "JPM" => "jobs-rate",
            "JPM_C" => "jobs-rate-per-user",
            "parent_tm" => "time",
            "childU_tm" => "child-user-time",
            "childS_tm" => "child-system-time",
            "JTI" => "jti",
            _ => continue,
        };
        let value = finite(metric, cell, line)?;
        run.push(
            metric,
            if metric == "jobs-rate" {
                positive(value, line)?
            } else {
                value
            },
        );
    }
    Ok(run)
}

fn positive(rate: f64, line: &Line) -> Result<f64, Failure> {
    if rate > 0.0 {
        return Ok(rate);
    }
    Err(Failure::ZeroWork {
        message: excerpt(&line.text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::test_machine::machine;

    const OLD: &str = "AIM Multiuser Benchmark - Suite VII v1.1, January 22, 1996\n\
        Tasks\tjobs/min\tjti\tjobs/min/task\treal\tcpu\n    100\t 35128.20\t 91\t351.2820\t17.07\t33.10\tMon Aug 11 10:00:00 2014\n";

    // Case B22: the old program interrupts itself; with the table this is success, without it not.
    #[test]
    fn status_130_is_success_only_with_the_table() {
        let mut output = Captured::from_stdout(OLD);
        output.exit = ExitState::Code(130);
        let (runs, _) = read(&Params::default(), &output).unwrap();
        assert_eq!(runs[0].values[0], ("jobs-rate".to_owned(), 35128.20));
        assert_eq!(runs[0].resolved["users"], "100");
        output.stdout = "AIM Multiuser Benchmark - Suite VII v1.1, January 22, 1996\n";
        assert_eq!(
            read(&Params::default(), &output),
            Err(Failure::Signal { signal: 2 })
        );
    }

    // Case B22: what the compiler says is shown, not "AIM7 missing".
    #[test]
    fn a_build_error_is_shown() {
        let mut output = Captured::from_stdout(
            "multitask.c:12:8: error: type defaults to 'int' in declaration of 'header'\n",
        );
        output.exit = ExitState::Code(1);
        let failure = read(&Params::default(), &output).unwrap_err();
        assert!(
            failure.to_string().contains("type defaults to 'int'"),
            "{failure}"
        );
    }

    // Case B23: iterations that overwrote one another are missed.
    #[test]
    fn fewer_samples_than_iterations_is_a_failure() {
        let given = Params(
            ["users_from", "users_to"]
                .map(|n| (n.to_owned(), ParamValue::Int(100)))
                .into_iter()
                .chain([("iterations".to_owned(), ParamValue::Int(5))])
                .collect(),
        );
        let (_, resolved) = command(&given, Implementation::Tool, &machine()).unwrap();
        let failure = read(&resolved, &Captured::from_stdout(OLD)).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "output is incomplete: asked 5 iterations of 1 steps, found 1 samples"
        );
    }

    // Case B23: 10K and 100K: 110K for one user, 60K each for two, 14K for 24.
    #[test]
    fn the_load_of_a_user_depends_on_the_users_and_the_plan_says_so() {
        assert_eq!(file_bytes(10_240, 102_400, 1), 112_640);
        assert_eq!(file_bytes(10_240, 102_400, 2), 61_440);
        assert_eq!(file_bytes(10_240, 102_400, 24), 14_506);
        let mut given = Params(
            [
                ("file_size".to_owned(), ParamValue::Text("10 KiB".into())),
                ("pool_size".to_owned(), ParamValue::Text("100 KiB".into())),
            ]
            .into(),
        );
        let (_, resolved) = command(&given, Implementation::Tool, &machine()).unwrap();
        let findings = preflight(
            &resolved,
            Implementation::Tool,
            1,
            &machine(),
            &Limits::default(),
        );
        assert!(
            matches!(findings.as_slice(), [PreflightFinding::Warn(t)] if t.contains("no scaling curve")),
            "{findings:?}"
        );
        // A size without its unit is refused: the tool's file counts in k.
        given.0.insert("file_size".into(), ParamValue::Int(10_240));
        assert!(command(&given, Implementation::Tool, &machine()).is_err());
    }

    #[test]
    fn a_skipped_test_is_no_rate() {
        let text = format!("{OLD}    200\t Skipping\n fork_test Skipping this one\n");
        let failure = read(&Params::default(), &Captured::from_stdout(&text)).unwrap_err();
        assert!(matches!(failure, Failure::Skipped { .. }), "{failure}");
    }
}
