//! Parameters checked against the catalogue: unknown names refused, defaults filled in, values
//! turned into the types their definition states.

use std::collections::BTreeMap;

use crate::workload::{ParamDef, ParamError, ParamKind, ParamValue, Params, WorkloadDef};

/// Reads the parameters of one workload and remembers what each became.
pub(super) struct Reader<'a> {
    def: &'static WorkloadDef,
    given: &'a Params,
    resolved: BTreeMap<String, ParamValue>,
}

impl<'a> Reader<'a> {
    /// Refuses names that the workload does not have, and values of the wrong kind.
    pub(super) fn new(def: &'static WorkloadDef, given: &'a Params) -> Result<Self, ParamError> {
        for (name, value) in &given.0 {
            let Some(param) = def.params.iter().find(|p| p.name == name) else {
                return Err(ParamError::Unknown {
                    workload: def.name,
                    name: name.clone(),
                    suggestion: near_miss(name, def.params),
                });
            };
            check_kind(def.name, param, value)?;
        }
        Ok(Reader {
            def,
            given,
            resolved: BTreeMap::new(),
        })
    }

    /// What was given, or the default, noted as resolved. `None`: neither.
    fn value(&mut self, name: &'static str) -> Option<ParamValue> {
        let value = self.given.get(name).cloned().or_else(|| {
            let param = self.def.params.iter().find(|p| p.name == name)?;
            param.default.map(|d| default_value(param.kind, d))
        })?;
        self.resolved.insert(name.to_owned(), value.clone());
        Some(value)
    }

    fn missing(&self, name: &'static str) -> ParamError {
        let param = self.def.params.iter().find(|p| p.name == name);
        ParamError::Missing {
            workload: self.def.name,
            name,
            doc: param.map_or("", |p| p.doc),
        }
    }

    /// Whether the playbook states it.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.given.get(name).is_some()
    }

    /// A whole number that is given or has a default.
    pub(super) fn count(&mut self, name: &'static str) -> Result<u64, ParamError> {
        self.optional_count(name)?.ok_or_else(|| self.missing(name))
    }

    /// A whole number that may be left out.
    pub(super) fn optional_count(&mut self, name: &'static str) -> Result<Option<u64>, ParamError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let whole = whole(&value).and_then(|v| u64::try_from(v).ok());
        let whole = whole.ok_or_else(|| self.bad(name, &value, "a whole number"))?;
        let as_int = i64::try_from(whole).unwrap_or(i64::MAX);
        self.resolved
            .insert(name.to_owned(), ParamValue::Int(as_int));
        Ok(Some(whole))
    }

    /// A whole number, or what the machine implies.
    pub(super) fn count_or(&mut self, name: &'static str, derived: u64) -> Result<u64, ParamError> {
        if let Some(given) = self.optional_count(name)? {
            return Ok(given);
        }
        self.note(name, derived);
        Ok(derived)
    }

    /// One of the words of its definition.
    pub(super) fn choice(&mut self, name: &'static str) -> Result<&'static str, ParamError> {
        let Some(value) = self.value(name) else {
            return Err(self.missing(name));
        };
        let text = value.to_string();
        let words: &[&'static str] = match self.def.params.iter().find(|p| p.name == name) {
            Some(ParamDef {
                kind: ParamKind::Choice(words),
                ..
            }) => words,
            _ => &[],
        };
        let found = words.iter().copied().find(|w| *w == text);
        found.ok_or_else(|| self.bad(name, &value, &format!("one of {}", words.join(", "))))
    }

    /// `on` or `off`.
    pub(super) fn switch(&mut self, name: &'static str) -> Result<bool, ParamError> {
        match self.value(name) {
            None => Err(self.missing(name)),
            Some(value) => match value.to_string().as_str() {
                "on" => Ok(true),
                "off" => Ok(false),
                _ => Err(self.bad(name, &value, "on or off")),
            },
        }
    }

    /// A size in bytes that may be left out.
    pub(super) fn optional_size(&mut self, name: &'static str) -> Result<Option<u64>, ParamError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match size_bytes(&value.to_string()) {
            Some(v) => Ok(Some(v)),
            None => Err(self.bad(name, &value, SIZE_EXPECTED)),
        }
    }

    /// Free text that may be left out.
    pub(super) fn optional_text(&mut self, name: &'static str) -> Option<String> {
        self.value(name).map(|v| v.to_string())
    }

    /// A list of words; one word stands for a list of one. Left out: empty.
    pub(super) fn words(&mut self, name: &'static str) -> Vec<String> {
        match self.value(name) {
            None => Vec::new(),
            Some(ParamValue::List(items)) => items.iter().map(ToString::to_string).collect(),
            Some(other) => other
                .to_string()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        }
    }

    /// A nested value, as it stands.
    pub(super) fn tree(&mut self, name: &'static str) -> Option<ParamValue> {
        self.value(name)
    }

    /// Notes what a parameter became where the workload derived it.
    pub(super) fn note(&mut self, name: &'static str, value: u64) {
        let value = ParamValue::Int(i64::try_from(value).unwrap_or(i64::MAX));
        self.resolved.insert(name.to_owned(), value);
    }

    /// A value that this workload cannot take.
    pub(super) fn bad(&self, name: &str, found: &ParamValue, expected: &str) -> ParamError {
        ParamError::Value {
            workload: self.def.name,
            name: name.to_owned(),
            found: found.to_string(),
            expected: expected.to_owned(),
        }
    }

    /// Two parameters that exclude each other.
    pub(super) fn conflict(&self, text: impl Into<String>) -> ParamError {
        ParamError::Conflict {
            workload: self.def.name,
            text: text.into(),
        }
    }

    /// Everything that was read, as it was resolved.
    pub(super) fn finish(self) -> Params {
        Params(self.resolved)
    }
}

