//! Command lines in the manner of getopt_long: options and words in any order, short options in one
//! word, values attached or in the next word. The tools parse theirs so; their command lines must
//! mean the same here.

/// An option of a workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    /// `-x`; `None`: long only.
    pub(super) short: Option<char>,
    /// `--name`, and the key by which it is found; may be written shortened while it stays unique.
    pub(super) long: &'static str,
    /// Whether it takes a value.
    pub(super) takes_value: bool,
}

impl Spec {
    /// A switch.
    pub(super) const fn switch(short: char, long: &'static str) -> Self {
        Self {
            short: Some(short),
            long,
            takes_value: false,
        }
    }

    /// An option with a value.
    pub(super) const fn value(short: char, long: &'static str) -> Self {
        Self {
            short: Some(short),
            long,
            takes_value: true,
        }
    }

    /// A switch or a valued option without a letter.
    pub(super) const fn long(long: &'static str, takes_value: bool) -> Self {
        Self {
            short: None,
            long,
            takes_value,
        }
    }
}

/// An option that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// [`Spec::long`].
    pub(super) key: &'static str,
    /// Its value; empty for a switch.
    pub(super) value: String,
}

/// What a command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// Options in the order they stand: the last one of a kind decides.
    pub(super) options: Vec<Given>,
    /// Everything else.
    pub(super) words: Vec<String>,
}

/// A word that is no option of the workload; the wording is getopt's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OptionError {
    /// `-Z`.
    #[error("invalid option -- '{0}'")]
    InvalidShort(char),
    /// `--zzz`.
    #[error("unrecognized option '--{0}'")]
    Unrecognized(String),
    /// `--pr` for `--process` and `--print`.
    #[error("option '--{0}' is ambiguous")]
    Ambiguous(String),
    /// `-g` at the end.
    #[error("option requires an argument -- '{0}'")]
    ShortValue(char),
    /// `--groups` at the end.
    #[error("option '--{0}' requires an argument")]
    LongValue(&'static str),
    /// `--pipe=3`.
    #[error("option '--{0}' doesn't allow an argument")]
    NoValue(&'static str),
    /// A value that is not what the option takes.
    #[error("--{key} takes {expected}, got `{found}`")]
    Value {
        /// The option.
        key: &'static str,
        /// What would be right.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
}

impl Given {
    /// The value as a whole number of at least `least`.
    pub(super) fn count(&self, least: u64, expected: &'static str) -> Result<u64, OptionError> {
        self.value
            .parse::<u64>()
            .ok()
            .filter(|n| *n >= least)
            .ok_or_else(|| self.bad(expected))
    }

    /// The error for this value.
    pub(super) fn bad(&self, expected: &'static str) -> OptionError {
        OptionError::Value {
            key: self.key,
            expected,
            found: self.value.clone(),
        }
    }
}

/// Reads a command line. `--` ends the options.
pub(super) fn parse(args: &[String], specs: &[Spec]) -> Result<CommandLine, OptionError> {
    let mut line = CommandLine::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            line.words.extend(rest.cloned());
            break;
        }
        if let Some(long) = arg.strip_prefix("--") {
            line.options.push(read_long(long, specs, &mut rest)?);
        } else if let Some(letters) = arg.strip_prefix('-').filter(|l| !l.is_empty()) {
            read_short(letters, specs, &mut rest, &mut line.options)?;
        } else {
            line.words.push(arg.clone());
        }
    }
    Ok(line)
}

fn read_long<'a>(
    text: &str,
    specs: &[Spec],
    rest: &mut impl Iterator<Item = &'a String>,
) -> Result<Given, OptionError> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let spec = find_long(name, specs)?;
    let value = match (spec.takes_value, attached) {
        (true, Some(value)) => value.to_owned(),
        (true, None) => rest
            .next()
            .cloned()
            .ok_or(OptionError::LongValue(spec.long))?,
        (false, None) => String::new(),
        (false, Some(_)) => return Err(OptionError::NoValue(spec.long)),
    };
    Ok(Given {
        key: spec.long,
        value,
    })
}

