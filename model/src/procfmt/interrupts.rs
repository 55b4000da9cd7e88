//! `/proc/interrupts`: a column for each online CPU, named in the header.

use super::line::LineError;
use crate::id::CpuId;

/// The whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupts {
    /// The CPUs of the columns: not every number is there.
    pub cpus: Vec<CpuId>,
    /// In the order of the file.
    pub rows: Vec<Interrupt>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// `24`, `LOC`.
    pub id: String,
    /// One a column; `ERR` and `MIS` have one number for the machine.
    pub counts: Vec<u64>,
    /// Controller and device.
    pub description: String,
}

/// Reads `/proc/interrupts`.
///
/// # Errors
/// No header of CPUs; a row without a number.
pub fn parse_interrupts(text: &str) -> Result<Interrupts, LineError> {
    let header = text.lines().next().unwrap_or("");
    let cpu = |word: &str| word.strip_prefix("CPU")?.parse().ok().map(CpuId);
    let cpus: Option<Vec<CpuId>> = header.split_ascii_whitespace().map(cpu).collect();
    let cpus = cpus
        .filter(|c| !c.is_empty())
        .ok_or_else(|| LineError::new(0, header, "a header of CPUs"))?;
    let mut rows = Vec::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let Some((id, rest)) = line.split_once(':') else {
            continue;
        };
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let is_count = |w: &&&str| w.bytes().all(|b| b.is_ascii_digit());
        let counts = words.iter().take(cpus.len()).take_while(is_count);
        let counts: Vec<u64> = counts.filter_map(|w| w.parse().ok()).collect();
        if counts.is_empty() {
            return Err(LineError::new(index, line, "an interrupt with its counts"));
        }
        let description = words[counts.len()..].join(" ");
        rows.push(Interrupt {
            id: id.trim().to_owned(),
            counts,
            description,
        });
    }
    Ok(Interrupts { cpus, rows })
}

impl Interrupts {
    /// The sum of a row over its columns, by id.
    pub fn total(&self, id: &str) -> Option<u64> {
        self.rows
            .iter()
            .find(|r| r.id == id)
            .map(|r| r.counts.iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_keyed_by_cpu_number() {
        let text = "           CPU0       CPU2\n 24:          1          3  IO-APIC   5-edge      ACPI:Ged\nLOC:        7        9   Local timer interrupts\nERR:          0\n";
        let table = parse_interrupts(text).unwrap();
        assert_eq!(table.cpus, [CpuId(0), CpuId(2)]);
        assert_eq!(table.total("LOC"), Some(16));
        assert_eq!(table.rows[0].description, "IO-APIC 5-edge ACPI:Ged");
        assert_eq!(table.rows[2].counts, [0]);
        assert!(parse_interrupts("nothing\n").is_err());
    }
}
