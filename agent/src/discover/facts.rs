//! The circumstances of this machine, read from the kernel's files.

use std::collections::BTreeMap;
use std::path::Path;

use schedrig_model::host::HostFacts;
use schedrig_model::procfmt;
use schedrig_model::topology::{Topology, check};
use schedrig_model::workload::Limits;
use schedrig_model::{CpuId, CpuSet};

use super::gaps::{GapInputs, gaps};
use super::roots::{Roots, line_of, names_in};
use super::settings::settings;
use super::tools::{ToolProbe, VersionOf, find_tools};

/// What the system says of itself by call rather than by file.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Host name.
    pub hostname: String,
    /// `uname -r`.
    pub kernel_release: String,
    /// `uname -v`.
    pub kernel_version: String,
    /// `uname -m`.
    pub architecture: String,
    /// Whether this process is root.
    pub root: bool,
    /// Version and build of the agent.
    pub agent_build: String,
}

impl Identity {
    /// Asks the system.
    ///
    /// # Errors
    /// `uname` failed.
    pub fn of_this_system(agent_build: &str) -> std::io::Result<Self> {
        let name = nix::sys::utsname::uname()?;
        let text = |s: &std::ffi::OsStr| s.to_string_lossy().into_owned();
        Ok(Identity {
            hostname: text(name.nodename()),
            kernel_release: text(name.release()),
            kernel_version: text(name.version()),
            architecture: text(name.machine()),
            root: nix::unistd::geteuid().is_root(),
            agent_build: agent_build.to_owned(),
        })
    }
}

/// Reads the facts. `tools` are the programs worth knowing; `version_of` runs one for its version.
pub fn facts(
    roots: &Roots,
    identity: Identity,
    mut topology: Topology,
    limits: Limits,
    tools: &[ToolProbe],
    version_of: VersionOf<'_>,
) -> HostFacts {
    let proc = |file: &str| line_of(&roots.proc.join(file));
    let sys = |file: &str| line_of(&roots.sys.join(file));
    let cpuinfo = proc("cpuinfo").unwrap_or_default();
    // hwloc has no names for CPUs in some containers and on Arm: any CPU's will do.
    let named = |key| cpuinfo_value(&cpuinfo, key);
    topology.cpu_model = topology.cpu_model.or_else(|| named("model name"));
    topology.cpu_vendor = topology.cpu_vendor.or_else(|| named("vendor_id"));
    let lists = check::sharing_findings(&cache_sharing_lists(&roots.sys));
    topology
        .findings
        .extend(lists.iter().map(ToString::to_string));
    let cgroup = super::cgroup::cgroup_facts(roots);
    let tools = find_tools(&roots.path_dirs, tools, version_of);
    let driver = |path: &str| sys(path).filter(|d| d != "none" && d != "<null>");
    let cpufreq_driver = first_policy(&roots.sys)
        .and_then(|p| driver(&format!("devices/system/cpu/cpufreq/{p}/scaling_driver")));
    let cpuidle_driver = driver("devices/system/cpu/cpuidle/current_driver");
    let schedstat = schedstat_state(roots);
    let sched_features = sys("kernel/debug/sched/features")
        .or_else(|| sys("kernel/debug/sched_features"))
        .map(|t| t.split_ascii_whitespace().map(str::to_owned).collect());
    let hypervisor = hypervisor(roots, &cpuinfo);
    let gaps = gaps(
        roots,
        &GapInputs {
            root: identity.root,
            hypervisor: hypervisor.as_deref(),
            cpufreq_driver: cpufreq_driver.as_deref(),
            cpuidle_driver: cpuidle_driver.as_deref(),
            cgroup: &cgroup,
            schedstat: &schedstat,
            features_readable: sched_features.is_some(),
            tools: &tools,
        },
    );
    let (cgroup_mode, _) = procfmt::decide_cgroup_mode(&cgroup.mounts);
    HostFacts {
        hostname: identity.hostname,
        kernel_release: identity.kernel_release,
        kernel_version: identity.kernel_version,
        architecture: identity.architecture,
        kernel_cmdline: proc("cmdline"),
        boot_id: proc("sys/kernel/random/boot_id"),
        microcode: named("microcode"),
        bios: bios(&roots.sys),
        os: os_name(&roots.etc),
        memory_bytes: memory_bytes(&proc("meminfo").unwrap_or_default(), "MemTotal"),
        hypervisor,
        cpufreq_driver,
        cpuidle_driver,
        cgroup_mode: Some(cgroup_mode.word().to_owned()),
        cgroup_controllers: cgroup.v2_controllers.unwrap_or_default(),
        schedstat: Some(schedstat),
        sched_features,
        settings: settings(roots),
        tools,
        limits: Some(limits),
        gaps,
        topology,
        agent_build: identity.agent_build,
        root: identity.root,
    }
}

