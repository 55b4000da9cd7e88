//! What a person and an editor are told about a bad playbook, word for word.

use schedrig_model::playbook::{Diagnostics, parse};

/// The problems of a file; warnings alone are problems too.
fn problems(text: &str) -> Diagnostics {
    let files = |path: &str| match path {
        "self.yaml" => Ok("include: [self.yaml]\n".to_owned()),
        "wrong.yaml" => Ok("repeat:\n  mim: 3\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    match parse("bench.yaml", text, &files) {
        Ok(playbook) => playbook.warnings,
        Err(diagnostics) => diagnostics,
    }
}

/// A valid head, so that a test shows one problem.
fn after_head(text: &str) -> String {
    format!("playbook: 1\ntitle: t\n{text}")
}

const WORK: &str = "workloads:\n  h: {hackbench: {groups: 1}}\n";

#[test]
fn all_problems_of_a_file_are_told_at_once() {
    let text = "playbook: 1
titel: t
workloads:
  h: {hackbench: {groups: -1, mode: proces, loops: 1.5}}
  s: {schbnch: {}}
repeat: {min: 5, max: 2, until: ci < 2%, order: abba}
collect: [schedstat, cpustat]
judge: {alpha: 2, min_effect: 1}
on_failure: bail
";
    insta::assert_snapshot!("all_at_once", problems(text).to_text());
}

#[test]
fn tabs_line_ends_and_wide_characters_keep_the_caret_in_place() {
    for (name, text) in [
        ("tab_as_indentation", after_head("workloads:\n\th: {}\n")),
        (
            "tab_before_a_value",
            after_head("workloads:\n  h:\n    hackbench:\t{grups: 1}\n"),
        ),
        (
            "carriage_returns",
            after_head("workloads:\n  h: {hackbench: {grups: 1}}\n").replace('\n', "\r\n"),
        ),
        (
            "wide_characters",
            after_head(
                "workloads:\n  測試: {hackbench: {grups: 1}}\n  e\u{301}: {hackbench: {mode: 進程}}\n",
            ),
        ),
        (
            "byte_order_mark",
            format!("\u{feff}playbok: 1\ntitle: t\n{WORK}"),
        ),
        ("control_character", after_head("workloads: \u{1b}[31m\n")),
    ] {
        insta::assert_snapshot!(name, problems(&text).to_text());
    }
    assert!(!problems(&format!("\u{feff}{}", after_head(WORK))).has_errors());
}

#[test]
fn repeated_keys_aliases_and_merge_keys() {
    for (name, text) in [
        (
            "repeated_keys",
            after_head(&format!("{WORK}title: u\nrepeat: {{min: 5, min: 6}}\n")),
        ),
        ("unknown_alias", after_head("workloads: {a: *nope}\n")),
        ("alias_in_itself", "a: &a [*a]\n".to_owned()),
        ("two_documents", format!("{}---\n{WORK}", after_head(WORK))),
        (
            "wrong_value_by_an_alias",
            after_head("workloads:\n  a: {hackbench: &h {grups: 1}}\n  b: {hackbench: *h}\n"),
        ),
    ] {
        insta::assert_snapshot!(name, problems(&text).to_text());
    }
    let merged = "workloads:\n  a: &x\n    hackbench: {groups: 1}\n    in: root\n  b:\n    <<: *x\n    instances: 2\n";
    assert!(!problems(&after_head(merged)).has_errors());
}

#[test]
fn a_file_that_is_asked_for_is_shown_where_it_is_wrong() {
    for (name, asked) in [
        ("missing_file", "include: [none.yaml]\n"),
        ("cycle", "extends: self.yaml\n"),
        ("wrong_in_a_part", "include: [wrong.yaml]\n"),
    ] {
        insta::assert_snapshot!(
            name,
            problems(&after_head(&format!("{asked}{WORK}"))).to_text()
        );
    }
}

#[test]
fn editors_get_the_same_as_json() {
    let found = problems(&after_head("workloads:\n  h: {hackbench: {grups: 1}}\n"));
    insta::assert_snapshot!("json", format!("{:#}", found.to_json()));
}

/// Nine of nine of nine ...: written out, a billion values.
fn anchor_bomb() -> String {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let row = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{row}]\n"));
    }
    text
}

#[test]
fn what_would_cost_too_much_is_refused_and_named() {
    for (text, part) in [
        (
            anchor_bomb(),
            "anchors and aliases unfold into too many values",
        ),
        (
            format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000)),
            "too deep",
        ),
        (
            (0..900).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
            "too deep",
        ),
        (
            (0..60_000).map(|n| format!("k{n}: [a]\n")).collect(),
            "too many values",
        ),
        ("#".repeat(1_048_577), "the file has 1048577 bytes"),
    ] {
        let found = problems(&text);
        assert_eq!(found.items.len(), 1, "{found}");
        assert!(
            found.has_errors() && found.to_text().contains(part),
            "{found}"
        );
        assert!(found.to_text().len() < 1000, "{found}");
    }
}
