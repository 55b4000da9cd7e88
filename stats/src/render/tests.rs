//! Tables against their golden files.
//!
//! A golden file is what a reader would see. To renew one, take the text the failing test prints
//! and read every line of it before it goes in.

use crate::expected::ErrorBand;
use crate::render::{Style, csv, markdown, text};
use crate::table::{Arm, RowInput, Source, Table, TableInput, build};
use crate::{Criteria, Direction, Sample, Unit};

fn sample(unit: &str, direction: Direction, values: &[f64]) -> Sample {
    Sample::new(values.to_vec(), Unit::new(unit), direction).unwrap()
}

fn row(label: &str, metric: &str, samples: Vec<Result<Sample, String>>) -> RowInput {
    let group = label.split('/').next().unwrap().to_owned();
    RowInput {
        group,
        label: label.to_owned(),
        metric: metric.to_owned(),
        samples,
        barred: Vec::new(),
        expected: Vec::new(),
        notes: Vec::new(),
    }
}

fn arm(name: &str) -> Arm {
    Arm {
        name: name.to_owned(),
        source: Source::Measured,
    }
}

/// Six repetitions around a centre, spread by a share of it, none at the centre itself.
fn around(centre: f64, share: f64) -> Vec<f64> {
    [-1.0, -0.6, -0.2, 0.2, 0.6, 1.0]
        .iter()
        .map(|step| centre * (1.0 + share * step))
        .collect()
}

fn input() -> TableInput {
    let low = Direction::LowerIsBetter;
    let high = Direction::HigherIsBetter;
    let hackbench = |groups: &str, base, new: f64, share| {
        let mut r = row(
            &format!("hackbench/ipc=pipe,groups={groups}"),
            "time",
            vec![
                Ok(sample("s", low, &around(base, share))),
                Ok(sample("s", low, &around(new, share))),
            ],
        );
        r.expected = vec![
            Some(sample("s", low, &around(base * 0.8, 0.01))),
            Some(sample("s", low, &around(new * 0.8, 0.01))),
        ];
        r
    };
    let mut schbench = row(
        "schbench/threads=16",
        "wakeup-p99",
        vec![
            Ok(sample("ms", low, &[0.001_46, 0.001_48, 0.001_44, 0.001_46])),
            Err("2 repetitions timed out".to_owned()),
        ],
    );
    schbench.notes.push("schbench counts in steps".to_owned());
    TableInput {
        title: "Quickstart: base against head".to_owned(),
        header: vec![
            "sut: host lab1, 24 CPUs, kernel 6.12.9".to_owned(),
            "not controlled: cpuidle (no driver)".to_owned(),
        ],
        criteria: Criteria::default(),
        band: ErrorBand(0.2),
        arms: vec![arm("base"), arm("head")],
        rows: vec![
            hackbench("1", 0.262, 0.215, 0.02),
            hackbench("16", 0.836, 1.100, 0.01),
            hackbench("32", 1.411, 1.4112, 0.002),
            hackbench("64", 2.473, 2.520, 0.08),
            row(
                "tbench/clients=512",
                "throughput",
                vec![
                    Ok(sample("MB/s", high, &around(29_820.67, 0.001))),
                    Ok(sample("MB/s", high, &around(92_227.33, 0.6))),
                ],
            ),
            schbench,
        ],
        notes: vec!["run stopped early by the precision rule".to_owned()],
    }
}

fn golden(name: &str, want: &str, got: &str) {
    assert!(got == want, "testdata/render/{name} differs; got:\n{got}");
}

#[test]
fn schedrig_text() {
    let got = text(&build(input()), Style::Schedrig);
    golden(
        "schedrig.txt",
        include_str!("../../testdata/render/schedrig.txt"),
        &got,
    );
}

#[test]
fn lkml_text() {
    let got = text(&build(input()), Style::Lkml);
    golden(
        "lkml.txt",
        include_str!("../../testdata/render/lkml.txt"),
        &got,
    );
}

#[test]
fn lkp_text() {
    let got = text(&build(input()), Style::Lkp);
    golden(
        "lkp.txt",
        include_str!("../../testdata/render/lkp.txt"),
        &got,
    );
}

#[test]
fn mmtests_text() {
    let got = text(&build(input()), Style::Mmtests);
    golden(
        "mmtests.txt",
        include_str!("../../testdata/render/mmtests.txt"),
        &got,
    );
}

#[test]
fn benchstat_text() {
    let got = text(&build(input()), Style::Benchstat);
    golden(
        "benchstat.txt",
        include_str!("../../testdata/render/benchstat.txt"),
        &got,
    );
}

#[test]
fn schedrig_markdown() {
    let got = markdown(&build(input()), Style::Schedrig);
    golden(
        "schedrig.md",
        include_str!("../../testdata/render/schedrig.md"),
        &got,
    );
}