/// The first `key : value` of /proc/cpuinfo that says something.
fn cpuinfo_value(cpuinfo: &str, key: &str) -> Option<String> {
    let said = |line: &str| {
        let (k, v) = line.split_once(':')?;
        (k.trim() == key && !v.trim().is_empty()).then(|| v.trim().to_owned())
    };
    cpuinfo.lines().find_map(said)
}

/// A line of /proc/meminfo in bytes; the kernel writes kB and means KiB.
pub(super) fn memory_bytes(meminfo: &str, key: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|l| l.strip_prefix(key)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn bios(sys: &Path) -> Option<String> {
    let of = |f: &str| line_of(&sys.join("class/dmi/id").join(f));
    let parts: Vec<String> = ["bios_vendor", "bios_version", "bios_date"]
        .iter()
        .filter_map(|f| of(f))
        .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn os_name(etc: &Path) -> Option<String> {
    let text = std::fs::read_to_string(etc.join("os-release")).ok()?;
    let value = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// What each CPU says of the CPUs that share its largest cache.
fn cache_sharing_lists(sys: &Path) -> BTreeMap<CpuId, CpuSet> {
    let root = sys.join("devices/system/cpu");
    let list_of = |name: &String| {
        let cpu = CpuId(name.strip_prefix("cpu")?.parse().ok()?);
        let indices = names_in(&root.join(name).join("cache"));
        let last = indices.iter().rfind(|i| i.starts_with("index"))?;
        let file = root
            .join(name)
            .join("cache")
            .join(last)
            .join("shared_cpu_list");
        Some((cpu, CpuSet::parse_list(&line_of(&file)?).ok()?))
    };
    names_in(&root).iter().filter_map(list_of).collect()
}

/// The hypervisor by DMI or Xen's own file; `unknown` where only the CPU says there is one.
fn hypervisor(roots: &Roots, cpuinfo: &str) -> Option<String> {
    if let Some(kind) = line_of(&roots.sys.join("hypervisor/type")) {
        return Some(kind);
    }
    let vendor = ["sys_vendor", "product_name", "bios_vendor"]
        .iter()
        .filter_map(|f| line_of(&roots.sys.join("class/dmi/id").join(f)))
        .collect::<Vec<_>>()
        .join(" ");
    let known = [
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("VirtualBox", "virtualbox"),
        ("Xen", "xen"),
        ("Microsoft", "hyper-v"),
        ("Amazon EC2", "aws"),
        ("Google", "google"),
        ("Bochs", "bochs"),
        ("SeaBIOS", "qemu"),
    ];
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags"));
    let flagged = flags.is_some_and(|l| l.split_ascii_whitespace().any(|f| f == "hypervisor"));
    // A vendor such as Microsoft also makes real machines: without the CPU's flag it proves nothing.
    let by_name = known.iter().find(|(name, _)| vendor.contains(name));
    match (flagged, by_name) {
        (true, Some((_, word))) => Some((*word).to_owned()),
        (true, None) => Some("unknown".to_owned()),
        (false, Some((_, word))) if *word == "qemu" || *word == "kvm" => Some((*word).to_owned()),
        (false, _) => None,
    }
}

/// `absent`, `off` or `on`. Without the sysctl, kernels of CONFIG_SCHEDSTATS always count.
fn schedstat_state(roots: &Roots) -> String {
    if !roots.proc.join("schedstat").exists() {
        return "absent".into();
    }
    match line_of(&roots.proc.join("sys/kernel/sched_schedstats")).as_deref() {
        Some("0") => "off".into(),
        _ => "on".into(),
    }
}

pub(super) fn first_policy(sys: &Path) -> Option<String> {
    policies(sys).into_iter().next()
}

/// `policy0`, `policy4`, ... in order of their number.
pub(super) fn policies(sys: &Path) -> Vec<String> {
    let names = names_in(&sys.join("devices/system/cpu/cpufreq"));
    let mut numbered: Vec<(u32, String)> = names
        .into_iter()
        .filter_map(|n| Some((n.strip_prefix("policy")?.parse().ok()?, n)))
        .collect();
    numbered.sort();
    numbered.into_iter().map(|(_, n)| n).collect()
}

#[cfg(test)]
mod tests;
