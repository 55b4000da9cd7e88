//! Share of samples by symbol: `perf report --stdio --no-children -F overhead,comm,dso,symbol -t '|'`.

use super::line::LineError;

/// A symbol and its share of the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolShare {
    /// Percent of all samples.
    pub percent: f64,
    /// The command.
    pub command: String,
    /// The object: `[kernel.kallsyms]`, `libc.so.6`.
    pub object: String,
    /// Whether it is kernel code (`[k]`).
    pub kernel: bool,
    /// The symbol, or an address where there is none.
    pub symbol: String,
}

/// Reads such a report. Comments and empty lines are passed over.
///
/// # Errors
/// A line that is not a percentage, a command, an object and a symbol.
pub fn parse_perf_report(text: &str) -> Result<Vec<SymbolShare>, LineError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    let row = |(index, line): (usize, &str)| {
        let parse = || {
            let mut fields = line.splitn(4, '|').map(str::trim);
            let percent = fields.next()?.strip_suffix('%')?.parse().ok()?;
            let (command, object, symbol) = (fields.next()?, fields.next()?, fields.next()?);
            let (mark, symbol) = symbol.split_once(' ')?;
            Some(SymbolShare {
                percent,
                command: command.to_owned(),
                object: object.to_owned(),
                kernel: mark == "[k]",
                symbol: symbol.trim().to_owned(),
            })
        };
        parse().ok_or_else(|| LineError::new(index, line, "percentage|command|object|symbol"))
    };
    lines.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_and_user_symbols() {
        let text = "# Samples: 362  of event 'cpu-clock'\n#\n# Overhead|Command|Shared Object|Symbol\n 20.72% |sh     |libc.so.6           |[.] __strcmp_evex\n 4.14%  |hackbench|[kernel.kallsyms]|[k] update_load_avg\n 1.10%  |sh|dash|[.] 0x0000000000009d55\n\n";
        let shares = parse_perf_report(text).unwrap();
        assert_eq!((shares[0].percent, shares[0].kernel), (20.72, false));
        assert!(shares[1].kernel && shares[1].symbol == "update_load_avg");
        assert_eq!(shares[2].symbol, "0x0000000000009d55");
        assert!(parse_perf_report("20,72%|sh|libc|[.] x\n").is_err());
    }
}
