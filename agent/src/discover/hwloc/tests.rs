use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schedrig_model::topology::draw;

use super::*;

/// The shared fixtures beside the project; `None`, said in a line, where they are absent.
fn fixtures() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures");
    if root.join("fetched/topology/SOURCES.md").exists() {
        return Some(root);
    }
    println!("skipped: no shared fixtures at {}", root.display());
    None
}

/// One row of the table of counts: what `hwloc-calc -N TYPE all` printed, by column name.
struct Row {
    file: PathBuf,
    counts: BTreeMap<String, usize>,
    /// The row states that hwloc 2.9 cannot load the file.
    refused: bool,
}

/// Folders of the files a section of SOURCES.md speaks of.
fn folders(section: &str) -> Vec<&'static str> {
    match section.split_whitespace().next() {
        Some("hwloc/v2-converted") => vec!["fetched/topology/hwloc/v2-converted"],
        Some("hwloc/v2-format") => vec!["fetched/topology/hwloc/v2-format"],
        Some("mpibind") => vec!["fetched/topology/mpibind", "fetched/topology/flux-sched"],
        Some("synthetic") => vec!["topology/synthetic"],
        _ => Vec::new(),
    }
}

fn rows(root: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(root.join("fetched/topology/SOURCES.md")).unwrap();
    let (mut section, mut columns, mut found) = (String::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.to_owned();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() < 4 || !cells[0].is_empty() {
            continue;
        }
        if cells[1] == "file" {
            columns = cells.iter().map(|c| (*c).to_owned()).collect();
        }
        if !cells[1].ends_with(".xml") {
            continue;
        }
        let places = folders(&section);
        let file = places
            .iter()
            .map(|folder| root.join(folder).join(cells[1]))
            .find(|path| path.exists())
            .unwrap_or_else(|| {
                panic!("{} of section {section} is in none of {places:?}", cells[1])
            });
        let refused = cells[2].contains("does not load");
        let counts = columns.iter().zip(&cells).skip(2).take(9);
        let counts = counts.map(|(name, cell)| (name.clone(), cell.parse().unwrap_or(0)));
        found.push(Row {
            file,
            counts: counts.collect(),
            refused,
        });
    }
    found
}

/// The topology's counts, less what `hwloc-calc` does not count: memory near no CPU, and groups where
/// they lie at several depths.
fn counts_of(t: &Topology, hwloc: &Hwloc) -> BTreeMap<String, usize> {
    let level = |n| t.caches.iter().filter(|c| c.level == n).count();
    let far_memories = local_memories(hwloc)
        .iter()
        .filter(|m| m.near.is_empty())
        .count();
    let one_depth = hwloc.depth_for_type(ObjectType::Group).is_ok();
    [
        ("pkg", t.packages.len()),
        ("numa", t.nodes.len() - far_memories),
        ("l3", level(3)),
        ("l2", level(2)),
        ("cores", t.cores.len()),
        ("PU", t.cpus.len()),
        ("die", t.dies.len()),
        ("groups", if one_depth { t.groups.len() } else { 0 }),
        // One kind alone says nothing and is left out of a topology.
        ("cpukinds", t.cpu_kinds.len().max(1)),
    ]
    .map(|(name, n)| (name.to_owned(), n))
    .into()
}

