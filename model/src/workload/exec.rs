//! Any program: an argument vector, and for each metric where its value stands, with unit and
//! direction. Nothing is guessed: a metric that is not found is a failure, not an absence.

use schedrig_stats::{Direction, Unit};

use crate::topology::Topology;
use crate::workload::catalogue::Entry;
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, json_objects, lines};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{
    Captured, Command, Failure, Implementation, Limits, ParamDef, ParamError, ParamKind,
    ParamValue, Params, PreflightFinding, Program, WorkloadDef,
};

/// Patterns are compiled within this many bytes: a playbook cannot make the agent grow.
const PATTERN_BYTES: usize = 1 << 20;

pub(super) static ENTRY: Entry = Entry {
    def: &DEF,
    command,
    preflight: |_, _, _, _, _: &Limits| -> Vec<PreflightFinding> { Vec::new() },
    parse: |params, output| outcome(&DEF, read(params, output)),
    duration_ms: |params| resolved_count(params, "seconds")?.checked_mul(1000),
};

/// The catalogue entry. Its metrics are those of the playbook.
pub static DEF: WorkloadDef = WorkloadDef {
    name: "exec",
    summary: "any program, with a pattern or JSON path for each metric",
    tool: None,
    implementations: &[Implementation::Tool],
    params: &[
        ParamDef::new(
            "argv",
            ParamKind::Words,
            None,
            "the program and its arguments; no shell",
        ),
        ParamDef::new(
            "metrics",
            ParamKind::Tree,
            None,
            "by name: `pattern` (its first group is the value) or `path` (JSON pointer `/end/rate`), \
             `unit`, `direction` (higher, lower), both required; `pick`: first, last (default), mean, max, \
             min, sum where a pattern matches several times",
        ),
        ParamDef::count(
            "seconds",
            1,
            None,
            "how long it runs, where that is known; only for the plan",
        )
        .in_unit("s"),
    ],
    metrics: &[],
    simulated: "nothing: the simulator refuses it",
};

/// Which of several matches is the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pick {
    First,
    Last,
    Mean,
    Max,
    Min,
    Sum,
}

/// Where a value stands.
#[derive(Clone, Debug)]
enum Source {
    Pattern(regex::Regex),
    Path(String),
}

/// One metric of the playbook.
#[derive(Clone, Debug)]
struct ExecMetric {
    name: String,
    source: Source,
    unit: Unit,
    direction: Direction,
    pick: Pick,
}

fn command(
    params: &Params,
    _implementation: Implementation,
    _machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let mut argv = reader.words("argv").into_iter();
    let Some(program) = argv.next() else {
        return Err(missing("argv", "the program and its arguments"));
    };
    let Some(tree) = reader.tree("metrics") else {
        return Err(missing(
            "metrics",
            "a pattern or path, unit and direction for each metric",
        ));
    };
    metrics(&tree).map_err(|(name, expected)| reader.bad(&name, &tree, &expected))?;
    reader.optional_count("seconds")?;
    let command = Command {
        program: Program::Tool(program),
        ..Command::of("", Implementation::Tool, argv.collect())
    };
    Ok((command, reader.finish()))
}

fn missing(name: &'static str, doc: &'static str) -> ParamError {
    ParamError::Missing {
        workload: "exec",
        name,
        doc,
    }
}

/// The metrics of the tree, or which key is wrong and what it should be.
fn metrics(tree: &ParamValue) -> Result<Vec<ExecMetric>, (String, String)> {
    let ParamValue::Map(entries) = tree else {
        return Err((
            "metrics".into(),
            "a map from a metric's name to where it stands".into(),
        ));
    };
    if entries.is_empty() {
        return Err(("metrics".into(), "at least one metric".into()));
    }
    entries
        .iter()
        .map(|(name, value)| metric(name, value))
        .collect()
}

