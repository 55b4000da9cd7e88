//! The matrix of an entry on a machine: every cell with its parameters.

use std::collections::{BTreeMap, BTreeSet};

use crate::playbook::{
    Amount, Diagnostic, DimensionSpec, EntrySpec, MAX_RANGE, Next, Place, Pos, Range, Report,
    Wanted, cap_exceeded, parse_place,
};
use crate::workload::{ParamValue, Params};

use super::machine::{Machine, Parts};

/// A cell before its command is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Draft {
    /// `hackbench/ipc=pipe,groups=4`.
    pub(super) id: String,
    pub(super) params: Params,
    pub(super) point: BTreeMap<String, String>,
    pub(super) place: Place,
    pub(super) place_pos: Pos,
    pub(super) instances: u32,
}

/// A value of a dimension on this machine.
type Resolved = (ParamValue, Pos);

/// Everything an expansion needs.
pub(super) struct Expansion<'a> {
    pub(super) entry: &'a EntrySpec,
    pub(super) machine: &'a Machine,
    pub(super) parts: &'a Parts,
}

impl Expansion<'_> {
    /// The cells of the entry.
    pub(super) fn cells(&self, notes: &mut Vec<String>, report: &mut Report) -> Vec<Draft> {
        let mut base = Params::default();
        for (name, value, pos) in &self.entry.params {
            if let Some(value) = self.single(name, value, *pos, notes, report) {
                base.0.insert(name.clone(), value);
            }
        }
        let product = self.dimensions(&self.entry.matrix.product, notes, report);
        let zip = self.dimensions(&self.entry.matrix.zip, notes, report);
        let (Some(product), Some(zip)) = (product, zip) else {
            return Vec::new();
        };
        if !self.check_size(&product, &zip, report) {
            return Vec::new();
        }
        let points = self.points(&product, &zip);
        let total = points.len();
        let mut seen = BTreeSet::new();
        let mut drafts = Vec::new();
        let mut repeated = 0;
        for point in points {
            if self.excluded(&point) {
                continue;
            }
            let Some(draft) = self.draft(&base, &point, notes, report) else {
                continue;
            };
            if seen.insert(draft.id.clone()) {
                drafts.push(draft);
            } else {
                repeated += 1;
            }
        }
        if repeated > 0 {
            notes.push(format!(
                "{}: {repeated} cells of `{}` are left out: they come to the same values on this machine",
                self.machine.host, self.entry.name
            ));
        }
        if drafts.is_empty() && total > 0 && !report.has_errors() {
            report.push(
                Diagnostic::error(
                    self.entry.pos,
                    format!(
                        "`{}` has no cells: all {total} are excluded",
                        self.entry.name
                    ),
                )
                .expected("at least one cell"),
            );
        }
        drafts
    }

    fn amount(&self, name: &str, amount: Amount, pos: Pos, report: &mut Report) -> Option<i64> {
        let found = amount.resolve(|part| self.parts.count(part));
        if found.is_none() {
            let part = amount.part().map_or("parts", |p| p.plural());
            report.push(
                Diagnostic::error(
                    pos,
                    format!("`{name}`: {} has no known {part}", self.machine.host),
                )
                .found(format!("`{amount}`"))
                .expected("a number for such machines"),
            );
        }
        found
    }

    fn single(
        &self,
        name: &str,
        wanted: &Wanted,
        pos: Pos,
        notes: &mut Vec<String>,
        report: &mut Report,
    ) -> Option<ParamValue> {
        match wanted {
            Wanted::Value(value) => Some(value.clone()),
            Wanted::Amount(amount) => {
                let n = self.amount(name, *amount, pos, report)?;
                notes.push(format!(
                    "{}: `{}` {name}: {amount} = {n}",
                    self.machine.host, self.entry.name
                ));
                Some(ParamValue::Int(n))
            }
            Wanted::Range(_) => None,
        }
    }

    /// The values of each dimension; `None` after an error.
    fn dimensions(
        &self,
        specs: &[DimensionSpec],
        notes: &mut Vec<String>,
        report: &mut Report,
    ) -> Option<Vec<(String, Vec<Resolved>)>> {
        specs
            .iter()
            .map(|d| Some((d.key.clone(), self.values(d, notes, report)?)))
            .collect()
    }

    fn values(
        &self,
        d: &DimensionSpec,
        notes: &mut Vec<String>,
        report: &mut Report,
    ) -> Option<Vec<Resolved>> {
        let mut values = Vec::with_capacity(d.values.len());
        for (wanted, pos) in &d.values {
            match wanted {
                Wanted::Range(range) => {
                    let list = self.range(&d.key, *range, *pos, report)?;
                    values.extend(list.into_iter().map(|n| (ParamValue::Int(n), *pos)));
                }
                other => values.push((self.single(&d.key, other, *pos, notes, report)?, *pos)),
            }
        }
        Some(values)
    }

    fn range(&self, name: &str, range: Range, pos: Pos, report: &mut Report) -> Option<Vec<i64>> {
        let from = self.amount(name, range.from, pos, report)?;
        let to = self.amount(name, range.to, pos, report)?;
        if to < from {
            report.push(
                Diagnostic::error(
                    pos,
                    format!(
                        "{name}: from {from} to {to} is empty on this machine ({} CPUs)",
                        self.parts.cpus.len()
                    ),
                )
                .expected("a range with at least one value"),
            );
            return None;
        }
        let mut list = Vec::new();
        let mut at = from;
        while at <= to {
            list.push(at);
            if list.len() > MAX_RANGE {
                report.push(
                    Diagnostic::error(
                        pos,
                        format!("{name}: from {from} to {to} has more than {MAX_RANGE} values"),
                    )
                    .expected("a larger `step`, or a `factor`"),
                );
                return None;
            }
            let next = match range.next {
                Next::Step(step) => at.checked_add(i64::from(step)),
                // From 0 a factor leads nowhere: 0, 1, factor, ...
                Next::Factor(_) if at == 0 => Some(1),
                Next::Factor(factor) => at.checked_mul(i64::from(factor)),
            };
            match next {
                Some(next) if next > at => at = next,
                _ => break,
            }
        }
        Some(list)
    }

    fn check_size(
        &self,
        product: &[(String, Vec<Resolved>)],
        zip: &[(String, Vec<Resolved>)],
        report: &mut Report,
    ) -> bool {
        let pairs = zip.first().map_or(1, |(_, v)| v.len());
        if let Some((name, values)) = zip.iter().find(|(_, v)| v.len() != pairs) {
            report.push(
                Diagnostic::error(
                    self.entry.matrix.pos,
                    format!(
                        "`zip` pairs lists of {pairs} and {} (`{name}`) values on this machine",
                        values.len()
                    ),
                )
                .expected("lists of one length"),
            );
            return false;
        }
        let cells = product
            .iter()
            .fold(1_u64, |n, (_, v)| n.saturating_mul(v.len() as u64))
            .saturating_mul(pairs as u64);
        if cells > self.entry.matrix.cap {
            report.push(cap_exceeded(&self.entry.matrix, cells));
            return false;
        }
        true
    }

    /// Every combination, the last dimension fastest.
    fn points(
        &self,
        product: &[(String, Vec<Resolved>)],
        zip: &[(String, Vec<Resolved>)],
    ) -> Vec<Vec<(String, Resolved)>> {
        let mut points: Vec<Vec<(String, Resolved)>> = vec![Vec::new()];
        for (name, values) in product {
            points = points
                .iter()
                .flat_map(|p| {
                    values.iter().map(move |v| {
                        let mut p = p.clone();
                        p.push((name.clone(), v.clone()));
                        p
                    })
                })
                .collect();
        }
        let Some((_, first)) = zip.first() else {
            return points;
        };
        points
            .iter()
            .flat_map(|p| {
                (0..first.len()).map(move |i| {
                    let mut p = p.clone();
                    p.extend(
                        zip.iter()
                            .map(|(name, values)| (name.clone(), values[i].clone())),
                    );
                    p
                })
            })
            .collect()
    }

    fn excluded(&self, point: &[(String, Resolved)]) -> bool {
        self.entry.matrix.exclude.iter().any(|e| {
            !e.point.is_empty()
                && e.point.iter().all(|(name, values)| {
                    point
                        .iter()
                        .any(|(key, (value, _))| key == name && values.contains(&value.to_string()))
                })
        })
    }

    fn draft(
        &self,
        base: &Params,
        point: &[(String, Resolved)],
        notes: &mut Vec<String>,
        report: &mut Report,
    ) -> Option<Draft> {
        let mut params = base.clone();
        let mut place = self.entry.place.clone();
        let mut instances = None;
        for (key, (value, pos)) in point {
            match (key.as_str(), value) {
                ("instances", ParamValue::Int(n)) => instances = Some(*n),
                ("in", other) => place = (parse_place(&other.to_string()).ok()?, *pos),
                _ => {
                    params.0.insert(key.clone(), value.clone());
                }
            }
        }
        let instances = match instances {
            Some(n) => n,
            None => {
                let (amount, pos) = self.entry.instances;
                let n = self.amount("instances", amount, pos, report)?;
                if !amount.is_fixed() {
                    let text = format!(
                        "{}: `{}` instances: {amount} = {n}",
                        self.machine.host, self.entry.name
                    );
                    if !notes.contains(&text) {
                        notes.push(text);
                    }
                }
                n
            }
        };
        let named: Vec<String> = point.iter().map(|(k, (v, _))| format!("{k}={v}")).collect();
        let id = if named.is_empty() {
            self.entry.name.clone()
        } else {
            format!("{}/{}", self.entry.name, named.join(","))
        };
        Some(Draft {
            id,
            params,
            point: point
                .iter()
                .map(|(k, (v, _))| (k.clone(), v.to_string()))
                .collect(),
            place: place.0,
            place_pos: place.1,
            instances: u32::try_from(instances.max(1)).unwrap_or(u32::MAX),
        })
    }
}