#[test]
fn every_fixture_gives_the_counts_its_table_states() {
    let Some(root) = fixtures() else { return };
    let rows = rows(&root);
    assert!(
        rows.len() > 120,
        "only {} rows read from the table",
        rows.len()
    );
    let mut wrong = Vec::new();
    for row in rows {
        let text = std::fs::read_to_string(&row.file).unwrap();
        let name = row.file.display();
        match from_xml(&text) {
            Err(HwlocError::TooNew { .. }) if row.refused => {}
            Ok(_) if row.refused => wrong.push(format!("{name}: loads, the table says it cannot")),
            Err(e) => wrong.push(format!("{name}: {e}")),
            Ok(topology) => {
                let mut want = row.counts;
                want.entry("cpukinds".into())
                    .and_modify(|n| *n = (*n).max(1));
                let hwloc = build(
                    TopologyBuilder::new().from_xml(&text).unwrap(),
                    &TopologyOrigin::Xml,
                )
                .unwrap();
                let got = counts_of(&topology, &hwloc);
                if got != want {
                    wrong.push(format!("{name}: got {got:?}, want {want:?}"));
                }
                assert!(draw(&topology).ends_with('\n'), "{name}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_of_format_3_are_refused_with_the_way_out() {
    let Some(root) = fixtures() else { return };
    let mut seen = 0;
    for folder in ["xml", "x86", "linux"] {
        for entry in std::fs::read_dir(root.join("fetched/topology/hwloc").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let is_xml = path.extension().is_some_and(|e| e == "xml");
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if !is_xml || !text.contains("<topology version=\"3.0\"") {
                continue;
            }
            seen += 1;
            let message = from_xml(&text).unwrap_err().to_string();
            assert!(
                message.contains("format 3.0 is newer"),
                "{}: {message}",
                path.display()
            );
        }
    }
    assert!(seen > 20, "only {seen} files of format 3.0 found");
}

fn fixture(root: &Path, name: &str) -> Topology {
    from_xml(&std::fs::read_to_string(root.join(name)).unwrap()).unwrap()
}

#[test]
fn a_cpuset_of_6_of_32_cpus_cuts_the_second_l3() {
    let Some(root) = fixtures() else { return };
    let t = fixture(
        &root,
        "fetched/topology/hwloc/v2-converted/32amd64-4s2n4c-cgroup2.xml",
    );
    assert_eq!(
        t.cpu_model.as_deref(),
        Some("AMD Opteron(tm) Processor 6134")
    );
    let said = t.findings.join("\n");
    assert!(said.contains("allowed 6 of 32 CPUs"), "{said}");
    assert!(said.contains("L3 #1 partly (2 of 4)"), "{said}");
    assert_eq!(t.llc_groups().groups.len(), 2);
}

#[test]
fn hygon_has_eight_llcs_in_one_node() {
    let Some(root) = fixtures() else { return };
    let t = fixture(
        &root,
        "fetched/topology/hwloc/v2-converted/Hygon-Dhyana-32cores.xml",
    );
    let groups = t.llc_groups();
    assert_eq!(groups.assumed, None);
    assert_eq!(groups.groups.len(), 8);
    assert!(groups.groups.iter().all(|g| g.len() == 8));
    assert!(
        !t.findings.join("\n").contains("kernel topology bug"),
        "{:?}",
        t.findings
    );
}

#[test]
fn kunpeng_has_32_clusters_of_4_in_4_llcs() {
    let Some(root) = fixtures() else { return };
    let t = fixture(&root, "topology/synthetic/kunpeng920-7265-2s.xml");
    let clusters = t.clusters();
    assert_eq!(clusters.len(), 32);
    assert!(clusters.iter().all(|c| c.len() == 4));
    assert_eq!(t.llc_groups().groups.len(), 4);
}

#[test]
fn jacobsville_has_6_clusters_by_l2() {
    let Some(root) = fixtures() else { return };
    let t = fixture(&root, "topology/synthetic/jacobsville-24c.xml");
    assert_eq!(t.clusters().len(), 6);
    assert_eq!(t.llcs().len(), 1);
}

#[test]
fn hybrid_arm_cpus_have_kinds_and_two_llcs() {
    let Some(root) = fixtures() else { return };
    let t = fixture(
        &root,
        "fetched/topology/hwloc/v2-converted/nvidia-dgx-gb10.xml",
    );
    assert_eq!(t.llc_groups().groups.len(), 2);
    let of_kinds: usize = t.cpu_kinds.iter().map(|k| k.cpus.len()).sum();
    assert_eq!((t.cpu_kinds.len(), of_kinds), (2, 20));
    assert_eq!(t.smt_width(), 1);
}

#[test]
fn memory_beside_memory_owns_no_cpus() {
    let Some(root) = fixtures() else { return };
    let t = fixture(&root, "fetched/topology/mpibind/knl-snc4-flat-hwloc1.xml");
    assert_eq!(t.nodes.len(), 8);
    assert_eq!(t.nodes_with_cpus().count(), 4);
    let t = fixture(
        &root,
        "fetched/topology/hwloc/v2-converted/64intel64-heteromem.xml",
    );
    assert_eq!(t.nodes_with_cpus().count(), 4);
}

#[test]
fn distances_between_nodes_are_read() {
    let Some(root) = fixtures() else { return };
    let t = fixture(&root, "fetched/topology/mpibind/epyc-corona.xml");
    let d = t.distances.as_ref().unwrap();
    assert_eq!(d.nodes.len(), 8);
    assert_eq!(d.between(NodeId(0), NodeId(0)), Some(10));
    assert!(d.between(NodeId(0), NodeId(7)) > Some(10));
    assert!(t.nodes.iter().all(|n| n.memory_bytes > Some(1 << 30)));
}

#[test]
fn a_synthetic_description_has_its_levels() {
    let t = from_synthetic("pack:2 [numa(memory=4GiB)] l3:2 l2:2 core:2 pu:2").unwrap();
    assert_eq!((t.packages.len(), t.nodes.len(), t.llcs().len()), (2, 2, 4));
    assert_eq!(
        (t.clusters().len(), t.cores.len(), t.cpus.len()),
        (8, 16, 32)
    );
    assert_eq!(t.smt_width(), 2);
    assert_eq!(t.allowed, CpuSet::range(0, 31));
    assert_eq!(
        draw(&t),
        include_str!("../../../testdata/draw/synthetic.txt")
    );
}

#[test]
fn nonsense_is_refused_by_name() {
    assert!(
        from_synthetic("pack:2 fish:3")
            .unwrap_err()
            .to_string()
            .contains("`pack:2 fish:3`")
    );
    assert!(from_synthetic("").is_err());
    for text in ["", "<html></html>", "<topology version=\"2.0\">", "no\0xml"] {
        assert!(
            matches!(
                from_xml(text),
                Err(HwlocError::NotXml | HwlocError::Build { .. })
            ),
            "{text}"
        );
    }
}

#[test]
fn this_machine_has_the_cpus_it_runs_on() {
    let t = of_this_machine().unwrap();
    let online = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN)
        .unwrap()
        .unwrap();
    assert!(!t.cpus.is_empty() && t.cpus.len() as i64 <= online);
    assert!(t.allowed.is_subset(&t.online()));
    assert!(t.online().is_subset(&t.present));
}
