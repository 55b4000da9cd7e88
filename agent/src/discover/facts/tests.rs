use std::path::Path;

use schedrig_model::topology::{Topology, TopologyOrigin};

use super::super::limits::{ProcessLimits, limits};
use super::*;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (file, text) in files {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn identity(root: bool) -> Identity {
    Identity {
        hostname: "epyc1".into(),
        kernel_release: "6.12.1".into(),
        kernel_version: "#1 SMP".into(),
        architecture: "x86_64".into(),
        root,
        agent_build: "0.1.0".into(),
    }
}

fn read(root: &Path, as_root: bool, tools: &[ToolProbe]) -> HostFacts {
    let topology = Topology::unknown(TopologyOrigin::ThisMachine);
    facts(
        &Roots::below(root),
        identity(as_root),
        topology,
        Limits::default(),
        tools,
        &|path, args| {
            Some(format!(
                "{} {}",
                path.file_name()?.to_str()?,
                args.join(" ")
            ))
        },
    )
}

const MOUNT: &str =
    "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

#[test]
fn a_server_has_its_facts_and_no_power_gaps() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[
            (
                "proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nmicrocode\t: 0xa0011d1\nflags\t\t: fpu sse\n",
            ),
            ("proc/cmdline", "root=/dev/vda quiet\n"),
            (
                "proc/meminfo",
                "MemTotal:       1000 kB\nMemAvailable:    600 kB\n",
            ),
            ("proc/self/mountinfo", MOUNT),
            ("proc/schedstat", "version 16\n"),
            ("proc/sys/kernel/sched_schedstats", "0\n"),
            ("proc/sys/kernel/numa_balancing", "1\n"),
            ("proc/pressure/cpu", "some\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n"),
            (
                "sys/kernel/debug/sched/features",
                "PLACE_LAG NO_NEXT_BUDDY\n",
            ),
            ("sys/kernel/debug/sched/base_slice_ns", "3000000\n"),
            ("sys/class/dmi/id/bios_vendor", "AMI\n"),
            ("sys/class/dmi/id/bios_version", "1.2\n"),
            ("sys/devices/system/cpu/smt/control", "on\n"),
            ("sys/devices/system/cpu/cpu1/online", "1\n"),
            (
                "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                "0\n",
            ),
            ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
            (
                "sys/devices/system/cpu/cpufreq/policy0/scaling_driver",
                "amd-pstate-epp\n",
            ),
            (
                "sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
                "powersave\n",
            ),
            (
                "sys/devices/system/cpu/cpufreq/policy10/scaling_governor",
                "performance\n",
            ),
            (
                "sys/devices/system/cpu/cpuidle/current_driver",
                "acpi_idle\n",
            ),
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
            (
                "etc/os-release",
                "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n",
            ),
            ("dev/cpu_dma_latency", ""),
        ],
    );
    let f = read(dir.path(), true, &[]);
    assert_eq!(f.topology.cpu_model.as_deref(), Some("AMD EPYC"));
    assert_eq!(f.microcode.as_deref(), Some("0xa0011d1"));
    assert_eq!(f.bios.as_deref(), Some("AMI 1.2"));
    assert_eq!(f.os.as_deref(), Some("Debian GNU/Linux 12"));
    assert_eq!(f.memory_bytes, Some(1_024_000));
    assert_eq!(f.hypervisor, None);
    assert_eq!(f.cpufreq_driver.as_deref(), Some("amd-pstate-epp"));
    assert_eq!(f.cgroup_mode.as_deref(), Some("unified"));
    assert_eq!(f.cgroup_controllers, ["cpuset", "cpu", "io"]);
    assert_eq!(f.schedstat.as_deref(), Some("off"));
    assert_eq!(f.sched_features.unwrap(), ["PLACE_LAG", "NO_NEXT_BUDDY"]);
    assert_eq!(f.settings["sched.base_slice_ns"], "3000000");
    assert_eq!(
        f.settings["cpufreq.scaling_governor"],
        "performance (policy10), powersave (policy0)"
    );
    let names: Vec<&str> = f.gaps.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names, ["perf", "turbostat"]);
}

