//! Entries of `workloads` and their matrices.

use crate::workload::Workload;

use super::amount::Amount;
use super::diagnostic::{Diagnostic, Report, near_miss};
use super::lookup;
use super::node::{Entry, Node, Value};
use super::shape::one_of;
use super::source::Pos;
use super::spec::{DimensionSpec, EntrySpec, ExcludeSpec, ImplWish, MatrixSpec, RoleSpec};
use super::words::{self, Place};
use super::workload_values::{self, Wanted};

/// Cells of an entry where the playbook sets no cap.
pub(super) const DEFAULT_CAP: u64 = 10_000;

/// What an entry takes from the rest of the playbook.
pub(super) struct Context<'a> {
    pub(super) roles: &'a [RoleSpec],
    pub(super) default_impl: ImplWish,
}

/// Reads an implementation word.
pub(super) fn implementation(text: Option<&str>, default: ImplWish) -> ImplWish {
    match text {
        Some("tool") => ImplWish::Tool,
        Some("builtin") => ImplWish::Builtin,
        Some("auto") => ImplWish::Auto,
        _ => default,
    }
}

/// An entry; `None` where it names no workload.
pub(super) fn entry(e: &Entry, context: &Context<'_>, report: &mut Report) -> Option<EntrySpec> {
    let node = &e.node;
    let (named, workload) = node
        .entries()
        .iter()
        .find_map(|e| Workload::by_name(&e.key).map(|w| (e, w)))?;
    let client = node.get("client");
    let on = roles_of(client.or(node.get("on")), context.roles, report);
    if let (Some(client), Some(_)) = (client, node.get("on")) {
        report.push(
            Diagnostic::error(client.pos, "`client` and `on` are one setting")
                .expected("one of the two"),
        );
    }
    let server = node.get("server").and_then(|n| {
        let found = roles_of(Some(n), context.roles, report);
        if found.len() > 1 {
            report.push(
                Diagnostic::error(n.pos, format!("{} machines play the server", found.len()))
                    .expected("a role of one machine"),
            );
        }
        found.into_iter().next()
    });
    Some(EntrySpec {
        name: e.key.clone(),
        pos: e.key_pos,
        workload,
        workload_pos: named.key_pos,
        params: params(named, workload),
        matrix: node.get("matrix").map_or_else(
            || MatrixSpec {
                cap: DEFAULT_CAP,
                ..MatrixSpec::default()
            },
            |m| matrix(m, workload, report),
        ),
        place: lookup::phrase(node, "in", words::parse_place).unwrap_or((Place::Root, e.key_pos)),
        on,
        server,
        together: client.is_some(),
        instances: lookup::phrase(node, "instances", Amount::parse)
            .unwrap_or((Amount::Fixed(1), e.key_pos)),
        implementation: implementation(lookup::text(node, "impl"), context.default_impl),
        timeout_us: lookup::time_us(node, "timeout"),
    })
}

/// The machines of the roles that a key names; of the first role where there is no key.
fn roles_of(node: Option<&Node>, roles: &[RoleSpec], report: &mut Report) -> Vec<(String, Pos)> {
    let Some(node) = node else {
        let first = roles.first().map(|r| r.group.clone()).unwrap_or_default();
        return roles
            .iter()
            .filter(|r| r.group == first)
            .map(|r| (r.name.clone(), r.pos))
            .collect();
    };
    let mut found = Vec::new();
    for item in node.items() {
        let Some(name) = item.text() else { continue };
        let machines: Vec<&RoleSpec> = roles
            .iter()
            .filter(|r| r.group == name || r.name == name)
            .collect();
        if machines.is_empty() {
            let known: Vec<&str> = roles.iter().map(|r| r.group.as_str()).collect();
            report.push(
                Diagnostic::error(item.pos, format!("unknown role `{name}`"))
                    .expected(format!("one of {}", one_of(&known)))
                    .suggest(near_miss(name, known.iter().copied())),
            );
        }
        found.extend(machines.iter().map(|r| (r.name.clone(), item.pos)));
    }
    found
}

