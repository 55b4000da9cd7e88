//! The options of the builtin STREAM.

use crate::builtin::options::{self, OptionError, Spec};

/// A run as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Elements of 8 bytes in each of the three arrays.
    pub(super) elements: usize,
    /// How often each kernel runs; the first does not count.
    pub(super) ntimes: usize,
    /// `None`: one for each CPU this process may use.
    pub(super) threads: Option<usize>,
    /// Pin each thread to one of the allowed CPUs.
    pub(super) bind: bool,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Run(Config),
    Help,
    Version,
}

pub(super) const USAGE: &str = "\
usage: stream [options]
\t-n (--elements): elements of 8 bytes in each of the three arrays (def: 10000000)
\t-k (--ntimes): how often each kernel runs; the first does not count (def: 10)
\t-t (--threads): threads (def: one for each CPU that may be used)
\t-b (--bind): pin each thread to one of these CPUs (def: no pinning)
\t--version: print the version
";

const SPECS: &[Spec] = &[
    Spec::value('n', "elements"),
    Spec::value('k', "ntimes"),
    Spec::value('t', "threads"),
    Spec::switch('b', "bind"),
    Spec::switch('h', "help"),
    Spec::long("version", false),
];

/// 2^40 elements are 24 TiB in three arrays.
const MAX_ELEMENTS: u64 = 1 << 40;
const MAX_NTIMES: u64 = 1_000_000;
const MAX_THREADS: u64 = 100_000;

/// Reads the command line.
pub(super) fn parse(args: &[String]) -> Result<Request, OptionError> {
    let line = options::parse(args, SPECS)?;
    let mut config = Config {
        elements: 10_000_000,
        ntimes: 10,
        threads: None,
        bind: false,
    };
    for option in &line.options {
        let within = |least, most, expected| {
            let value = option.count(least, expected)?;
            usize::try_from(value)
                .ok()
                .filter(|_| value <= most)
                .ok_or_else(|| option.bad(expected))
        };
        match option.key {
            "elements" => {
                config.elements = within(1, MAX_ELEMENTS, "a whole number from 1 to 2^40")?;
            }
            "ntimes" => config.ntimes = within(2, MAX_NTIMES, "a whole number from 2 to 1000000")?,
            "threads" => {
                config.threads = Some(within(1, MAX_THREADS, "a whole number from 1 to 100000")?);
            }
            "bind" => config.bind = true,
            "help" => return Ok(Request::Help),
            _ => return Ok(Request::Version),
        }
    }
    Ok(Request::Run(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Request, OptionError> {
        let args: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        parse(&args)
    }

    #[test]
    fn letters_and_long_names_mean_the_same() {
        let expected = Request::Run(Config {
            elements: 5,
            ntimes: 6,
            threads: Some(7),
            bind: true,
        });
        assert_eq!(read(&["-n", "5", "-k6", "-bt7"]).as_ref(), Ok(&expected));
        assert_eq!(
            read(&["--elements", "5", "--ntimes=6", "--threads", "7", "--bind"]).as_ref(),
            Ok(&expected)
        );
    }

    #[test]
    fn one_time_is_too_few_since_the_first_does_not_count() {
        assert!(read(&["-k", "1"]).is_err());
        assert!(read(&["-n", "0"]).is_err());
        assert!(read(&["-t", "0"]).is_err());
    }
}
