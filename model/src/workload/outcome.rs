//! What a finished program left behind, and what it means: metrics, or a named failure. A failure
//! is never a zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use schedrig_stats::{Direction, Unit};

/// How a program ended, as the agent saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitState {
    /// It returned this status.
    Code(i32),
    /// A signal that the agent did not send ended it.
    Signal(i32),
    /// The agent ended it since its deadline had passed. Whatever it printed does not count.
    DeadlinePassed,
    /// The agent ended it since the run was cancelled.
    Cancelled,
    /// Nobody knows: a saved output without its status.
    Unknown,
}

/// The output of one instance of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured<'a> {
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// Files it wrote that belong to the result, by the name the command gave them.
    pub files: BTreeMap<String, String>,
    /// How it ended.
    pub exit: ExitState,
    /// Whether the agent had to drop output in the middle.
    pub truncated: bool,
}

impl<'a> Captured<'a> {
    /// Saved text of a standard output, nothing else known.
    pub fn from_stdout(stdout: &'a str) -> Self {
        Captured {
            stdout,
            stderr: "",
            files: BTreeMap::new(),
            exit: ExitState::Unknown,
            truncated: false,
        }
    }
}

/// One value of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The metric's key, no unit in it.
    pub metric: String,
    /// Finite, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
}

/// What an output yielded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// The metrics, in the order of the catalogue.
    pub metrics: Vec<Measurement>,
    /// What the tool says it did: version, resolved parameters. Compared before results are.
    pub resolved: BTreeMap<String, String>,
    /// Things a reader of the number should know.
    pub warnings: Vec<String>,
}

/// Why an output is no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Failure {
    /// The program returned a status that means failure.
    #[error("exit status {code}: {message}")]
    ExitStatus {
        /// The status.
        code: i32,
        /// The line of its output that says why, or what the catalogue knows of this status.
        message: String,
    },
    /// A signal ended it.
    #[error("ended by signal {signal}")]
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// It took longer than its deadline.
    #[error("deadline passed")]
    Timeout,
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// It was interrupted, although its exit status says success.
    #[error("interrupted: {message}")]
    Interrupted {
        /// How this is known.
        message: String,
    },
    /// The output ends before the result.
    #[error("output is incomplete: {message}")]
    Partial {
        /// What is missing.
        message: String,
    },
    /// The program did nothing.
    #[error("zero work done: {message}")]
    ZeroWork {
        /// How this is known.
        message: String,
    },
    /// A value is infinite or not a number.
    #[error("{metric} is {value}, not a finite number")]
    NotFinite {
        /// Which.
        metric: String,
        /// As printed.
        value: String,
    },
    /// The tool checked its own result and it is wrong.
    #[error("validation failed: {message}")]
    Validation {
        /// The tool's words.
        message: String,
    },
    /// The tool says what went wrong (whatever its exit status).
    #[error("{message}")]
    ToolError {
        /// The tool's words, in one line.
        message: String,
    },
    /// The output is of another test or tool than was asked.
    #[error("asked for {asked}, output is of {found}")]
    WrongTest {
        /// What was asked.
        asked: String,
        /// What is there.
        found: String,
    },
    /// The tool says that it did not run this test here.
    #[error("skipped: {message}")]
    Skipped {
        /// The tool's words.
        message: String,
    },
    /// The output is nothing this parser knows.
    #[error("line {line}: `{excerpt}` is not {expected}")]
    Unreadable {
        /// From 1; 0 where the whole text is meant.
        line: u32,
        /// At most 120 characters of it.
        excerpt: String,
        /// What would be right.
        expected: String,
    },
}

/// The meaning of an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Metrics.
    Ok(Parsed),
    /// No result, and why.
    Failed(Failure),
}
