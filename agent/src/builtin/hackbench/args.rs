//! hackbench's command line.

use crate::builtin::options::{self, Given, OptionError, Spec};

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// A connected pair of AF_UNIX stream sockets.
    SocketPair,
    /// A pipe.
    Pipe,
    /// A TCP connection over loopback.
    Inet,
}

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A process by fork.
    Process,
    /// A thread.
    Thread,
}

/// A run as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) transport: Transport,
    pub(super) mode: Mode,
    /// Groups.
    pub(super) groups: usize,
    /// Senders in a group, and as many receivers.
    pub(super) fds: usize,
    /// Messages from every sender to every receiver of its group.
    pub(super) loops: u64,
    /// Bytes of a message.
    pub(super) size: usize,
    /// The main task runs under SCHED_FIFO.
    pub(super) fifo: bool,
}

impl Config {
    /// Senders and receivers of all groups.
    pub(super) fn tasks(&self) -> usize {
        self.groups * self.fds * 2
    }
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Run(Config),
    Help,
    Version,
}

/// A command line hackbench does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgError {
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The wording is the tool's.
    #[error("--{long}|-{short} requires an integer > 0")]
    Count { long: &'static str, short: char },
    #[error("--pipe|-p and --inet|-i cannot be used together")]
    PipeAndInet,
    /// A count no machine can hold, named before the first fork.
    #[error("{groups} groups of {fds} file descriptors are more tasks than a machine can hold")]
    TooMany { groups: u64, fds: u64 },
}

const SPECS: &[Spec] = &[
    Spec::value('f', "fds"),
    Spec::switch('F', "fifo"),
    Spec::value('g', "groups"),
    Spec::switch('h', "help"),
    Spec::value('l', "loops"),
    Spec::switch('p', "pipe"),
    Spec::switch('i', "inet"),
    Spec::value('s', "datasize"),
    Spec::switch('T', "threads"),
    Spec::switch('P', "process"),
    Spec::long("version", false),
];

/// The kernel's own ceiling of process ids (`PID_MAX_LIMIT`).
const MAX_TASKS: u64 = 4 * 1024 * 1024;

/// The greatest message: more than any buffer takes at once.
const MAX_SIZE: u64 = 1 << 30;

/// Reads the command line. Words that are no options are ignored, as the tool does.
pub(super) fn parse(args: &[String]) -> Result<Request, ArgError> {
    let line = options::parse(args, SPECS)?;
    let (mut groups, mut fds, mut loops, mut size) = (10, 20, 100, 100);
    let (mut pipe, mut inet, mut fifo, mut mode) = (false, false, false, Mode::Process);
    for option in &line.options {
        match option.key {
            "fds" => fds = positive(option, 'f')?,
            "groups" => groups = positive(option, 'g')?,
            "loops" => loops = positive(option, 'l')?,
            "datasize" => size = positive(option, 's')?,
            "pipe" => pipe = true,
            "inet" => inet = true,
            "threads" => mode = Mode::Thread,
            "process" => mode = Mode::Process,
            "fifo" => fifo = true,
            "help" => return Ok(Request::Help),
            _ => return Ok(Request::Version),
        }
    }
    let transport = match (pipe, inet) {
        (true, true) => return Err(ArgError::PipeAndInet),
        (true, false) => Transport::Pipe,
        (false, true) => Transport::Inet,
        (false, false) => Transport::SocketPair,
    };
    let tasks = groups.checked_mul(fds).and_then(|n| n.checked_mul(2));
    if tasks.is_none_or(|n| n > MAX_TASKS) {
        return Err(ArgError::TooMany { groups, fds });
    }
    if size > MAX_SIZE {
        return Err(ArgError::Option(OptionError::Value {
            key: "datasize",
            expected: "at most 1 GiB",
            found: size.to_string(),
        }));
    }
    Ok(Request::Run(Config {
        transport,
        mode,
        groups: groups as usize,
        fds: fds as usize,
        loops,
        size: size as usize,
        fifo,
    }))
}

fn positive(option: &Given, short: char) -> Result<u64, ArgError> {
    option
        .count(1, "an integer > 0")
        .map_err(|_| ArgError::Count {
            long: option.key,
            short,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Request, ArgError> {
        let args: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        parse(&args)
    }

    fn config(words: &[&str]) -> Config {
        match read(words) {
            Ok(Request::Run(config)) => config,
            other => panic!("{words:?} gave {other:?}"),
        }
    }

    #[test]
    fn defaults_are_the_tools() {
        let plain = config(&[]);
        assert_eq!(
            plain,
            Config {
                transport: Transport::SocketPair,
                mode: Mode::Process,
                groups: 10,
                fds: 20,
                loops: 100,
                size: 100,
                fifo: false,
            }
        );
        assert_eq!(plain.tasks(), 400);
    }

    #[test]
    fn the_last_of_process_and_threads_decides() {
        assert_eq!(config(&["-P", "-T"]).mode, Mode::Thread);
        assert_eq!(config(&["-T", "-P"]).mode, Mode::Process);
    }

    #[test]
    fn letters_and_long_names_mean_the_same() {
        let short = config(&["-pT", "-g3", "-f", "4", "-l", "5", "-s", "6", "-F"]);
        let long = config(&[
            "--pipe",
            "--threads",
            "--groups=3",
            "--fds=4",
            "--loops",
            "5",
            "--datasize=6",
            "--fifo",
            "extra",
        ]);
        assert_eq!(short, long);
    }

    #[test]
    fn errors_have_the_tools_words() {
        for (words, text) in [
            (&["-g", "abc"][..], "--groups|-g requires an integer > 0"),
            (&["-g", "0"], "--groups|-g requires an integer > 0"),
            (&["-l", "-4"], "--loops|-l requires an integer > 0"),
            (
                &["-p", "-i"],
                "--pipe|-p and --inet|-i cannot be used together",
            ),
            (&["-Z"], "invalid option -- 'Z'"),
        ] {
            assert_eq!(read(words).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn absurd_counts_are_refused_before_anything_starts() {
        assert!(matches!(
            read(&["-g", "18446744073709551615", "-f", "2"]),
            Err(ArgError::TooMany { .. })
        ));
        assert!(read(&["-s", "2147483648"]).is_err());
    }

    #[test]
    fn help_and_version_are_no_runs() {
        assert_eq!(read(&["-h"]), Ok(Request::Help));
        assert_eq!(read(&["--version"]), Ok(Request::Version));
    }
}
