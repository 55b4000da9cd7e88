//! What a machine can and cannot do for a measurement, and what would mend it.

use std::fmt;

use super::facts::HostFacts;

/// How a machine stands in one respect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// Works.
    Good,
    /// Results can be had, with a caution.
    Caution,
    /// Not possible here.
    Missing,
}

/// One line of `schedrig doctor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// How it stands.
    pub health: Health,
    /// What it is about: `frequency`, `cgroup limits`, ...
    pub subject: &'static str,
    /// What was found.
    pub found: String,
    /// What would mend it; `None` where nothing is wrong, or nothing can be done.
    pub mend: Option<String>,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.health {
            Health::Good => "ok     ",
            Health::Caution => "caution",
            Health::Missing => "missing",
        };
        write!(f, "{mark}  {}: {}", self.subject, self.found)?;
        match &self.mend {
            Some(mend) => write!(f, "\n         mend: {mend}"),
            None => Ok(()),
        }
    }
}

/// Diagnoses a machine, in a fixed order of subjects.
pub fn diagnose(facts: &HostFacts) -> Vec<Diagnosis> {
    let mut lines = vec![
        privilege(facts),
        virtual_machine(facts),
        cgroups(facts),
        frequency(facts),
        idle_states(facts),
        schedstat(facts),
        features(facts),
        tools(facts),
    ];
    lines.extend(noise(facts));
    lines.extend(facts.topology.findings.iter().map(|finding| Diagnosis {
        health: Health::Caution,
        subject: "topology",
        found: finding.clone(),
        mend: None,
    }));
    lines
}

fn good(subject: &'static str, found: String) -> Diagnosis {
    Diagnosis {
        health: Health::Good,
        subject,
        found,
        mend: None,
    }
}

fn lacks(subject: &'static str, health: Health, found: String, mend: Option<&str>) -> Diagnosis {
    Diagnosis {
        health,
        subject,
        found,
        mend: mend.map(str::to_owned),
    }
}

fn gap<'a>(facts: &'a HostFacts, name: &str) -> Option<&'a str> {
    let found = facts.gaps.iter().find(|(n, _)| n == name);
    found.map(|(_, reason)| reason.as_str())
}

fn privilege(facts: &HostFacts) -> Diagnosis {
    if facts.root {
        return good("privilege", "root".into());
    }
    lacks(
        "privilege",
        Health::Caution,
        "not root: workloads run, the machine cannot be set".into(),
        Some("run the agent as a system service, or with sudo"),
    )
}

fn virtual_machine(facts: &HostFacts) -> Diagnosis {
    match &facts.hypervisor {
        None => good("machine", "not virtual".into()),
        Some(h) => lacks(
            "machine",
            Health::Caution,
            format!("a {h} guest: speeds depend on its host, steal time taints a repetition"),
            Some("measure on a machine of your own; here, compare counts rather than speeds"),
        ),
    }
}

fn cgroups(facts: &HostFacts) -> Diagnosis {
    match gap(facts, "cgroup.cpu") {
        // The reason names the boot parameters already.
        Some(reason) => lacks("cgroup limits", Health::Missing, reason.into(), None),
        None => good(
            "cgroup limits",
            format!("v2 with {}", facts.cgroup_controllers.join(" ")),
        ),
    }
}

fn frequency(facts: &HostFacts) -> Diagnosis {
    let Some(driver) = &facts.cpufreq_driver else {
        let reason = gap(facts, "cpufreq").unwrap_or("no driver");
        return lacks("frequency", Health::Missing, reason.into(), None);
    };
    let governor = facts.settings.get("cpufreq.scaling_governor");
    let governor = governor.map_or("unknown", String::as_str);
    if governor == "performance" {
        return good("frequency", format!("{driver}, governor performance"));
    }
    lacks(
        "frequency",
        Health::Caution,
        format!("{driver}, governor {governor}"),
        Some("prepare: { cpufreq: { governor: performance } } in the playbook"),
    )
}

fn idle_states(facts: &HostFacts) -> Diagnosis {
    match &facts.cpuidle_driver {
        Some(driver) => good("idle states", driver.clone()),
        None => {
            let reason = gap(facts, "cpuidle").unwrap_or("no driver");
            lacks("idle states", Health::Missing, reason.into(), None)
        }
    }
}

fn schedstat(facts: &HostFacts) -> Diagnosis {
    match facts.schedstat.as_deref() {
        Some("on") => good("schedstat", "on".into()),
        Some("off") if facts.root => good(
            "schedstat",
            "off: switched on for a run and put back".into(),
        ),
        Some("off") => lacks(
            "schedstat",
            Health::Caution,
            "off, and this user cannot switch it on".into(),
            Some("sysctl kernel.sched_schedstats=1 as root"),
        ),
        _ => lacks(
            "schedstat",
            Health::Missing,
            gap(facts, "schedstat").unwrap_or("not known").into(),
            Some("a kernel with CONFIG_SCHEDSTATS=y"),
        ),
    }
}

