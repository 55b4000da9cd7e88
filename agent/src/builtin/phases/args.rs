//! The command line: how long, and the program as JSON.

use super::program::Program;

use crate::builtin::options::{self, OptionError, Spec};

/// A run as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) seconds: u64,
    pub(super) program: Program,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Run(Config),
    Help,
    Version,
}

/// A command line without a program that can be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum ArgError {
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error("--program is no phase program (error: {0})")]
    Program(#[source] serde_json::Error),
    #[error("--program is missing: the threads and what each does")]
    Missing,
    #[error("the program has {0} threads, expected 1 to {MAX_THREADS}")]
    Threads(u64),
}

pub(super) const USAGE: &str = "\
usage: phases --program JSON [options]
\t--program: the program: {\"threads\": [{\"name\", \"copies\", \"nice\", \"loops\", \"actions\"}]}
\t--seconds: how long to run (def: 10)
\t--version: print the version
";

const SPECS: &[Spec] = &[
    Spec::long("seconds", true),
    Spec::long("program", true),
    Spec::switch('h', "help"),
    Spec::long("version", false),
];

/// The most threads, copies counted: what the model allows.
const MAX_THREADS: u64 = 100_000;
/// A year.
const MAX_SECONDS: u64 = 31_536_000;

/// Reads the command line.
pub(super) fn parse(args: &[String]) -> Result<Request, ArgError> {
    let (mut seconds, mut program) = (10, None);
    for option in &options::parse(args, SPECS)?.options {
        match option.key {
            "seconds" => {
                let expected = "whole seconds from 1 to a year";
                seconds = option.count(1, expected)?;
                if seconds > MAX_SECONDS {
                    return Err(option.bad(expected).into());
                }
            }
            "program" => {
                let read: Program =
                    serde_json::from_str(&option.value).map_err(ArgError::Program)?;
                program = Some(read);
            }
            "help" => return Ok(Request::Help),
            _ => return Ok(Request::Version),
        }
    }
    let program = program.ok_or(ArgError::Missing)?;
    match program.thread_count() {
        1..=MAX_THREADS => Ok(Request::Run(Config { seconds, program })),
        threads => Err(ArgError::Threads(threads)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Request, ArgError> {
        let args: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        parse(&args)
    }

    #[test]
    fn a_program_is_json_in_one_word() {
        let text = r#"{"threads": [{"name": "a", "copies": 2, "nice": 0, "loops": null,
            "actions": [{"run-us": 5}, "yield", {"repeat": {"times": 2, "actions": []}}]}]}"#;
        match read(&["--seconds", "3", "--program", text]) {
            Ok(Request::Run(config)) => {
                assert_eq!(config.seconds, 3);
                assert_eq!(config.program.threads[0].actions.len(), 3);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        let none = r#"{"threads": []}"#;
        let many = r#"{"threads": [{"name": "a", "copies": 100001, "nice": 0, "loops": 1,
            "actions": []}]}"#;
        for text in ["", "{}", "[1]", none, many, r#"{"threads": [{"nam": 1}]}"#] {
            assert!(read(&["--program", text]).is_err(), "{text}");
        }
        assert!(matches!(read(&[]), Err(ArgError::Missing)));
    }
}
