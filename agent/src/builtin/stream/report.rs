//! What STREAM prints.

use std::fmt::Write as _;

use super::arrays::{EPSILON, KERNELS, Kernel, expected};

const RULE: &str = "-------------------------------------------------------------\n";
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

/// Everything before the measurement.
pub(super) fn banner(version: &str, elements: usize, ntimes: usize, threads: usize) -> String {
    let bytes = 8.0 * elements as f64;
    format!(
        "{RULE}STREAM version {version}\n{RULE}\
         This system uses 8 bytes per array element.\n{RULE}\
         Array size = {elements} (elements), Offset = 0 (elements)\n\
         Memory per array = {:.1} MiB (= {:.1} GiB).\n\
         Total memory required = {:.1} MiB (= {:.1} GiB).\n\
         Each kernel will be executed {ntimes} times.\n \
         The *best* time for each kernel (excluding the first iteration)\n \
         will be used to compute the reported bandwidth.\n{RULE}\
         Number of Threads requested = {threads}\n\
         Number of Threads counted = {threads}\n{RULE}",
        bytes / MIB,
        bytes / GIB,
        3.0 * bytes / MIB,
        3.0 * bytes / GIB,
    )
}

/// The clock's step and how many of them a kernel takes: below 20 the rates mean nothing.
pub(super) fn clock_note(step_us: u64, kernel_us: u64) -> String {
    let step = match step_us {
        0 => "Your clock granularity appears to be less than one microsecond.\n".to_owned(),
        us => format!("Your clock granularity/precision appears to be {us} microseconds.\n"),
    };
    format!(
        "{step}Each test below will take on the order of {kernel_us} microseconds.\n   \
         (= {} clock ticks)\n\
         Increase the size of the arrays if this shows that\n\
         you are not getting at least 20 clock ticks per test.\n{RULE}",
        kernel_us / step_us.max(1)
    )
}

/// The table; `times` are seconds by run, then by kernel.
pub(super) fn table(elements: usize, times: &[[f64; 4]]) -> String {
    let mut text = "Function    Best Rate MB/s  Avg time     Min time     Max time\n".to_owned();
    for (at, kernel) in KERNELS.into_iter().enumerate() {
        let counted: Vec<f64> = times.iter().skip(1).map(|run| run[at]).collect();
        let mean = counted.iter().sum::<f64>() / counted.len() as f64;
        let least = counted.iter().copied().fold(f64::INFINITY, f64::min);
        let most = counted.iter().copied().fold(0.0, f64::max);
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "{:<11}{:>12.1}  {mean:>11.6}  {least:>11.6}  {most:>11.6}",
            kernel.name(),
            rate(kernel, elements, least),
        );
    }
    text.push_str(RULE);
    text
}

/// 10^6 bytes per second.
fn rate(kernel: Kernel, elements: usize, seconds: f64) -> f64 {
    1e-6 * kernel.bytes(elements) / seconds
}

/// The verdict on the arrays, and whether they hold what they should. `sums` are the absolute
/// errors of a, b and c over all elements.
pub(super) fn validation(elements: usize, ntimes: usize, sums: [f64; 3]) -> (String, bool) {
    let mut text = String::new();
    for ((name, sum), value) in ["a", "b", "c"].into_iter().zip(sums).zip(expected(ntimes)) {
        let mean = sum / elements as f64;
        let relative = (mean / value).abs();
        // Also wrong when it is no number.
        if relative.is_nan() || relative > EPSILON {
            let _ = writeln!(
                text,
                "Failed Validation on array {name}[], AvgRelAbsErr > epsilon ({EPSILON:e})\n     \
                 Expected Value: {value:e}, AvgAbsErr: {mean:e}, AvgRelAbsErr: {relative:e}"
            );
        }
    }
    let valid = text.is_empty();
    if valid {
        text.push_str("Solution Validates: avg error less than 1.000000e-13 on all three arrays\n");
    }
    text.push_str(RULE);
    (text, valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_originals_columns_and_leaves_out_the_first_run() {
        let times = [[9.0; 4], [0.5, 0.25, 0.75, 1.0], [0.25, 0.5, 0.5, 0.75]];
        assert_eq!(
            table(1_000_000, &times),
            "Function    Best Rate MB/s  Avg time     Min time     Max time\n\
             Copy:              64.0     0.375000     0.250000     0.500000\n\
             Scale:             64.0     0.375000     0.250000     0.500000\n\
             Add:               48.0     0.625000     0.500000     0.750000\n\
             Triad:             32.0     0.875000     0.750000     1.000000\n\
             -------------------------------------------------------------\n"
        );
    }

    #[test]
    fn validation_fails_on_errors_and_on_what_is_no_number() {
        let (text, valid) = validation(10, 10, [0.0; 3]);
        assert!(valid && text.starts_with("Solution Validates"), "{text}");
        for sums in [[0.0, 1.0, 0.0], [f64::NAN, 0.0, 0.0]] {
            let (text, valid) = validation(10, 2, sums);
            assert!(!valid && text.starts_with("Failed Validation"), "{text}");
            assert!(!text.contains("Solution Validates"), "{text}");
        }
    }

    #[test]
    fn the_note_counts_clock_ticks() {
        assert!(clock_note(2, 100).contains("(= 50 clock ticks)"));
        assert!(clock_note(0, 100).contains("(= 100 clock ticks)"));
    }
}
