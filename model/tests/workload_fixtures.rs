//! Every captured output means what its expected value file says, by its text alone and with the
//! exit status it was captured with.
//!
//! `SCHEDRIG_BLESS=1 cargo test -p schedrig-model --test workload_fixtures` writes the expected files;
//! read each beside the raw text before you commit it.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "this test reads fixture files"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schedrig_model::workload::{
    Captured, ExitState, Outcome, Params, Workload, outcome_json, read_saved,
};
use serde_json::{Value, json};

/// Folder of fixtures and the workload that reads them.
const FOLDERS: &[(&str, &str)] = &[
    ("hackbench", "hackbench"),
    ("schbench", "schbench"),
    ("netperf", "netperf"),
    ("stream", "stream"),
    ("tbench", "tbench"),
    ("stress-ng", "stress-ng"),
    ("reaim", "aim7"),
    ("unixbench", "unixbench"),
    ("perf-bench", "perf-bench"),
    ("iperf3", "iperf3"),
    ("sysbench", "sysbench"),
    ("cyclictest", "cyclictest"),
];

/// Where others' outputs are kept, beside our own captures.
const FETCHED: &[(&str, &str)] = &[
    ("hackbench", "fetched/lkp/hackbench"),
    ("schbench", "fetched/lkp/schbench"),
    ("stream", "fetched/lkp/stream"),
    ("netperf", "fetched/lkp/netperf"),
    ("tbench", "fetched/lkp/tbench"),
    ("stress-ng", "fetched/lkp/stress-ng"),
    ("unixbench", "fetched/lkp/unixbench"),
    ("perf-bench", "fetched/lkp/perf-bench"),
    ("iperf3", "fetched/iperf"),
];

struct Fixture {
    name: String,
    workload: Workload,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, String>,
    exit: ExitState,
}

impl Fixture {
    fn read(base: &Path, workload: Workload) -> Self {
        let name = base.file_name().unwrap().to_string_lossy().into_owned();
        // `with_extension` replaces what follows the last dot, and names have dots in them.
        let text = |extension: &str| {
            let path = base.with_file_name(format!("{name}.{extension}"));
            std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let files = ["json", "yaml"]
            .into_iter()
            .filter_map(|e| Some((format!("result.{e}"), text(e).ok()?)))
            .collect();
        Fixture {
            workload,
            stdout: text("txt").unwrap_or_default(),
            stderr: text("err").unwrap_or_default(),
            files,
            exit: exit_of(&text("cmd").unwrap_or_default()),
            name,
        }
    }

    fn outcome(&self, exit: ExitState) -> Outcome {
        let output = Captured {
            stdout: &self.stdout,
            stderr: &self.stderr,
            files: self.files.clone(),
            exit,
            truncated: false,
        };
        self.workload.parse(&Params::default(), &output)
    }

    fn expected(&self) -> Value {
        let by_text = self.outcome(ExitState::Unknown);
        let by_exit = self.outcome(self.exit);
        json!({
            "by_text": outcome_json(self.workload, &by_text),
            "exit": self.exit,
            "by_exit": if by_exit == by_text {
                json!("the same")
            } else {
                outcome_json(self.workload, &by_exit)
            },
        })
    }
}

/// The second line of a `.cmd` file has `exit=N`, as the capturing shell saw it.
fn exit_of(cmd: &str) -> ExitState {
    let code = cmd
        .split_whitespace()
        .find_map(|w| w.strip_prefix("exit="))
        .and_then(|n| n.parse::<i32>().ok());
    let by_timeout = cmd.contains("timeout ") && !cmd.contains("--preserve-status");
    match code {
        // The status of `timeout`, not of the tool.
        Some(124 | 137) if by_timeout => ExitState::Unknown,
        // 129 is git's and perf's own status for a wrong command line.
        Some(code @ 130..=192) => ExitState::Signal(code - 128),
        Some(code) => ExitState::Code(code),
        None => ExitState::Unknown,
    }
}

fn fixtures_in(folder: &Path, workload: Workload) -> Vec<Fixture> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut bases: Vec<PathBuf> = entries
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "cmd"))
        .map(|p| p.with_extension(""))
        .collect();
    bases.sort();
    bases
        .iter()
        .map(|base| Fixture::read(base, workload))
        .collect()
}

fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/workload")
        .join(folder)
}

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures");
    path.is_dir().then_some(path)
}

/// Compares a fixture with its expected file, or writes it; the difference in words.
fn check(fixture: &Fixture, folder: &str) -> Option<String> {
    let path = testdata(folder).join(format!("{}.expected.json", fixture.name));
    let found = fixture.expected();
    if std::env::var("SCHEDRIG_BLESS").is_ok() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
        std::fs::write(&path, text).unwrap();
        return None;
    }
    let Ok(text) = std::fs::read_to_string(&path) else {
        return Some(format!("{folder}/{}: no expected file", fixture.name));
    };
    let expected: Value = serde_json::from_str(&text).unwrap();
    (!same(&expected, &found)).then(|| {
        format!(
            "{folder}/{}:\n  expected {expected}\n  found    {found}",
            fixture.name
        )
    })
}

#[test]
fn every_shared_fixture_means_what_its_expected_file_says() {
    let Some(shared) = shared() else {
        println!("skipped: no ../shared/fixtures beside this project");
        return;
    };
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (folder, workload) in FOLDERS {
        let workload = Workload::by_name(workload).unwrap();
        let mut all = fixtures_in(&shared.join(folder), workload);
        for (_, fetched) in FETCHED.iter().filter(|(of, _)| of == folder) {
            all.extend(fixtures_in(&shared.join(fetched), workload));
        }
        assert!(!all.is_empty(), "no fixtures in {folder}");
        checked += all.len();
        wrong.extend(all.iter().filter_map(|f| check(f, folder)));
        let known: Vec<String> = all.iter().map(|f| f.name.clone()).collect();
        wrong.extend(dead_expected_files(folder, &known));
    }
    println!("{checked} fixtures");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Equal, but for the last bits that a number loses when it is read from JSON.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| same(v, w)))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(v, w)| same(v, w))
        }
        (Value::Number(x), Value::Number(y)) => match (x.as_f64(), y.as_f64()) {
            (Some(x), Some(y)) => (x - y).abs() <= 1e-12 * x.abs().max(y.abs()),
            _ => x == y,
        },
        _ => a == b,
    }
}

fn dead_expected_files(folder: &str, known: &[String]) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(testdata(folder)) else {
        return Vec::new();
    };
    entries
        .filter_map(|e| {
            let name = e.unwrap().file_name().to_string_lossy().into_owned();
            let fixture = name.strip_suffix(".expected.json")?.to_owned();
            (!known.contains(&fixture)).then(|| format!("{folder}/{name}: no such fixture"))
        })
        .collect()
}

/// Captures of our own that are kept with the parsers, so that a clone alone tests each of them.
#[test]
fn every_kept_capture_means_what_its_expected_file_says() {
    for (folder, workload) in FOLDERS {
        let workload = Workload::by_name(workload).unwrap();
        let kept = fixtures_in(&testdata(folder), workload);
        assert!(!kept.is_empty(), "no captures kept for {folder}");
        let wrong: Vec<String> = kept.iter().filter_map(|f| check(f, folder)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// A file that holds both streams, as `2>&1` leaves it, says whether there is a result as two do.
#[test]
fn both_streams_in_one_file_mean_the_same() {
    let Some(shared) = shared() else {
        println!("skipped: no ../shared/fixtures beside this project");
        return;
    };
    for (folder, workload) in FOLDERS {
        let workload = Workload::by_name(workload).unwrap();
        for fixture in fixtures_in(&shared.join(folder), workload) {
            let two = read_saved(
                workload,
                &fixture.stdout,
                Some(&fixture.stderr),
                ExitState::Unknown,
            );
            for mixed in [
                format!("{}\n{}", fixture.stdout, fixture.stderr),
                format!("{}\n{}", fixture.stderr, fixture.stdout),
            ] {
                let one = read_saved(workload, &mixed, None, ExitState::Unknown);
                assert_eq!(
                    matches!(one, Outcome::Ok(_)),
                    matches!(two, Outcome::Ok(_)),
                    "{folder}/{}: {one:?} against {two:?}",
                    fixture.name
                );
            }
        }
    }
}
