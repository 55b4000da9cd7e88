use super::*;
use crate::cpu::CpuIx;
use crate::kernel::Profile;
use crate::machine::{Machine, MachineFile, Numbering, shipped_text};

/// A small regular machine: counts of packages, nodes, LLCs, cores, threads, cores of a cluster.
fn machine(shape: [u64; 6], package_distance: f64, remote_distance: f64) -> Machine {
    let mut file = MachineFile::parse("vm-2", shipped_text("vm-2").unwrap()).unwrap();
    let mut count = file.shape.packages.clone();
    let mut set = |value: u64| {
        count.value = value as f64;
        count.clone()
    };
    file.shape.packages = set(shape[0]);
    file.shape.nodes_per_package = set(shape[1]);
    file.shape.llcs_per_node = set(shape[2]);
    file.shape.cores_per_llc = set(shape[3]);
    file.shape.threads_per_core = set(shape[4]);
    file.shape.cores_per_cluster = Some(set(shape[5]));
    let mut distance = file.distances.local_distance.clone();
    distance.value = package_distance;
    file.distances.package_distance = Some(distance.clone());
    distance.value = remote_distance;
    file.distances.remote_distance = Some(distance);
    file.numbering.value = Numbering::SiblingsAdjacent;
    file.machine().unwrap()
}

/// The guests' topologies, from their QEMU command lines.
fn guest(topology: &str) -> Machine {
    match topology {
        // -smp 8,sockets=2,cores=2,threads=2; a node a socket, distance 21
        "numa8" => machine([2, 1, 1, 2, 2, 1], 10.0, 21.0),
        // -smp 16,sockets=2,dies=2,cores=2,threads=2; a node a socket, distance 32
        "ccx16" => machine([2, 1, 2, 2, 2, 1], 10.0, 32.0),
        // -smp 8,dies=2,modules=2,cores=2; an L2 a module
        "cls8" => machine([1, 1, 2, 4, 1, 2], 10.0, 10.0),
        // as ccx16 with a node a die, distances 12 and 32
        "nps4" => machine([2, 2, 1, 2, 2, 1], 12.0, 32.0),
        // -smp 4
        "flat4" => machine([1, 1, 1, 4, 1, 1], 10.0, 10.0),
        other => panic!("no topology {other}"),
    }
}

fn mask_text(domain: &SchedDomain, cpus: usize) -> String {
    let bits: u64 = domain.span.words()[0];
    format!("{bits:0width$x}", width = cpus.div_ceil(4))
}

/// Domains of real kernels: testdata/domains/RELEASE-TOPOLOGY.txt, captured in QEMU guests.
macro_rules! captures {
    ($($release:literal, $guest:literal, $full:literal;)+) => {
        &[$(($full, $guest, include_str!(concat!(
            "../../../testdata/domains/", $release, "-", $guest, ".txt"
        ))),)+]
    };
}

const CAPTURES: &[(&str, &str, &str)] = captures! {
    "6.1", "numa8", "6.1.176"; "6.1", "ccx16", "6.1.176"; "6.1", "cls8", "6.1.176";
    "6.1", "nps4", "6.1.176"; "6.1", "flat4", "6.1.176";
    "6.12", "numa8", "6.12.117"; "6.12", "ccx16", "6.12.117"; "6.12", "cls8", "6.12.117";
    "6.12", "nps4", "6.12.117"; "6.12", "flat4", "6.12.117";
    "7.2", "numa8", "7.2.13"; "7.2", "ccx16", "7.2.13"; "7.2", "cls8", "7.2.13";
    "7.2", "nps4", "7.2.13"; "7.2", "flat4", "7.2.13";
};

#[test]
fn domains_are_those_of_real_kernels() {
    for (release, topology, text) in CAPTURES {
        let profile = Profile::for_release(release).unwrap().profile;
        let machine = guest(topology);
        let domains = build_sched_domains(&machine, &profile, None);
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        let built: usize = domains.of_cpu.iter().map(Vec::len).sum();
        assert_eq!(built, lines.len(), "{release} {topology}");
        for line in lines {
            compare(
                &machine,
                &domains,
                line,
                &format!("{release} {topology}: {line}"),
            );
        }
    }
}

fn compare(machine: &Machine, domains: &SchedDomains, line: &str, context: &str) {
    let (head, group_flags) = line.split_once(" / ").unwrap();
    let fields: Vec<&str> = head.splitn(11, ' ').collect();
    let number = |at: usize| fields[at].parse::<u32>().unwrap();
    let cpu = CpuIx::from_at(fields[0].parse().unwrap());
    let at = number(1) as usize;
    let domain = domains.get(domains.of_cpu[cpu.at()][at]);
    assert_eq!(domain.name, fields[2], "{context}");
    assert_eq!(mask_text(domain, machine.nr_cpus()), fields[3], "{context}");
    let numbers = [
        domain.imbalance_pct,
        domain.cache_nice_tries,
        domain.busy_factor,
        domain.min_interval_ms,
        domain.max_interval_ms,
    ];
    assert_eq!(numbers, [4, 5, 6, 7, 8].map(number), "{context}");
    if fields[9] != "-" {
        assert_eq!(domain.level, number(9), "{context}");
    }
    assert_eq!(Some(domain.flags), SdFlags::parse(fields[10]), "{context}");
    if group_flags != "-" {
        let local = domain.ring(cpu).next().unwrap();
        assert_eq!(Some(local.flags), SdFlags::parse(group_flags), "{context}");
    }
}

