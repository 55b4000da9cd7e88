//! hackbench through the built program.

use crate::process::{Run, builtin, orphans, run, start, with_open_files};

fn modes() -> Vec<Vec<&'static str>> {
    let mut all = Vec::new();
    for mode in ["-P", "-T"] {
        for transport in [Some("-p"), None, Some("-i")] {
            all.push([Some(mode), transport].into_iter().flatten().collect());
        }
    }
    all
}

#[test]
fn every_mode_prints_the_three_lines() {
    for mode in modes() {
        let mut args = mode.clone();
        args.extend(["-g", "2", "-f", "3", "-l", "20"]);
        let Run {
            status,
            stdout,
            stderr,
        } = run(builtin("hackbench", &args));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{mode:?}");
        let lines: Vec<&str> = stdout.lines().collect();
        let word = if mode[0] == "-T" {
            "threaded"
        } else {
            "process"
        };
        assert_eq!(
            lines[..2],
            [
                format!(
                    "Running in {word} mode with 2 groups using 6 file descriptors each (== 12 tasks)"
                ),
                "Each sender will pass 20 messages of 100 bytes".to_owned()
            ],
            "{mode:?}"
        );
        let time: f64 = lines[2].strip_prefix("Time: ").unwrap().parse().unwrap();
        assert!(time >= 0.0 && lines.len() == 3, "{stdout}");
    }
}

#[test]
fn a_terminated_run_prints_no_time_and_leaves_no_child() {
    for mode in [["-P", "-p"], ["-T", "-p"]] {
        let mut running = start(builtin(
            "hackbench",
            &[mode[0], mode[1], "-g", "1", "-l", "100000000"],
        ));
        running.wait_for_tasks(41);
        let group = running.group();
        let ended = running.terminate();
        assert_eq!(ended.status, None, "killed by the signal: {ended:?}");
        assert!(!ended.stdout.contains("Time:"), "{ended:?}");
        orphans(group).gone();
    }
}

#[test]
fn a_killed_child_ends_the_run_without_a_time() {
    let mut running = start(builtin("hackbench", &["-p", "-g", "1", "-l", "100000000"]));
    running.wait_for_tasks(41);
    let group = running.group();
    running.kill_one_child();
    let ended = running.wait();
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(!ended.stdout.contains("Time:"), "{ended:?}");
    assert!(
        ended.stderr.contains("a child was killed by SIGKILL"),
        "{ended:?}"
    );
    orphans(group).gone();
}

#[test]
fn too_few_descriptors_is_an_error_in_the_tools_words_without_leftovers() {
    for mode in ["-P", "-T"] {
        let running = start(with_open_files(
            20,
            builtin("hackbench", &[mode, "-g", "1", "-l", "10"]),
        ));
        let group = running.group();
        let ended = running.wait();
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert_eq!(
            ended.stderr,
            "Creating fdpair (error: Too many open files)\n"
        );
        assert!(!ended.stdout.contains("Time:"), "{ended:?}");
        orphans(group).gone();
    }
}

#[test]
fn a_bad_option_says_so_and_shows_the_usage() {
    let ended = run(builtin("hackbench", &["-g", "0"]));
    assert_eq!(ended.status, Some(1));
    assert_eq!(
        ended.stderr,
        "hackbench: --groups|-g requires an integer > 0\n"
    );
    assert!(ended.stdout.contains("Usage:"), "{}", ended.stdout);
}

#[test]
fn an_unknown_builtin_is_named() {
    let ended = run(builtin("hackbanch", &[]));
    assert_eq!(ended.status, Some(2));
    assert!(
        ended.stderr.contains("unknown builtin `hackbanch`"),
        "{ended:?}"
    );
}
