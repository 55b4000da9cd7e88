//! Sysctls, scheduler features and debugfs knobs, transparent huge pages, interrupts.

use super::facts::{Reading, TuneFacts};
use super::plan::{Part, sum_up};
use super::write::{Planned, ReadBack, Write};
use crate::cpuset::CpuSet;
use crate::host::KnobTarget;
use crate::procfmt::parse_features;

const DEBUG: &str = "sys/kernel/debug/sched";
const FEATURES: [&str; 2] = [
    "sys/kernel/debug/sched/features",
    "sys/kernel/debug/sched_features",
];
const VERBOSE: &str = "sys/kernel/debug/sched/verbose";
const THP: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const IRQ: &str = "proc/irq/#/smp_affinity_list";

pub(super) fn wanted(target: &KnobTarget) -> Vec<String> {
    let one = |path: &str| vec![path.to_owned()];
    match target {
        KnobTarget::Sysctl { name, .. } => sysctl_path(name).into_iter().collect(),
        KnobTarget::SchedFeature(_) => FEATURES.map(str::to_owned).to_vec(),
        KnobTarget::SchedDebug { file, .. } => {
            let path = debug_path(file).into_iter();
            path.chain([VERBOSE, FEATURES[0]].map(str::to_owned))
                .collect()
        }
        KnobTarget::Thp(_) => one(THP),
        KnobTarget::IrqAffinity(_) => one(IRQ),
        _ => Vec::new(),
    }
}

/// The file of a sysctl: dots part the name, or slashes where a part has a dot itself
/// (`net/ipv4/conf/eth0.5/forwarding`).
fn sysctl_path(name: &str) -> Option<String> {
    let parts: Vec<&str> = name
        .split(if name.contains('/') { '/' } else { '.' })
        .collect();
    let clean = parts
        .iter()
        .all(|p| !p.is_empty() && *p != ".." && *p != ".");
    (clean && parts.len() > 1).then(|| format!("proc/sys/{}", parts.join("/")))
}

pub(super) fn sysctl(facts: &TuneFacts, name: &str, value: &str) -> Part {
    let Some(path) = sysctl_path(name) else {
        let why = format!("`{name}` is not the name of a sysctl, such as kernel.numa_balancing");
        return (name.into(), None, Planned::NotAvailable(why));
    };
    if !facts.has(&path) {
        let moved = name
            .strip_prefix("kernel.sched_")
            .and_then(moved_to_debugfs);
        let why = match moved {
            Some(file) => {
                format!("no sysctl {name} on this kernel: since 5.13 it is {DEBUG}/{file}")
            }
            None => format!("no sysctl {name} on this kernel"),
        };
        return (path, None, Planned::NotAvailable(why));
    }
    single(facts, path, value, ReadBack::Words)
}

/// Names that went from sysctl to debugfs in 5.13.
fn moved_to_debugfs(name: &str) -> Option<&'static str> {
    let moved = [
        ("latency_ns", "latency_ns"),
        (
            "min_granularity_ns",
            "min_granularity_ns (base_slice_ns since 6.6)",
        ),
        (
            "wakeup_granularity_ns",
            "wakeup_granularity_ns (gone since 6.6)",
        ),
        ("migration_cost_ns", "migration_cost_ns"),
        ("nr_migrate", "nr_migrate"),
        ("tunable_scaling", "tunable_scaling"),
    ];
    moved
        .iter()
        .find(|(old, _)| *old == name)
        .map(|(_, new)| *new)
}

pub(super) fn feature(facts: &TuneFacts, token: &str) -> Part {
    let Some(path) = FEATURES.into_iter().find(|p| facts.has(p)) else {
        let why = "no scheduler features: debugfs is not mounted, or CONFIG_SCHED_DEBUG is off";
        return (FEATURES[0].into(), None, Planned::NotAvailable(why.into()));
    };
    let text = facts.text(path).unwrap_or("");
    let name = token.strip_prefix("NO_").unwrap_or(token);
    let known = parse_features(text);
    if !text.is_empty() && !known.iter().any(|f| f.name == name) {
        let names: Vec<&str> = known.iter().map(|f| f.name.as_str()).collect();
        let why = format!(
            "this kernel has no scheduler feature {name}; it has {}",
            names.join(" ")
        );
        return (path.into(), Some(text.into()), Planned::NotAvailable(why));
    }
    single(facts, path.into(), token, ReadBack::Feature)
}