#[test]
fn an_arm_guest_states_each_gap_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[
            (
                "proc/self/mountinfo",
                "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
            ),
            (
                "proc/cgroups",
                "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t4\t1\t1\n",
            ),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("sys/devices/system/cpu/smt/control", "notimplemented\n"),
            (
                "sys/kernel/security/lockdown",
                "none [integrity] confidentiality\n",
            ),
        ],
    );
    let f = read(dir.path(), true, &[]);
    assert_eq!(f.hypervisor.as_deref(), Some("qemu"));
    assert_eq!(f.cgroup_mode.as_deref(), Some("v1"));
    assert_eq!(f.schedstat.as_deref(), Some("absent"));
    let gap = |name: &str| {
        let found = f.gaps.iter().find(|(n, _)| n == name);
        found.map(|(_, why)| why.clone()).unwrap_or_default()
    };
    assert!(gap("cpufreq").contains("a qemu guest: its host decides"));
    assert!(gap("smt").contains("no SMT here"));
    assert!(gap("cgroup.cpu").contains("mounted as cgroup v1 at /sys/fs/cgroup/cpu,cpuacct"));
    assert!(gap("sched.features").contains("locked down (integrity)"));
    assert!(gap("hotplug").contains("cannot be taken offline"));
    assert!(!f.gaps.iter().any(|(n, _)| n == "root"));
    assert!(
        read(dir.path(), false, &[])
            .gaps
            .iter()
            .any(|(n, _)| n == "root")
    );
}

#[test]
fn contradicting_sharing_lists_become_a_finding() {
    let dir = tempfile::tempdir().unwrap();
    let list = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cache/index3/shared_cpu_list");
    let files = [(list(0), "0-1\n"), (list(1), "1\n")];
    let files: Vec<(&str, &str)> = files.iter().map(|(f, t)| (f.as_str(), *t)).collect();
    write(dir.path(), &files);
    let findings = read(dir.path(), true, &[]).topology.findings;
    assert_eq!(findings.len(), 1);
    assert!(findings[0].contains("CPU 0 names CPU 1"), "{findings:?}");
}

#[test]
fn tools_are_found_in_path_with_version_and_hash() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[("bin/hackbench", "abc"), ("bin/perf", "not executable")],
    );
    let program = dir.path().join("bin/hackbench");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let probes = ["hackbench", "perf", "absent"].map(|p| ToolProbe {
        program: p.into(),
        version_args: vec!["--version".into()],
    });
    let f = read(dir.path(), true, &probes);
    assert_eq!(f.tools.len(), 1);
    assert_eq!(f.tools[0].version.as_deref(), Some("hackbench --version"));
    // The well-known digest of `abc` (FIPS 180-2, appendix B.1).
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(f.tools[0].sha256.as_deref(), Some(abc));
}

#[test]
fn an_empty_machine_is_unknown_not_zero() {
    let dir = tempfile::tempdir().unwrap();
    let f = read(dir.path(), true, &[]);
    assert_eq!((f.memory_bytes, f.boot_id, f.microcode), (None, None, None));
    assert_eq!(f.sched_features, None);
    let l = limits(&Roots::below(dir.path()), ProcessLimits::default(), None);
    assert_eq!(l, schedrig_model::workload::Limits::default());
}

#[test]
fn limits_take_the_least_pids_max_above() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        &[
            ("proc/self/cgroup", "0::/system.slice/agent.service\n"),
            ("proc/loadavg", "0.10 0.20 0.30 2/317 4242\n"),
            ("proc/meminfo", "MemAvailable:    600 kB\n"),
            ("proc/sys/kernel/pid_max", "32768\n"),
            ("proc/sys/kernel/threads-max", "7000\n"),
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("sys/fs/cgroup/system.slice/agent.service/pids.max", "max\n"),
            ("sys/fs/cgroup/system.slice/pids.max", "4915\n"),
        ],
    );
    let process = ProcessLimits {
        nofile_soft: Some(1024),
        ..ProcessLimits::default()
    };
    let l = limits(&Roots::below(dir.path()), process, Some(5));
    assert_eq!(l.pids_max, Some(4915));
    assert_eq!(
        (l.pid_max, l.threads_max, l.tasks_now),
        (Some(32_768), Some(7000), Some(317))
    );
    assert_eq!(l.memory_available_bytes, Some(614_400));
    assert_eq!(l.ephemeral_ports, Some(28_232));
    assert_eq!((l.nofile_soft, l.disk_free_bytes), (Some(1024), Some(5)));
}
