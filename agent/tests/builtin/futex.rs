//! The futex ping through the built program.

use crate::process::{builtin, orphans, run, start};

#[test]
fn the_output_is_that_of_perf_bench_futex() {
    let ended = run(builtin("futex", &["-t", "2", "-r", "1"]));
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(
        ended
            .stdout
            .starts_with("# Running 'futex/ping' benchmark:\nRun summary [PID "),
        "{ended:?}"
    );
    let rate: f64 = ended
        .stdout
        .lines()
        .find_map(|l| l.strip_prefix("Averaged "))
        .and_then(|l| l.split(' ').next()?.parse().ok())
        .unwrap();
    assert!(rate > 0.0, "{ended:?}");
}

#[test]
fn a_terminated_run_prints_nothing() {
    let mut running = start(builtin("futex", &["-t", "2", "-r", "600"]));
    running.wait_for_tasks(5);
    let group = running.group();
    let ended = running.terminate();
    assert_eq!((ended.status, ended.stdout.as_str()), (None, ""));
    orphans(group).gone();
}
