//! Frequencies, by the driver of each policy.
//!
//! | driver | boost | EPP |
//! | --- | --- | --- |
//! | intel_pstate (active), intel_cpufreq (passive) | intel_pstate/no_turbo, inverted | where the files are |
//! | acpi-cpufreq | cpufreq/boost; policyN/cpb on AMD | none |
//! | amd-pstate (passive, guided), amd-pstate-epp (active) | cpufreq/boost or policyN/boost | active |
//! | cppc_cpufreq | cpufreq/boost or policyN/boost | a number |

use super::facts::TuneFacts;
use super::plan::{Part, sum_up};
use super::write::{Planned, Write};
use crate::host::{Knob, KnobTarget};

const CPU: &str = "sys/devices/system/cpu";
const POLICY: &str = "sys/devices/system/cpu/cpufreq/policy#";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";
const EPP: &str = "energy_performance_preference";

const POLICY_FILES: [&str; 13] = [
    "scaling_driver",
    "scaling_governor",
    "scaling_available_governors",
    "scaling_min_freq",
    "scaling_max_freq",
    "cpuinfo_min_freq",
    "cpuinfo_max_freq",
    EPP,
    "energy_performance_available_preferences",
    "energy_performance_preference_val",
    "boost",
    "cpb",
    "affected_cpus",
];

pub(super) fn wanted() -> Vec<String> {
    let policies = POLICY_FILES.iter().map(|f| format!("{POLICY}/{f}"));
    let machine = [NO_TURBO, BOOST].map(str::to_owned);
    let modes = ["intel_pstate/status", "amd_pstate/status"].map(|f| format!("{CPU}/{f}"));
    policies.chain(machine).chain(modes).collect()
}

pub(super) fn is_cpufreq(target: &KnobTarget) -> bool {
    matches!(
        target,
        KnobTarget::CpufreqGovernor(_)
            | KnobTarget::CpufreqMinKhz(_)
            | KnobTarget::CpufreqMaxKhz(_)
            | KnobTarget::CpufreqBoost(_)
            | KnobTarget::CpufreqEpp(_)
    )
}

/// The order that the drivers want. Boost moves the limits, so it comes first. An EPP other than
/// `performance` is refused under the governor `performance`: it is written before that governor and
/// after any other. Limits: max before min where max rises, min before max where it falls.
pub(super) fn in_order<'a>(facts: &TuneFacts, mut knobs: Vec<&'a Knob>) -> Vec<&'a Knob> {
    let to_performance = knobs
        .iter()
        .any(|k| matches!(&k.target, KnobTarget::CpufreqGovernor(g) if g == "performance"));
    let lowest = |file: &str| {
        let values = facts.matching(&format!("{POLICY}/{file}"));
        values
            .iter()
            .filter_map(|p| facts.text(p)?.parse::<u64>().ok())
            .min()
    };
    let old_max = lowest("scaling_max_freq").unwrap_or(0);
    let max_rises = knobs
        .iter()
        .any(|k| matches!(k.target, KnobTarget::CpufreqMaxKhz(khz) if khz >= old_max));
    knobs.sort_by_key(|k| match k.target {
        KnobTarget::CpufreqBoost(_) => 0,
        KnobTarget::CpufreqEpp(_) => {
            if to_performance {
                1
            } else {
                3
            }
        }
        KnobTarget::CpufreqGovernor(_) => 2,
        KnobTarget::CpufreqMaxKhz(_) => {
            if max_rises {
                4
            } else {
                6
            }
        }
        _ => 5,
    });
    knobs
}

/// The policies with a CPU online, as folders.
fn policies(facts: &TuneFacts) -> Result<Vec<String>, String> {
    let drivers = facts.matching(&format!("{POLICY}/scaling_driver"));
    let folder = |p: &str| p.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let active = |f: &String| facts.text(&format!("{f}/affected_cpus")) != Some("");
    let found: Vec<String> = drivers
        .into_iter()
        .filter_map(folder)
        .filter(active)
        .collect();
    if found.is_empty() {
        return Err("no cpufreq driver on this machine (a guest, or off in the firmware)".into());
    }
    Ok(found)
}

fn driver<'a>(facts: &'a TuneFacts, policy: &str) -> &'a str {
    facts
        .text(&format!("{policy}/scaling_driver"))
        .unwrap_or("unknown")
}

/// `intel_pstate (active)`.
fn driver_in_words(facts: &TuneFacts, policy: &str) -> String {
    let name = driver(facts, policy);
    let mode = match name {
        "intel_pstate" | "intel_cpufreq" => facts.text(&format!("{CPU}/intel_pstate/status")),
        "amd-pstate" | "amd-pstate-epp" => facts.text(&format!("{CPU}/amd_pstate/status")),
        _ => None,
    };
    mode.map_or_else(|| name.to_owned(), |m| format!("{name} ({m})"))
}

/// One write a policy; those that read so already are left out.
fn each_policy(
    facts: &TuneFacts,
    policies: &[String],
    file: &str,
    value: &str,
    also: &[&str],
) -> Planned {
    let paths: Vec<String> = policies.iter().map(|p| format!("{p}/{file}")).collect();
    let writes = policies
        .iter()
        .zip(&paths)
        .filter(|(_, path)| facts.text(path) != Some(value));
    let writes: Vec<Write> = writes
        .map(|(policy, path)| {
            let beside = also.iter().map(|f| format!("{policy}/{f}"));
            let mut write = Write::words(path, value);
            write.also = beside.filter(|p| facts.has(p)).collect();
            write
        })
        .collect();
    if writes.is_empty() {
        Planned::Holds(value.to_owned())
    } else {
        Planned::Writes(writes)
    }
}

