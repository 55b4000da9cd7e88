//! `schedrig schedstat show` and `diff`, as text and as JSON.

use std::fmt::Write;

use schedrig_stats::Direction;
use serde_json::{Map, Value, json};

use super::derived::{Derived, cpu_derived, domain_derived};
use super::diff::SchedstatDiff;
use super::layout::{DomainField, IdleType, Layout, TAIL};
use super::parse::Schedstat;
use super::sums::{DomainSum, Sums, sum_diff, sum_snapshot};

/// Version of the JSON shapes below.
const JSON_FORMAT: u32 = 1;

/// One reading: sums since boot.
pub fn show_text(stat: &Schedstat) -> String {
    let sums = sum_snapshot(stat);
    let mut out = format!(
        "schedstat version {}   timestamp {} jiffies   {} CPUs ({})   counters since boot\n",
        stat.layout.version,
        stat.timestamp,
        sums.cpus,
        stat.cpu_set()
    );
    write_sums(&mut out, &sums, None);
    write_warnings(&mut out, &stat.warnings);
    out
}

/// The difference of two readings.
pub fn diff_text(diff: &SchedstatDiff) -> String {
    let sums = sum_diff(diff);
    let mut out = format!(
        "schedstat version {}   elapsed {} jiffies   {} CPUs\n",
        diff.layout.version, diff.elapsed_jiffies, sums.cpus
    );
    write_sums(&mut out, &sums, Some(diff.elapsed_jiffies));
    write_warnings(&mut out, &diff.warnings);
    out
}

/// One reading as JSON: sums, and every CPU.
pub fn show_json(stat: &Schedstat) -> Value {
    let layout = stat.layout;
    let cpus = stat.cpus.iter().map(|cpu| {
        let domains = cpu.domains.iter().map(|d| {
            let values = d.values.iter().map(|&v| Some(v));
            domain_value(
                layout,
                d.level,
                d.name.as_deref(),
                &d.span.to_string(),
                values,
            )
        });
        cpu_value(
            layout,
            cpu.cpu.0,
            cpu.values.iter().map(|&v| Some(v)),
            domains.collect(),
        )
    });
    json!({
        "format": JSON_FORMAT,
        "version": layout.version,
        "timestamp_jiffies": stat.timestamp,
        "sums": sums_value(&sum_snapshot(stat), None),
        "cpus": cpus.collect::<Vec<_>>(),
        "unknown_lines": stat.unknown,
        "warnings": stat.warnings,
    })
}

/// A difference as JSON: sums with ratios, and every CPU. A counter that went back is `null`.
pub fn diff_json(diff: &SchedstatDiff) -> Value {
    let layout = diff.layout;
    let cpus = diff.cpus.iter().map(|cpu| {
        let domains = cpu.domains.iter().map(|d| {
            let values = d.values.iter().copied();
            domain_value(
                layout,
                d.level,
                d.name.as_deref(),
                &d.span.to_string(),
                values,
            )
        });
        cpu_value(
            layout,
            cpu.cpu.0,
            cpu.values.iter().copied(),
            domains.collect(),
        )
    });
    json!({
        "format": JSON_FORMAT,
        "version": layout.version,
        "elapsed_jiffies": diff.elapsed_jiffies,
        "sums": sums_value(&sum_diff(diff), Some(diff.elapsed_jiffies)),
        "cpus": cpus.collect::<Vec<_>>(),
        "appeared": diff.appeared,
        "vanished": diff.vanished,
        "rebuilt": diff.rebuilt,
        "warnings": diff.warnings,
    })
}

fn write_sums(out: &mut String, sums: &Sums, elapsed: Option<u64>) {
    let _ = writeln!(out, "\nall CPUs");
    for (field, value) in sums.layout.cpu.iter().zip(&sums.cpu_values) {
        let _ = writeln!(out, "  {:<28}{:>20}", field.name(), cell(*value));
    }
    write_derived(out, &cpu_derived(sums));
    for domain in &sums.domains {
        write_domain(out, sums.layout, domain, elapsed);
    }
    if sums.domains.is_empty() {
        let _ = writeln!(out, "\nno domains");
    }
}

