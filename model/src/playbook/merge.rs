//! `extends` and `include`: other files under this one. Maps merge deeply, lists replace.

use super::diagnostic::{Diagnostic, Report};
use super::node::{Entry, Node, Value};
use super::raw;
use super::source::Sources;

/// Files may ask for files this deep.
const MAX_DEPTH: usize = 8;
/// A playbook consists of at most so many files.
const MAX_FILES: usize = 32;

/// Gives the text of another playbook by its path.
pub type Loader<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// Reads a file and everything it asks for.
pub(super) struct Reader<'a> {
    pub(super) loader: &'a Loader<'a>,
    pub(super) sources: Sources,
    pub(super) report: Report,
}

impl Reader<'_> {
    /// The merged tree of a file.
    pub(super) fn read(&mut self, name: &str, text: &str) -> Option<Node> {
        self.read_at(name, text, &mut vec![name.to_owned()])
    }

    fn read_at(&mut self, name: &str, text: &str, chain: &mut Vec<String>) -> Option<Node> {
        // A byte order mark is no character of the first line.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // A file that is refused for its size is not kept for its source lines either.
        let kept = if text.len() > raw::MAX_BYTES {
            ""
        } else {
            text
        };
        let file = self.sources.add(name, kept);
        let own = raw::read(file, text, &mut self.report)?;
        let mut merged: Option<Node> = None;
        for key in ["extends", "include"] {
            let asked: Vec<Node> = own.get(key).map(|n| n.items().to_vec()).unwrap_or_default();
            for other in &asked {
                if let Some(below) = self.other(name, other, chain) {
                    merged = Some(match merged {
                        Some(base) => merge(base, below),
                        None => below,
                    });
                }
            }
        }
        Some(match merged {
            Some(base) => merge(base, own),
            None => own,
        })
    }

    fn other(&mut self, name: &str, asked: &Node, chain: &mut Vec<String>) -> Option<Node> {
        let path = join(name, asked.text()?);
        let refuse = |what: String, expected: &str| {
            Some(Diagnostic::error(asked.pos, what).expected(expected))
        };
        let fault = if chain.contains(&path) {
            refuse(
                format!("`{path}` asks for itself: {} -> {path}", chain.join(" -> ")),
                "no file that leads back to itself",
            )
        } else if chain.len() >= MAX_DEPTH || self.sources.len() >= MAX_FILES {
            refuse(
                format!("`{path}` is one file too many"),
                "at most 8 files deep, 32 in all",
            )
        } else {
            None
        };
        if let Some(fault) = fault {
            self.report.push(fault);
            return None;
        }
        match (self.loader)(&path) {
            Ok(text) => {
                chain.push(path.clone());
                let node = self.read_at(&path, &text, chain);
                chain.pop();
                node
            }
            Err(why) => {
                self.report.push(
                    Diagnostic::error(asked.pos, format!("`{path}` cannot be read: {why}"))
                        .expected("the path of a playbook, from the folder of this file"),
                );
                None
            }
        }
    }
}

/// `path` as seen from the file `name`.
fn join(name: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let folder = name.rfind('/').map_or("", |at| &name[..at]);
    let mut parts: Vec<&str> = folder
        .split('/')
        .filter(|p| !p.is_empty() && *p != ".")
        .collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let root = if folder.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// `over` on top of `base`: maps merge key by key, anything else replaces. Keys keep the order in
/// which they first stand.
pub(super) fn merge(base: Node, over: Node) -> Node {
    let (base_entries, over_entries) = match (base.value, over.value) {
        (Value::Map(b), Value::Map(o)) => (b, o),
        (_, value) => {
            return Node {
                pos: over.pos,
                value,
            };
        }
    };
    let mut entries: Vec<Entry> = base_entries;
    for new in over_entries {
        match entries.iter_mut().find(|e| e.key == new.key) {
            Some(old) => {
                let below = std::mem::replace(
                    &mut old.node,
                    Node {
                        pos: new.node.pos,
                        value: Value::Empty,
                    },
                );
                old.key_pos = new.key_pos;
                old.node = merge(below, new.node);
            }
            None => entries.push(new),
        }
    }
    Node {
        pos: over.pos,
        value: Value::Map(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_file_that_asks() {
        assert_eq!(
            join("playbooks/a.yaml", "common/quiet.yaml"),
            "playbooks/common/quiet.yaml"
        );
        assert_eq!(
            join("playbooks/published/a.yaml", "../quickstart.yaml"),
            "playbooks/quickstart.yaml"
        );
        assert_eq!(join("a.yaml", "b.yaml"), "b.yaml");
        assert_eq!(join("/x/a.yaml", "../b.yaml"), "/b.yaml");
    }
}
