//! What STREAM prints: a table of four rates, then whether the arrays hold what they should. A table
//! without `Solution Validates` is no result, although the exit status is 0.

use crate::workload::resolve::resolved_count;
use crate::workload::runs::{Run, outcome};
use crate::workload::text::{Line, excerpt, finite, lines, unreadable, word_after};
use crate::workload::verdict::{by_end, by_status, no_result};
use crate::workload::{Captured, Failure, Outcome, Params, stream::DEF};

const KERNELS: [&str; 4] = ["copy", "scale", "add", "triad"];
/// stream.c: below 20 ticks of the clock a kernel's time means nothing.
const LEAST_TICKS: f64 = 20.0;

pub(super) fn parse(params: &Params, output: &Captured<'_>) -> Outcome {
    outcome(&DEF, read(params, output))
}

fn read(params: &Params, output: &Captured<'_>) -> Result<(Vec<Run>, Vec<String>), Failure> {
    if let Some(failure) = by_end(output.exit) {
        return Err(failure);
    }
    let lines = lines(output);
    if let Some(failure) = by_status(output.exit, &lines) {
        return Err(failure);
    }
    if let Some(line) = lines.iter().find(|l| l.text.contains("Failed Validation")) {
        return Err(Failure::Validation {
            message: excerpt(&line.text),
        });
    }
    let mut warnings = Vec::new();
    let mut found: Vec<Run> = Vec::new();
    let mut run = Run::default();
    let mut seen = false;
    // Rates are printed in 10^6 bytes; a variant that prints 10^9 says so in its header.
    let mut factor = 1.0;
    for line in &lines {
        let text = line.text.trim();
        if text.contains("STREAM version") || text.starts_with("STREAM ") {
            seen = true;
            unfinished(&run)?;
            run = Run::default();
        }
        if text.starts_with("Function") {
            seen = true;
            factor = if text.contains("GB/s") { 1000.0 } else { 1.0 };
        } else if text.contains("Solution Validates") {
            finish(params, &mut run, &mut found)?;
        } else if !kernel_row(&mut run, text, line, factor)? {
            fact(&mut run, text, &mut warnings);
        }
    }
    unfinished(&run)?;
    if found.is_empty() {
        return Err(no_result(
            output,
            &lines,
            seen,
            "the table of rates and `Solution Validates`",
        ));
    }
    Ok((found, warnings))
}

fn unfinished(run: &Run) -> Result<(), Failure> {
    if run.values.is_empty() {
        return Ok(());
    }
    Err(Failure::Partial {
        message: "`Solution Validates` is missing after the table".to_owned(),
    })
}

fn finish(params: &Params, run: &mut Run, found: &mut Vec<Run>) -> Result<(), Failure> {
    for kernel in KERNELS {
        if !run.values.iter().any(|(name, _)| name == kernel) {
            return Err(Failure::Partial {
                message: format!("no rate of {kernel} before `Solution Validates`"),
            });
        }
    }
    if let (Some(asked), Some(found)) = (
        resolved_count(params, "elements"),
        run.resolved
            .get("elements")
            .and_then(|t| t.parse::<u64>().ok()),
    ) && found < asked
    {
        return Err(Failure::WrongTest {
            asked: format!("arrays of {asked} elements"),
            found: format!("{found} elements"),
        });
    }
    found.push(std::mem::take(run));
    Ok(())
}

fn kernel_row(run: &mut Run, text: &str, line: &Line, factor: f64) -> Result<bool, Failure> {
    let Some((name, rest)) = text.split_once(':') else {
        return Ok(false);
    };
    let name = name.trim().to_lowercase();
    if !KERNELS.contains(&name.as_str()) {
        return Ok(false);
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [rate, times @ ..] = words.as_slice() else {
        return Err(unreadable(line, "`KERNEL: RATE AVG MIN MAX`"));
    };
    if times.len() < 3 {
        return Err(unreadable(line, "`KERNEL: RATE AVG MIN MAX`"));
    }
    let rate = finite(&name, rate, line)?;
    for time in times.iter().take(3) {
        finite(&format!("time of {name}"), time, line)?;
    }
    if rate <= 0.0 {
        return Err(Failure::ZeroWork {
            message: excerpt(text),
        });
    }
    run.push(name, rate * factor);
    Ok(true)
}

/// What the banner says of the run.
fn fact(run: &mut Run, text: &str, warnings: &mut Vec<String>) {
    if let Some(n) = word_after(text, "Array size =") {
        run.says("elements", n);
    } else if let Some(n) = word_after(text, "This system uses") {
        run.says("element-bytes", n);
    } else if let Some(n) = word_after(text, "Each kernel will be executed") {
        run.says("ntimes", n);
    } else if let Some(n) = word_after(text, "Number of Threads counted =") {
        run.says("threads", n);
    } else if let Some(n) = word_after(text, "STREAM version $Revision:") {
        run.says("version", n);
    } else if let Some(n) = word_after(text, "(=").filter(|_| text.contains("clock ticks")) {
        if n.parse::<f64>().is_ok_and(|ticks| ticks < LEAST_TICKS) {
            warnings.push(format!("a kernel takes {n} clock ticks, fewer than 20"));
        }
    } else if text.contains("It appears that you set the preprocessor variable N")
        || text.contains("libgomp: Invalid value")
    {
        warnings.push(excerpt(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;

    const GOOD: &str = "STREAM version $Revision: 5.10 $\nArray size = 10000000 (elements), Offset = 0 (elements)\n\
        Function    Best Rate MB/s  Avg time     Min time     Max time\n\
        Copy:           25956.9     0.006271     0.006164     0.006907\n\
        Scale:          19288.6     0.008348     0.008295     0.008594\n\
        Add:            27675.3     0.008780     0.008672     0.009130\n\
        Triad:          28701.1     0.008413     0.008362     0.008684\n\
        Solution Validates: avg error less than 1.000000e-13 on all three arrays\n";

    fn outcome(text: &str) -> Result<Vec<Run>, Failure> {
        read(&Params::default(), &Captured::from_stdout(text)).map(|(runs, _)| runs)
    }

    #[test]
    fn the_table_counts_only_with_its_validation() {
        assert_eq!(
            outcome(GOOD).unwrap()[0].values[3],
            ("triad".into(), 28701.1)
        );
        let cut = GOOD.split("Solution").next().unwrap();
        assert!(matches!(outcome(cut), Err(Failure::Partial { .. })));
        let wrong = GOOD.replace("Solution Validates:", "Failed Validation on array a[],");
        assert!(matches!(outcome(&wrong), Err(Failure::Validation { .. })));
    }

    #[test]
    fn infinite_rates_and_missing_kernels_are_named() {
        let inf = GOOD.replace("25956.9", "inf");
        assert!(matches!(outcome(&inf), Err(Failure::NotFinite { .. })));
        let three: String = GOOD
            .lines()
            .filter(|l| !l.starts_with("Add"))
            .collect::<Vec<_>>()
            .join("\n");
        assert!(matches!(outcome(&three), Err(Failure::Partial { .. })));
    }

    // Case B11: a program compiled with smaller arrays than asked measures its caches.
    #[test]
    fn arrays_smaller_than_asked_are_another_test() {
        let asked = Params(
            [("elements".to_owned(), ParamValue::Int(402_653_184))]
                .into_iter()
                .collect(),
        );
        let outcome = read(&asked, &Captured::from_stdout(GOOD));
        assert!(matches!(outcome, Err(Failure::WrongTest { .. })));
    }
}
