//! What hackbench prints: two lines of what it does, then `Time: SECONDS`.
//!
//! An interrupted run in process mode also ends with a `Time:` line and exit status 0; the line
//! `signaling N worker threads to terminate` or `Signal N caught` gives it away.

use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, fixed, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, hackbench::DEF};

pub(super) fn parse(_params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, runs(output).map(|runs| (runs, Vec::new())))
}

fn runs(output: &Captured<'_>) -> Result<Vec<Run>, Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    if let Some(line) = lines.iter().find(|l| interrupts(&l.text)) {
        // A run that could not fork also signals the workers it has; its own words say more.
        let cause = lines
            .iter()
            .find(|l| l.text.contains("(error: ") && !sends(&l.text));
        return Err(match cause {
            Some(cause) => Failure::ToolError {
                message: excerpt(&cause.text),
            },
            None => Failure::Interrupted {
                message: excerpt(&line.text),
            },
        });
    }
    let mut found = Vec::new();
    let mut started = 0_u32;
    let mut run = Run::default();
    for line in &lines {
        if line.text.starts_with("Running in ") {
            started += 1;
            run = Run::default();
            header(&mut run, line)?;
        } else if let Some(rest) = line.text.strip_prefix("Each sender will pass ") {
            let mut words = rest.split_whitespace();
            if let (Some(loops), Some("messages"), Some("of"), Some(size)) =
                (words.next(), words.next(), words.next(), words.next())
            {
                run.says("loops", loops);
                run.says("size", size);
            }
        } else if line.text.starts_with("# Running 'sched/messaging'") {
            // `perf bench sched messaging`, the same code in the kernel's tree.
            started += 1;
            run = Run::default();
            run.says("tool", "perf bench sched messaging");
        } else if line.text.starts_with("# ") {
            messaging(&mut run, &line.text);
        } else if let Some(rest) = line.text.trim_start().strip_prefix("Total time:") {
            let seconds = time(rest, line)?;
            run.push("time", seconds);
            found.push(std::mem::take(&mut run));
        } else if let Some(rest) = line.text.trim_start().strip_prefix("Time:") {
            let seconds = time(rest, line)?;
            run.push("time", seconds);
            found.push(std::mem::take(&mut run));
        }
    }
    if found.is_empty() {
        let seen = started > 0;
        return Err(no_result(output, &lines, seen, "the line `Time: SECONDS`"));
    }
    if started > 0 && started as usize != found.len() {
        return Err(Failure::Partial {
            message: format!("{started} runs started, {} printed a time", found.len()),
        });
    }
    Ok(found)
}

fn header(run: &mut Run, line: &Line) -> Result<(), Failure> {
    let mode = word_after(&line.text, "Running in ");
    let groups = word_after(&line.text, " with ");
    // The tool counts both ends of each pair: 40 for `-f 20`.
    let descriptors = word_after(&line.text, " using ").and_then(|w| w.parse::<u64>().ok());
    let (Some(mode), Some(groups), Some(descriptors)) = (mode, groups, descriptors) else {
        return Err(unreadable(
            line,
            "`Running in MODE mode with G groups using F file descriptors each (== T tasks)`",
        ));
    };
    run.says("mode", if mode == "threaded" { "thread" } else { mode });
    run.says("groups", groups);
    run.says("fds", descriptors / 2);
    Ok(())
}

/// `# 20 sender and receiver threads per group`, `# 2 groups == 80 threads run`.
fn messaging(run: &mut Run, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["#", fds, "sender", "and", "receiver", mode, "per", "group"] => {
            run.says("fds", fds);
            run.says(
                "mode",
                mode.replace("threads", "thread")
                    .replace("processes", "process"),
            );
        }
        ["#", groups, "groups", "==", ..] => run.says("groups", groups),
        _ => {}
    }
}

fn time(rest: &str, line: &Line) -> Result<f64, Failure> {
    let mut words = rest.split_whitespace();
    let seconds = fixed("time", words.next().unwrap_or(""), 3, line)?;
    if words
        .next()
        .is_some_and(|unit| !matches!(unit, "s" | "sec" | "seconds" | "[sec]"))
    {
        return Err(unreadable(line, "`Time: SECONDS`"));
    }
    if seconds < 0.0 {
        return Err(unreadable(line, "a time that is not negative"));
    }
    if seconds == 0.0 {
        return Err(Failure::ZeroWork {
            message: "the time is below the printed step of 1 ms".to_owned(),
        });
    }
    Ok(seconds)
}

fn interrupts(text: &str) -> bool {
    (text.starts_with("signaling ") && text.contains(" to terminate"))
        || (text.starts_with("Signal ") && text.contains(" caught"))
        || text.starts_with("longjmp'ed out")
}

/// Senders and receivers that die with their peers; the cause is elsewhere.
fn sends(text: &str) -> bool {
    text.starts_with("SENDER:") || text.starts_with("RECEIVER:") || text.starts_with("CLIENT:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ExitState;

    const GOOD: &str = "Running in process mode with 1 groups using 40 file descriptors each (== 40 tasks)\n\
                        Each sender will pass 100 messages of 100 bytes\nTime: 0.066\n";

    fn read(stdout: &str, stderr: &str) -> Result<Vec<Run>, Failure> {
        let mut output = Captured::from_stdout(stdout);
        output.stderr = stderr;
        runs(&output)
    }

    #[test]
    fn the_time_and_what_was_run_are_read() {
        let found = read(GOOD, "").unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].values, [("time".to_owned(), 0.066)]);
        assert_eq!(found[0].resolved["fds"], "20");
    }

    #[test]
    fn a_deadline_makes_a_normal_looking_time_worthless() {
        let mut output = Captured::from_stdout(GOOD);
        output.exit = ExitState::DeadlinePassed;
        assert_eq!(runs(&output), Err(Failure::Timeout));
    }

    #[test]
    fn a_missing_time_is_partial_and_a_zero_time_no_measurement() {
        let cut = GOOD.replace("Time: 0.066\n", "");
        assert!(matches!(read(&cut, ""), Err(Failure::Partial { .. })));
        let two = format!("{GOOD}{cut}");
        assert!(matches!(read(&two, ""), Err(Failure::Partial { .. })));
        let zero = GOOD.replace("0.066", "0.000");
        assert!(matches!(read(&zero, ""), Err(Failure::ZeroWork { .. })));
    }

    // Case B7: a decimal comma is refused by name, not cut at the comma.
    #[test]
    fn a_decimal_comma_is_refused() {
        let comma = GOOD.replace("0.066", "0,066");
        let failure = read(&comma, "").unwrap_err();
        assert!(failure.to_string().contains("decimal comma"), "{failure}");
    }

    #[test]
    fn a_number_cut_at_the_end_of_the_text_is_no_value() {
        assert!(read(GOOD.trim_end(), "").is_ok());
        let cut = GOOD.replace("0.066\n", "0.06");
        assert!(matches!(read(&cut, ""), Err(Failure::Partial { .. })));
    }

    #[test]
    fn a_not_finite_time_is_named() {
        let nan = GOOD.replace("0.066", "-nan");
        assert!(matches!(
            read(&nan, ""),
            Err(Failure::NotFinite { value, .. }) if value == "-nan"
        ));
    }
}
