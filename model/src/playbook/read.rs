//! A checked tree as a [`Spec`]: what is wrong beyond single values is found here.

use std::collections::BTreeMap;

use crate::plan::{Collector, Judge, ModelSpec, Order, Restore};

use super::diagnostic::{Diagnostic, Report, near_miss};
use super::lookup;
use super::node::{Entry, Node};
use super::read_groups;
use super::read_knobs;
use super::read_workloads::{self, Context, implementation};
use super::shape::one_of;
use super::source::Pos;
use super::spec::{ArmSpec, GroupSpec, ImplWish, RepeatSpec, Requirement, RoleSpec, Spec};
use super::words::{self, Place};

/// Repetitions an arm and cell where the playbook says nothing.
const DEFAULT_MIN: u32 = 5;
/// With a stop rule, at most so many times the least.
const DEFAULT_STRETCH: u32 = 4;
/// Simulated repetitions where the playbook says nothing.
const DEFAULT_SEEDS: u32 = 8;

/// Reads the whole playbook.
pub(super) fn spec(root: &Node, params: BTreeMap<String, String>, report: &mut Report) -> Spec {
    let roles = roles(root);
    let default_impl = implementation(lookup::text(root, "impl"), ImplWish::Tool);
    let context = Context {
        roles: &roles,
        default_impl,
    };
    let groups = root
        .get("cgroups")
        .map_or_else(Vec::new, |n| read_groups::groups(n, report));
    let entries: Vec<_> = root
        .get("workloads")
        .map_or(&[][..], Node::entries)
        .iter()
        .filter_map(|e| read_workloads::entry(e, &context, report))
        .collect();
    let prepare = root
        .get("prepare")
        .map_or_else(Vec::new, |n| read_knobs::knobs(n, false));
    let arms = arms(root, &roles, report);
    let repeat = repeat(root.get("repeat"), report);
    let timeout = lookup::time_us(root, "timeout");
    let spec = Spec {
        title: lookup::text(root, "title").unwrap_or_default().to_owned(),
        reference: lookup::text(root, "reference").map(str::to_owned),
        params,
        arms,
        prepare,
        groups,
        controllers: root
            .get("cgroups")
            .map_or_else(Vec::new, |n| lookup::words(n, "controllers")),
        entries,
        repeat,
        collect: collect(root),
        judge: judge(root.get("judge")),
        simulate_seeds: simulate(root.get("simulate")),
        continue_on_failure: lookup::text(root, "on_failure") != Some("stop"),
        restore: match lookup::text(root, "restore") {
            Some("on-success") => Restore::OnSuccess,
            Some("never") => Restore::Never,
            _ => Restore::Always,
        },
        timeout_us: timeout.map(|(us, _)| us),
        roles,
    };
    check_places(&spec, report);
    check_timeouts(&spec, timeout, report);
    spec
}

fn roles(root: &Node) -> Vec<RoleSpec> {
    let stated = root.get("hosts").map_or(&[][..], Node::entries);
    if stated.is_empty() {
        return vec![RoleSpec {
            name: "sut".into(),
            group: "sut".into(),
            pos: root.pos,
            require: Vec::new(),
        }];
    }
    stated.iter().flat_map(role).collect()
}

fn role(e: &Entry) -> Vec<RoleSpec> {
    let require: Vec<Requirement> = e
        .node
        .get("require")
        .map_or(&[][..], Node::entries)
        .iter()
        .map(|r| Requirement {
            key: r.key.clone(),
            text: r
                .node
                .items()
                .iter()
                .filter_map(|i| i.text().map(str::to_owned))
                .collect(),
            pos: r.node.pos,
        })
        .collect();
    let count: u32 = lookup::number(&e.node, "count").unwrap_or(1).clamp(1, 1000);
    (1..=count)
        .map(|i| RoleSpec {
            name: if count == 1 {
                e.key.clone()
            } else {
                format!("{}-{i}", e.key)
            },
            group: e.key.clone(),
            pos: e.key_pos,
            require: require.clone(),
        })
        .collect()
}