fn write_domain(out: &mut String, layout: &Layout, sum: &DomainSum, elapsed: Option<u64>) {
    let title = format!("{} (level {}, {} CPUs)", sum.name, sum.level, sum.cpus);
    let _ = write!(out, "\n{title:<30}");
    for idle in IdleType::ALL {
        let _ = write!(out, "{:>14}", idle.name());
    }
    out.push('\n');
    for &field in layout.lb {
        let _ = write!(out, "  {:<28}", format!("lb_{}", field.name()));
        for idle in IdleType::ALL {
            let value = sum.get(layout, DomainField::Lb(idle, field));
            let _ = write!(out, "{:>14}", cell(value));
        }
        out.push('\n');
    }
    for field in TAIL {
        let value = sum.get(layout, DomainField::Tail(field));
        // sbe and sbf have counted nothing for fifteen years; shown only where one does.
        if value != Some(0) || !field.name().starts_with("sb") {
            let _ = writeln!(out, "  {:<28}{:>14}", field.name(), cell(value));
        }
    }
    write_derived(out, &domain_derived(sum, layout, elapsed));
}

fn write_derived(out: &mut String, derived: &[Derived]) {
    for d in derived.iter().filter(|d| d.value.is_some()) {
        let value = d.value.map_or("n/a".to_owned(), |v| format!("{v:.2}"));
        let better = match d.direction {
            Direction::Unknown => String::new(),
            known => format!("   ({} is better)", known.word()),
        };
        let _ = writeln!(out, "  {:<38}{value:>14} {}{better}", d.name, d.unit);
    }
    let missing: Vec<&str> = derived
        .iter()
        .filter(|d| d.value.is_none())
        .map(|d| d.name.as_str())
        .collect();
    if !missing.is_empty() {
        let _ = writeln!(out, "  n/a (nothing counted): {}", missing.join(", "));
    }
}

fn write_warnings(out: &mut String, warnings: &[String]) {
    for warning in warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
}

fn cell(value: Option<u64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), |v| v.to_string())
}

fn domain_map(layout: &Layout, values: impl Iterator<Item = Option<u64>>) -> Map<String, Value> {
    let fields = layout.domain_fields().map(|f| f.to_string());
    fields.zip(values.map(|v| json!(v))).collect()
}

fn domain_value(
    layout: &Layout,
    level: u32,
    name: Option<&str>,
    span: &str,
    values: impl Iterator<Item = Option<u64>>,
) -> Value {
    json!({ "level": level, "name": name, "cpus": span, "counters": domain_map(layout, values) })
}

fn cpu_value(
    layout: &Layout,
    cpu: u32,
    values: impl Iterator<Item = Option<u64>>,
    domains: Vec<Value>,
) -> Value {
    let fields = layout.cpu.iter().map(|f| f.name().to_owned());
    let counters: Map<String, Value> = fields.zip(values.map(|v| json!(v))).collect();
    json!({ "cpu": cpu, "counters": counters, "domains": domains })
}

fn sums_value(sums: &Sums, elapsed: Option<u64>) -> Value {
    let layout = sums.layout;
    let fields = layout.cpu.iter().map(|f| f.name().to_owned());
    let counters: Map<String, Value> = fields
        .zip(sums.cpu_values.iter().map(|&v| json!(v)))
        .collect();
    let domains = sums.domains.iter().map(|d| {
        json!({
            "name": d.name,
            "level": d.level,
            "cpus": d.cpus,
            "counters": domain_map(layout, d.values.iter().copied()),
            "derived": domain_derived(d, layout, elapsed),
        })
    });
    json!({
        "cpus": sums.cpus,
        "counters": counters,
        "derived": cpu_derived(sums),
        "domains": domains.collect::<Vec<_>>(),
    })
}
