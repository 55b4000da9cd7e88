//! A topology as a tree to read: `schedrig machine show`.

use std::fmt::Write;

use crate::cpuset::CpuSet;
use crate::id::CpuId;

use super::tree::{Cache, Topology};

/// Draws a topology: a head line, the tree of levels with equal levels on one line, the distances of
/// the NUMA nodes, and what is odd. Ends with a line break.
pub fn draw(topology: &Topology) -> String {
    let mut out = head(topology);
    let levels = merged_levels(topology);
    draw_level(topology, &levels, None, "", &mut out);
    for node in topology.nodes.iter().filter(|n| n.cpus.is_empty()) {
        let memory = node.memory_bytes.map_or("size unknown".into(), bytes);
        let _ = writeln!(out, "node {} (memory only) {memory}", node.id);
    }
    draw_distances(topology, &mut out);
    for kind in &topology.cpu_kinds {
        let efficiency = kind.efficiency.map_or("unknown".into(), |e| e.to_string());
        let _ = writeln!(
            out,
            "CPU kind of efficiency {efficiency}: CPUs {}",
            kind.cpus
        );
    }
    for finding in &topology.findings {
        let _ = writeln!(out, "! {finding}");
    }
    out
}

/// A level of the tree: `package 0 · node 0`, and its CPUs.
struct Level {
    label: String,
    cpus: CpuSet,
}

fn head(topology: &Topology) -> String {
    let model = topology.cpu_model.as_deref().unwrap_or("unknown CPU model");
    let vendor = topology
        .cpu_vendor
        .as_deref()
        .map_or(String::new(), |v| format!(" ({v})"));
    let mut parts = vec![count(topology.cpus.len(), "CPU")];
    let smt = topology.smt_width();
    if !topology.cores.is_empty() {
        let smt = if smt > 1 {
            format!(" SMT{smt}")
        } else {
            String::new()
        };
        parts.push(format!("{}{smt}", count(topology.cores.len(), "core")));
    }
    let groups = topology.llc_groups();
    let assumed = if groups.assumed.is_some() {
        " (assumed)"
    } else {
        ""
    };
    for (n, word) in [
        (topology.packages.len(), "package"),
        (topology.nodes.len(), "node"),
        (topology.clusters().len(), "cluster"),
    ] {
        if n > 0 {
            parts.push(count(n, word));
        }
    }
    parts.push(format!("{}{assumed}", count(groups.groups.len(), "LLC")));
    format!("{model}{vendor}\n{}\n", parts.join(", "))
}

fn count(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}

/// The levels above cores, widest first, those with the same CPUs on one line.
fn merged_levels(topology: &Topology) -> Vec<Level> {
    let number = |os: Option<u32>| os.map_or("?".into(), |n| n.to_string());
    let mut levels: Vec<Level> = Vec::new();
    let mut add = |label: String, cpus: &CpuSet| {
        if cpus.is_empty() {
            return;
        }
        match levels.iter_mut().find(|l| l.cpus == *cpus) {
            Some(level) => {
                level.label.push_str(" · ");
                level.label.push_str(&label);
            }
            None => levels.push(Level {
                label,
                cpus: cpus.clone(),
            }),
        }
    };
    for package in &topology.packages {
        add(
            format!("package {}", number(package.os_index)),
            &package.cpus,
        );
    }
    for node in topology.nodes_with_cpus() {
        let memory = match node.memory_bytes {
            Some(0) => " no memory".into(),
            Some(b) => format!(" {}", bytes(b)),
            None => String::new(),
        };
        add(format!("node {}{memory}", node.id), &node.cpus);
    }
    for die in &topology.dies {
        add(format!("die {}", number(die.os_index)), &die.cpus);
    }
    let wide_enough = |c: &&Cache| !topology.cores.iter().any(|k| c.cpus.is_subset(&k.cpus));
    for cache in topology.caches.iter().rev().filter(wide_enough) {
        let size = cache
            .size_bytes
            .map_or(String::new(), |b| format!(" {}", bytes(b)));
        add(format!("L{}{size}", cache.level), &cache.cpus);
    }
    for group in &topology.groups {
        add(
            group.kind.as_deref().unwrap_or("group").to_lowercase(),
            &group.cpus,
        );
    }
    levels.sort_by_key(|l| (std::cmp::Reverse(l.cpus.len()), l.cpus.first()));
    levels
}

