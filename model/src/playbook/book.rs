//! A playbook as it was read: its files, its tree, what it says.

use std::collections::BTreeMap;

use serde::Serialize;

use super::check;
use super::diagnostic::{Diagnostics, Report};
use super::merge::{Loader, Reader};
use super::node::{Node, Value};
use super::read;
use super::source::Sources;
use super::spec::Spec;
use super::substitute;

/// A playbook without errors.
#[derive(Clone, Debug)]
pub struct Playbook {
    pub(crate) sources: Sources,
    /// All files merged, parameters not yet put in.
    root: Node,
    /// With the parameters' own values.
    pub spec: Spec,
    /// Worth a look.
    pub warnings: Diagnostics,
}

/// Where a value of a playbook comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Keys down to the value: `repeat.min`.
    pub path: String,
    /// The value, short.
    pub value: String,
    /// The file; `--set` for a parameter given on the command line.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Reads a playbook. `name` is its path; `loader` gives the text of a path that `extends` or
/// `include` asks for, already joined to the folder of the file that asks.
///
/// # Errors
/// Everything that is wrong with it, each with its place.
pub fn parse(name: &str, text: &str, loader: &Loader<'_>) -> Result<Playbook, Diagnostics> {
    let mut reader = Reader {
        loader,
        sources: Sources::default(),
        report: Report::default(),
    };
    let root = reader.read(name, text);
    let Reader {
        sources,
        mut report,
        ..
    } = reader;
    let Some(root) = root else {
        return Err(report.finish(&sources));
    };
    let spec = resolve(&root, &BTreeMap::new(), &mut report);
    let failed = report.has_errors();
    let diagnostics = report.finish(&sources);
    if failed {
        return Err(diagnostics);
    }
    Ok(Playbook {
        sources,
        root,
        spec,
        warnings: diagnostics,
    })
}

fn resolve(root: &Node, overrides: &BTreeMap<String, String>, report: &mut Report) -> Spec {
    let mut tree = root.clone();
    let params = substitute::apply(&mut tree, overrides, report);
    check::document(&tree, report);
    read::spec(&tree, params, report)
}

impl Playbook {
    /// The playbook with other values of its parameters.
    ///
    /// # Errors
    /// Unknown parameters; whatever the new values break.
    pub fn with_params(&self, overrides: &BTreeMap<String, String>) -> Result<Spec, Diagnostics> {
        if overrides.is_empty() {
            return Ok(self.spec.clone());
        }
        let mut report = Report::default();
        let spec = resolve(&self.root, overrides, &mut report);
        if report.has_errors() {
            return Err(report.finish(&self.sources));
        }
        Ok(spec)
    }

    /// Where each value comes from, in the order of the merged document.
    pub fn origins(&self, overrides: &BTreeMap<String, String>) -> Vec<Origin> {
        let mut origins = Vec::new();
        self.collect_origins(&self.root, "", &mut origins);
        for origin in &mut origins {
            let name = origin.path.strip_prefix("params.");
            if let Some(value) = name.and_then(|n| overrides.get(n)) {
                origin.value = format!("`{value}`");
                origin.file = "--set".into();
                origin.line = 0;
            }
        }
        origins
    }

    fn collect_origins(&self, node: &Node, path: &str, origins: &mut Vec<Origin>) {
        match &node.value {
            Value::Map(entries) => {
                for e in entries {
                    let path = if path.is_empty() {
                        e.key.clone()
                    } else {
                        format!("{path}.{}", e.key)
                    };
                    self.collect_origins(&e.node, &path, origins);
                }
            }
            Value::List(_) | Value::Scalar { .. } | Value::Empty => origins.push(Origin {
                path: path.to_owned(),
                value: node.found(),
                file: self.sources.name_of(node.pos).to_owned(),
                line: node.pos.line,
            }),
        }
    }

    /// The files it was read from, the one asked for first.
    pub fn files(&self) -> Vec<&str> {
        (0..self.sources.len())
            .filter_map(|i| self.sources.get(u16::try_from(i).ok()?))
            .map(|s| s.name.as_str())
            .collect()
    }
}