fn arms(root: &Node, roles: &[RoleSpec], report: &mut Report) -> Vec<ArmSpec> {
    let stated = root.get("arms").map_or(&[][..], Node::entries);
    if stated.is_empty() {
        return vec![ArmSpec {
            name: "base".into(),
            pos: root.pos,
            kernel: None,
            boot: None,
            knobs: Vec::new(),
            affinity: None,
            model: ModelSpec::default(),
            on: Vec::new(),
        }];
    }
    stated.iter().map(|e| arm(e, roles, report)).collect()
}

fn arm(e: &Entry, roles: &[RoleSpec], report: &mut Report) -> ArmSpec {
    let node = &e.node;
    let affinity = node.get("affinity").and_then(|a| match a.text() {
        Some(text) => words::parse_affinity(text)
            .ok()
            .map(|a| (a, node.get("affinity").map_or(e.key_pos, |n| n.pos))),
        None => {
            lookup::phrase(a, "cpus", words::parse_cpus).map(|(l, p)| (words::Affinity::List(l), p))
        }
    });
    let model = match node.get("model") {
        None => ModelSpec::default(),
        Some(m) => ModelSpec {
            profile: m
                .text()
                .or_else(|| lookup::text(m, "profile"))
                .map(str::to_owned),
            patches: lookup::words(m, "patches"),
        },
    };
    let on = lookup::texts(node, "on");
    for (name, pos) in &on {
        if !roles.iter().any(|r| r.group == *name || r.name == *name) {
            let known: Vec<&str> = roles.iter().map(|r| r.group.as_str()).collect();
            report.push(
                Diagnostic::error(*pos, format!("unknown role `{name}`"))
                    .expected(format!("one of {}", one_of(&known)))
                    .suggest(near_miss(name, known.iter().copied())),
            );
        }
    }
    ArmSpec {
        name: e.key.clone(),
        pos: e.key_pos,
        kernel: lookup::text(node, "kernel").map(str::to_owned),
        boot: lookup::text(node, "boot").map(str::to_owned),
        knobs: read_knobs::knobs(node, true),
        affinity,
        model,
        on: on.into_iter().map(|(name, _)| name).collect(),
    }
}

fn repeat(node: Option<&Node>, report: &mut Report) -> RepeatSpec {
    let number = |key: &str| node.and_then(|n| lookup::number::<u32>(n, key));
    let until_ci = node
        .and_then(|n| lookup::phrase(n, "until", words::parse_until))
        .map(|(v, _)| v);
    let stated_max = number("max");
    let min = number("min").unwrap_or_else(|| stated_max.unwrap_or(DEFAULT_MIN).min(DEFAULT_MIN));
    let stretch = if until_ci.is_some() {
        DEFAULT_STRETCH
    } else {
        1
    };
    let max = stated_max.unwrap_or_else(|| min.saturating_mul(stretch));
    let at = |key: &str| {
        node.and_then(|n| n.get(key))
            .map_or(Pos::default(), |n| n.pos)
    };
    if max < min {
        report.push(
            Diagnostic::error(at("max"), format!("`max` {max} is below `min` {min}"))
                .expected(format!("at least {min}")),
        );
    }
    let boots = number("boots").unwrap_or(1);
    if boots > max {
        report.push(
            Diagnostic::error(at("boots"), format!("{boots} boots for {max} repetitions"))
                .expected("at least one repetition a boot"),
        );
    }
    RepeatSpec {
        min,
        max,
        until_ci,
        boots,
        order: match node.and_then(|n| lookup::text(n, "order")) {
            Some("random-blocks") => Order::RandomBlocks,
            Some("sequential") => Order::Sequential,
            _ => Order::Interleaved,
        },
        warmup: number("warmup").unwrap_or(0),
        timeout_us: node.and_then(|n| lookup::time_us(n, "timeout")),
    }
}

