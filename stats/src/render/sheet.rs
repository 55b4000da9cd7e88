//! A table as cells of text, before it becomes lines.

/// Where a cell's text stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Neighbours of one group stand under one heading: the arm. Empty for the row's own columns.
    pub group: String,
    /// The heading.
    pub title: String,
    /// Where text stands.
    pub align: Align,
}

impl Column {
    /// A column of words.
    pub fn left(group: &str, title: &str) -> Self {
        Column {
            group: group.to_owned(),
            title: title.to_owned(),
            align: Align::Left,
        }
    }

    /// A column of numbers.
    pub fn right(group: &str, title: &str) -> Self {
        Column {
            align: Align::Right,
            ..Column::left(group, title)
        }
    }
}

/// A table as cells of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, one text a column.
    pub rows: Vec<Vec<String>>,
    /// What a reader has to know of the columns.
    pub legend: Vec<String>,
}

/// Text that may stand in one cell: control characters (a line break, an escape sequence from a
/// tool's output) become spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