fn params(named: &Entry, workload: Workload) -> Vec<(String, Wanted, Pos)> {
    named
        .node
        .entries()
        .iter()
        .filter_map(|e| {
            let def = workload_values::param(workload, &e.key)?;
            let value = workload_values::read(&e.node, def.kind).ok()?;
            Some((e.key.clone(), value, e.node.pos))
        })
        .collect()
}

fn matrix(node: &Node, workload: Workload, report: &mut Report) -> MatrixSpec {
    let lists = |key: &str| -> Vec<DimensionSpec> {
        node.get(key)
            .map_or(&[][..], Node::entries)
            .iter()
            .filter_map(|e| dimension(e, workload))
            .collect()
    };
    let matrix = MatrixSpec {
        pos: node.pos,
        product: lists("product"),
        zip: lists("zip"),
        exclude: node
            .get("exclude")
            .map_or(&[][..], Node::items)
            .iter()
            .map(exclude)
            .collect(),
        cap: lookup::number(node, "cap").unwrap_or(DEFAULT_CAP),
    };
    if matrix.product.is_empty() && matrix.zip.is_empty() && !report.has_errors() {
        report.push(
            Diagnostic::error(node.pos, "the matrix has no dimensions")
                .expected("`product` or `zip`"),
        );
    }
    check_lengths(&matrix, report);
    check_twice(&matrix, report);
    matrix
}

fn dimension(e: &Entry, workload: Workload) -> Option<DimensionSpec> {
    let dimension = workload_values::dimension(workload, &e.key)?;
    // A range is one map, and its values are known with the machine.
    let values = e
        .node
        .items()
        .iter()
        .filter_map(|i| Some((workload_values::read_in(i, dimension).ok()?, i.pos)))
        .collect();
    Some(DimensionSpec {
        key: e.key.clone(),
        pos: e.key_pos,
        values,
    })
}

fn exclude(node: &Node) -> ExcludeSpec {
    let point = node
        .entries()
        .iter()
        .map(|e| {
            let values = match &e.node.value {
                Value::List(items) => items
                    .iter()
                    .filter_map(|i| i.text().map(str::to_owned))
                    .collect(),
                _ => e.node.text().map(str::to_owned).into_iter().collect(),
            };
            (e.key.clone(), values)
        })
        .collect();
    ExcludeSpec {
        pos: node.pos,
        point,
    }
}

fn has_range(d: &DimensionSpec) -> bool {
    d.values.iter().any(|(v, _)| matches!(v, Wanted::Range(_)))
}

/// Lists of a `zip` have one length; ranges are counted with the machine.
fn check_lengths(matrix: &MatrixSpec, report: &mut Report) {
    let mut fixed = matrix.zip.iter().filter(|d| !has_range(d));
    if let Some(first) = fixed.next() {
        for other in fixed.filter(|d| d.values.len() != first.values.len()) {
            report.push(
                Diagnostic::error(
                    other.pos,
                    format!(
                        "`zip` pairs `{}` of {} values with `{}` of {}",
                        first.key,
                        first.values.len(),
                        other.key,
                        other.values.len()
                    ),
                )
                .expected("lists of one length; `product` for every combination"),
            );
        }
    }
    let cells = matrix
        .product
        .iter()
        .filter(|d| !has_range(d))
        .fold(1_u64, |n, d| n.saturating_mul(d.values.len().max(1) as u64))
        .saturating_mul(
            matrix
                .zip
                .first()
                .map_or(1, |d| d.values.len().max(1) as u64),
        );
    if cells > matrix.cap {
        report.push(cap_exceeded(matrix, cells));
    }
}

/// More cells than the playbook allows.
pub(crate) fn cap_exceeded(matrix: &MatrixSpec, cells: u64) -> Diagnostic {
    Diagnostic::error(matrix.pos, format!("the matrix has {cells} cells"))
        .expected(format!("at most {} (`cap`)", matrix.cap))
}

fn check_twice(matrix: &MatrixSpec, report: &mut Report) {
    for d in &matrix.zip {
        if matrix.product.iter().any(|p| p.key == d.key) {
            report.push(
                Diagnostic::error(d.pos, format!("`{}` is in `product` and in `zip`", d.key))
                    .expected("one of the two"),
            );
        }
    }
}
