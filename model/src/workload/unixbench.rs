//! UnixBench: many small tests, their rates, and indexes over them. One pass for each number of
//! copies. A test's name in a metric is its title in lower case with dashes.

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, fixed, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Aggregate, Captured, Command, Failure, Implementation, Limits, MetricDef, ParamDef, ParamError,
    ParamKind, Params, PreflightFinding, ToolDef, WorkloadDef,
};

use schedrig_stats::{Direction, Unit};

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight,
    parse: |_, output| outcome(&DEF, read(output)),
    duration_ms: |_| None,
};

/// The catalogue entry. `TEST/rate` has the unit the test prints (loops, KiB, MWIPS), `TEST/index` is
/// 10 times the rate over the baseline machine's.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "unixbench",
    summary: "system calls, pipes, processes, files and shells, with an index over all",
    tool: Some(ToolDef {
        program: "./Run",
        package: None,
        version_args: &[],
    }),
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::new(
            "path",
            ParamKind::Text,
            None,
            "the directory of `Run`; left out: `Run` in the PATH",
        ),
        ParamDef::new(
            "tests",
            ParamKind::Words,
            Some(""),
            "which tests; none: the whole index",
        ),
        ParamDef::count("copies", 1, Some("1"), "parallel copies of each test (-c)"),
        ParamDef::count(
            "iterations",
            1,
            None,
            "how often each test runs (-i); left out: 10, slow ones 3",
        ),
    ],
    metrics: &[
        MetricDef::higher("score", "index", "geometric mean of the indexes")
            .over(Aggregate::Mean)
            .primary(),
        MetricDef::higher("index", "index", "a test's index").over(Aggregate::Mean),
        MetricDef::higher("rate", "1/s", "a test's rate, in the unit it prints"),
    ],
    simulated: "context switching through a pipe, process creation, execl, shell scripts as phases; no \
                arithmetic, no file copies",
};

fn command(
    params: &Params,
    implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let copies = reader.count("copies")?;
    let mut args = vec!["-q".to_owned(), "-c".to_owned(), copies.to_string()];
    if let Some(iterations) = reader.optional_count("iterations")? {
        args.extend(["-i".to_owned(), iterations.to_string()]);
    }
    let tests = reader.words("tests");
    if let Some(test) = tests.iter().find(|t| t.starts_with('-')) {
        return Err(reader.conflict(format!("`{test}` in `tests` is no test")));
    }
    args.extend(tests);
    let program = match reader.optional_text("path") {
        Some(path) => format!("{}/Run", path.trim_end_matches('/')),
        None => "Run".to_owned(),
    };
    Ok((Command::of(&program, implementation, args), reader.finish()))
}

fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    _machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let copies = resolved_count(params, "copies").unwrap_or(1);
    let need = Need {
        who: format!("unixbench with {copies} copies"),
        // `shell8` runs eight scripts of a few processes in each copy.
        tasks: copies.saturating_mul(40).saturating_mul(instances.into()),
        files: 64,
        // The file copy tests write up to 8000 blocks of 4 KiB twice.
        disk_bytes: copies
            .saturating_mul(64 << 20)
            .saturating_mul(instances.into()),
        ..Need::default()
    };
    let mut findings = check(&need, limits);
    if instances > 1 {
        findings.push(PreflightFinding::Refuse(format!(
            "unixbench writes to its own directory: {instances} instances would share it (see `copies`)"
        )));
    }
    findings
}

/// One pass: the tests with one number of copies.
#[derive(Default)]
struct Pass {
    run: Run,
    /// Titles as they are announced: `1 x Pipe Throughput  1 2 3`.
    rates: usize,
    indexed: bool,
    scored: bool,
}

fn read(output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let mut lines = lines(output);
    // Perl's and the shell's complaints about the machine, which every run has.
    lines.retain(|l| !l.text.starts_with("locale:") && !l.text.contains("3dinfo"));
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let announced = lines.iter().filter(|l| title_of(&l.text).is_some()).count();
    let mut passes: Vec<Pass> = Vec::new();
    for line in &lines {
        let text = line.text.trim();
        if text.starts_with("Benchmark Run:") {
            passes.push(Pass::default());
        } else if let Some(pass) = passes.last_mut() {
            pass.line(text, line)?;
        }
    }
    let results: usize = passes.iter().map(|p| p.rates).sum();
    if results == 0 {
        let single = programs(&lines)?;
        if single.values.is_empty() {
            return Err(no_result(
                output,
                &lines,
                announced > 0,
                "the table of results",
            ));
        }
        return Ok((vec![single], Vec::new()));
    }
    if results < announced {
        return Err(Failure::Partial {
            message: format!("{announced} tests started, {results} printed a result"),
        });
    }
    if passes.iter().any(|p| p.indexed && !p.scored) {
        return Err(Failure::Partial {
            message: "the table of indexes has no score".to_owned(),
        });
    }
    let version = lines
        .iter()
        .find_map(|l| word_after(&l.text, "BYTE UNIX Benchmarks (Version "))
        .map(|v| v.trim_end_matches(')').to_owned());
    let runs = passes.into_iter().filter(|p| p.rates > 0).map(|mut pass| {
        if let Some(version) = &version {
            pass.run.says("version", version);
        }
        pass.run
    });
    Ok((runs.collect(), Vec::new()))
}

