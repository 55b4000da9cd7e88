//! The part of a parser that all tools share: how the program ended, and what to say where its
//! output has no result. Exit status 0 proves nothing; a status that says failure always counts.

use crate::workload::text::{Line, excerpt};
use crate::workload::{Captured, ExitState, Failure};

/// Words that mark the line where a program, a shell or a loader says why it could not work.
const ERROR_WORDS: &[&str] = &[
    "error",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "failed",
    "failure",
    "unable",
    "invalid",
    "not found",
    "no such file",
    "unknown",
    "unrecognized",
    "unsupported",
    "denied",
    "refused",
    "too many",
    "not permitted",
    "out of memory",
    "no space left",
    "resource temporarily unavailable",
    "requires",
    "address already in use",
    "timed out",
    "aborting",
    "fatal",
    "partial response",
    "need to specify",
    "missing",
    "interrupted",
];

/// What a shell prints for a child that a signal ended, and the signal's number on Linux.
const SIGNAL_WORDS: &[(&str, i32)] = &[
    ("hangup", 1),
    ("quit", 3),
    ("illegal instruction", 4),
    ("aborted", 6),
    ("bus error", 7),
    ("floating point exception", 8),
    ("killed", 9),
    ("segmentation fault", 11),
    ("alarm clock", 14),
    ("terminated", 15),
];

/// The failure that the end of the process alone decides.
pub(super) fn by_end(exit: ExitState) -> Option<Failure> {
    match exit {
        ExitState::DeadlinePassed => Some(Failure::Timeout),
        ExitState::Cancelled => Some(Failure::Cancelled),
        ExitState::Signal(signal) => Some(Failure::Signal { signal }),
        ExitState::Code(_) | ExitState::Unknown => None,
    }
}

/// The failure of a status other than 0, with the line that says why.
pub(super) fn by_status(exit: ExitState, lines: &[Line]) -> Option<Failure> {
    match exit {
        ExitState::Code(code) if code != 0 => Some(Failure::ExitStatus {
            code,
            message: error_line(lines)
                .or_else(|| usage(lines))
                .or_else(|| lines.last().map(|l| excerpt(&l.text)))
                .unwrap_or_else(|| "no message".to_owned()),
        }),
        _ => None,
    }
}

/// Why there is no result. `seen`: a line of this tool is there, so that the output is of the right
/// tool and merely ends early. `missing` says what a whole output would have.
pub(super) fn no_result(
    output: &Captured<'_>,
    lines: &[Line],
    seen: bool,
    missing: &str,
) -> Failure {
    if let Some(failure) = by_status(output.exit, lines) {
        return failure;
    }
    if let Some(signal) = lines.iter().find_map(|l| signal_of(&l.text)) {
        return Failure::Signal { signal };
    }
    if let Some(message) = error_line(lines) {
        return Failure::ToolError { message };
    }
    let Some(first) = lines.first() else {
        return Failure::Partial {
            message: format!("no output, {missing} expected"),
        };
    };
    if let Some(message) = usage(lines) {
        return Failure::ToolError { message };
    }
    if seen {
        return Failure::Partial {
            message: format!("{missing} is missing"),
        };
    }
    Failure::Unreadable {
        line: first.number,
        excerpt: excerpt(&first.text),
        expected: format!("an output with {missing}"),
    }
}

/// The first line that says that something went wrong.
pub(super) fn error_line(lines: &[Line]) -> Option<String> {
    // Options of a usage text ("--abort-on-error  ...") are no errors.
    let is_option = |text: &str| text.trim_start().starts_with('-');
    lines
        .iter()
        .find(|l| {
            let lower = l.text.to_lowercase();
            !is_option(&l.text) && ERROR_WORDS.iter().any(|w| lower.contains(w))
        })
        .map(|l| excerpt(&l.text))
}

fn usage(lines: &[Line]) -> Option<String> {
    lines
        .iter()
        .any(|l| is_usage(&l.text))
        .then(|| "the tool printed its usage instead of running".to_owned())
}

fn is_usage(text: &str) -> bool {
    let lower = text.trim_start().to_lowercase();
    lower.starts_with("usage") || lower.contains(" usage:")
}

/// The signal that a shell names: alone on its line, or as `bash: line 3: 4711 Killed  cmd`.
fn signal_of(text: &str) -> Option<i32> {
    let lower = text.trim().to_lowercase();
    SIGNAL_WORDS.iter().find_map(|(word, signal)| {
        let alone = lower == *word || lower == format!("{word} (core dumped)");
        let after_pid = lower.split_once(word).is_some_and(|(before, _)| {
            let pid = before.trim_end().rsplit([' ', '\t']).next().unwrap_or("");
            !pid.is_empty() && pid.chars().all(|c| c.is_ascii_digit()) && before.contains(": ")
        });
        (alone || after_pid).then_some(*signal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::text::lines_of;

    #[test]
    fn a_shells_words_for_a_signal_are_read_as_the_signal() {
        assert_eq!(signal_of("Killed"), Some(9));
        assert_eq!(
            signal_of("run.sh: line 3:  4711 Segmentation fault      (core dumped) ./stream"),
            Some(11)
        );
        assert_eq!(signal_of("all 40 workers were killed"), None);
    }

    #[test]
    fn a_status_other_than_0_takes_the_line_that_says_why() {
        let lines = lines_of("Running\nfork() (error: Resource temporarily unavailable)\n");
        assert_eq!(
            by_status(ExitState::Code(1), &lines),
            Some(Failure::ExitStatus {
                code: 1,
                message: "fork() (error: Resource temporarily unavailable)".into()
            })
        );
    }
}