/// The file of a knob below the scheduler's debugfs folder; a part may be `*`.
fn debug_path(file: &str) -> Option<String> {
    let clean = file
        .split('/')
        .all(|p| !p.is_empty() && p != ".." && p != "." && p != "features");
    clean.then(|| format!("{DEBUG}/{file}"))
}

pub(super) fn debug_file(facts: &TuneFacts, file: &str, value: &str) -> Part {
    let Some(pattern) = debug_path(file) else {
        let why = format!("`{file}` is not a file below {DEBUG}; features are set by name");
        return (file.into(), None, Planned::NotAvailable(why));
    };
    let paths = facts.matching(&pattern);
    if paths.is_empty() {
        let why = match facts.text(VERBOSE) {
            Some("N" | "0") if file.starts_with("domains/") => {
                "the domains folder appears only with `verbose` set to Y".to_owned()
            }
            Some(_) => format!("this kernel has no {DEBUG}/{file}"),
            None if !facts.has(FEATURES[0]) => {
                format!("no {DEBUG}: debugfs is not mounted, or the kernel is older than 5.13")
            }
            None => format!("this kernel has no {DEBUG}/{file}"),
        };
        return (pattern, None, Planned::NotAvailable(why));
    }
    let read_back = if file == "preempt" {
        ReadBack::Bracketed
    } else {
        ReadBack::Words
    };
    if let [path] = paths[..] {
        return single(facts, path.into(), value, read_back);
    }
    let writes = paths.iter().filter(|p| !holds(facts, p, value, read_back));
    let writes: Vec<Write> = writes
        .map(|p| Write {
            read_back,
            ..Write::words(*p, value)
        })
        .collect();
    let before = sum_up(paths.iter().map(|p| facts.text(p)));
    let planned = if writes.is_empty() {
        Planned::Holds(value.into())
    } else {
        Planned::Writes(writes)
    };
    (pattern, before, planned)
}

pub(super) fn thp(facts: &TuneFacts, word: &str) -> Part {
    let Some(text) = facts.text(THP) else {
        let why = "no transparent huge pages in this kernel".to_owned();
        return (THP.into(), None, Planned::NotAvailable(why));
    };
    let offered = |w: &str| w.trim_matches(['[', ']']) == word;
    if !text.split_ascii_whitespace().any(offered) {
        let why = format!("transparent_hugepage/enabled offers {text}, not {word}");
        return (THP.into(), Some(text.into()), Planned::NotAvailable(why));
    }
    single(facts, THP.into(), word, ReadBack::Bracketed)
}

pub(super) fn irq_affinity(facts: &TuneFacts, cpus: &CpuSet) -> Part {
    let place = IRQ.replace('#', "*");
    let paths = facts.matching(IRQ);
    if paths.is_empty() {
        let why = "no interrupt whose affinity can be set".to_owned();
        return (place, None, Planned::NotAvailable(why));
    }
    let value = cpus.to_string();
    let writes = paths
        .iter()
        .filter(|p| !holds(facts, p, &value, ReadBack::CpuList));
    let writes: Vec<Write> = writes
        .map(|p| Write {
            read_back: ReadBack::CpuList,
            may_refuse: true,
            ..Write::words(*p, &value)
        })
        .collect();
    let before = sum_up(paths.iter().map(|p| facts.text(p)));
    let planned = if writes.is_empty() {
        Planned::Holds(value)
    } else {
        Planned::Writes(writes)
    };
    (place, before, planned)
}

fn holds(facts: &TuneFacts, path: &str, value: &str, read_back: ReadBack) -> bool {
    facts
        .text(path)
        .is_some_and(|text| read_back.holds(text, value))
}

fn single(facts: &TuneFacts, path: String, value: &str, read_back: ReadBack) -> Part {
    let before = match facts.reading(&path) {
        Some(Reading::Text(text)) => read_back.value_of(text, value),
        _ => None,
    };
    if holds(facts, &path, value, read_back) {
        return (path, before, Planned::Holds(value.into()));
    }
    let write = Write {
        read_back,
        ..Write::words(path.clone(), value)
    };
    (path, before, Planned::Writes(vec![write]))
}
