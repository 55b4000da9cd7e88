//! The phrases of the language, as shapes.

use super::amount::{self, Amount};
use super::cpu_max;
use super::shape::{Phrase, Shape};
use super::words;

macro_rules! phrase {
    ($(#[$doc:meta])* $name:ident, $expected:expr, $pattern:literal, $read:expr) => {
        $(#[$doc])*
        pub(super) const $name: Shape = Shape::Phrase(&Phrase {
            expected: $expected,
            pattern: $pattern,
            check: |text| $read(text).map(drop),
        });
    };
}

phrase!(
    /// A time with its unit.
    TIME, words::TIME, r"^[0-9.]+ *(us|usec|ms|msec|s|sec|min|h)$", words::parse_time_us
);
phrase!(
    /// A share with its sign.
    SHARE, words::SHARE, r"^[0-9.]+ *%$", words::parse_share
);
phrase!(
    /// A list of CPUs.
    CPUS, words::CPUS, r"^(cpus )?[0-9]+([-,:/][0-9]+)*$", words::parse_cpus
);
phrase!(
    /// Which CPUs an arm may use.
    AFFINITY, words::AFFINITY, r"^[a-z0-9,: -]+$", words::parse_affinity
);
phrase!(
    /// Where copies of a workload run.
    PLACE, words::PLACE, r"^[A-Za-z0-9,:/._ -]+$", words::parse_place
);
phrase!(
    /// A stop rule.
    UNTIL, words::UNTIL, r"^ci *<= *[0-9.]+ *%$", words::parse_until
);
phrase!(
    /// A frequency with its unit.
    FREQUENCY, words::FREQUENCY, r"^[0-9.]+ *(kHz|MHz|GHz)$", words::parse_khz
);
phrase!(
    /// A bound on a count.
    BOUND, words::BOUND, r"^(>=|<=|=)? *[0-9]+$", words::parse_bound
);
phrase!(
    /// A bound on memory.
    MEMORY, words::MEMORY_BOUND, r"^>= *[0-9.]+ *(B|KiB|MiB|GiB|TiB)$", words::parse_memory_bound
);
phrase!(
    /// A count, fixed or in parts of the machine.
    AMOUNT, amount::EXPECTED, r"^-?[0-9]+%?( (x|per))?( [a-z]+)?$|^[a-z]+$", Amount::parse
);
phrase!(
    /// `cpu.max` in one line.
    CPU_MAX, cpu_max::EXPECTED, r"^(max|[0-9.]+%? cpus?|(max|[0-9]+) [0-9]+)$", cpu_max::parse
);
