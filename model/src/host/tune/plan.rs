//! From knobs to writes.

use super::facts::TuneFacts;
use super::write::{KnobPlan, Planned};
use super::{cpufreq, cpuidle, online, scheduler};
use crate::host::{Knob, KnobTarget};

/// Files that have to be read before knobs are planned: patterns of [`super::matches_pattern`].
pub fn paths_wanted(knobs: &[Knob]) -> Vec<String> {
    let mut wanted: Vec<String> = Vec::new();
    for knob in knobs {
        let more = match &knob.target {
            KnobTarget::CpufreqGovernor(_)
            | KnobTarget::CpufreqMinKhz(_)
            | KnobTarget::CpufreqMaxKhz(_)
            | KnobTarget::CpufreqBoost(_)
            | KnobTarget::CpufreqEpp(_) => cpufreq::wanted(),
            KnobTarget::CpuidleDisableAll
            | KnobTarget::CpuidleDisableState(_)
            | KnobTarget::CpuidleMaxLatencyUs(_)
            | KnobTarget::DmaLatencyUs(_) => cpuidle::wanted(),
            KnobTarget::Smt(_) | KnobTarget::Offline(_) => online::wanted(),
            other => scheduler::wanted(other),
        };
        wanted.extend(more);
    }
    wanted.sort();
    wanted.dedup();
    wanted
}

/// Knobs in groups that are planned one after the other, with fresh facts before each: taking a CPU
/// away changes which other files there are.
pub fn phases(knobs: &[Knob]) -> Vec<Vec<Knob>> {
    let of_cpus = |k: &&Knob| matches!(k.target, KnobTarget::Smt(_) | KnobTarget::Offline(_));
    let smt = |k: &&Knob| matches!(k.target, KnobTarget::Smt(_));
    let offline = |k: &&Knob| matches!(k.target, KnobTarget::Offline(_));
    let groups: [Vec<Knob>; 3] = [
        knobs.iter().filter(smt).cloned().collect(),
        knobs.iter().filter(offline).cloned().collect(),
        knobs.iter().filter(|k| !of_cpus(k)).cloned().collect(),
    ];
    groups.into_iter().filter(|g| !g.is_empty()).collect()
}

/// What to do for each knob of one phase, in the order to do it in. cpufreq knobs come as the driver
/// wants them, the rest as given.
pub fn plan_writes(facts: &TuneFacts, knobs: &[Knob]) -> Vec<KnobPlan> {
    let (freq, rest): (Vec<_>, Vec<_>) = knobs.iter().partition(|k| cpufreq::is_cpufreq(&k.target));
    let ordered = cpufreq::in_order(facts, freq);
    ordered
        .into_iter()
        .chain(rest)
        .map(|knob| plan_one(facts, knob))
        .collect()
}

fn plan_one(facts: &TuneFacts, knob: &Knob) -> KnobPlan {
    let (place, before, planned) = match &knob.target {
        KnobTarget::CpufreqGovernor(name) => cpufreq::governor(facts, name),
        KnobTarget::CpufreqMinKhz(khz) => cpufreq::limit(facts, "scaling_min_freq", *khz),
        KnobTarget::CpufreqMaxKhz(khz) => cpufreq::limit(facts, "scaling_max_freq", *khz),
        KnobTarget::CpufreqBoost(on) => cpufreq::boost(facts, *on),
        KnobTarget::CpufreqEpp(word) => cpufreq::epp(facts, word),
        KnobTarget::CpuidleDisableAll => cpuidle::disable(facts, &cpuidle::Which::AllButPolling),
        KnobTarget::CpuidleDisableState(name) => {
            cpuidle::disable(facts, &cpuidle::Which::Name(name))
        }
        KnobTarget::CpuidleMaxLatencyUs(us) => {
            cpuidle::disable(facts, &cpuidle::Which::LatencyAbove(*us))
        }
        KnobTarget::DmaLatencyUs(us) => cpuidle::dma_latency(facts, *us),
        KnobTarget::Smt(on) => online::smt(facts, *on),
        KnobTarget::Offline(cpus) => online::offline(facts, cpus),
        KnobTarget::Sysctl { name, value } => scheduler::sysctl(facts, name, value),
        KnobTarget::SchedFeature(token) => scheduler::feature(facts, token),
        KnobTarget::SchedDebug { file, value } => scheduler::debug_file(facts, file, value),
        KnobTarget::Thp(word) => scheduler::thp(facts, word),
        KnobTarget::IrqAffinity(cpus) => scheduler::irq_affinity(facts, cpus),
    };
    KnobPlan {
        knob: knob.clone(),
        place,
        before,
        planned,
    }
}

/// What each planner gives: the place, the value before, what to do.
pub(super) type Part = (String, Option<String>, Planned);

/// The distinct values of several files, for `before` of a family: one value where all agree.
pub(super) fn sum_up<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let mut distinct: Vec<&str> = Vec::new();
    for value in values.flatten() {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    (!distinct.is_empty()).then(|| distinct.join(", "))
}
