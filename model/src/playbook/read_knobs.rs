//! Settings of `prepare` and of arms, as knobs.

use crate::host::{Knob, KnobTarget};

use super::lookup;
use super::node::Node;
use super::words;

/// The knobs of a map that has the keys of `prepare` or of an arm, in a fixed order.
pub(super) fn knobs(node: &Node, default_required: bool) -> Vec<Knob> {
    let all = default_required || lookup::text(node, "required") == Some("true");
    let mut knobs = Vec::new();
    let mut push = |target, required| knobs.push(Knob { target, required });
    if let Some(on) = lookup::switch(node, "smt") {
        push(KnobTarget::Smt(on), all);
    }
    if let Some((cpus, _)) = lookup::phrase(node, "offline", words::parse_cpus) {
        push(KnobTarget::Offline(cpus), all);
    }
    if let Some(map) = node.get("cpufreq") {
        let required = all || lookup::text(map, "required") == Some("true");
        cpufreq(map).into_iter().for_each(|t| push(t, required));
    }
    if let Some(map) = node.get("cpuidle") {
        let required = all || lookup::text(map, "required") == Some("true");
        cpuidle(map).into_iter().for_each(|t| push(t, required));
    }
    if let Some((us, _)) = lookup::time_us(node, "dma_latency") {
        push(
            KnobTarget::DmaLatencyUs(u32::try_from(us).unwrap_or(u32::MAX)),
            all,
        );
    }
    if let Some(word) = lookup::text(node, "thp") {
        push(KnobTarget::Thp(word.to_owned()), all);
    }
    for (name, value) in lookup::pairs(node, "sysctl") {
        push(KnobTarget::Sysctl { name, value }, all);
    }
    for feature in lookup::words(node, "sched_features") {
        push(KnobTarget::SchedFeature(feature), all);
    }
    for (file, value) in lookup::pairs(node, "sched_debug") {
        push(KnobTarget::SchedDebug { file, value }, all);
    }
    if let Some((cpus, _)) = lookup::phrase(node, "irq_affinity", words::parse_cpus) {
        push(KnobTarget::IrqAffinity(cpus), all);
    }
    knobs
}

fn cpufreq(map: &Node) -> Vec<KnobTarget> {
    let mut targets = Vec::new();
    if let Some(governor) = lookup::text(map, "governor") {
        targets.push(KnobTarget::CpufreqGovernor(governor.to_owned()));
    }
    if let Some((khz, _)) = lookup::phrase(map, "min", words::parse_khz) {
        targets.push(KnobTarget::CpufreqMinKhz(khz));
    }
    if let Some((khz, _)) = lookup::phrase(map, "max", words::parse_khz) {
        targets.push(KnobTarget::CpufreqMaxKhz(khz));
    }
    if let Some(on) = lookup::switch(map, "boost") {
        targets.push(KnobTarget::CpufreqBoost(on));
    }
    if let Some(word) = lookup::text(map, "epp") {
        targets.push(KnobTarget::CpufreqEpp(word.to_owned()));
    }
    targets
}

fn cpuidle(map: &Node) -> Vec<KnobTarget> {
    let mut targets = Vec::new();
    for state in lookup::words(map, "disable") {
        targets.push(match state.as_str() {
            "all" => KnobTarget::CpuidleDisableAll,
            _ => KnobTarget::CpuidleDisableState(state),
        });
    }
    if let Some((us, _)) = lookup::time_us(map, "max_latency") {
        targets.push(KnobTarget::CpuidleMaxLatencyUs(
            u32::try_from(us).unwrap_or(u32::MAX),
        ));
    }
    targets
}
