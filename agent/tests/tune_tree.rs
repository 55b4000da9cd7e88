//! Prepare and restore on a tree of real files below a folder.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use schedrig_agent::kernel::{HostFiles, RealFiles, expand};
use schedrig_agent::tune::{HostLock, Tuner, is_dirty, restore};
use schedrig_model::CpuSet;
use schedrig_model::host::{Knob, KnobTarget};

const STATE: &str = "var/lib/schedrig";

const FILES: [(&str, &str); 14] = [
    ("proc/sys/kernel/random/boot_id", "boot-1"),
    ("proc/sys/kernel/numa_balancing", "1"),
    ("proc/irq/24/smp_affinity_list", "0-1"),
    (
        "sys/devices/system/cpu/cpufreq/policy0/scaling_driver",
        "acpi-cpufreq",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "schedutil",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors",
        "performance schedutil",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq",
        "1400000",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq",
        "2300000",
    ),
    ("sys/devices/system/cpu/cpufreq/boost", "1"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0"),
    ("dev/cpu_dma_latency", ""),
];

fn tree(root: &Utf8Path) {
    for (path, text) in FILES {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, format!("{text}\n")).expect("written");
    }
}

fn values(root: &Utf8Path) -> BTreeMap<&'static str, String> {
    let read = |path: &str| {
        fs::read_to_string(root.join(path))
            .expect("read")
            .trim()
            .to_owned()
    };
    let settings = FILES.iter().filter(|(path, _)| !path.starts_with("dev/"));
    settings.map(|(path, _)| (*path, read(path))).collect()
}

fn knobs() -> Vec<Knob> {
    [
        KnobTarget::CpufreqGovernor("performance".into()),
        KnobTarget::CpufreqBoost(false),
        KnobTarget::CpufreqMinKhz(2_300_000),
        KnobTarget::CpuidleDisableAll,
        KnobTarget::DmaLatencyUs(0),
        KnobTarget::IrqAffinity(CpuSet::range(0, 0)),
        KnobTarget::Sysctl {
            name: "kernel.numa_balancing".into(),
            value: "0".into(),
        },
    ]
    .map(|target| Knob {
        target,
        required: true,
    })
    .to_vec()
}

fn root_of(dir: &tempfile::TempDir) -> Utf8PathBuf {
    Utf8PathBuf::from_path_buf(dir.path().to_path_buf()).expect("a path in UTF-8")
}

#[test]
fn a_tree_is_changed_and_put_back_after_a_crash() {
    let dir = tempfile::tempdir().expect("a folder");
    let root = root_of(&dir);
    tree(&root);
    let before = values(&root);
    let files = RealFiles::new(&root);
    let lock = HostLock::take(&root.join(STATE)).expect("the lock");
    let mut tuner = Tuner::open(files.clone(), STATE, "r1").expect("a clean journal");
    let granted = tuner.prepare(&knobs()).expect("a journal");
    assert!(granted.iter().all(|g| g.outcome.holds()), "{granted:?}");
    let order: Vec<_> = granted.iter().map(|g| g.knob.clone()).collect();
    assert_eq!(order, knobs(), "told in the order asked");
    assert_eq!(values(&root)["proc/sys/kernel/numa_balancing"], "0");
    // What SIGKILL leaves: a dirty journal and no lock.
    tuner.leave_as_is();
    drop(lock);
    assert!(is_dirty(&files, STATE).expect("read"));
    let report = restore(&files, STATE).expect("read");
    assert!(report.is_clean() && report.written >= 5, "{report:?}");
    assert_eq!(values(&root), before);
    assert!(!is_dirty(&files, STATE).expect("read"));
}

#[test]
fn patterns_are_expanded_on_disk() {
    let dir = tempfile::tempdir().expect("a folder");
    let root = root_of(&dir);
    tree(&root);
    let files = RealFiles::new(&root);
    let found = expand(&files, "sys/devices/system/cpu/cpu#/cpuidle/state#/disable");
    assert_eq!(found.len(), 2);
    assert!(expand(&files, "sys/devices/system/cpu/cpu#/nosuch").is_empty());
    assert!(files.list("nosuch").is_err());
}
