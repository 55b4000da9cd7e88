//! What cannot be controlled or collected on this machine, and why.

use schedrig_model::host::ToolFact;
use schedrig_model::procfmt::{self, CgroupFacts};

use super::roots::{Roots, line_of, names_in};

/// What the gaps follow from, beside the files themselves.
pub(super) struct GapInputs<'a> {
    pub(super) root: bool,
    pub(super) hypervisor: Option<&'a str>,
    pub(super) cpufreq_driver: Option<&'a str>,
    pub(super) cpuidle_driver: Option<&'a str>,
    pub(super) cgroup: &'a CgroupFacts,
    pub(super) schedstat: &'a str,
    pub(super) features_readable: bool,
    pub(super) tools: &'a [ToolFact],
}

/// Every gap: a short name, and the reason with what would mend it.
pub(super) fn gaps(roots: &Roots, inputs: &GapInputs<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut gap = |name: &str, reason: String| found.push((name.to_owned(), reason));
    if !inputs.root {
        gap(
            "root",
            "the agent is not root: it can run workloads, not set the machine".into(),
        );
    }
    power_gaps(roots, inputs, &mut gap);
    if let Some(reason) = procfmt::cpu_controller_gap(inputs.cgroup) {
        gap("cgroup.cpu", reason);
    }
    if inputs.schedstat == "absent" {
        gap(
            "schedstat",
            "no /proc/schedstat: the kernel lacks CONFIG_SCHEDSTATS".into(),
        );
    }
    if !inputs.features_readable {
        gap("sched.features", debugfs_reason(roots, inputs.root));
    }
    if !roots.proc.join("pressure/cpu").exists() {
        gap(
            "pressure",
            "no /proc/pressure: the kernel lacks CONFIG_PSI, or boot with psi=1".into(),
        );
    }
    if !roots.sys.join("kernel/mm/transparent_hugepage").exists() {
        gap("thp", "the kernel has no transparent huge pages".into());
    }
    let has = |name: &str| inputs.tools.iter().any(|t| t.name == name);
    if !has("perf") {
        gap(
            "perf",
            "no `perf` in PATH: install linux-perf for profiles and counts".into(),
        );
    } else if inputs.hypervisor.is_some()
        && !roots.sys.join("bus/event_source/devices/cpu").exists()
    {
        gap(
            "perf.hardware",
            "this virtual machine has no performance counters".into(),
        );
    }
    if inputs.hypervisor.is_none() && !has("turbostat") {
        gap(
            "turbostat",
            "no `turbostat` in PATH: it is in linux-cpupower".into(),
        );
    }
    found
}

fn power_gaps(roots: &Roots, inputs: &GapInputs<'_>, gap: &mut impl FnMut(&str, String)) {
    let cpu = roots.sys.join("devices/system/cpu");
    let whose = match inputs.hypervisor {
        Some(h) => format!("a {h} guest: its host decides"),
        None => "no driver is loaded: check the BIOS and the kernel's configuration".into(),
    };
    if inputs.cpufreq_driver.is_none() {
        gap("cpufreq", format!("frequency cannot be set: {whose}"));
    } else if !cpu.join("intel_pstate/no_turbo").exists() && !cpu.join("cpufreq/boost").exists() {
        gap("cpufreq.boost", "the driver has no switch for turbo".into());
    }
    if inputs.cpuidle_driver.is_none() {
        gap("cpuidle", format!("idle states cannot be set: {whose}"));
    }
    match line_of(&cpu.join("smt/control")).as_deref() {
        Some("notimplemented") => gap("smt", "no SMT here (the kernel says notimplemented)".into()),
        Some("notsupported") => gap("smt", "no SMT here (the kernel says notsupported)".into()),
        Some("forceoff") => gap("smt", "SMT is off until the next boot (nosmt=force)".into()),
        Some(_) => {}
        None => gap("smt", "the kernel has no switch for SMT".into()),
    }
    let cpus = names_in(&cpu);
    let numbered = |n: &&String| {
        n.strip_prefix("cpu")
            .is_some_and(|d| d.parse::<u32>().is_ok())
    };
    if !cpus
        .iter()
        .filter(numbered)
        .any(|c| cpu.join(c).join("online").exists())
    {
        gap("hotplug", "CPUs cannot be taken offline here".into());
    }
    if inputs.hypervisor.is_none() && !cpu.join("cpu0/thermal_throttle").exists() {
        gap("thermal", "the kernel counts no thermal throttling".into());
    }
    if !roots.dev.join("cpu_dma_latency").exists() {
        gap("dma_latency", "no /dev/cpu_dma_latency".into());
    }
}

/// Why the scheduler's debug files cannot be read.
fn debugfs_reason(roots: &Roots, root: bool) -> String {
    if !root {
        return "scheduler features need root".into();
    }
    let lockdown = line_of(&roots.sys.join("kernel/security/lockdown")).unwrap_or_default();
    match procfmt::bracketed(&lockdown) {
        Some(mode) if mode != "none" => {
            format!("the kernel is locked down ({mode}): boot without secure boot")
        }
        _ if names_in(&roots.sys.join("kernel/debug")).is_empty() => {
            "debugfs is not mounted: mount -t debugfs none /sys/kernel/debug".into()
        }
        _ => "the kernel lacks CONFIG_SCHED_DEBUG".into(),
    }
}
