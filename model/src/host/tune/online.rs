//! SMT and CPU hotplug.

use super::facts::TuneFacts;
use super::plan::Part;
use super::write::{Planned, Write};
use crate::cpuset::CpuSet;

const SMT: &str = "sys/devices/system/cpu/smt/control";
const ONLINE: &str = "sys/devices/system/cpu/cpu#/online";
/// What comes back with defaults when a CPU does.
const LOST: [&str; 2] = [
    "sys/devices/system/cpu/cpu#/cpuidle/state#/disable",
    "proc/irq/#/smp_affinity_list",
];

pub(super) fn wanted() -> Vec<String> {
    [
        SMT,
        ONLINE,
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/present",
    ]
    .into_iter()
    .chain(LOST)
    .map(str::to_owned)
    .collect()
}

pub(super) fn smt(facts: &TuneFacts, on: bool) -> Part {
    let before = facts.text(SMT).map(str::to_owned);
    let want = if on { "on" } else { "off" };
    let planned = match before.as_deref() {
        None => Planned::NotAvailable("no smt/control: this kernel cannot switch SMT".into()),
        Some(now) if now == want => Planned::Holds(want.into()),
        Some(none @ ("notsupported" | "notimplemented")) if !on => {
            Planned::Holds(format!("{none}: no SMT here"))
        }
        Some(none @ ("notsupported" | "notimplemented")) => {
            Planned::NotAvailable(format!("smt/control reads {none}: no SMT here"))
        }
        Some("forceoff") if on => {
            Planned::NotAvailable("SMT is forced off: boot without nosmt=force".into())
        }
        Some("forceoff") => Planned::Holds("forceoff".into()),
        Some(_) => {
            let mut write = Write::words(SMT, want);
            // Switching back on brings every sibling up, also one that was down before.
            write.also = lost_with(facts, None);
            Planned::Writes(vec![write])
        }
    };
    (SMT.into(), before, planned)
}

pub(super) fn offline(facts: &TuneFacts, cpus: &CpuSet) -> Part {
    let place = ONLINE.replace('#', &format!("{{{cpus}}}"));
    let before = facts
        .text("sys/devices/system/cpu/online")
        .map(str::to_owned);
    let path = |cpu: String| ONLINE.replace('#', &cpu);
    let fixed: CpuSet = cpus
        .iter()
        .filter(|c| !facts.has(&path(c.to_string())))
        .collect();
    if !fixed.is_empty() {
        let why = format!("CPUs {fixed} have no online file: they are absent or cannot go offline");
        return (place, before, Planned::NotAvailable(why));
    }
    let up = cpus
        .iter()
        .filter(|c| facts.text(&path(c.to_string())) != Some("0"));
    let writes: Vec<Write> = up
        .map(|cpu| {
            let mut write = Write::words(path(cpu.to_string()), "0");
            write.also = lost_with(facts, Some(cpu.0));
            write
        })
        .collect();
    let planned = if writes.is_empty() {
        Planned::Holds("0".into())
    } else {
        Planned::Writes(writes)
    };
    (place, before, planned)
}

/// The files that lose their values when CPUs go: all CPUs, or one.
fn lost_with(facts: &TuneFacts, cpu: Option<u32>) -> Vec<String> {
    let states = match cpu {
        None => LOST[0].to_owned(),
        Some(cpu) => LOST[0].replacen('#', &cpu.to_string(), 1),
    };
    let online = if cpu.is_none() {
        facts.matching(ONLINE)
    } else {
        Vec::new()
    };
    let irqs = facts.matching(LOST[1]);
    let all = online
        .into_iter()
        .chain(facts.matching(&states))
        .chain(irqs);
    all.map(str::to_owned).collect()
}
