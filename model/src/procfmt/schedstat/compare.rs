//! Sums of two kernels side by side. Only counters of equal meaning are compared; the others are
//! named.

use std::fmt::Write;

use super::derived::change_text;
use super::layout::{CpuField, DomainField};
use super::sums::{Sums, fields_of_equal_meaning};

/// One counter of two kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedCounter {
    /// `SMT` or `MC`; `None`: a counter of the CPUs.
    pub domain: Option<String>,
    /// The counter.
    pub counter: String,
    /// Of the first.
    pub base: u64,
    /// Of the second.
    pub head: u64,
    /// In words: `-21.94 %`, `n/a (base 0)`.
    pub change: String,
}

/// Two kernels side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SumsComparison {
    /// Counters that both have.
    pub counters: Vec<ComparedCounter>,
    /// Counters that one version has, domains that one machine has: not compared.
    pub apart: Vec<String>,
}

/// Sets two sums side by side, matched by meaning and domain name.
pub fn compare_sums(base: &Sums, head: &Sums) -> SumsComparison {
    let fields = fields_of_equal_meaning(base.layout, head.layout);
    let mut out = SumsComparison {
        apart: fields.apart.iter().map(DomainField::to_string).collect(),
        ..SumsComparison::default()
    };
    for field in fields.shared_cpu.iter().filter(|f| **f != CpuField::Legacy) {
        let pair = base.cpu(*field).zip(head.cpu(*field));
        out.push(None, field.name().to_owned(), pair);
    }
    for domain in &base.domains {
        let Some(other) = head.domains.iter().find(|d| d.name == domain.name) else {
            out.apart.push(format!("domain {}", domain.name));
            continue;
        };
        for field in &fields.shared {
            let pair = domain
                .get(base.layout, *field)
                .zip(other.get(head.layout, *field));
            out.push(Some(&domain.name), field.to_string(), pair);
        }
    }
    let only_head = |name: &&str| !base.domains.iter().any(|d| d.name == **name);
    let names = head.domains.iter().map(|d| d.name.as_str());
    out.apart
        .extend(names.filter(only_head).map(|n| format!("domain {n}")));
    out
}

impl SumsComparison {
    fn push(&mut self, domain: Option<&str>, counter: String, pair: Option<(u64, u64)>) {
        if let Some((base, head)) = pair {
            let change = change_text(base as f64, head as f64);
            let domain = domain.map(str::to_owned);
            self.counters.push(ComparedCounter {
                domain,
                counter,
                base,
                head,
                change,
            });
        }
    }
}

/// The comparison as text; counters that are 0 on both sides are counted, not listed.
pub fn compare_text(comparison: &SumsComparison) -> String {
    let mut out = format!("{:<34}{:>20}{:>20}  change\n", "counter", "base", "head");
    let mut domain = None;
    for row in comparison
        .counters
        .iter()
        .filter(|r| r.base != 0 || r.head != 0)
    {
        if row.domain != domain {
            domain.clone_from(&row.domain);
            let _ = writeln!(out, "{}", domain.as_deref().unwrap_or("all CPUs"));
        }
        let name = &row.counter;
        let _ = writeln!(
            out,
            "  {name:<32}{:>20}{:>20}  {}",
            row.base, row.head, row.change
        );
    }
    let zeros = comparison
        .counters
        .iter()
        .filter(|r| r.base == 0 && r.head == 0)
        .count();
    let _ = writeln!(out, "{zeros} counters are 0 (unchanged)");
    if !comparison.apart.is_empty() {
        let _ = writeln!(
            out,
            "not compared, in one of the two alone: {}",
            comparison.apart.join(", ")
        );
    }
    out
}
