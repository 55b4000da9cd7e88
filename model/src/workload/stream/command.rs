//! The command line of STREAM, the size its rule asks for, and what that needs of the machine.

use crate::topology::Topology;
use crate::workload::preflight::{Need, check};
use crate::workload::resolve::{Reader, resolved_count};
use crate::workload::{
    Command, Implementation, Limits, ParamError, Params, PreflightFinding, stream::DEF,
};

/// `STREAM_ARRAY_SIZE` of stream.c 5.10.
const DEFAULT_ELEMENTS: u64 = 10_000_000;
/// stream.c 5.10: each array at least 4 times the last-level caches used.
const CACHE_FACTOR: u64 = 4;
const ELEMENT_BYTES: u64 = 8;
const ARRAYS: u64 = 3;

/// Parameters after defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamParams {
    /// Elements of 8 bytes in each array.
    pub elements: u64,
    /// How often each kernel runs.
    pub ntimes: u64,
    /// Threads.
    pub threads: u64,
}

/// The elements that STREAM's rule asks for on these CPUs; `None` where no cache size is known.
pub fn required_elements(machine: &Topology) -> Option<u64> {
    let llc = machine.llc_bytes_of(&machine.usable())?;
    Some(llc.checked_mul(CACHE_FACTOR)?.div_ceil(ELEMENT_BYTES))
}

/// The original has no arguments: its size is compiled in and checked in its output. The builtin
/// takes `--elements`, `--ntimes` and `--threads` and prints what the original prints.
pub(super) fn command(
    params: &Params,
    implementation: Implementation,
    machine: &Topology,
) -> Result<(Command, Params), ParamError> {
    let mut reader = Reader::new(&DEF, params)?;
    let cpus = u64::try_from(machine.usable().len()).unwrap_or(1).max(1);
    let derived = required_elements(machine)
        .unwrap_or(0)
        .max(DEFAULT_ELEMENTS);
    let p = StreamParams {
        elements: reader.count_or("elements", derived)?,
        ntimes: reader.count("ntimes")?,
        threads: reader.count_or("threads", cpus)?,
    };
    let mut args = Vec::new();
    if implementation == Implementation::Builtin {
        for (flag, value) in [
            ("--elements", p.elements),
            ("--ntimes", p.ntimes),
            ("--threads", p.threads),
        ] {
            args.extend([flag.to_owned(), value.to_string()]);
        }
    }
    let mut command = Command::of("stream", implementation, args);
    if implementation == Implementation::Tool {
        command
            .env
            .insert("OMP_NUM_THREADS".to_owned(), p.threads.to_string());
    }
    Ok((command, reader.finish()))
}

pub(super) fn preflight(
    params: &Params,
    _implementation: Implementation,
    instances: u32,
    machine: &Topology,
    limits: &Limits,
) -> Vec<PreflightFinding> {
    let elements = resolved_count(params, "elements").unwrap_or(DEFAULT_ELEMENTS);
    let threads = resolved_count(params, "threads").unwrap_or(1);
    let array = elements.saturating_mul(ELEMENT_BYTES);
    let instances = u64::from(instances);
    let need = Need {
        who: format!("stream with {elements} elements"),
        tasks: threads.saturating_mul(instances),
        files: 16,
        memory_bytes: array.saturating_mul(ARRAYS).saturating_mul(instances),
        ..Need::default()
    };
    let mut findings = check(&need, limits);
    match machine.llc_bytes_of(&machine.usable()) {
        Some(llc) if array < llc.saturating_mul(CACHE_FACTOR) => {
            findings.push(PreflightFinding::Refuse(format!(
                "elements={elements} ({:.1} MiB) < {CACHE_FACTOR} x {:.0} MiB of last-level cache: \
                 {} elements measure memory",
                mib(array),
                mib(llc),
                llc.saturating_mul(CACHE_FACTOR).div_ceil(ELEMENT_BYTES)
            )));
        }
        Some(_) => {}
        None => findings.push(PreflightFinding::Warn(format!(
            "no last-level cache size is known here: whether {elements} elements ({:.1} MiB) exceed \
             it was not checked",
            mib(array)
        ))),
    }
    findings
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;
    use crate::workload::test_machine::{machine, with_l3};

    // Case B11: two packages with 384 MiB of L3 each need 402,653,184 elements.
    #[test]
    fn the_array_is_sized_from_the_caches_used() {
        let genoa = with_l3(&[Some(384 << 20), Some(384 << 20)]);
        let (command, resolved) =
            command(&Params::default(), Implementation::Builtin, &genoa).unwrap();
        assert_eq!(
            command.args.join(" "),
            "--elements 402653184 --ntimes 10 --threads 4"
        );
        let findings = preflight(
            &resolved,
            Implementation::Builtin,
            1,
            &genoa,
            &Limits::default(),
        );
        assert_eq!(findings, []);
    }

    #[test]
    fn the_default_size_on_a_large_cache_is_refused_with_the_numbers() {
        let genoa = with_l3(&[Some(384 << 20), Some(384 << 20)]);
        let given = Params(
            [("elements".to_owned(), ParamValue::Int(10_000_000))]
                .into_iter()
                .collect(),
        );
        let findings = preflight(&given, Implementation::Tool, 1, &genoa, &Limits::default());
        assert!(
            matches!(findings.as_slice(), [PreflightFinding::Refuse(t)]
                if t.starts_with("elements=10000000 (76.3 MiB) < 4 x 768 MiB")),
            "{findings:?}"
        );
    }

    #[test]
    fn an_unknown_cache_is_a_warning_and_too_little_memory_a_refusal() {
        let unknown = with_l3(&[None]);
        let (_, resolved) = command(&Params::default(), Implementation::Tool, &unknown).unwrap();
        let limits = Limits {
            memory_available_bytes: Some(100 << 20),
            ..Limits::default()
        };
        let findings = preflight(&resolved, Implementation::Tool, 1, &unknown, &limits);
        assert!(matches!(
            findings.as_slice(),
            [PreflightFinding::Refuse(_), PreflightFinding::Warn(_)]
        ));
    }

    #[test]
    fn the_original_gets_its_threads_from_the_environment() {
        let (command, _) = command(&Params::default(), Implementation::Tool, &machine()).unwrap();
        assert!(command.args.is_empty());
        assert_eq!(command.env["OMP_NUM_THREADS"], "4");
    }
}
