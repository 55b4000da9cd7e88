//! A table in one word, for an exit status.

use schedrig_stats::table::{Table, Value};
use schedrig_stats::verdict::Verdict;

/// What a whole comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Nothing regressed, and every row tells.
    Fine,
    /// At least one row regressed.
    Regressed,
    /// None is shown to have regressed, and at least one row does not tell: too few values, too much
    /// spread, a missing value, an unknown direction, or a run that is not complete.
    CannotTell,
}

impl Judged {
    /// The exit status of `--judge`.
    pub fn code(self) -> u8 {
        match self {
            Judged::Fine => 0,
            Judged::Regressed => 1,
            Judged::CannotTell => 3,
        }
    }

    /// In one line.
    pub fn words(self) -> &'static str {
        match self {
            Judged::Fine => "nothing regressed",
            Judged::Regressed => "a regression was found",
            Judged::CannotTell => "cannot tell",
        }
    }
}

/// The word for a table; `complete`: whether every run it came from ended as planned.
pub(super) fn judge(table: &Table, complete: bool) -> Judged {
    let mut open = !complete || table.arms.len() < 2 || table.rows.is_empty();
    for row in &table.rows {
        for (place, entry) in row.entries.iter().enumerate() {
            match (&entry.value, entry.comparison()) {
                (_, Some(comparison)) => match comparison.verdict {
                    Verdict::Regressed => return Judged::Regressed,
                    Verdict::Improved | Verdict::NoChange => {}
                    Verdict::Differs | Verdict::CannotTell { .. } => open = true,
                },
                (Value::Missing { .. }, None) => open = true,
                (Value::Present { .. }, None) => open |= place > 0,
            }
        }
    }
    if open {
        Judged::CannotTell
    } else {
        Judged::Fine
    }
}
