//! The language as a JSON Schema, for editors. Drawn from the shapes and the catalogue.

use serde_json::{Map, Value, json};

use crate::workload::{ALL, ParamDef, ParamKind, Workload, WorkloadDef};

use super::keys;
use super::shape::{KeyDef, MapDef, NamesDef, Shape};

/// Any text that holds a parameter.
const PARAMETER: &str = r"\$\{[A-Za-z0-9_-]+\}";
/// A count in parts of the machine.
const AMOUNT: &str = r"^[0-9]+%?( (x|per))? [a-z]+$|^[a-z]+$";
/// A name of the reader's choice.
const NAME: &str = r"^[A-Za-z0-9_-]{1,64}$";
const DOTTED: &str = r"^[A-Za-z0-9_./-]{1,64}$";

/// The JSON Schema (2020-12) of a playbook.
pub fn schema() -> Value {
    let mut root = map(&keys::PLAYBOOK);
    let workloads: Map<String, Value> = ALL
        .iter()
        .map(|w| (w.def().name.to_owned(), workload(w.def())))
        .collect();
    if let Value::Object(object) = &mut root {
        object.insert(
            "$schema".into(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        object.insert("title".into(), json!("schedrig playbook, version 1"));
        // `extends` and `include` bring keys along, so that a part alone need not have them.
        object.remove("required");
        object.insert(
            "$defs".into(),
            json!({
                "parameter": {"type": "string", "pattern": PARAMETER},
                "entry": entry(),
                "group": map(&keys::GROUP),
                "workloads": workloads,
            }),
        );
    }
    root
}

/// The schema as it is kept in a file.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

fn or_parameter(schema: Value) -> Value {
    json!({"anyOf": [schema, {"$ref": "#/$defs/parameter"}]})
}

fn words(words: &[&str]) -> Value {
    let values: Vec<Value> = words
        .iter()
        .map(|w| match *w {
            "true" => json!(true),
            "false" => json!(false),
            other => json!(other),
        })
        .collect();
    json!({"enum": values})
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({"type": ["string", "number"]}),
        Shape::Word(list) => or_parameter(words(list)),
        Shape::Switch => or_parameter(words(&["on", "off"])),
        Shape::Count(min, max) => or_parameter(integer(*min, *max)),
        Shape::Number(min, max) => {
            or_parameter(json!({"type": "number", "minimum": min, "maximum": max}))
        }
        Shape::Phrase(phrase) => or_parameter(json!({
            "type": ["string", "number"],
            "pattern": phrase.pattern,
            "description": phrase.expected,
        })),
        Shape::List(item) => {
            let item = self::shape(item);
            json!({"anyOf": [{"type": "array", "items": item.clone()}, item]})
        }
        // Groups hold groups: the one map of the language that nests.
        Shape::Map(def) if def.name == keys::GROUP.name => json!({"$ref": "#/$defs/group"}),
        Shape::Map(def) => map(def),
        Shape::Names(def) => names(def),
        Shape::Either(a, b) => json!({"anyOf": [self::shape(a), self::shape(b)]}),
        Shape::Workload => json!({"$ref": "#/$defs/entry"}),
        Shape::Open => json!({"type": "object"}),
    }
}

fn integer(min: u64, max: u64) -> Value {
    if max >= u64::from(u32::MAX) {
        json!({"type": "integer", "minimum": min})
    } else {
        json!({"type": "integer", "minimum": min, "maximum": max})
    }
}

fn names(def: &NamesDef) -> Value {
    let pattern = if def.dotted { DOTTED } else { NAME };
    json!({
        "type": "object",
        "minProperties": 1,
        "description": format!("{} by name", def.of),
        "patternProperties": {pattern: shape(&def.shape)},
        "additionalProperties": false,
    })
}

fn map(def: &MapDef) -> Value {
    let properties: Map<String, Value> = def
        .keys
        .iter()
        .map(|k| (k.name.to_owned(), key(k)))
        .collect();
    let required: Vec<&str> = def
        .keys
        .iter()
        .filter(|k| k.required)
        .map(|k| k.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "description": def.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if let (Value::Object(object), false) = (&mut schema, required.is_empty()) {
        object.insert("required".into(), json!(required));
    }
    schema
}

fn key(key: &KeyDef) -> Value {
    let mut schema = shape(&key.shape);
    if let Value::Object(object) = &mut schema {
        let text = match key.default {
            Some(default) => format!("{} (default: {default})", key.doc),
            None => key.doc.to_owned(),
        };
        object.insert("description".into(), json!(text));
    }
    schema
}

/// An entry of `workloads`: its own keys and one workload.
fn entry() -> Value {
    let mut schema = map(&keys::ENTRY);
    let one_of: Vec<Value> = ALL
        .iter()
        .map(|w| json!({"required": [w.def().name]}))
        .collect();
    if let Value::Object(object) = &mut schema {
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            for w in ALL {
                let name = w.def().name;
                properties.insert(
                    name.into(),
                    json!({"$ref": format!("#/$defs/workloads/{name}")}),
                );
            }
        }
        object.insert("oneOf".into(), Value::Array(one_of));
    }
    schema
}

fn workload(def: &WorkloadDef) -> Value {
    let properties: Map<String, Value> = def
        .params
        .iter()
        .map(|p| (p.name.to_owned(), param(p)))
        .collect();
    json!({
        "type": ["object", "null"],
        "description": def.summary,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn param(def: &ParamDef) -> Value {
    let mut schema = match def.kind {
        ParamKind::Choice(list) => or_parameter(words(list)),
        ParamKind::Switch => or_parameter(words(&["on", "off", "true", "false"])),
        ParamKind::Count { min, max } => {
            let number = if max >= i64::from(u32::MAX) {
                json!({"type": "integer", "minimum": min})
            } else {
                json!({"type": "integer", "minimum": min, "maximum": max})
            };
            json!({"anyOf": [number, {"type": "string", "pattern": AMOUNT}, {"$ref": "#/$defs/parameter"}]})
        }
        ParamKind::Number { min, max } => {
            or_parameter(json!({"type": "number", "minimum": min, "maximum": max}))
        }
        ParamKind::Text => json!({"type": ["string", "number"]}),
        ParamKind::Words => {
            json!({"type": ["array", "string"], "items": {"type": ["string", "number"]}})
        }
        ParamKind::Size => {
            or_parameter(json!({"type": "string", "pattern": "^[0-9.]+ *([kKMG]i?)?B$"}))
        }
        ParamKind::Tree => json!({}),
    };
    if let Value::Object(object) = &mut schema {
        let mut text = def.doc.to_owned();
        if !def.unit.is_empty() {
            text.push_str(&format!(", in {}", def.unit));
        }
        if let Some(default) = def.default {
            text.push_str(&format!(" (default: {default})"));
        }
        object.insert("description".into(), json!(text));
    }
    schema
}

/// The words that may stand at a place of a playbook, for completions: keys of the map that the
/// path of keys leads to. Names of the reader's choice are written `*` in the path.
pub fn completions(path: &[&str]) -> Vec<&'static str> {
    let mut at = &keys::PLAYBOOK;
    let mut rest = path.iter();
    while let Some(word) = rest.next() {
        let Some(key) = at.key(word) else {
            return Workload::by_name(word)
                .map(|w| w.def().params.iter().map(|p| p.name).collect())
                .unwrap_or_default();
        };
        let mut shape = &key.shape;
        loop {
            match shape {
                Shape::List(item) => shape = item,
                Shape::Either(_, map) => shape = map,
                Shape::Names(def) => {
                    rest.next();
                    shape = &def.shape;
                }
                Shape::Map(def) => {
                    at = def;
                    break;
                }
                Shape::Workload => {
                    at = &keys::ENTRY;
                    break;
                }
                Shape::Word(words) => return words.to_vec(),
                Shape::Switch => return vec!["on", "off"],
                _ => return Vec::new(),
            }
        }
    }
    let of_workloads = ALL.iter().map(|w| w.def().name);
    let is_entry = std::ptr::eq(at, &raw const keys::ENTRY);
    at.keys
        .iter()
        .map(|k| k.name)
        .chain(of_workloads.filter(|_| is_entry))
        .collect()
}