fn find_long<'s>(name: &str, specs: &'s [Spec]) -> Result<&'s Spec, OptionError> {
    if let Some(exact) = specs.iter().find(|s| s.long == name) {
        return Ok(exact);
    }
    let mut near = specs
        .iter()
        .filter(|s| !name.is_empty() && s.long.starts_with(name));
    match (near.next(), near.next()) {
        (Some(spec), None) => Ok(spec),
        (Some(_), Some(_)) => Err(OptionError::Ambiguous(name.to_owned())),
        (None, _) => Err(OptionError::Unrecognized(name.to_owned())),
    }
}

fn read_short<'a>(
    letters: &str,
    specs: &[Spec],
    rest: &mut impl Iterator<Item = &'a String>,
    options: &mut Vec<Given>,
) -> Result<(), OptionError> {
    for (at, letter) in letters.char_indices() {
        let spec = specs
            .iter()
            .find(|s| s.short == Some(letter))
            .ok_or(OptionError::InvalidShort(letter))?;
        if !spec.takes_value {
            options.push(Given {
                key: spec.long,
                value: String::new(),
            });
            continue;
        }
        let attached = &letters[at + letter.len_utf8()..];
        let value = if attached.is_empty() {
            rest.next()
                .cloned()
                .ok_or(OptionError::ShortValue(letter))?
        } else {
            attached.to_owned()
        };
        options.push(Given {
            key: spec.long,
            value,
        });
        break;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[Spec] = &[
        Spec::switch('p', "pipe"),
        Spec::switch('P', "process"),
        Spec::value('g', "groups"),
        Spec::long("split", true),
    ];

    fn read(words: &[&str]) -> Result<CommandLine, OptionError> {
        let args: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        parse(&args, SPECS)
    }

    fn given(key: &'static str, value: &str) -> Given {
        Given {
            key,
            value: value.to_owned(),
        }
    }

    #[test]
    fn letters_may_share_a_word_and_values_may_be_attached() {
        let line = read(&["-pPg4", "word", "-g", "5", "--groups=6", "--groups", "7"]).unwrap();
        assert_eq!(
            line.options,
            [
                given("pipe", ""),
                given("process", ""),
                given("groups", "4"),
                given("groups", "5"),
                given("groups", "6"),
                given("groups", "7"),
            ]
        );
        assert_eq!(line.words, ["word"]);
    }

    #[test]
    fn long_names_may_be_shortened_while_they_are_unique() {
        assert_eq!(
            read(&["--gr", "2", "--sp=30"]).unwrap().options,
            [given("groups", "2"), given("split", "30")]
        );
        assert_eq!(read(&["--p"]), Err(OptionError::Ambiguous("p".into())));
        assert_eq!(read(&["--pipe"]).unwrap().options, [given("pipe", "")]);
    }

    #[test]
    fn two_dashes_end_the_options() {
        assert_eq!(
            read(&["-p", "--", "-g", "3"]).unwrap().words,
            ["-g".to_owned(), "3".to_owned()]
        );
    }

    #[test]
    fn errors_have_getopts_words() {
        for (words, text) in [
            (&["-Z"][..], "invalid option -- 'Z'"),
            (&["--zebra"], "unrecognized option '--zebra'"),
            (&["-g"], "option requires an argument -- 'g'"),
            (&["--groups"], "option '--groups' requires an argument"),
            (&["--pipe=1"], "option '--pipe' doesn't allow an argument"),
        ] {
            assert_eq!(read(words).unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn values_are_numbers_in_range() {
        assert_eq!(given("groups", "3").count(1, "a whole number > 0"), Ok(3));
        for bad in ["0", "-1", "abc", "", "1.5"] {
            assert!(given("groups", bad).count(1, "a whole number > 0").is_err());
        }
    }
}
