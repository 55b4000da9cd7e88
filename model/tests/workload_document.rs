//! `docs/workloads.md` is what the catalogue says.

use schedrig_model::workload::document;

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that keeps a file up to date has to write one"
)]
fn the_document_of_the_workloads_is_up_to_date() {
    let made = document();
    if made != include_str!("../../docs/workloads.md") {
        let new = format!("{}/docs_workloads.md", env!("CARGO_TARGET_TMPDIR"));
        let written = std::fs::write(&new, made);
        assert!(written.is_ok(), "{new} cannot be written: {written:?}");
        panic!("docs/workloads.md is out of date: copy {new} over it");
    }
}