fn before(facts: &TuneFacts, policies: &[String], file: &str) -> Option<String> {
    let paths: Vec<String> = policies.iter().map(|p| format!("{p}/{file}")).collect();
    sum_up(paths.iter().map(|p| facts.text(p)))
}

fn family(file: &str) -> String {
    format!("{}/{file}", POLICY.replace('#', "*"))
}

/// The first policy whose list of words lacks the one asked, as a reason.
fn lacking(facts: &TuneFacts, policies: &[String], list: &str, word: &str) -> Option<String> {
    policies.iter().find_map(|policy| {
        let offered = facts.text(&format!("{policy}/{list}"))?;
        let has = offered.split_ascii_whitespace().any(|w| w == word);
        let who = driver_in_words(facts, policy);
        (!has).then(|| format!("driver {who} offers {offered}, not {word}"))
    })
}

pub(super) fn governor(facts: &TuneFacts, name: &str) -> Part {
    let file = "scaling_governor";
    let policies = match policies(facts) {
        Ok(found) => found,
        Err(why) => return (family(file), None, Planned::NotAvailable(why)),
    };
    let planned = match lacking(facts, &policies, "scaling_available_governors", name) {
        Some(why) => Planned::NotAvailable(why),
        // intel_pstate and amd-pstate-epp set the EPP along with the governor.
        None => each_policy(facts, &policies, file, name, &[EPP]),
    };
    (family(file), before(facts, &policies, file), planned)
}

pub(super) fn limit(facts: &TuneFacts, file: &'static str, khz: u64) -> Part {
    let policies = match policies(facts) {
        Ok(found) => found,
        Err(why) => return (family(file), None, Planned::NotAvailable(why)),
    };
    // The kernel moves the other limit where the two would cross.
    let other = if file == "scaling_min_freq" {
        "scaling_max_freq"
    } else {
        "scaling_min_freq"
    };
    let planned = each_policy(facts, &policies, file, &khz.to_string(), &[other]);
    (family(file), before(facts, &policies, file), planned)
}

pub(super) fn boost(facts: &TuneFacts, on: bool) -> Part {
    let policies = match policies(facts) {
        Ok(found) => found,
        Err(why) => return (BOOST.into(), None, Planned::NotAvailable(why)),
    };
    let value = if on { "1" } else { "0" };
    let inverted = if on { "0" } else { "1" };
    let intel = matches!(
        driver(facts, &policies[0]),
        "intel_pstate" | "intel_cpufreq"
    );
    if intel && facts.has(NO_TURBO) {
        return one_switch(facts, &policies, NO_TURBO, inverted);
    }
    if facts.has(BOOST) {
        return one_switch(facts, &policies, BOOST, value);
    }
    for file in ["boost", "cpb"] {
        if policies.iter().all(|p| facts.has(&format!("{p}/{file}"))) {
            let planned = each_policy(facts, &policies, file, value, &["scaling_max_freq"]);
            return (family(file), before(facts, &policies, file), planned);
        }
    }
    let who = driver_in_words(facts, &policies[0]);
    let why = format!("driver {who} has no boost switch here; the firmware may have one");
    (BOOST.into(), None, Planned::NotAvailable(why))
}

fn one_switch(facts: &TuneFacts, policies: &[String], path: &str, value: &str) -> Part {
    let old = facts.text(path).map(str::to_owned);
    if old.as_deref() == Some(value) {
        return (path.into(), old, Planned::Holds(value.into()));
    }
    let mut write = Write::words(path, value);
    // Both limits come back by themselves on some kernels only.
    let limits = ["scaling_max_freq", "scaling_min_freq"];
    let all = policies
        .iter()
        .flat_map(|p| limits.map(|f| format!("{p}/{f}")));
    write.also = all.filter(|p| facts.has(p)).collect();
    (path.into(), old, Planned::Writes(vec![write]))
}

pub(super) fn epp(facts: &TuneFacts, word: &str) -> Part {
    let policies = match policies(facts) {
        Ok(found) => found,
        Err(why) => return (family(EPP), None, Planned::NotAvailable(why)),
    };
    let numeric = "energy_performance_preference_val";
    let file = if facts.has(&format!("{}/{EPP}", policies[0])) {
        EPP
    } else {
        numeric
    };
    if !facts.has(&format!("{}/{file}", policies[0])) {
        let who = driver_in_words(facts, &policies[0]);
        let why = format!("driver {who} has no energy performance preference");
        return (family(EPP), None, Planned::NotAvailable(why));
    }
    let list = "energy_performance_available_preferences";
    // A number is taken by the drivers although the list has words only.
    let is_number = word.bytes().all(|b| b.is_ascii_digit());
    let planned = match lacking(facts, &policies, list, word).filter(|_| !is_number) {
        Some(why) => Planned::NotAvailable(why),
        None => each_policy(facts, &policies, file, word, &[]),
    };
    (family(file), before(facts, &policies, file), planned)
}