fn collect(root: &Node) -> Vec<Collector> {
    let mut found: Vec<Collector> = lookup::words(root, "collect")
        .iter()
        .filter_map(|w| {
            Some(match w.as_str() {
                "schedstat" => Collector::Schedstat,
                "cpu.stat" => Collector::CpuStat,
                "psi" => Collector::Psi,
                "proc-sched" => Collector::ProcSched,
                "stat" => Collector::Stat,
                "interrupts" => Collector::Interrupts,
                "perf-stat" => Collector::PerfStat,
                "perf-profile" => Collector::PerfProfile,
                "turbostat" => Collector::Turbostat,
                _ => return None,
            })
        })
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|c| seen.insert(*c));
    found
}

fn judge(node: Option<&Node>) -> Judge {
    let text = |key: &str| node.and_then(|n| lookup::text(n, key));
    Judge {
        assume: text("assume").unwrap_or("nothing").to_owned(),
        alpha: node
            .and_then(|n| lookup::number(n, "alpha"))
            .unwrap_or(0.05),
        min_effect: node
            .and_then(|n| lookup::phrase(n, "min_effect", words::parse_share))
            .map_or(0.01, |(v, _)| v),
        correct: text("correct").unwrap_or("holm").to_owned(),
    }
}

fn simulate(node: Option<&Node>) -> u32 {
    match node {
        Some(n) if n.text() == Some("off") => 0,
        Some(n) => lookup::number(n, "seeds").unwrap_or(DEFAULT_SEEDS),
        None => DEFAULT_SEEDS,
    }
}

/// Places must exist and may hold processes.
fn check_places(spec: &Spec, report: &mut Report) {
    for entry in &spec.entries {
        check_place(&entry.place.0, entry.place.1, spec, report);
        let of_matrix = entry.matrix.product.iter().chain(&entry.matrix.zip);
        for (value, pos) in of_matrix.filter(|d| d.key == "in").flat_map(|d| &d.values) {
            if let super::Wanted::Value(v) = value
                && let Ok(place) = words::parse_place(&v.to_string())
            {
                check_place(&place, *pos, spec, report);
            }
        }
    }
}

fn check_place(place: &Place, pos: Pos, spec: &Spec, report: &mut Report) {
    match place {
        Place::Leaves if spec.groups.is_empty() => report.push(
            Diagnostic::error(pos, "`leaves` of no tree").expected("`cgroups:` with levels or a tree"),
        ),
        Place::Group(name) => match spec.groups.iter().find(|g| g.path == *name) {
            None => unknown_group(name, pos, &spec.groups, report),
            Some(group) if !group.leaf => report.push(
                Diagnostic::error(
                    pos,
                    format!("group `{name}` has groups below it: a group that hands controllers down holds no processes"),
                )
                .expected("a leaf of the tree, or `leaves`"),
            ),
            Some(_) => {}
        },
        _ => {}
    }
}

fn unknown_group(name: &str, pos: Pos, groups: &[GroupSpec], report: &mut Report) {
    let known: Vec<&str> = groups
        .iter()
        .filter(|g| g.leaf)
        .map(|g| g.path.as_str())
        .take(12)
        .collect();
    let near = near_miss(name, groups.iter().map(|g| g.path.as_str()));
    report.push(
        Diagnostic::error(pos, format!("unknown group `{name}`"))
            .expected(if known.is_empty() {
                "`cgroups:` with this group".to_owned()
            } else {
                format!("one of {}", one_of(&known))
            })
            .suggest(near),
    );
}

/// The limit of a step must not be above the limit of the run.
fn check_timeouts(spec: &Spec, whole: Option<(u64, Pos)>, report: &mut Report) {
    let Some((whole, _)) = whole else { return };
    let of_entries = spec.entries.iter().filter_map(|e| e.timeout_us);
    for (step, pos) in of_entries.chain(spec.repeat.timeout_us) {
        if step > whole {
            report.push(
                Diagnostic::error(
                    pos,
                    format!(
                        "step timeout {} s > playbook timeout {} s",
                        step / 1_000_000,
                        whole / 1_000_000
                    ),
                )
                .expected("a step that ends before the run does"),
            );
        }
    }
}
