//! Which results may be compared: same workload, implementation, version, parameters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::workload::{Implementation, Params};

/// What a result is of, beside the arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellIdentity {
    /// The catalogue's name.
    pub workload: String,
    /// Who did the work.
    pub implementation: Implementation,
    /// Version the program states; `None`: it states none.
    pub tool_version: Option<String>,
    /// SHA-256 of the program; decides where there is no version.
    pub tool_sha256: Option<String>,
    /// The resolved parameters.
    pub params: Params,
    /// What the output says of the run ([`crate::workload::Parsed::resolved`]).
    pub resolved: BTreeMap<String, String>,
}

/// Keys of [`CellIdentity::resolved`] that describe the sampling and not the test.
const NOT_COMPARED: &[&str] = &["samples"];

/// Whether results of `a` (base) and `b` (head) mean the same thing.
///
/// # Errors
/// Each difference in words: `base is geometric mean, head is harmonic mean: not comparable`.
pub fn comparable(a: &CellIdentity, b: &CellIdentity) -> Result<(), Vec<String>> {
    let mut reasons = Vec::new();
    let mut differ = |what: &str, base: &str, head: &str| {
        if base != head {
            reasons.push(format!(
                "{what}base is {base}, head is {head}: not comparable"
            ));
        }
    };
    differ("workload: ", &a.workload, &b.workload);
    let word = |i: Implementation| match i {
        Implementation::Tool => "tool",
        Implementation::Builtin => "builtin",
    };
    differ(
        "implementation: ",
        word(a.implementation),
        word(b.implementation),
    );
    let unknown = || "unknown".to_owned();
    if a.tool_version.is_some() || b.tool_version.is_some() {
        let version = |i: &CellIdentity| i.tool_version.clone().unwrap_or_else(unknown);
        differ("version: ", &version(a), &version(b));
    } else {
        let hash = |i: &CellIdentity| i.tool_sha256.clone().unwrap_or_else(unknown);
        differ("program: sha256 of ", &hash(a), &hash(b));
    }
    let keys = |x: &CellIdentity, y: &CellIdentity| -> Vec<String> {
        let mut keys: Vec<String> = x
            .params
            .0
            .keys()
            .chain(y.params.0.keys())
            .cloned()
            .collect();
        keys.sort();
        keys.dedup();
        keys
    };
    let absent = "not stated";
    for key in keys(a, b) {
        let text = |i: &CellIdentity| {
            i.params
                .get(&key)
                .map_or_else(|| absent.to_owned(), ToString::to_string)
        };
        differ(&format!("{key}: "), &text(a), &text(b));
    }
    for (key, base) in &a.resolved {
        if NOT_COMPARED.contains(&key.as_str()) {
            continue;
        }
        let head = b.resolved.get(key).map_or(absent, String::as_str);
        if key.starts_with("aggregation") {
            differ("", &format!("{base} mean"), &format!("{head} mean"));
        } else {
            differ(&format!("{key}: "), base, head);
        }
    }
    for (key, head) in &b.resolved {
        if !NOT_COMPARED.contains(&key.as_str()) && !a.resolved.contains_key(key) {
            differ(&format!("{key}: "), absent, head);
        }
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ParamValue;

    fn identity() -> CellIdentity {
        CellIdentity {
            workload: "schbench".into(),
            implementation: Implementation::Tool,
            tool_version: None,
            tool_sha256: Some("24e3".into()),
            params: Params([("workers".to_owned(), ParamValue::Int(16))].into()),
            resolved: [("samples".to_owned(), "3".to_owned())].into(),
        }
    }

    #[test]
    fn the_number_of_samples_is_no_difference() {
        let mut other = identity();
        other.resolved.clear();
        assert_eq!(comparable(&identity(), &other), Ok(()));
    }

    // Case B8: another number of workers is another test.
    #[test]
    fn parameters_implementation_and_program_must_match() {
        let mut other = identity();
        other.params.0.insert("workers".into(), ParamValue::Int(8));
        other.implementation = Implementation::Builtin;
        other.tool_sha256 = None;
        let reasons = comparable(&identity(), &other).unwrap_err();
        assert_eq!(
            reasons,
            [
                "implementation: base is tool, head is builtin: not comparable",
                "program: sha256 of base is 24e3, head is unknown: not comparable",
                "workers: base is 16, head is 8: not comparable",
            ]
        );
    }

    // Case B1: metrics that differ only in their aggregation are not compared.
    #[test]
    fn the_aggregation_word_must_match() {
        let (mut base, mut head) = (identity(), identity());
        base.resolved
            .insert("aggregation".into(), "geometric".into());
        head.resolved
            .insert("aggregation".into(), "harmonic".into());
        assert_eq!(
            comparable(&base, &head).unwrap_err(),
            ["base is geometric mean, head is harmonic mean: not comparable"]
        );
    }
}
