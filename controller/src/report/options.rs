//! What a caller chooses about a comparison, and what cannot be chosen.

use schedrig_stats::Criteria;
use schedrig_stats::expected::ErrorBand;
use schedrig_stats::render::Style;

/// How far the simulator's absolute values may be off on a machine it was not calibrated on: a
/// factor of 1.5 either way. Its differences between arms are what it is for.
pub const UNCALIBRATED_BAND: ErrorBand = ErrorBand(0.5);

/// The shape of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// For a mail or a terminal.
    #[default]
    Text,
    /// Markdown.
    Markdown,
    /// One line a row and arm, numbers in full.
    Csv,
    /// The table as it stands, versioned.
    Json,
    /// Test results for a continuous integration.
    Junit,
    /// A page that needs nothing else.
    Html,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 6] = [
        Format::Text,
        Format::Markdown,
        Format::Csv,
        Format::Json,
        Format::Junit,
        Format::Html,
    ];

    /// As it is written on a command line.
    pub fn word(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Markdown => "md",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Junit => "junit",
            Format::Html => "html",
        }
    }

    /// The format a command line names.
    pub fn from_word(word: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.word() == word)
    }
}

/// What the columns of a table are where several runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Columns {
    /// Arms, values of all runs together, where every run has the same two arms or more and was
    /// measured under the same circumstances; otherwise each arm of each run.
    #[default]
    Auto,
    /// Arms: the runs are repetitions of one another.
    Arms,
    /// Each arm of each run.
    Runs,
}

/// What a caller chooses.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The arm (or `arm@run`) the others are compared with; `None`: the first.
    pub base: Option<String>,
    /// Whose way of writing a table.
    pub style: Style,
    /// The shape of the output.
    pub format: Format,
    /// What the columns are.
    pub columns: Columns,
    /// Every metric, not only the primary ones of each workload.
    pub all_metrics: bool,
    /// How verdicts are reached; `None`: as the first run's playbook says.
    pub criteria: Option<Criteria>,
    /// How far the model's absolute values may be off.
    pub band: ErrorBand,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions {
            base: None,
            style: Style::default(),
            format: Format::default(),
            columns: Columns::default(),
            all_metrics: false,
            criteria: None,
            band: UNCALIBRATED_BAND,
        }
    }
}

/// Records that make no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// Nothing was given.
    #[error("no run to compare, expected at least one")]
    NoRuns,
    /// The base is none of the columns.
    #[error("no arm `{name}`, expected one of: {known}")]
    NoSuchArm {
        /// What was asked.
        name: String,
        /// What there is.
        known: String,
    },
    /// A record's judge names an assumption that this build does not know.
    #[error("run {run} asks to assume `{word}`, expected nothing, normal or exact")]
    Assumption {
        /// The run.
        run: String,
        /// The word.
        word: String,
    },
    /// A record's judge names a correction that this build does not know.
    #[error("run {run} asks for correction `{word}`, expected holm or none")]
    Correction {
        /// The run.
        run: String,
        /// The word.
        word: String,
    },
    /// The table could not be written as JSON.
    #[error("cannot write the table as json: {reason}")]
    Json {
        /// The writer's words.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_words_lead_back() {
        for format in Format::ALL {
            assert_eq!(Format::from_word(format.word()), Some(format));
        }
    }
}