fn metric(name: &str, value: &ParamValue) -> Result<ExecMetric, (String, String)> {
    let wrong = |key: &str, expected: &str| (format!("metrics.{name}{key}"), expected.to_owned());
    let ParamValue::Map(entries) = value else {
        return Err(wrong(
            "",
            "a map with `pattern` or `path`, `unit`, `direction`",
        ));
    };
    let known = ["pattern", "path", "unit", "direction", "pick"];
    if let Some((key, _)) = entries.iter().find(|(k, _)| !known.contains(&k.as_str())) {
        return Err(wrong(
            &format!(".{key}"),
            "one of pattern, path, unit, direction, pick",
        ));
    }
    let text = |key: &str| {
        entries
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v.to_string())
    };
    let source = match (text("pattern"), text("path")) {
        (Some(pattern), None) => {
            let regex = regex::RegexBuilder::new(&pattern)
                .multi_line(true)
                .size_limit(PATTERN_BYTES)
                .build()
                .map_err(|err| wrong(".pattern", &format!("a regular expression ({err})")))?;
            if regex.captures_len() != 2 {
                return Err(wrong(
                    ".pattern",
                    "a pattern with exactly one group, the value",
                ));
            }
            Source::Pattern(regex)
        }
        (None, Some(path)) if path.starts_with('/') => Source::Path(path),
        (None, Some(_)) => return Err(wrong(".path", "a JSON pointer, such as /end/rate")),
        _ => return Err(wrong("", "either `pattern` or `path`")),
    };
    let unit = text("unit").filter(|u| !u.is_empty());
    let unit = unit.ok_or_else(|| wrong(".unit", "a unit, such as ms or ops/s"))?;
    let direction = match text("direction").as_deref() {
        Some("higher") => Direction::HigherIsBetter,
        Some("lower") => Direction::LowerIsBetter,
        _ => return Err(wrong(".direction", "higher or lower")),
    };
    let pick = match text("pick").as_deref() {
        None | Some("last") => Pick::Last,
        Some("first") => Pick::First,
        Some("mean") => Pick::Mean,
        Some("max") => Pick::Max,
        Some("min") => Pick::Min,
        Some("sum") => Pick::Sum,
        Some(_) => return Err(wrong(".pick", "one of first, last, mean, max, min, sum")),
    };
    Ok(ExecMetric {
        name: name.to_owned(),
        source,
        unit: Unit::new(&unit),
        direction,
        pick,
    })
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    let tree = params
        .get("metrics")
        .cloned()
        .ok_or_else(|| Failure::Unreadable {
            line: 0,
            excerpt: String::new(),
            expected: "an output whose playbook states its metrics".to_owned(),
        })?;
    let metrics = metrics(&tree).map_err(|(name, expected)| Failure::Unreadable {
        line: 0,
        excerpt: name,
        expected,
    })?;
    let mut run = Run::default();
    for metric in &metrics {
        let values = values(metric, output, &lines)?;
        let Some(value) = pick(&values, metric.pick) else {
            let missing = format!("a value of {}", metric.name);
            return Err(no_result(output, &lines, !lines.is_empty(), &missing));
        };
        run.push_as(
            metric.name.clone(),
            value,
            metric.unit.clone(),
            metric.direction,
        );
    }
    Ok((vec![run], Vec::new()))
}

fn values(metric: &ExecMetric, output: &Captured<'_>, lines: &[Line]) -> Result<Vec<f64>, Failure> {
    match &metric.source {
        Source::Pattern(regex) => {
            let mut found = Vec::new();
            for line in lines {
                for captures in regex.captures_iter(&line.text) {
                    let text = captures.get(1).map_or("", |m| m.as_str());
                    found.push(finite(&metric.name, text, line)?);
                }
            }
            Ok(found)
        }
        Source::Path(path) => {
            let texts = output.files.values().map(String::as_str);
            let texts = texts.chain([output.stdout, output.stderr]);
            let mut found = Vec::new();
            for object in texts.flat_map(json_objects) {
                match object.pointer(path) {
                    None | Some(serde_json::Value::Null) => {}
                    Some(value) => found.push(json_number(metric, value)?),
                }
            }
            Ok(found)
        }
    }
}

