//! Parameter values as a playbook states them, after substitution.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamValue {
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text or a word (`on`, `off` are words).
    Text(String),
    /// A list.
    List(Vec<ParamValue>),
    /// A nested map, keys in the order they stand.
    Map(Vec<(String, ParamValue)>),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Int(v) => write!(f, "{v}"),
            ParamValue::Float(v) => write!(f, "{v}"),
            ParamValue::Text(v) => f.write_str(v),
            ParamValue::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            ParamValue::Map(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{key}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A parameter that a workload cannot take. The playbook reader adds the position.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamError {
    /// No such parameter.
    #[error("unknown parameter `{name}` of {workload}{hint}", hint = suggestion.as_ref().map_or(String::new(), |s| format!(" (did you mean `{s}`?)")))]
    Unknown {
        /// The workload.
        workload: &'static str,
        /// The parameter.
        name: String,
        /// A near miss.
        suggestion: Option<String>,
    },
    /// A value out of range or of the wrong type.
    #[error("`{name}` of {workload} is `{found}`, expected {expected}")]
    Value {
        /// The workload.
        workload: &'static str,
        /// The parameter.
        name: String,
        /// What stands there.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// A parameter that must be given.
    #[error("{workload} needs `{name}`: {doc}")]
    Missing {
        /// The workload.
        workload: &'static str,
        /// The parameter.
        name: &'static str,
        /// What it is.
        doc: &'static str,
    },
    /// Two parameters that exclude each other.
    #[error("{workload}: {text}")]
    Conflict {
        /// The workload.
        workload: &'static str,
        /// Which and why.
        text: String,
    },
}

/// Parameters by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, ParamValue>);

impl Params {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        self.0.get(name)
    }
}
