//! STREAM through the built program.

use crate::process::{builtin, orphans, run, start, with_address_space};

#[test]
fn the_table_has_four_rates_and_the_arrays_validate() {
    let ended = run(builtin(
        "stream",
        &["--elements", "100003", "--ntimes", "3", "--threads", "3"],
    ));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("Array size = 100003 (elements)"));
    assert!(ended.stdout.contains("Number of Threads counted = 3"));
    for kernel in ["Copy:", "Scale:", "Add:", "Triad:"] {
        let line = ended
            .stdout
            .lines()
            .find(|l| l.starts_with(kernel))
            .expect(kernel);
        let numbers: Vec<f64> = line
            .split_whitespace()
            .skip(1)
            .map(|w| w.parse().expect(line))
            .collect();
        assert!(numbers.len() == 4 && numbers[0] > 0.0, "{line}");
    }
    assert!(ended.stdout.contains("Solution Validates"), "{ended:?}");
}

#[test]
fn more_threads_than_elements_still_validate() {
    let ended = run(builtin("stream", &["-n", "2", "-k", "2", "-t", "3", "-b"]));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("Solution Validates"), "{ended:?}");
}

#[test]
fn too_little_memory_is_an_error_without_a_table() {
    let ended = run(with_address_space(
        1 << 30,
        builtin("stream", &["-n", "100000000"]),
    ));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("no memory"), "{ended:?}");
    assert!(!ended.stdout.contains("Copy:"), "{ended:?}");
}

#[test]
fn a_terminated_run_has_no_table() {
    let mut running = start(builtin(
        "stream",
        &["-n", "1000", "-k", "1000000", "-t", "2"],
    ));
    running.wait_for_tasks(2);
    let group = running.group();
    let ended = running.terminate();
    assert_eq!(ended.status, None, "{ended:?}");
    assert!(!ended.stdout.contains("Copy:"), "{ended:?}");
    orphans(group).gone();
}
