//! Tables: rows of cell and metric, columns of arms.

mod build;
mod footnotes;
mod types;

pub use build::{RowInput, TableInput, build};
pub use types::{
    Arm, Entry, Expected, Footnote, GeomeanLine, Row, Source, TABLE_FORMAT, Table, Value,
};