const SIZE_EXPECTED: &str = "a size with a unit, such as `64 KiB`";

/// A whole number out of a resolved parameter; `None` where it is absent or no whole number.
pub(super) fn resolved_count(params: &Params, name: &str) -> Option<u64> {
    whole(params.get(name)?).and_then(|v| u64::try_from(v).ok())
}

/// The word of a resolved parameter; `None` where it is absent.
pub(super) fn resolved_word(params: &Params, name: &str) -> Option<String> {
    params.get(name).map(ToString::to_string)
}

/// Bytes of a size with a unit: `512 B`, `64 KiB`, `1.5 GiB`. A bare number has no unit and is none.
pub fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (digits, unit) = text.split_at(split);
    let factor = match unit {
        "B" => 1.0,
        "kB" | "KB" => 1e3,
        "KiB" => 1024.0,
        "MB" => 1e6,
        "MiB" => 1_048_576.0,
        "GB" => 1e9,
        "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    let bytes = digits.trim().parse::<f64>().ok()? * factor;
    (bytes.is_finite() && (0.0..9e15).contains(&bytes)).then_some(bytes.round() as u64)
}

fn whole(value: &ParamValue) -> Option<i64> {
    match value {
        ParamValue::Int(v) => Some(*v),
        ParamValue::Float(v) if v.fract() == 0.0 && v.abs() < 9e15 => Some(*v as i64),
        ParamValue::Text(t) => t.trim().parse().ok(),
        _ => None,
    }
}

fn number(value: &ParamValue) -> Option<f64> {
    let number = match value {
        ParamValue::Int(v) => *v as f64,
        ParamValue::Float(v) => *v,
        ParamValue::Text(t) => t.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

fn default_value(kind: ParamKind, text: &str) -> ParamValue {
    match kind {
        ParamKind::Count { .. } => text
            .parse()
            .map_or_else(|_| ParamValue::Text(text.into()), ParamValue::Int),
        ParamKind::Number { .. } => text
            .parse()
            .map_or_else(|_| ParamValue::Text(text.into()), ParamValue::Float),
        ParamKind::Words => ParamValue::List(
            text.split_whitespace()
                .map(|w| ParamValue::Text(w.into()))
                .collect(),
        ),
        _ => ParamValue::Text(text.into()),
    }
}

fn check_kind(
    workload: &'static str,
    param: &ParamDef,
    value: &ParamValue,
) -> Result<(), ParamError> {
    let expected = match param.kind {
        ParamKind::Choice(words) => {
            let text = value.to_string();
            (!words.contains(&text.as_str())).then(|| format!("one of {}", words.join(", ")))
        }
        ParamKind::Count { min, max } => {
            let fits = whole(value).is_some_and(|v| (min..=max).contains(&v));
            (!fits).then(|| format!("a whole number from {min} to {max}"))
        }
        ParamKind::Number { min, max } => {
            let fits = number(value).is_some_and(|v| (min..=max).contains(&v));
            (!fits).then(|| format!("a number from {min} to {max}"))
        }
        ParamKind::Switch => {
            let text = value.to_string();
            (text != "on" && text != "off").then(|| "on or off".to_owned())
        }
        ParamKind::Size => size_bytes(&value.to_string())
            .is_none()
            .then(|| SIZE_EXPECTED.to_owned()),
        ParamKind::Text => {
            matches!(value, ParamValue::List(_) | ParamValue::Map(_)).then(|| "text".to_owned())
        }
        ParamKind::Words => {
            matches!(value, ParamValue::Map(_)).then(|| "a list of words".to_owned())
        }
        ParamKind::Tree => None,
    };
    expected.map_or(Ok(()), |expected| {
        Err(ParamError::Value {
            workload,
            name: param.name.to_owned(),
            found: value.to_string(),
            expected,
        })
    })
}

fn near_miss(name: &str, params: &[ParamDef]) -> Option<String> {
    params
        .iter()
        .map(|p| (strsim::damerau_levenshtein(name, p.name), p.name))
        .filter(|(distance, known)| *distance <= 1 + known.len() / 4)
        .min()
        .map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_needs_its_unit() {
        assert_eq!(size_bytes("64 KiB"), Some(65_536));
        assert_eq!(size_bytes("1.5 GiB"), Some(1_610_612_736));
        assert_eq!(size_bytes("10 kB"), Some(10_000));
        assert_eq!(size_bytes("4096"), None);
        assert_eq!(size_bytes("4 potatoes"), None);
        assert_eq!(size_bytes("-1 B"), None);
    }
}
