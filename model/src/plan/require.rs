//! Requirements of a role against the machine that is to play it.

use crate::playbook::{
    Diagnostic, Part, Report, Requirement, RoleSpec, parse_bound, parse_memory_bound,
};

use super::machine::{Machine, Parts};

/// Checks every requirement; what cannot be known goes to `notes`.
pub(super) fn check(
    role: &RoleSpec,
    machine: &Machine,
    parts: &Parts,
    notes: &mut Vec<String>,
    report: &mut Report,
) {
    for requirement in &role.require {
        match verdict(requirement, machine, parts) {
            Verdict::Met => {}
            Verdict::Unknown => notes.push(format!(
                "{}: `{}` of role {} is not checked: nothing is known of it",
                machine.host, requirement.key, role.name
            )),
            Verdict::Missed(found) => report.push(
                Diagnostic::error(
                    requirement.pos,
                    format!("{} cannot be `{}`: {found}", machine.host, role.name),
                )
                .expected(format!(
                    "{} {}",
                    requirement.key,
                    requirement.text.join(", ")
                )),
            ),
        }
    }
}

enum Verdict {
    Met,
    Unknown,
    /// What the machine has instead.
    Missed(String),
}

fn verdict(requirement: &Requirement, machine: &Machine, parts: &Parts) -> Verdict {
    let first = requirement.text.first().map_or("", String::as_str);
    let facts = machine.facts.as_ref();
    match requirement.key.as_str() {
        "smt" => {
            let has = parts.smt_width > 1;
            met(has == (first == "on"), || {
                if has {
                    "it has SMT".into()
                } else {
                    "no SMT here".into()
                }
            })
        }
        "memory" => match facts.and_then(|f| f.memory_bytes) {
            Some(have) => met(
                parse_memory_bound(first).is_ok_and(|least| have >= least),
                || format!("it has {} MiB of memory", have >> 20),
            ),
            None => Verdict::Unknown,
        },
        "kernel" => match facts {
            Some(f) => met(matches_pattern(&f.kernel_release, first), || {
                format!("it runs {}", f.kernel_release)
            }),
            None => Verdict::Unknown,
        },
        "arch" => match facts {
            Some(f) => met(f.architecture == first, || {
                format!("it is {}", f.architecture)
            }),
            None => Verdict::Unknown,
        },
        "vendor" => match &machine.topology.cpu_vendor {
            Some(vendor) => met(vendor == first, || format!("its CPUs are of {vendor}")),
            None => Verdict::Unknown,
        },
        "root" => match facts {
            Some(f) => met(f.root == (first == "on"), || {
                if f.root {
                    "its agent runs as root".into()
                } else {
                    "its agent does not run as root".into()
                }
            }),
            None => Verdict::Unknown,
        },
        "cgroup" => match facts {
            Some(f) => all_of(&requirement.text, "cgroup controller", |c| {
                Some(f.cgroup_controllers.iter().any(|have| have == c))
            }),
            None => Verdict::Unknown,
        },
        "tools" => all_of(&requirement.text, "program", |t| machine.has_tool(t)),
        key => match Part::by_word(key) {
            Some(part) => count(parts.count(part), first, part),
            None => Verdict::Unknown,
        },
    }
}

fn met(yes: bool, found: impl FnOnce() -> String) -> Verdict {
    if yes {
        Verdict::Met
    } else {
        Verdict::Missed(found())
    }
}

fn count(have: u64, bound: &str, part: Part) -> Verdict {
    match parse_bound(bound) {
        Ok((least, most)) => met((least..=most).contains(&have), || {
            let word = if have == 1 {
                part.singular()
            } else {
                part.plural()
            };
            format!("it has {have} {word}")
        }),
        Err(_) => Verdict::Unknown,
    }
}

fn all_of(wanted: &[String], what: &str, has: impl Fn(&str) -> Option<bool>) -> Verdict {
    let mut unknown = false;
    let mut missing = Vec::new();
    for name in wanted {
        match has(name) {
            Some(true) => {}
            Some(false) => missing.push(name.as_str()),
            None => unknown = true,
        }
    }
    if !missing.is_empty() {
        Verdict::Missed(format!("no {what} {}", missing.join(", ")))
    } else if unknown {
        Verdict::Unknown
    } else {
        Verdict::Met
    }
}

/// Whether a text matches a pattern in which `*` stands for anything.
pub fn matches_pattern(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return text == pattern;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let between = text.strip_prefix(first).and_then(|t| t.strip_suffix(last));
    let Some(mut between) = between else {
        return false;
    };
    for part in middle.split('*') {
        match between.find(part) {
            Some(at) => between = &between[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn stars_stand_for_anything() {
        assert!(matches_pattern("6.17.3-generic", "6.17.*"));
        assert!(matches_pattern("6.17.3", "6.17.3"));
        assert!(!matches_pattern("6.18.0", "6.17.*"));
        assert!(!matches_pattern("6.17.3-rt", "6.17.3"));
        assert!(matches_pattern("6.17.3-rt", "*-rt"));
        assert!(!matches_pattern("6.17.3-rt5", "*-rt"));
        assert!(matches_pattern("6.17.3-rt5-rt", "*-rt"));
    }
}
