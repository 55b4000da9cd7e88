//! The texts a playbook was read from, and places in them.

use serde::{Deserialize, Serialize};

/// A place in one of the files of a playbook.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Pos {
    /// Index of the file in its [`Sources`].
    pub file: u16,
    /// From 1; 0: the file as a whole.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// Characters from there on that are meant; at least 1 where a line is known.
    pub width: u32,
}

/// A file of a playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As it was given or asked for.
    pub name: String,
    /// Its whole text.
    pub text: String,
}

/// Every file of a playbook, the one that was asked for first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Adds a file and returns its index.
    pub fn add(&mut self, name: &str, text: &str) -> u16 {
        self.files.push(Source {
            name: name.to_owned(),
            text: text.to_owned(),
        });
        u16::try_from(self.files.len() - 1).unwrap_or(u16::MAX)
    }

    /// A file by its index.
    pub fn get(&self, file: u16) -> Option<&Source> {
        self.files.get(usize::from(file))
    }

    /// The name of the file a position is in.
    pub fn name_of(&self, pos: Pos) -> &str {
        self.get(pos.file).map_or("", |s| &s.name)
    }

    /// The line a position is in, without its end.
    pub fn line_of(&self, pos: Pos) -> Option<&str> {
        let index = usize::try_from(pos.line).ok()?.checked_sub(1)?;
        self.get(pos.file)?.text.lines().nth(index)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