impl Pass {
    fn line(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        if let Some(copies) = word_after(text, "running ").filter(|_| text.contains(" of tests")) {
            self.run.says("copies", copies);
        } else if text.contains("BASELINE") && text.contains("RESULT") {
            self.indexed = true;
        } else if let Some(at) = text.find("Index Score") {
            let value = text[at..].split_whitespace().last().unwrap_or("");
            let score = positive("score", fixed("score", value, 1, line)?, text)?;
            let partial = text.contains("(Partial Only)");
            self.run
                .says("index", if partial { "partial" } else { "whole" });
            let graphics = text.starts_with("3D");
            let name = if graphics { "graphics/score" } else { "score" };
            self.run.push(name, score);
            self.scored = true;
        } else if let Some(rest) = text.strip_suffix("samples)") {
            self.rate(rest, line)?;
        } else if self.indexed && !text.starts_with("===") {
            self.index(text, line)?;
        }
        Ok(())
    }

    /// `Pipe Throughput      755703.1 lps   (10.0 s, 1 samples)`.
    fn rate(&mut self, rest: &str, line: &Line) -> Result<(), Failure> {
        let expected = "`TEST  VALUE UNIT  (SECONDS s, N samples)`";
        let Some((before, _)) = rest.rsplit_once('(') else {
            return Err(unreadable(line, expected));
        };
        let words: Vec<&str> = before.split_whitespace().collect();
        let [title @ .., value, unit] = words.as_slice() else {
            return Err(unreadable(line, expected));
        };
        let name = slug(&title.join(" "));
        let value = finite(&name, value, line)?;
        let value = positive(&name, value, before)?;
        let unit = unit_of(unit).ok_or_else(|| unreadable(line, expected))?;
        self.run.push_as(
            format!("{name}/rate"),
            value,
            Unit::new(unit),
            Direction::HigherIsBetter,
        );
        self.rates += 1;
        Ok(())
    }

    /// `Pipe Throughput   12440.0   755703.1   607.5`; `---` where a test has no baseline or no result.
    fn index(&mut self, text: &str, line: &Line) -> Result<(), Failure> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [title @ .., _, _, index] = words.as_slice() else {
            return Ok(());
        };
        if title.is_empty() || *index == "---" || index.parse::<f64>().is_err() {
            return Ok(());
        }
        let name = slug(&title.join(" "));
        let index = positive(&name, finite(&name, index, line)?, text)?;
        self.run.push(format!("{name}/index"), index);
        Ok(())
    }
}

/// The line `COUNT|138278|1|lps` of a test's program alone. Where both ends of a pair print one, they
/// count the same exchanges, and the first counts here.
fn programs(lines: &[Line]) -> Result<Run, Failure> {
    let mut run = Run::default();
    for line in lines {
        let cells: Vec<&str> = line.text.trim().split('|').collect();
        if let ["COUNT", value, _, unit, ..] = cells.as_slice() {
            let rate = positive("rate", finite("rate", value, line)?, &line.text)?;
            let unit = unit_of(unit).ok_or_else(|| unreadable(line, "a unit of UnixBench"))?;
            run.push_as("rate", rate, Unit::new(unit), Direction::HigherIsBetter);
            break;
        }
    }
    Ok(run)
}

/// Units as stats knows them; KBps counts 1024 bytes.
fn unit_of(word: &str) -> Option<&'static str> {
    match word {
        "lps" => Some("loops/s"),
        "lpm" => Some("loops/min"),
        "KBps" => Some("KiB/s"),
        "MWIPS" => Some("MWIPS"),
        "fps" => Some("1/s"),
        _ => None,
    }
}

/// The title of a line that announces a test: `36 x Pipe Throughput  1 2 3`.
fn title_of(text: &str) -> Option<&str> {
    let (copies, rest) = text.trim().split_once(" x ")?;
    let is_count = !copies.is_empty() && copies.chars().all(|c| c.is_ascii_digit());
    is_count.then_some(rest)
}

fn slug(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

fn positive(name: &str, value: f64, text: &str) -> Result<f64, Failure> {
    if value > 0.0 {
        return Ok(value);
    }
    Err(Failure::ZeroWork {
        message: format!("{name}: {}", excerpt(text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASS: &str = "1 x Pipe Throughput  1\nBenchmark Run: Mon\n2 CPUs in system; running 1 parallel copy of tests\n\
        Pipe Throughput      755703.1 lps   (10.0 s, 1 samples)\n\
        System Benchmarks Partial Index      BASELINE       RESULT    INDEX\nPipe Throughput     12440.0     755703.1    607.5\n\
        ========\nSystem Benchmarks Index Score (Partial Only)       607.5\n";

    #[test]
    fn two_passes_are_kept_apart_by_their_copies() {
        let eight = PASS.replace("running 1 parallel copy", "running 8 parallel copies");
        let text = format!("{PASS}{eight}");
        let (runs, _) = read(&Captured::from_stdout(&text)).unwrap();
        let parsed = crate::workload::runs::merge(&DEF, &runs);
        let names: Vec<&str> = parsed.metrics.iter().map(|m| m.metric.as_str()).collect();
        assert!(names.contains(&"copies=1/score"), "{names:?}");
        assert!(
            names.contains(&"copies=8/pipe-throughput/rate"),
            "{names:?}"
        );
    }

    #[test]
    fn a_pass_without_its_score_is_partial() {
        let cut = PASS.split("========").next().unwrap();
        let failure = read(&Captured::from_stdout(cut)).unwrap_err();
        assert!(matches!(failure, Failure::Partial { .. }), "{failure}");
    }
}
