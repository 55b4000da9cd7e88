//! From a style's name to its sheet.

use super::{benchstat, lkml, lkp, mmtests, schedrig};
use crate::render::{Sheet, Style};
use crate::table::Table;

/// The table as cells of text in a style.
pub fn sheet(table: &Table, style: Style) -> Sheet {
    match style {
        Style::Schedrig => schedrig::sheet(table),
        Style::Lkml => lkml::sheet(table),
        Style::Lkp => lkp::sheet(table),
        Style::Mmtests => mmtests::sheet(table),
        Style::Benchstat => benchstat::sheet(table),
    }
}
