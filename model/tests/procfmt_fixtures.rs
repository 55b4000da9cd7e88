//! Texts of real kernels and tools, captured beside the project: read where they are there.
#![expect(clippy::disallowed_methods, reason = "this test reads fixture files")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schedrig_model::host::tune::{Planned, TuneFacts, plan_writes};
use schedrig_model::host::{Knob, KnobTarget};
use schedrig_model::procfmt::{
    CgroupFacts, CgroupMode, Mount, cpu_controller_gap, decide_cgroup_mode, parse_cpu_stat,
    parse_domain_flags, parse_features, parse_numactl, parse_partition, parse_pressure,
    parse_proc_cgroups, parse_proc_stat, parse_task_sched, parse_task_schedstat, parse_turbostat,
};

const GUESTS: [&str; 3] = [
    "v15-linux6.1.176-2s2c2t",
    "v16-linux6.12.95-2s2c2t",
    "v17-linux7.2.13-2s2c2t",
];

fn fixtures() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures");
    if path.is_dir() {
        return Some(path);
    }
    println!("no {} here: left out", path.display());
    None
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What each command of a recorded shell session printed.
fn session(text: &str) -> BTreeMap<&str, &str> {
    let blocks = text.split("\n$ ").map(|b| b.trim_start_matches("$ "));
    blocks
        .filter_map(|block| {
            let (command, rest) = block.split_once('\n')?;
            Some((command, rest.split("  -> rc=").next().unwrap_or(rest)))
        })
        .collect()
}

/// Lines of `path: value`.
fn listing(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter_map(|l| l.split_once(':'))
        .map(|(p, v)| (p, v.trim().trim_end_matches('|')))
}

#[test]
fn proc_files_of_three_kernels() {
    let Some(root) = fixtures() else { return };
    for guest in GUESTS {
        let file = |what: &str| read(&root.join("proc").join(format!("{guest}-{what}.txt")));
        let stat = parse_proc_stat(&file("stat")).unwrap();
        assert_eq!(stat.cpus.len(), 8, "{guest}");
        assert_eq!(stat.all.steal, Some(0));
        assert!(
            parse_task_schedstat(&file("self-schedstat"))
                .unwrap()
                .timeslices
                > 0
        );
        let sched = file("self-sched");
        let sched = parse_task_sched(&sched);
        assert!(sched.contains_key("nr_voluntary_switches"), "{guest}");
        assert!(sched.contains_key("se.sum_exec_runtime"), "{guest}");
    }
    for file in ["cpu", "irq"] {
        let path = root
            .join("fetched/proc")
            .join(format!("pressure-{file}-node_exporter.txt"));
        assert!(parse_pressure(&read(&path)).is_ok());
    }
}

#[test]
fn features_and_domain_flags_of_three_kernels() {
    let Some(root) = fixtures() else { return };
    for guest in GUESTS {
        let path = root
            .join("debug-sched")
            .join(format!("{guest}-features-changed.txt"));
        let features = parse_features(&read(&path));
        let preemption = features
            .iter()
            .find(|f| f.name == "WAKEUP_PREEMPTION")
            .unwrap();
        assert!(
            !preemption.on,
            "{guest}: it was switched off before the file was read"
        );
        assert!(
            features
                .iter()
                .any(|f| f.name == "NONTASK_CAPACITY" && f.on)
        );
    }
    let relaxed = read(
        &root.join("debug-sched/v17-linux7.2.13-2s2c2t-relax_domain_level2-domains-verbose.txt"),
    );
    let newidle = |domain: &str| {
        let path = format!("domains/cpu0/{domain}/flags");
        let (_, flags) = listing(&relaxed).find(|(p, _)| *p == path).unwrap();
        parse_domain_flags(flags).contains(&"SD_BALANCE_NEWIDLE")
    };
    assert_eq!(
        ["domain0", "domain1", "domain2"].map(newidle),
        [true, false, false]
    );
}

#[test]
fn cgroup_files_of_three_kernels() {
    let Some(root) = fixtures() else { return };
    for guest in GUESTS {
        let text = read(
            &root
                .join("cgroup")
                .join(format!("{guest}-cgroup2-session.txt")),
        );
        let printed = session(&text);
        let burn = "( echo 0 > /cg/a/b/cgroup.procs; timeout 2 sh -c 'while :; do :; done' ); cat /cg/a/b/cpu.stat";
        let stat = printed[burn]
            .lines()
            .filter(|l| *l != "Terminated")
            .collect::<Vec<_>>();
        let stat = parse_cpu_stat(&stat.join("\n")).unwrap();
        assert!(stat.nr_throttled.unwrap() > 0, "{guest}");
        assert_eq!(stat.nice_us.is_some(), !guest.starts_with("v15"), "{guest}");
        let write = "echo root > /cg/a/b/cpuset.cpus.partition";
        let first = text.split(write).nth(1).unwrap();
        let line = first.lines().find(|l| l.starts_with("root")).unwrap();
        assert!(parse_partition(line).invalid.is_some(), "{guest}: {line}");
        let pressure = printed
            .get("cat /cg/a/b/cpu.pressure")
            .copied()
            .unwrap_or_default();
        assert!(parse_pressure(pressure).is_ok(), "{guest}");
    }
}

