//! Sums over CPUs, by domain name. Each sum states how many CPUs contributed: after a partition or
//! isolcpus some CPUs have fewer domains than others.

use std::collections::BTreeMap;

use super::diff::SchedstatDiff;
use super::layout::{CpuField, DomainField, Layout};
use super::parse::Schedstat;

/// Counters of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// How the values are laid out.
    pub layout: &'static Layout,
    /// Over how many CPUs.
    pub cpus: usize,
    /// In the order of the layout; `None` where no CPU has a valid value.
    pub cpu_values: Vec<Option<u64>>,
    /// From the smallest domain to the widest.
    pub domains: Vec<DomainSum>,
}

/// Counters of the domains of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainSum {
    /// `SMT`, `MC`; `NUMA 2` where CPUs have two domains of one name; `domain1` where names are unknown.
    pub name: String,
    /// The lowest level it has on any CPU.
    pub level: u32,
    /// CPUs that have such a domain.
    pub cpus: usize,
    /// In the order of the layout; `None` where no CPU has a valid value.
    pub values: Vec<Option<u64>>,
}

impl Sums {
    /// A sum, where the layout has the counter.
    pub fn cpu(&self, field: CpuField) -> Option<u64> {
        *self.cpu_values.get(self.layout.cpu_column(field)?)?
    }
}

impl DomainSum {
    /// A sum, where the layout has the counter.
    pub fn get(&self, layout: &Layout, field: DomainField) -> Option<u64> {
        *self.values.get(layout.domain_column(field)?)?
    }
}

/// Sums of one reading.
pub fn sum_snapshot(stat: &Schedstat) -> Sums {
    let mut sums = Adder::new(stat.layout);
    for cpu in &stat.cpus {
        sums.cpu(cpu.values.iter().map(|&v| Some(v)));
        let mut names = Names::default();
        for domain in &cpu.domains {
            let label = names.label(domain.level, domain.name.as_deref());
            sums.domain(label, domain.level, domain.values.iter().map(|&v| Some(v)));
        }
    }
    sums.finish()
}

/// Sums of a difference.
pub fn sum_diff(diff: &SchedstatDiff) -> Sums {
    let mut sums = Adder::new(diff.layout);
    for cpu in &diff.cpus {
        sums.cpu(cpu.values.iter().copied());
        let mut names = Names::default();
        for domain in &cpu.domains {
            let label = names.label(domain.level, domain.name.as_deref());
            sums.domain(label, domain.level, domain.values.iter().copied());
        }
    }
    sums.finish()
}

/// Counters that mean the same in two versions, and those that do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MixedFields {
    /// Compared.
    pub shared: Vec<DomainField>,
    /// In one of the versions alone: not compared.
    pub apart: Vec<DomainField>,
    /// Counters of `cpuN` lines that both have.
    pub shared_cpu: Vec<CpuField>,
}

/// Which counters of two kernels may stand side by side. Matched by meaning, never by column.
pub fn fields_of_equal_meaning(a: &Layout, b: &Layout) -> MixedFields {
    let (shared, mut apart): (Vec<_>, Vec<_>) = a
        .domain_fields()
        .partition(|&f| b.domain_column(f).is_some());
    apart.extend(b.domain_fields().filter(|&f| a.domain_column(f).is_none()));
    let both = a.cpu.iter().copied().filter(|&f| b.cpu_column(f).is_some());
    MixedFields {
        shared,
        apart,
        shared_cpu: both.collect(),
    }
}

/// Tells apart domains of one name on one CPU.
#[derive(Default)]
struct Names<'a> {
    seen: BTreeMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    fn label(&mut self, level: u32, name: Option<&'a str>) -> String {
        let Some(name) = name else {
            return format!("domain{level}");
        };
        let nth = self.seen.entry(name).or_insert(0);
        *nth += 1;
        if *nth == 1 {
            name.to_owned()
        } else {
            format!("{name} {nth}")
        }
    }
}

struct Adder {
    layout: &'static Layout,
    cpus: usize,
    cpu_values: Vec<Option<u64>>,
    domains: BTreeMap<String, DomainSum>,
}

impl Adder {
    fn new(layout: &'static Layout) -> Self {
        let cpu_values = vec![None; layout.cpu.len()];
        Adder {
            layout,
            cpus: 0,
            cpu_values,
            domains: BTreeMap::new(),
        }
    }

    fn cpu(&mut self, values: impl Iterator<Item = Option<u64>>) {
        self.cpus += 1;
        add(&mut self.cpu_values, values);
    }

    fn domain(&mut self, label: String, level: u32, values: impl Iterator<Item = Option<u64>>) {
        let empty = || DomainSum {
            name: label.clone(),
            level,
            cpus: 0,
            values: vec![None; self.layout.domain_len()],
        };
        let sum = self.domains.entry(label.clone()).or_insert_with(empty);
        sum.cpus += 1;
        sum.level = sum.level.min(level);
        add(&mut sum.values, values);
    }

    fn finish(self) -> Sums {
        let mut domains: Vec<DomainSum> = self.domains.into_values().collect();
        // A CPU without SMT siblings has its MC at level 0: the commoner place decides last.
        domains.sort_by_key(|d| (d.level, std::cmp::Reverse(d.cpus)));
        let (layout, cpus, cpu_values) = (self.layout, self.cpus, self.cpu_values);
        Sums {
            layout,
            cpus,
            cpu_values,
            domains,
        }
    }
}

fn add(into: &mut [Option<u64>], values: impl Iterator<Item = Option<u64>>) {
    for (sum, value) in into.iter_mut().zip(values) {
        if let Some(value) = value {
            *sum = Some(sum.unwrap_or(0).saturating_add(value));
        }
    }
}
