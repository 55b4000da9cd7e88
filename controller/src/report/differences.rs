//! In which circumstances runs differ, machine by machine.

use std::collections::BTreeMap;

use schedrig_model::host::HostFacts;
use schedrig_model::id::HostId;
use schedrig_model::record::RunRecord;

/// One line a circumstance that is not the same in every run, in a stable order. What an arm changes
/// on purpose is not recognised as such here: a reader is better told twice.
pub fn differences(records: &[&RunRecord]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut hosts: Vec<&HostId> = records.iter().flat_map(|r| r.hosts.keys()).collect();
    hosts.sort();
    hosts.dedup();
    for host in hosts {
        let with: Vec<&RunRecord> = records
            .iter()
            .filter(|r| r.hosts.contains_key(host))
            .copied()
            .collect();
        let facts: Vec<BTreeMap<String, String>> =
            with.iter().map(|r| flatten(&r.hosts[host])).collect();
        for (what, values) in differing(&facts) {
            lines.push(format!(
                "{host}: {what} differs: {}",
                by_run(&with, &values)
            ));
        }
    }
    let plans: Vec<BTreeMap<String, String>> = records.iter().map(|r| plan_facts(r)).collect();
    for (what, values) in differing(&plans) {
        lines.push(format!("{what} differs: {}", by_run(records, &values)));
    }
    lines
}

/// `run a: x; run b: y`.
fn by_run(records: &[&RunRecord], values: &[String]) -> String {
    let parts = records.iter().zip(values);
    let parts: Vec<String> = parts.map(|(r, v)| format!("{} has {v}", r.id)).collect();
    parts.join("; ")
}

/// Keys whose values are not the same everywhere, with the value of each.
fn differing(facts: &[BTreeMap<String, String>]) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<&String> = facts.iter().flat_map(BTreeMap::keys).collect();
    keys.sort();
    keys.dedup();
    let mut found = Vec::new();
    for key in keys {
        let value = |f: &BTreeMap<String, String>| match f.get(key) {
            Some(value) => value.clone(),
            None => "unknown".to_owned(),
        };
        let values: Vec<String> = facts.iter().map(value).collect();
        if values.windows(2).any(|w| w[0] != w[1]) {
            found.push((key.clone(), values));
        }
    }
    found
}

/// The circumstances of a machine that can change a result, as text. What changes at every boot
/// (its identifier) is left out.
fn flatten(facts: &HostFacts) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            flat.insert(key.to_owned(), value);
        }
    };
    put("kernel release", Some(facts.kernel_release.clone()));
    put("kernel version", Some(facts.kernel_version.clone()));
    put("kernel command line", facts.kernel_cmdline.clone());
    put("microcode", facts.microcode.clone());
    put("bios", facts.bios.clone());
    put("os", facts.os.clone());
    put("memory in bytes", facts.memory_bytes.map(|b| b.to_string()));
    put("hypervisor", facts.hypervisor.clone());
    put("cpufreq driver", facts.cpufreq_driver.clone());
    put("cpuidle driver", facts.cpuidle_driver.clone());
    put("cgroup mode", facts.cgroup_mode.clone());
    put("schedstat", facts.schedstat.clone());
    put(
        "sched_features",
        facts.sched_features.as_ref().map(|f| f.join(" ")),
    );
    put("agent", Some(facts.agent_build.clone()));
    put("root", Some(facts.root.to_string()));
    put("cpu model", facts.topology.cpu_model.clone());
    put("cpus", Some(facts.topology.online().to_string()));
    put("allowed cpus", Some(facts.topology.allowed.to_string()));
    for (name, value) in &facts.settings {
        put(name, Some(value.clone()));
    }
    for tool in &facts.tools {
        let version = tool.version.clone().or(tool.sha256.clone());
        put(&format!("version of {}", tool.name), version);
    }
    flat
}

/// What of a plan has to be equal for the values to be of one population.
fn plan_facts(record: &RunRecord) -> BTreeMap<String, String> {
    let plan = &record.plan;
    let prepared: Vec<String> = plan
        .prepare
        .iter()
        .map(|k| schedrig_model::plan::knob_text(&k.target))
        .collect();
    let groups = plan.cgroups.as_ref().map_or(0, |t| t.groups.len());
    BTreeMap::from([
        ("held while measuring".to_owned(), prepared.join(", ")),
        ("number of cgroups".to_owned(), groups.to_string()),
    ])
}
