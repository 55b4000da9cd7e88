use super::super::tree::{
    Cache, Core, Cpu, CpuKind, NumaNode, Package, PartialLevel, Topology, TopologyOrigin,
};
use super::*;

fn set(list: &str) -> CpuSet {
    CpuSet::parse_list(list).unwrap()
}

fn cache(level: u8, list: &str) -> Cache {
    Cache {
        level,
        size_bytes: Some(1 << 20),
        cpus: set(list),
    }
}

fn node(id: u32, list: &str, memory_bytes: Option<u64>) -> NumaNode {
    NumaNode {
        id: NodeId(id),
        cpus: set(list),
        memory_bytes,
    }
}

/// CPUs by list, one core each, packages and caches by list.
fn machine(cpus: &str, packages: &[&str], caches: Vec<Cache>) -> Topology {
    let mut t = Topology::unknown(TopologyOrigin::Description);
    t.cpus = set(cpus).iter().map(|id| Cpu { id }).collect();
    t.allowed = set(cpus);
    t.present = set(cpus);
    t.cores = set(cpus)
        .iter()
        .map(|c| Core {
            os_index: None,
            cpus: [c].into_iter().collect(),
        })
        .collect();
    t.packages = packages
        .iter()
        .enumerate()
        .map(|(i, p)| Package {
            os_index: Some(i as u32),
            cpus: set(p),
        })
        .collect();
    t.caches = caches;
    t
}

fn texts(t: &Topology) -> Vec<String> {
    findings(t).iter().map(ToString::to_string).collect()
}

#[test]
fn a_plain_machine_has_nothing_odd() {
    let t = machine(
        "0-7",
        &["0-3", "4-7"],
        vec![cache(3, "0-3"), cache(3, "4-7")],
    );
    assert_eq!(texts(&t), Vec::<String>::new());
    assert_eq!(t.llc_groups().assumed, None);
}

#[test]
fn one_l3_over_all_packages_is_a_guest_and_falls_back_to_nodes() {
    let mut t = machine("0-7", &["0-3", "4-7"], vec![cache(3, "0-7")]);
    t.nodes = vec![node(0, "0-3", None), node(1, "4-7", None)];
    assert_eq!(
        texts(&t),
        ["VM cache topology inconsistent: the LLC of CPUs 0-7 reaches over 2 packages"]
    );
    let groups = t.llc_groups();
    assert_eq!(groups.groups, [set("0-3"), set("4-7")]);
    assert!(groups.assumed.unwrap().contains("reaches over packages"));
}

#[test]
fn an_l3_cut_to_its_node_leaves_cpus_without_one() {
    let l2s = (0..8).map(|i| cache(2, &i.to_string()));
    let mut t = machine("0-7", &["0-7"], l2s.chain([cache(3, "0-3")]).collect());
    t.nodes = vec![node(0, "0-3", None), node(1, "4-7", None)];
    assert_eq!(
        texts(&t),
        ["VM cache topology inconsistent: CPUs 4-7 have no L3"]
    );
    assert_eq!(t.llc_groups().groups, [set("0-3"), set("4-7")]);
}

#[test]
fn low_power_cores_without_an_l3_are_a_kind_of_their_own() {
    let mut t = machine("0-5", &["0-5"], vec![cache(2, "4-5"), cache(3, "0-3")]);
    t.cpu_kinds = vec![
        CpuKind {
            efficiency: Some(0),
            cpus: set("4-5"),
        },
        CpuKind {
            efficiency: Some(1),
            cpus: set("0-3"),
        },
    ];
    assert_eq!(texts(&t), Vec::<String>::new());
    assert_eq!(t.llc_groups().groups, [set("0-3"), set("4-5")]);
}

#[test]
fn x_elite_without_l3_has_three_llcs_of_four() {
    let l2s = ["0-3", "4-7", "8-11"].map(|l| cache(2, l));
    let t = machine("0-11", &["0-11"], l2s.to_vec());
    assert_eq!(texts(&t), Vec::<String>::new());
    assert_eq!(t.llcs().len(), 3);
    assert_eq!(t.cores.len(), 12);
    assert!(t.clusters().is_empty());
}

#[test]
fn without_cache_data_one_llc_per_node_is_assumed_and_no_size_is_invented() {
    let mut t = machine("0-3", &["0-3"], Vec::new());
    t.nodes = vec![node(0, "0-1", None), node(1, "2-3", None)];
    assert_eq!(texts(&t), ["no cache data: one LLC per node is assumed"]);
    assert_eq!(t.llc_groups().groups, [set("0-1"), set("2-3")]);
    assert_eq!(t.llc_bytes_of(&t.online()), None);
}