#[test]
fn comma_separated() {
    let got = csv(&build(input()));
    golden(
        "table.csv",
        include_str!("../../testdata/render/table.csv"),
        &got,
    );
}

#[test]
fn serialised() {
    let got = serde_json::to_string_pretty(&build(input())).unwrap() + "\n";
    golden(
        "table.json",
        include_str!("../../testdata/render/table.json"),
        &got,
    );
}

/// Every line of a grid has the bars of the others in the same places.
fn bars(line: &str) -> Vec<usize> {
    line.char_indices()
        .filter(|(_, c)| *c == '|')
        .map(|(i, _)| i)
        .collect()
}

/// Case A2: labels of any length never touch.
#[test]
fn long_labels_never_touch() {
    let mut input = input();
    input.arms = vec![
        arm("vanilla"),
        arm("sched-scalewakegran-v1r4-and-more-than-that-to-see"),
    ];
    let table: Table = build(input);
    for style in Style::ALL {
        let lines = text(&table, style);
        let heading = lines
            .lines()
            .find(|l| l.contains("vanilla") && l.contains("scalewake"));
        let heading = heading.unwrap();
        let between =
            &heading[heading.find("vanilla").unwrap() + 7..heading.find("sched-scale").unwrap()];
        assert!(between.contains(' '), "{style:?}: {heading}");
    }
    let lines = text(&table, Style::Schedrig);
    let grid: Vec<&str> = lines
        .lines()
        .filter(|l| l.matches('|').count() >= 2)
        .collect();
    assert!(grid.len() > 6);
    assert!(grid.iter().all(|l| bars(l) == bars(grid[0])), "{lines}");
}

/// Case H9: 1.46 us never reads 0.00 ms.
#[test]
fn the_unit_of_a_row_shows_its_least_value() {
    let table = build(input());
    let schbench = &table.rows[5];
    assert_eq!(schbench.unit, Unit::new("us"));
    assert!(text(&table, Style::Schedrig).contains("1.460"));
}

/// A barred arm shows its value and no difference.
#[test]
fn a_barred_arm_is_not_compared() {
    let mut input = input();
    let reason = "version: base is 2.10, head is 2.4: not comparable";
    input.rows[0].barred = vec![None, Some(reason.to_owned())];
    let table = build(input);
    assert!(table.rows[0].entries[1].summary().is_some());
    assert_eq!(table.rows[0].entries[1].comparison(), None);
    assert_eq!(table.family, 4);
    assert!(text(&table, Style::Schedrig).contains(&format!("[1] head: {reason}")));
}

/// Text from a tool cannot break the grid or the terminal.
#[test]
fn control_characters_become_spaces() {
    let mut input = input();
    input.rows[0].label = "hack\x1b[31m\nbench".to_owned();
    let table = build(input);
    for style in Style::ALL {
        assert!(!text(&table, style).contains('\x1b'));
        let (broken, plain) = (text(&table, style), text(&build(self::input()), style));
        assert!(broken.contains("hack") && !broken.contains("hack\n"));
        assert_eq!(broken.lines().last(), plain.lines().last());
    }
}

/// Case A5 and the published tables: the lkml style writes them as their author did.
#[test]
fn cluster_wakeup_rows_as_published() {
    let published = include_str!("../../testdata/published/cluster-wakeup-2023.csv");
    let rows: Vec<Vec<&str>> = published
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split(',').collect())
        .collect();
    let mut input = input();
    input.rows = rows.iter().map(|r| published_row(r)).collect();
    // The author compares means.
    input.criteria.assume = crate::Assumption::Normal;
    let table = build(input);
    let lines = text(&table, Style::Lkml);
    for row in &rows {
        let label = format!("{} {}", row[2], row[3]);
        let line = lines.lines().find(|l| l.starts_with(&format!("{label} ")));
        let line = line.unwrap_or_else(|| panic!("{label}\n{lines}"));
        assert!(line.contains(&format!("1.00 ({:>6})", row[4])), "{line}");
        assert!(
            line.contains(&format!("{} ({:>6})", row[5], row[6])),
            "{line}"
        );
    }
}

/// Two values with the published mean and deviation: m - s / sqrt(2) and m + s / sqrt(2).
fn published_row(fields: &[&str]) -> RowInput {
    let number = |t: &str| t.parse::<f64>().unwrap();
    let direction = if fields[1] == "lower" {
        Direction::LowerIsBetter
    } else {
        Direction::HigherIsBetter
    };
    let pct = direction.improvement(number(fields[5])).unwrap();
    let two = |mean: f64, std_pct: f64| {
        let half = mean * std_pct / 100.0 / 2_f64.sqrt();
        sample("index", direction, &[mean - half, mean + half])
    };
    row(
        &format!("{} {}", fields[2], fields[3]),
        "score",
        vec![
            Ok(two(1.0, number(fields[4]))),
            Ok(two(1.0 + pct / 100.0, number(fields[6]))),
        ],
    )
}
