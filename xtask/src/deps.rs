//! The arrows of ARCHITECTURE.md, and what may not reach a pure crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// member, members it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("stats", &[]),
    ("model", &["stats"]),
    ("proto", &["model", "stats"]),
    ("sim", &["model", "stats"]),
    ("agent", &["proto", "model", "stats"]),
    ("controller", &["proto", "model", "stats", "sim"]),
    (
        "e2e",
        &["stats", "model", "proto", "sim", "agent", "controller"],
    ),
    ("xtask", &[]),
];

const PURE: &[&str] = &["stats", "model", "sim"];

/// Packages that reach the machine; none may be among the dependencies of a pure crate.
const IMPURE: &[&str] = &[
    "tokio",
    "tonic",
    "nix",
    "hwlocality",
    "rusqlite",
    "sysinfo",
    "tempfile",
    "chrono",
    "rustls",
];

pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .exec()
        .context("failed to run cargo metadata")?;
    let mut faults = edges(&metadata);
    faults.extend(purity(&metadata));
    Ok(faults)
}

fn short(name: &str) -> Option<&str> {
    name.strip_prefix("schedrig-")
}

fn edges(metadata: &Metadata) -> Vec<String> {
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    let mut faults = Vec::new();
    for package in metadata.workspace_packages() {
        let Some(from) = short(&package.name) else {
            faults.push(format!(
                "member `{}` is not named schedrig-<folder>",
                package.name
            ));
            continue;
        };
        let Some(may) = allowed.get(from) else {
            faults.push(format!("member `{from}` has no row in xtask/src/deps.rs"));
            continue;
        };
        for dep in &package.dependencies {
            if let Some(to) = short(&dep.name)
                && !may.contains(&to)
            {
                faults.push(format!(
                    "`{from}` depends on `{to}`: that arrow is not in ARCHITECTURE.md"
                ));
            }
        }
    }
    faults
}

fn purity(metadata: &Metadata) -> Vec<String> {
    let Some(resolve) = &metadata.resolve else {
        return vec!["cargo metadata resolved nothing".into()];
    };
    let names: BTreeMap<_, _> = metadata
        .packages
        .iter()
        .map(|p| (&p.id, p.name.as_str()))
        .collect();
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|n| (&n.id, n)).collect();
    let mut faults = Vec::new();
    for package in metadata.workspace_packages() {
        let Some(member) = short(&package.name).filter(|m| PURE.contains(m)) else {
            continue;
        };
        let mut seen = BTreeSet::new();
        let mut open = vec![&package.id];
        while let Some(id) = open.pop() {
            let Some(node) = nodes.get(id).filter(|_| seen.insert(id)) else {
                continue;
            };
            let normal = |d: &&cargo_metadata::NodeDep| {
                d.dep_kinds.iter().any(|k| k.kind == DependencyKind::Normal)
            };
            open.extend(node.deps.iter().filter(normal).map(|d| &d.pkg));
        }
        let found = seen
            .iter()
            .filter_map(|id| names.get(*id))
            .filter(|n| IMPURE.contains(n));
        faults.extend(found.map(|n| format!("pure member `{member}` reaches `{n}`")));
    }
    faults
}