fn features(facts: &HostFacts) -> Diagnosis {
    match &facts.sched_features {
        Some(all) => good("scheduler features", format!("{} features", all.len())),
        None => {
            let reason = gap(facts, "sched.features").unwrap_or("not readable");
            lacks("scheduler features", Health::Missing, reason.into(), None)
        }
    }
}

fn tools(facts: &HostFacts) -> Diagnosis {
    let names: Vec<&str> = facts.tools.iter().map(|t| t.name.as_str()).collect();
    match (names.is_empty(), gap(facts, "perf")) {
        (true, _) => lacks(
            "programs",
            Health::Caution,
            "none of the catalogue's in PATH: only builtin workloads run".into(),
            Some("apt-get install rt-tests stress-ng linux-perf"),
        ),
        (false, Some(reason)) => lacks("programs", Health::Caution, names.join(" "), Some(reason)),
        (false, None) => good("programs", names.join(" ")),
    }
}

/// Settings that make results vary or arms differ.
fn noise(facts: &HostFacts) -> Vec<Diagnosis> {
    let is = |name: &str, value: &str| facts.settings.get(name).is_some_and(|v| v == value);
    let mut found = Vec::new();
    let mut caution = |text: &str, mend: &str| {
        found.push(lacks("noise", Health::Caution, text.to_owned(), Some(mend)));
    };
    if is("kernel.numa_balancing", "1") {
        caution(
            "NUMA balancing is on: pages move while measuring",
            "sysctl kernel.numa_balancing=0",
        );
    }
    if is("kernel.sched_autogroup_enabled", "1") {
        caution(
            "autogroup is on: the session of a workload changes its share",
            "sysctl kernel.sched_autogroup_enabled=0",
        );
    }
    if is("kernel.nmi_watchdog", "1") {
        caution(
            "the NMI watchdog takes a performance counter",
            "sysctl kernel.nmi_watchdog=0",
        );
    }
    let files = facts.limits.as_ref().and_then(|l| l.nofile_hard);
    if files.is_some_and(|n| n < 65_536) {
        caution(
            "few open files are allowed: hackbench with many groups will be refused",
            "LimitNOFILE=1048576 in the service, or ulimit -Hn",
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Topology, TopologyOrigin};
    use crate::workload::Limits;

    fn facts() -> HostFacts {
        HostFacts {
            hostname: "h".into(),
            kernel_release: "6.12".into(),
            kernel_version: "#1".into(),
            architecture: "x86_64".into(),
            kernel_cmdline: None,
            boot_id: None,
            microcode: None,
            bios: None,
            os: None,
            memory_bytes: None,
            hypervisor: None,
            cpufreq_driver: Some("intel_pstate".into()),
            cpuidle_driver: Some("intel_idle".into()),
            cgroup_mode: Some("unified".into()),
            cgroup_controllers: vec!["cpuset".into(), "cpu".into()],
            schedstat: Some("on".into()),
            sched_features: Some(vec!["PLACE_LAG".into()]),
            settings: [(
                "cpufreq.scaling_governor".to_owned(),
                "performance".to_owned(),
            )]
            .into(),
            tools: vec![crate::host::ToolFact {
                name: "hackbench".into(),
                path: "/usr/bin/hackbench".into(),
                version: None,
                sha256: None,
            }],
            limits: Some(Limits {
                nofile_hard: Some(1 << 20),
                ..Limits::default()
            }),
            gaps: Vec::new(),
            topology: Topology::unknown(TopologyOrigin::Description),
            agent_build: "0".into(),
            root: true,
        }
    }

    #[test]
    fn a_well_kept_server_is_good_in_all_respects() {
        let lines = diagnose(&facts());
        assert!(
            lines
                .iter()
                .all(|d| d.health == Health::Good && d.mend.is_none()),
            "{lines:?}"
        );
        assert_eq!(
            lines[2].to_string(),
            "ok       cgroup limits: v2 with cpuset cpu"
        );
    }

    #[test]
    fn a_guest_without_root_says_what_is_missing_and_how_to_mend_it() {
        let mut f = facts();
        f.root = false;
        f.hypervisor = Some("qemu".into());
        f.cpufreq_driver = None;
        f.schedstat = Some("off".into());
        f.gaps = vec![
            ("cpufreq".into(), "a qemu guest: its host decides".into()),
            (
                "cgroup.cpu".into(),
                "cpu is on v1. Boot with cgroup_no_v1=all".into(),
            ),
            ("perf".into(), "no perf".into()),
        ];
        f.settings
            .insert("kernel.numa_balancing".into(), "1".into());
        f.topology.findings = vec!["CPU0 offline".into()];
        let text: Vec<String> = diagnose(&f).iter().map(ToString::to_string).collect();
        let text = text.join("\n");
        for wanted in [
            "caution  privilege: not root",
            "caution  machine: a qemu guest",
            "missing  cgroup limits: cpu is on v1. Boot with cgroup_no_v1=all",
            "missing  frequency: a qemu guest: its host decides",
            "mend: sysctl kernel.sched_schedstats=1 as root",
            "mend: sysctl kernel.numa_balancing=0",
            "mend: no perf",
            "caution  topology: CPU0 offline",
        ] {
            assert!(text.contains(wanted), "`{wanted}` is not in\n{text}");
        }
    }
}
