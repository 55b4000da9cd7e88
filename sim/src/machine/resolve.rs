//! From numbers with sources to plain integers, keeping the sources beside them.

use super::error::MachineError;
use crate::numbers::{self, NumberError};
use crate::sourced::Quantity;

/// Collects the numbers of a file while they are resolved.
pub(super) struct Resolver {
    numbers: Vec<(String, Quantity)>,
    wrong: Option<NumberError>,
}

impl Resolver {
    pub(super) fn new() -> Self {
        Resolver {
            numbers: Vec::new(),
            wrong: None,
        }
    }

    /// Notes a number and returns it in base units. The first wrong one is remembered.
    pub(super) fn take(&mut self, path: &str, quantity: &Quantity) -> u64 {
        if let Err(e) = numbers::check(path, quantity) {
            self.wrong.get_or_insert(e);
        }
        self.numbers.push((path.to_owned(), quantity.clone()));
        quantity.base()
    }

    /// The numbers taken, unless one was wrong.
    pub(super) fn finish(self, file: &str) -> Result<Vec<(String, Quantity)>, MachineError> {
        match self.wrong {
            None => Ok(self.numbers),
            Some(source) => Err(MachineError::Number {
                file: file.to_owned(),
                source,
            }),
        }
    }
}
