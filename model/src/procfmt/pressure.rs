//! Pressure files (PSI). The averages lag; `total` is what is subtracted.

use super::line::LineError;

/// `some` or `full` of a pressure file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureLine {
    /// Percent over the last 10 seconds.
    pub avg10: f64,
    /// Percent over the last minute.
    pub avg60: f64,
    /// Percent over the last five minutes.
    pub avg300: f64,
    /// Microseconds since boot, or since the group was made.
    pub total_us: u64,
}

/// A pressure file. `full` of the machine's cpu file is 0, and absent before 5.13.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// At least one task waited.
    pub some: Option<PressureLine>,
    /// All waited.
    pub full: Option<PressureLine>,
}

/// Reads `cpu.pressure` or `/proc/pressure/cpu`.
///
/// # Errors
/// A line that is not `some` or `full` with its four values.
pub fn parse_pressure(text: &str) -> Result<Pressure, LineError> {
    let mut pressure = Pressure::default();
    for (index, line) in text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty())
    {
        let bad = || {
            LineError::new(
                index,
                line,
                "`some` or `full` with avg10, avg60, avg300, total",
            )
        };
        let (kind, rest) = line.split_once(' ').ok_or_else(bad)?;
        let get = |key: &str| {
            rest.split(' ')
                .find_map(|w| w.strip_prefix(key)?.strip_prefix('='))
        };
        let average = |key| get(key).and_then(|v| v.parse::<f64>().ok()).ok_or_else(bad);
        let total_us = get("total").and_then(|v| v.parse().ok()).ok_or_else(bad)?;
        let (avg10, avg60, avg300) = (average("avg10")?, average("avg60")?, average("avg300")?);
        let value = PressureLine {
            avg10,
            avg60,
            avg300,
            total_us,
        };
        match kind {
            "some" => pressure.some = Some(value),
            "full" => pressure.full = Some(value),
            _ => return Err(bad()),
        }
    }
    Ok(pressure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_and_only_one() {
        let text = "some avg10=12.31 avg60=2.22 avg300=0.46 total=1650644\nfull avg10=12.31 avg60=2.22 avg300=0.46 total=1650643\n";
        let pressure = parse_pressure(text).unwrap();
        assert_eq!(pressure.full.unwrap().total_us, 1_650_643);
        assert_eq!(pressure.some.unwrap().avg10, 12.31);
        assert_eq!(
            parse_pressure(text.lines().next().unwrap()).unwrap().full,
            None
        );
        assert!(parse_pressure("some avg10=1\n").is_err());
    }
}
