//! A table as text for a mail, as Markdown, as comma-separated values. As JSON a table serialises
//! itself.

mod csv;
mod markdown;
pub mod number;
mod sheet;
mod style;
mod styles;
mod text;

#[cfg(test)]
mod tests;

pub use csv::csv;
pub use markdown::markdown;
pub use sheet::{Align, Column, Sheet};
pub use style::Style;
pub use styles::sheet;
pub use text::{context_lines, geomean_lines, text};
