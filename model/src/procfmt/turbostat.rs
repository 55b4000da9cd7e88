//! turbostat's table: tab separated, a header, one row a CPU, the row of the whole machine marked by
//! dashes. Rows of a core's second thread end early: what belongs to the core is not repeated.

use super::line::LineError;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TurbostatTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// In the order of the output.
    pub rows: Vec<TurbostatRow>,
}

/// A row; cells that are dashes or missing are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct TurbostatRow {
    /// One a column.
    pub cells: Vec<Option<f64>>,
}

/// Reads the output of turbostat. Lines before the header are passed over; a header printed again
/// starts no new table.
///
/// # Errors
/// No header; a row with more cells than the header.
pub fn parse_turbostat(text: &str) -> Result<TurbostatTable, LineError> {
    let words = |line: &str| {
        line.split('\t')
            .map(|c| c.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let is_header = |line: &str| line.contains("Avg_MHz") || line.contains("Bzy_MHz");
    let mut lines = text.lines().enumerate().skip_while(|(_, l)| !is_header(l));
    let header = lines.next();
    let (_, header) = header.ok_or_else(|| {
        LineError::new(0, text.lines().next().unwrap_or(""), "turbostat's header")
    })?;
    let columns = words(header);
    let mut rows = Vec::new();
    for (index, line) in lines.filter(|(_, l)| !l.trim().is_empty() && !is_header(l)) {
        let mut cells: Vec<Option<f64>> = words(line).iter().map(|c| c.parse().ok()).collect();
        if cells.len() > columns.len() {
            return Err(LineError::new(
                index,
                line,
                format!("a row of {} columns", columns.len()),
            ));
        }
        cells.resize(columns.len(), None);
        rows.push(TurbostatRow { cells });
    }
    Ok(TurbostatTable { columns, rows })
}

impl TurbostatTable {
    /// A cell by column name.
    pub fn cell(&self, row: &TurbostatRow, column: &str) -> Option<f64> {
        *row.cells
            .get(self.columns.iter().position(|c| c == column)?)?
    }

    /// The row of the whole machine: the one without a CPU number.
    pub fn machine(&self) -> Option<&TurbostatRow> {
        self.rows.iter().find(|r| self.cell(r, "CPU").is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_and_the_row_of_the_machine() {
        let text = "turbostat version 20.09.30\nPackage\tCore\tCPU\tAvg_MHz\tBusy%\t     IRQ\tCoreTmp\n-\t-\t-\t67\t3.64\t21133678\t56\n0\t0\t0\t44\t3.71\t  225543\t50\n0\t0\t48\t40\t3.42\t  219188\n";
        let table = parse_turbostat(text).unwrap();
        assert_eq!(table.cell(table.machine().unwrap(), "Avg_MHz"), Some(67.0));
        assert_eq!(table.cell(&table.rows[2], "CPU"), Some(48.0));
        assert_eq!(table.cell(&table.rows[2], "CoreTmp"), None);
        assert!(parse_turbostat("nothing here\n").is_err());
    }
}