#[test]
fn relax_domain_level_does_what_real_kernels_do() {
    let captures = [
        (
            "6.1.176",
            include_str!("../../../testdata/domains/6.1-relax.txt"),
        ),
        (
            "6.12.117",
            include_str!("../../../testdata/domains/6.12-relax.txt"),
        ),
        (
            "7.2.13",
            include_str!("../../../testdata/domains/7.2-relax.txt"),
        ),
    ];
    for (release, text) in captures {
        let profile = Profile::for_release(release).unwrap().profile;
        for request in [None, Some(1), Some(3)] {
            let label = request.map_or("none".to_owned(), |r| r.to_string());
            let domains = build_sched_domains(&guest("ccx16"), &profile, request);
            let built: Vec<(String, SdFlags)> = (domains.of(CpuIx(0)))
                .map(|(_, d)| (d.name.to_owned(), d.flags))
                .collect();
            let real: Vec<(String, SdFlags)> = (text.lines().filter(|l| !l.starts_with('#')))
                .filter_map(|l| l.strip_prefix(&format!("{label} ")))
                .filter_map(|l| l.split_once(' '))
                .map(|(name, flags)| (name.to_owned(), SdFlags::parse(flags).unwrap()))
                .collect();
            assert_eq!(built, real, "{release} {label}");
        }
    }
}

#[test]
fn before_6_10_a_level_is_not_relaxed_by_its_own_number() {
    let newidle = |profile: &str, request| {
        let profile = Profile::shipped(profile).unwrap();
        let domains = build_sched_domains(&guest("ccx16"), &profile, Some(request));
        let has = |(_, d): (_, &SchedDomain)| d.flags.has(SdFlags::BALANCE_NEWIDLE);
        domains.of(CpuIx(0)).map(has).collect::<Vec<_>>()
    };
    // SMT 0, CLS 1, MC 2, PKG 3, NUMA 5: counted before any degenerates.
    assert_eq!(newidle("v6.8", 3), [true, true, true, false]);
    assert_eq!(newidle("v6.12", 3), [true, true, false, false]);
    assert_eq!(newidle("v6.8", 0), [true, false, false, false]);
    assert_eq!(newidle("v6.12", 0), [false, false, false, false]);
    assert_eq!(newidle("v6.12", -1), [true, true, true, true]);
}

fn chain(machine: &str, profile: &str) -> Vec<(&'static str, u32, u32)> {
    let machine = Machine::shipped(machine).unwrap();
    let profile = Profile::shipped(profile).unwrap();
    let domains = build_sched_domains(&machine, &profile, None);
    let first = domains.of(CpuIx(0));
    first
        .map(|(_, d)| (d.name, d.weight, d.imb_numa_nr))
        .collect()
}

/// kernel-mechanics 2.10, worked examples.
#[test]
fn worked_examples() {
    let genoa = [
        ("SMT", 2, 0),
        ("MC", 16, 0),
        ("PKG", 192, 12),
        ("NUMA", 384, 12),
    ];
    assert_eq!(chain("genoa-2s", "v6.12"), genoa);
    // One LLC a node: PKG goes, the number it had is NUMA's as well.
    assert_eq!(
        chain("emr-2s", "v6.12"),
        [("SMT", 2, 0), ("MC", 120, 0), ("NUMA", 240, 15)]
    );
    assert_eq!(
        chain("jacobsville", "v6.12"),
        [("CLS", 4, 0), ("MC", 24, 0)]
    );
    let milan = [
        ("SMT", 2, 0),
        ("MC", 16, 0),
        ("PKG", 128, 8),
        ("NUMA", 256, 8),
    ];
    assert_eq!(chain("milan-2s", "v6.12"), milan);
    let old = [
        ("SMT", 2, 0),
        ("MC", 16, 0),
        ("DIE", 192, 12),
        ("NUMA", 384, 12),
    ];
    assert_eq!(chain("genoa-2s", "v6.1"), old);
    assert_eq!(
        chain("westmere-ex-8s", "v3.16"),
        [("MC", 10, 0), ("NUMA", 80, 0)]
    );
}

#[test]
fn amd_keeps_wake_affine_between_sockets_and_intel_does_not_beyond_30() {
    let numa = |vendor: &str| {
        let mut machine = guest("ccx16");
        machine.vendor = Some(vendor.to_owned());
        let profile = Profile::shipped("v6.12").unwrap();
        let domains = build_sched_domains(&machine, &profile, None);
        let top = domains.of(CpuIx(0)).next_back().unwrap().1.flags;
        top.has(SdFlags::WAKE_AFFINE)
    };
    assert!(numa("AuthenticAMD") && numa("HygonGenuine"));
    assert!(!numa("GenuineIntel"));
}

#[test]
fn groups_start_at_the_own_one_and_partition_the_span() {
    let machine = Machine::shipped("genoa-2s").unwrap();
    let domains = build_sched_domains(&machine, &Profile::shipped("v6.12").unwrap(), None);
    for cpu in [0, 7, 100, 383].map(CpuIx) {
        for (_, domain) in domains.of(cpu) {
            let ring: Vec<&SchedGroup> = domain.ring(cpu).collect();
            assert!(ring[0].span.contains(cpu));
            let members: u32 = ring.iter().map(|g| g.weight).sum();
            assert_eq!(members, domain.weight);
        }
    }
    let (_, pkg) = domains.of(CpuIx(0)).nth(2).unwrap();
    assert_eq!(
        (pkg.groups.len(), pkg.groups[0].weight, pkg.groups[0].cores),
        (12, 16, 8)
    );
    assert_eq!(domains.llc(CpuIx(9)).unwrap().1.weight, 16);
}
