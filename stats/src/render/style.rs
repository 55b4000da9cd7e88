//! Whose way of writing a table.

use crate::published::Convention;

/// A way of writing a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// Values, spreads, differences and verdicts, each in its column.
    #[default]
    Schedrig,
    /// Base normalised to 1.00 with its deviation, the others as differences with theirs: scheduler
    /// series on the kernel's list.
    Lkml,
    /// Value, change, value: the reports of the 0-day robot.
    Lkp,
    /// Value with difference in brackets, stars where significant: mmtests.
    Mmtests,
    /// Value with interval, `~` where nothing is shown: Go's benchstat.
    Benchstat,
}

impl Style {
    /// Every style.
    pub const ALL: [Style; 5] = [
        Style::Schedrig,
        Style::Lkml,
        Style::Lkp,
        Style::Mmtests,
        Style::Benchstat,
    ];

    /// As it is written on a command line.
    pub fn word(self) -> &'static str {
        match self {
            Style::Schedrig => "schedrig",
            Style::Lkml => "lkml",
            Style::Lkp => "lkp",
            Style::Mmtests => "mmtests",
            Style::Benchstat => "benchstat",
        }
    }

    /// The style a command line names.
    pub fn from_word(word: &str) -> Option<Style> {
        Style::ALL.into_iter().find(|s| s.word() == word)
    }

    /// How it signs a difference.
    pub fn convention(self) -> Convention {
        match self {
            Style::Schedrig | Style::Lkml | Style::Mmtests => Convention::BetterPositive,
            Style::Lkp | Style::Benchstat => Convention::Value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back() {
        for style in Style::ALL {
            assert_eq!(Style::from_word(style.word()), Some(style));
        }
        assert_eq!(Style::from_word("html"), None);
    }
}