#[test]
fn a_real_hybrid_machine_is_told_what_to_boot_with() {
    let Some(root) = fixtures() else { return };
    let text = read(&root.join("cgroup/v1-hybrid-6.18.txt"));
    let printed = session(&text);
    // /proc/mounts here, of which mountinfo says the same in other columns.
    let mount = |line: &str| {
        let mut words = line.split(' ').skip(1);
        Some(Mount {
            point: words.next()?.to_owned(),
            fs_type: words.next()?.to_owned(),
            super_options: words.next()?.split(',').map(str::to_owned).collect(),
        })
    };
    let facts = CgroupFacts {
        mounts: printed["grep cgroup /proc/mounts"]
            .lines()
            .filter_map(mount)
            .collect(),
        hierarchies: parse_proc_cgroups(printed["cat /proc/cgroups"]).unwrap(),
        v2_controllers: Some(vec![
            printed["cat /sys/fs/cgroup/unified/cgroup.controllers"]
                .trim()
                .to_owned(),
        ]),
    };
    let (mode, point) = decide_cgroup_mode(&facts.mounts);
    assert_eq!(
        (mode, point),
        (CgroupMode::Hybrid, Some("/sys/fs/cgroup/unified"))
    );
    let gap = cpu_controller_gap(&facts).unwrap();
    assert!(
        gap.contains("mounted as cgroup v1 at /sys/fs/cgroup/cpu (hierarchy 1)"),
        "{gap}"
    );
}

#[test]
fn numa_lists_and_turbostat() {
    let Some(root) = fixtures() else { return };
    for (machine, nodes) in [("ccx16", 2), ("nps4", 4)] {
        let path = root.join("qemu/7.2").join(machine).join("numactl_H.txt");
        let lists = parse_numactl(&read(&path)).unwrap();
        assert_eq!(
            (lists.nodes.len(), lists.distances.len()),
            (nodes, nodes),
            "{machine}"
        );
    }
    for (file, cpus) in [("lkp-1.txt", 0), ("lkp-2.txt", 1)] {
        let text = read(&root.join("fetched/turbostat").join(file));
        let table = parse_turbostat(&text).unwrap();
        let with_cpu = table
            .rows
            .iter()
            .filter(|r| table.cell(r, "CPU").is_some())
            .count();
        assert!(with_cpu >= cpus, "{file}");
        if cpus > 0 {
            assert_eq!(table.cell(table.machine().unwrap(), "Avg_MHz"), Some(67.0));
        }
    }
}

/// The first policy and CPU of machines that others described.
fn machine_of(text: &str) -> TuneFacts {
    let lines = listing(text).filter_map(|(path, value)| {
        let path = path.strip_prefix('/')?;
        // The same folder under its older name.
        Some((
            path.replace("cpu/cpu0/cpufreq/", "cpu/cpufreq/policy0/"),
            value.to_owned(),
        ))
    });
    lines.collect()
}

#[test]
fn drivers_of_real_machines_get_a_plan_or_a_named_gap() {
    let Some(root) = fixtures() else { return };
    let folder = root.join("fetched/cpufreq");
    let knob = |target| Knob {
        target,
        required: false,
    };
    let mut seen = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let facts = machine_of(&read(&path));
        let driver = facts.text("sys/devices/system/cpu/cpufreq/policy0/scaling_driver");
        let Some(driver) = driver.map(str::to_owned) else {
            continue;
        };
        let knobs = [
            knob(KnobTarget::CpufreqGovernor("performance".into())),
            knob(KnobTarget::CpufreqBoost(false)),
            knob(KnobTarget::CpufreqEpp("performance".into())),
            knob(KnobTarget::CpufreqMaxKhz(1_000_000)),
        ];
        for plan in plan_writes(&facts, &knobs) {
            match &plan.planned {
                Planned::NotAvailable(why) => {
                    assert!(why.contains(&driver) || why.contains("offers"), "{why}");
                }
                Planned::Writes(writes) => {
                    let all = writes
                        .iter()
                        .all(|w| facts.has(&w.path) || w.path.ends_with("max_freq"));
                    assert!(all, "{}: {writes:?}", path.display());
                }
                Planned::Holds(_) => {}
                Planned::HoldOpen { .. } => panic!("cpufreq holds nothing open"),
            }
        }
        *seen.entry(driver).or_insert(0) += 1;
    }
    for driver in [
        "intel_pstate",
        "intel_cpufreq",
        "acpi-cpufreq",
        "amd-pstate-epp",
        "cppc_cpufreq",
    ] {
        assert!(seen.contains_key(driver), "{driver} among {seen:?}");
    }
}

#[test]
fn a_provider_that_disabled_c6_is_seen() {
    let Some(root) = fixtures() else { return };
    let path = root.join("fetched/cpufreq/sap-arp142-issue383-intel_idle-C6-disabled.txt");
    let facts = machine_of(&read(&path));
    let knob = Knob {
        target: KnobTarget::CpuidleMaxLatencyUs(2),
        required: false,
    };
    let plans = plan_writes(&facts, &[knob]);
    let Planned::Writes(writes) = &plans[0].planned else {
        panic!("{plans:?}")
    };
    assert_eq!(writes.len(), 1, "C1E alone: C6 is off already");
    assert_eq!(plans[0].before.as_deref(), Some("0, 1"));
}

/// Guests have neither cpufreq nor cpuidle: gaps with a reason, no errors.
#[test]
fn a_guest_has_named_gaps() {
    let Some(root) = fixtures() else { return };
    for guest in GUESTS {
        let text = read(
            &root
                .join("cpufreq")
                .join(format!("vm-{guest}-sys-cpu-node.txt")),
        );
        let facts = machine_of(&text);
        let knobs = [
            KnobTarget::CpufreqGovernor("performance".into()),
            KnobTarget::CpuidleDisableAll,
        ]
        .map(|target| Knob {
            target,
            required: false,
        });
        for plan in plan_writes(&facts, &knobs) {
            assert!(
                matches!(plan.planned, Planned::NotAvailable(_)),
                "{guest}: {plan:?}"
            );
        }
    }
}