#[test]
fn an_l2_narrower_than_the_core_is_the_known_kernel_bug() {
    let mut t = machine("0-3", &["0-3"], vec![cache(2, "0"), cache(3, "0-3")]);
    t.cores = vec![
        Core {
            os_index: Some(0),
            cpus: set("0,2"),
        },
        Core {
            os_index: Some(1),
            cpus: set("1,3"),
        },
    ];
    let all = texts(&t).join("\n");
    assert!(
        all.contains("kernel topology bug, see 55409ac5c371"),
        "{all}"
    );
    assert!(all.contains("threads 0,2"), "{all}");
}

#[test]
fn an_l2_wider_than_its_llc_is_reported() {
    let t = machine(
        "0-3",
        &["0-3"],
        vec![cache(2, "0-3"), cache(3, "0-1"), cache(3, "2-3")],
    );
    assert!(
        texts(&t)
            .iter()
            .any(|f| f.contains("L2 of CPUs 0-3 reaches outside"))
    );
}

#[test]
fn a_cpu_in_two_nodes_is_refused() {
    let mut t = machine("0-255", &["0-255"], vec![cache(3, "0-255")]);
    t.nodes = vec![
        node(2, "64-95,192-223", None),
        node(3, "96-127,223-255", None),
    ];
    assert_eq!(
        reject(&t).unwrap_err().to_string(),
        "CPU 223 in node 2 and node 3: a CPU belongs to one node"
    );
    t.nodes.pop();
    assert_eq!(reject(&t), Ok(()));
    t.cores.push(Core {
        os_index: None,
        cpus: set("7"),
    });
    assert!(
        reject(&t)
            .unwrap_err()
            .to_string()
            .contains("CPU 7 is in two cores")
    );
    let nothing = Topology::unknown(TopologyOrigin::Xml);
    assert_eq!(reject(&nothing), Err(TopologyError::NoCpu));
}

#[test]
fn a_container_states_both_numbers_and_the_cut_cache() {
    let mut t = machine("0-5", &["0-5"], vec![cache(3, "0-3"), cache(3, "4-5")]);
    t.present = set("0-31");
    t.partial = vec![PartialLevel {
        name: "L3 #1".into(),
        usable: set("4-5"),
        all: set("4-7"),
    }];
    assert_eq!(texts(&t), ["allowed 6 of 32 CPUs; L3 #1 partly (2 of 4)"]);
    assert_eq!(t.llc_groups().groups.len(), 2);
}

#[test]
fn cpu0_and_node0_offline() {
    let mut t = machine(
        "5-20",
        &["5-12", "13-20"],
        vec![cache(3, "5-12"), cache(3, "13-20")],
    );
    t.present = set("0-23");
    t.nodes = vec![node(1, "13-20", Some(1 << 30))];
    let all = texts(&t);
    assert!(all.contains(&"CPU0 offline".to_owned()), "{all:?}");
    assert!(
        all.contains(&"the package of CPUs 5-12 has no local memory".to_owned()),
        "{all:?}"
    );
    assert_eq!(t.online().len(), 16);
}

#[test]
fn power9_with_offline_threads_keeps_its_smt_width() {
    let mut t = machine(
        "0,1,109-127",
        &["0,1,109-127"],
        vec![cache(3, "0,1,109-127")],
    );
    t.present = set("0-127");
    t.cores = ["0,1", "109-111", "112-119", "120-127"]
        .iter()
        .map(|l| Core {
            os_index: None,
            cpus: set(l),
        })
        .collect();
    assert_eq!(t.online().len(), 21);
    assert_eq!(t.smt_width(), 8);
    let all = texts(&t).join("\n");
    assert!(
        all.contains("SMT8 cores with partly offline threads: 0-1 (2 of 8), 109-111 (3 of 8)"),
        "{all}"
    );
}

#[test]
fn cpus_past_1024_are_ordinary() {
    let mut t = machine(
        "1024-1030,1791",
        &["1024-1030,1791"],
        vec![cache(3, "1024-1030,1791")],
    );
    t.nodes = vec![node(0, "1024-1030,1791", Some(1 << 30))];
    assert_eq!(reject(&t), Ok(()));
    assert_eq!(t.node_of(CpuId(1791)).unwrap().id, NodeId(0));
    assert_eq!(t.llc_groups().groups[0].to_string(), "1024-1030,1791");
}

#[test]
fn unnumbered_packages_are_one_assumed_package() {
    let mut t = machine("0-3", &["0-3"], vec![cache(3, "0-3")]);
    t.packages[0].os_index = None;
    assert!(texts(&t)[0].contains("one package is assumed"));
}

#[test]
fn sharing_lists_must_name_each_other() {
    let good: BTreeMap<CpuId, CpuSet> = (0..4).map(|c| (CpuId(c), set("0-3"))).collect();
    assert!(sharing_findings(&good).is_empty());
    let mut bad = good;
    bad.insert(CpuId(0), set("0-3,48"));
    bad.insert(CpuId(48), set("48-51"));
    let found = sharing_findings(&bad);
    assert_eq!(
        found[0],
        Finding::SharingNotSymmetric {
            cpu: CpuId(0),
            other: CpuId(48)
        }
    );
}