/// A number, or a text that is one: some tools quote theirs.
fn json_number(metric: &ExecMetric, value: &serde_json::Value) -> Result<f64, Failure> {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(Failure::NotFinite {
            metric: metric.name.clone(),
            value: excerpt(&text),
        }),
    }
}

fn pick(values: &[f64], pick: Pick) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let value = match pick {
        Pick::First => values.first().copied(),
        Pick::Last => values.last().copied(),
        Pick::Mean => (!values.is_empty()).then(|| sum / values.len() as f64),
        Pick::Max => values.iter().copied().reduce(f64::max),
        Pick::Min => values.iter().copied().reduce(f64::min),
        Pick::Sum => (!values.is_empty()).then_some(sum),
    };
    value.filter(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::test_machine::machine;

    fn map(entries: &[(&str, ParamValue)]) -> ParamValue {
        ParamValue::Map(
            entries
                .iter()
                .map(|(k, v)| ((*k).to_owned(), v.clone()))
                .collect(),
        )
    }

    fn text(value: &str) -> ParamValue {
        ParamValue::Text(value.to_owned())
    }

    fn params(entries: &[(&str, ParamValue)]) -> Params {
        Params(
            [
                (
                    "argv".to_owned(),
                    ParamValue::List(vec![text("./bench"), text("-n"), text("3")]),
                ),
                ("metrics".to_owned(), map(&[("rate", map(entries))])),
            ]
            .into(),
        )
    }

    #[test]
    fn a_pattern_with_unit_and_direction_yields_a_metric() {
        let params = params(&[
            ("pattern", text(r"^rate: ([0-9.]+)")),
            ("unit", text("ops/s")),
            ("direction", text("higher")),
        ]);
        let (command, resolved) = command(&params, Implementation::Tool, &machine()).unwrap();
        assert_eq!(command.program, Program::Tool("./bench".into()));
        assert_eq!(command.args, ["-n", "3"]);
        let output = Captured::from_stdout("rate: 1.5\nrate: 2.5\n");
        let (runs, _) = read(&resolved, &output).unwrap();
        assert_eq!(runs[0].values, [("rate".to_owned(), 2.5)]);
        let failure = read(&resolved, &Captured::from_stdout("nothing\n")).unwrap_err();
        assert!(matches!(failure, Failure::Partial { .. }), "{failure}");
    }

    #[test]
    fn a_json_path_is_read_between_other_lines() {
        let params = params(&[
            ("path", text("/end/rate")),
            ("unit", text("ops/s")),
            ("direction", text("higher")),
        ]);
        let output = Captured::from_stdout("start\n{\"end\": {\"rate\": 7}}\n");
        let (runs, _) = read(&params, &output).unwrap();
        assert_eq!(runs[0].values, [("rate".to_owned(), 7.0)]);
        let output = Captured::from_stdout("{\"end\": {\"rate\": \"nan\"}}\n");
        assert!(matches!(
            read(&params, &output),
            Err(Failure::NotFinite { .. })
        ));
    }

    #[test]
    fn unit_and_direction_are_required_and_one_group_is() {
        let error = |entries: &[(&str, ParamValue)]| {
            command(&params(entries), Implementation::Tool, &machine())
                .unwrap_err()
                .to_string()
        };
        let pattern = ("pattern", text("x ([0-9]+)"));
        let unit = ("unit", text("s"));
        assert!(error(&[pattern.clone(), unit.clone()]).contains("direction"));
        let direction = ("direction", text("lower"));
        assert!(error(&[pattern, direction.clone()]).contains("unit"));
        let groups = ("pattern", text("([0-9]+) ([0-9]+)"));
        assert!(error(&[groups, unit, direction]).contains("exactly one group"));
    }
}