/// Draws the levels directly inside `parent`, then the cores that no level holds.
fn draw_level(
    topology: &Topology,
    levels: &[Level],
    parent: Option<&Level>,
    indent: &str,
    out: &mut String,
) {
    let inside: Vec<&Level> = levels
        .iter()
        .filter(|l| parent.is_none_or(|p| l.cpus.len() < p.cpus.len() && l.cpus.is_subset(&p.cpus)))
        .collect();
    // A level crossing another belongs to neither: it is drawn at the outermost place that holds it.
    let mut direct: Vec<&Level> = inside
        .iter()
        .filter(|l| {
            !inside
                .iter()
                .any(|o| o.cpus.len() > l.cpus.len() && l.cpus.is_subset(&o.cpus))
        })
        .copied()
        .collect();
    direct.sort_by_key(|l| l.cpus.first());
    let held = direct
        .iter()
        .fold(CpuSet::new(), |all, l| all.union(&l.cpus));
    let own = parent.map_or_else(|| topology.online(), |p| p.cpus.clone());
    let loose = own.difference(&held);
    let cores = (!loose.is_empty()).then(|| describe_cores(topology, &loose));
    let last = direct.len() + usize::from(cores.is_some());
    for (i, level) in direct.iter().enumerate() {
        let (branch, below) = if i + 1 == last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let _ = writeln!(out, "{indent}{branch}{}  CPUs {}", level.label, level.cpus);
        draw_level(
            topology,
            levels,
            Some(level),
            &format!("{indent}{below}"),
            out,
        );
    }
    if let Some(cores) = cores {
        let _ = writeln!(out, "{indent}└─ {cores}");
    }
}

/// `8 cores, threads n and n+192`, or each core's CPUs where they follow no rule.
fn describe_cores(topology: &Topology, cpus: &CpuSet) -> String {
    let cores: Vec<&CpuSet> = topology
        .cores
        .iter()
        .map(|c| &c.cpus)
        .filter(|c| c.intersects(cpus))
        .collect();
    if cores.is_empty() {
        return format!("CPUs {cpus} (cores unknown)");
    }
    let offsets = |core: &CpuSet| -> Vec<u32> {
        let first = core.first().map_or(0, |c: CpuId| c.0);
        core.iter().map(|c| c.0 - first).collect()
    };
    let rule = offsets(cores[0]);
    let total = count(cores.len(), "core");
    if cores.iter().any(|c| offsets(c) != rule) {
        let lists: Vec<String> = cores.iter().map(|c| c.to_string()).collect();
        return format!("{total}: {}", lists.join(" | "));
    }
    if rule.len() == 1 {
        return total;
    }
    let threads: Vec<String> = rule
        .iter()
        .map(|&o| if o == 0 { "n".into() } else { format!("n+{o}") })
        .collect();
    format!("{total}, threads {}", threads.join(" "))
}

fn draw_distances(topology: &Topology, out: &mut String) {
    let Some(distances) = &topology.distances else {
        return;
    };
    let n = distances.nodes.len();
    if n < 2 {
        return;
    }
    out.push_str("distances\n     ");
    for node in &distances.nodes {
        let _ = write!(out, " {node:>4}");
    }
    out.push('\n');
    for (row, node) in distances.values.chunks(n).zip(&distances.nodes) {
        let _ = write!(out, " {node:>4}");
        for value in row {
            let _ = write!(out, " {value:>4}");
        }
        out.push('\n');
    }
}

