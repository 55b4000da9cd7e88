//! The schema and the reference are what the code says.

use schedrig_model::playbook::{completions, reference, schema_text};

/// Compares a kept file with what the code yields; the new text is left in the build folder.
#[expect(
    clippy::disallowed_methods,
    reason = "a test that keeps files up to date has to write one"
)]
fn same(path: &str, kept: &str, made: &str) {
    if kept != made {
        let name = path.replace('/', "_");
        let new = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
        let written = std::fs::write(&new, made);
        assert!(written.is_ok(), "{new} cannot be written: {written:?}");
        panic!("{path} is out of date: copy {new} over it");
    }
}

#[test]
fn the_schema_file_is_up_to_date() {
    same(
        "playbooks/schema/playbook.v1.json",
        include_str!("../../playbooks/schema/playbook.v1.json"),
        &schema_text(),
    );
}

#[test]
fn the_reference_is_up_to_date() {
    same(
        "docs/playbook.md",
        include_str!("../../docs/playbook.md"),
        &reference(),
    );
}

#[test]
fn completions_follow_the_path() {
    assert!(completions(&[]).contains(&"workloads"));
    assert!(completions(&["arms", "*"]).contains(&"sched_features"));
    assert!(completions(&["workloads", "*"]).contains(&"hackbench"));
    assert!(completions(&["workloads", "*", "hackbench"]).contains(&"groups"));
    assert_eq!(completions(&["on_failure"]), ["continue", "stop"]);
    assert!(completions(&["workloads", "*", "matrix"]).contains(&"zip"));
}
