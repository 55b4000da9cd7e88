//! The values a tuning plan is made of.

use serde::{Deserialize, Serialize};

use crate::cpuset::CpuSet;
use crate::host::Knob;
use crate::procfmt::{bracketed, parse_features};

/// One write of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Relative to the root of the file system.
    pub path: String,
    /// What is written.
    pub value: String,
    /// How the file shows that it holds.
    pub read_back: ReadBack,
    /// Files whose values the kernel may change along with this one: kept in the journal, and put back
    /// where they then read differently.
    pub also: Vec<String>,
    /// This one may fail without the knob failing: interrupts that the kernel manages.
    pub may_refuse: bool,
}

/// How a file prints what was written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadBack {
    /// The same words.
    Words,
    /// All the choices, the one in force in brackets.
    Bracketed,
    /// All the features, `NO_` before those that are off.
    Feature,
    /// A CPU list.
    CpuList,
}

impl ReadBack {
    /// What of a file's text stands for the value: the same form as what is written, so that writing
    /// it puts the file back. `None`: nothing was set (an empty file), or the word is not there.
    pub fn value_of(self, text: &str, written: &str) -> Option<String> {
        let words = || text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let value = match self {
            ReadBack::Words | ReadBack::CpuList => words(),
            ReadBack::Bracketed => bracketed(text).map_or_else(words, str::to_owned),
            ReadBack::Feature => {
                let name = written.strip_prefix("NO_").unwrap_or(written);
                parse_features(text)
                    .into_iter()
                    .find(|f| f.name == name)?
                    .token()
            }
        };
        (!value.is_empty()).then_some(value)
    }

    /// Whether the file says what was written.
    pub fn holds(self, text: &str, written: &str) -> bool {
        let Some(found) = self.value_of(text, written) else {
            return written.trim().is_empty();
        };
        let same_words = written
            .split_ascii_whitespace()
            .eq(found.split_ascii_whitespace());
        match self {
            ReadBack::CpuList => {
                let set = |t: &str| CpuSet::parse_list(t).ok();
                set(&found).is_some() && set(&found) == set(written)
            }
            // Debugfs takes 1 and 0 for a switch and prints Y and N.
            ReadBack::Words => {
                same_words || matches!((written, found.as_str()), ("1", "Y") | ("0", "N"))
            }
            ReadBack::Bracketed | ReadBack::Feature => same_words,
        }
    }
}

/// What becomes of one knob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobPlan {
    /// The knob.
    pub knob: Knob,
    /// The file, or the family of files.
    pub place: String,
    /// Its value before, summed up.
    pub before: Option<String>,
    /// What to do.
    pub planned: Planned,
}

/// What to do for a knob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// This machine has no such knob: and why that is known.
    NotAvailable(String),
    /// It is so already, by what the file says.
    Holds(String),
    /// These writes, in order.
    Writes(Vec<Write>),
    /// Hold this file open with a 32-bit value in it: it takes effect while it is open.
    HoldOpen {
        /// Relative to the root of the file system.
        path: String,
        /// Written in the machine's byte order.
        value: i32,
    },
}

impl Write {
    /// A write that is read back as words and has no side effects.
    pub fn words(path: impl Into<String>, value: impl Into<String>) -> Self {
        Write {
            path: path.into(),
            value: value.into(),
            read_back: ReadBack::Words,
            also: Vec::new(),
            may_refuse: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_back() {
        assert!(ReadBack::Bracketed.holds("always madvise [never]\n", "never"));
        assert!(ReadBack::Feature.holds("PLACE_LAG NO_HRTICK", "NO_HRTICK"));
        assert!(!ReadBack::Feature.holds("PLACE_LAG NO_HRTICK", "HRTICK"));
        assert!(ReadBack::CpuList.holds("0-3\n", "0,1,2,3"));
        assert!(ReadBack::Words.holds("4096\t87380\t6291456\n", "4096 87380 6291456"));
        assert!(ReadBack::Words.holds("Y\n", "1"));
        assert!(!ReadBack::Words.holds("1800000", "1700000"));
    }

    #[test]
    fn the_old_value_is_in_the_form_that_is_written() {
        let old = |rb: ReadBack, text, written| rb.value_of(text, written);
        assert_eq!(
            old(ReadBack::Feature, "NO_HRTICK X", "HRTICK").as_deref(),
            Some("NO_HRTICK")
        );
        assert_eq!(
            old(ReadBack::Bracketed, "[always] never", "never").as_deref(),
            Some("always")
        );
        assert_eq!(old(ReadBack::Words, "\n", "x"), None);
    }
}