/// Bytes in the largest binary unit that keeps at least one whole unit, one decimal where needed.
fn bytes(b: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (b.checked_ilog2().unwrap_or(0) / 10).min(4);
    let value =
        b as f64 / f64::from(1_u32 << (10 * power.min(3))) / if power == 4 { 1024.0 } else { 1.0 };
    if (value - value.round()).abs() < 0.05 {
        format!("{value:.0} {}", units[power as usize])
    } else {
        format!("{value:.1} {}", units[power as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::super::tree::{Core, Cpu, Distances, NumaNode, Package, TopologyOrigin};
    use super::*;
    use crate::id::NodeId;

    fn set(list: &str) -> CpuSet {
        CpuSet::parse_list(list).unwrap()
    }

    fn golden(name: &str, drawn: &str) {
        let wanted = match name {
            "two-sockets" => include_str!("../../testdata/topology/draw/two-sockets.txt"),
            "clusters" => include_str!("../../testdata/topology/draw/clusters.txt"),
            "odd-guest" => include_str!("../../testdata/topology/draw/odd-guest.txt"),
            other => panic!("no golden file for {other}"),
        };
        assert_eq!(drawn, wanted, "drawing of {name} changed:\n{drawn}");
    }

    /// CPUs of `packages`, cores of `c` and `c + half`, caches by level and list.
    fn machine(half: u32, packages: &[&str], caches: &[(u8, u64, &str)]) -> Topology {
        let mut t = Topology::unknown(TopologyOrigin::Description);
        let all = packages.iter().fold(CpuSet::new(), |a, p| a.union(&set(p)));
        t.cpus = all.iter().map(|id| Cpu { id }).collect();
        t.allowed = all.clone();
        t.present = all.clone();
        let core = |c: CpuId| {
            [c, CpuId(c.0 + half)]
                .into_iter()
                .filter(|c| all.contains(*c))
        };
        let firsts = all.iter().filter(|c| c.0 < half);
        t.cores = firsts
            .map(|c| Core {
                os_index: None,
                cpus: core(c).collect(),
            })
            .collect();
        t.packages = (0..)
            .zip(packages)
            .map(|(i, p)| Package {
                os_index: Some(i),
                cpus: set(p),
            })
            .collect();
        t.nodes = (0..)
            .zip(packages)
            .map(|(i, p)| NumaNode {
                id: NodeId(i),
                cpus: set(p),
                memory_bytes: Some(100 << 30),
            })
            .collect();
        t.caches = caches
            .iter()
            .map(|&(level, size, list)| Cache {
                level,
                size_bytes: Some(size),
                cpus: set(list),
            })
            .collect();
        t
    }

    #[test]
    fn two_sockets_with_split_llcs() {
        let l3 = [
            (3, 32 << 20, "0-3,16-19"),
            (3, 32 << 20, "4-7,20-23"),
            (3, 32 << 20, "8-11,24-27"),
            (3, 32 << 20, "12-15,28-31"),
        ];
        let mut t = machine(16, &["0-7,16-23", "8-15,24-31"], &l3);
        t.cpu_model = Some("AMD EPYC 7763".into());
        t.cpu_vendor = Some("AuthenticAMD".into());
        t.distances = Some(Distances {
            nodes: vec![NodeId(0), NodeId(1)],
            values: vec![10, 32, 32, 10],
        });
        golden("two-sockets", &draw(&t));
    }

    #[test]
    fn clusters_lie_between_llc_and_cores() {
        let mut caches = vec![(3, 15 << 20, "0-11")];
        caches.extend([
            (2, 4_718_592, "0-3"),
            (2, 4_718_592, "4-7"),
            (2, 4_718_592, "8-11"),
        ]);
        golden("clusters", &draw(&machine(12, &["0-11"], &caches)));
    }

    #[test]
    fn what_is_odd_is_said_below_the_tree() {
        let mut t = machine(4, &["0-1,4-5", "2-3,6-7"], &[(3, 16 << 20, "0-7")]);
        t.nodes[1].memory_bytes = Some(0);
        t.nodes.push(NumaNode {
            id: NodeId(2),
            cpus: CpuSet::new(),
            memory_bytes: Some(16 << 30),
        });
        t.findings = check::findings(&t)
            .iter()
            .map(ToString::to_string)
            .collect();
        golden("odd-guest", &draw(&t));
    }

    #[test]
    fn sizes_in_the_largest_whole_unit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(49_152), "48 KiB");
        assert_eq!(bytes(1_310_720), "1.2 MiB");
        assert_eq!(bytes(3 << 40), "3 TiB");
    }
}
