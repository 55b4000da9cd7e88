//! The tree of a playbook as it stands in its files: every value with its place.

use super::source::Pos;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// Where it stands.
    pub pos: Pos,
    /// What it is.
    pub value: Value,
}

/// What a node is. Scalars stay text: what a word means is decided by the key it belongs to, never
/// by YAML.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Nothing after the colon.
    Empty,
    /// A word, number or text.
    Scalar {
        /// Without quotes.
        text: String,
        /// In quotes or a block: text, whatever it looks like.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map, keys in the order they stand.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// The key's text.
    pub key: String,
    /// Where the key stands.
    pub key_pos: Pos,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The value of a key, where this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entries()
            .iter()
            .find(|e| e.key == key)
            .map(|e| &e.node)
    }

    /// The entries of a map; none for anything else.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; a lone scalar or map counts as a list of itself.
    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Empty => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// What the reader sees there, short enough for a message.
    pub(super) fn found(&self) -> String {
        match &self.value {
            Value::Empty => "nothing".into(),
            Value::Scalar { text, .. } => {
                let short: String = text.chars().take(60).collect();
                let dots = if short.len() < text.len() { "..." } else { "" };
                format!("`{short}{dots}`")
            }
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Map(entries) => match entries.first() {
                Some(first) if entries.len() == 1 => format!("a map with the key `{}`", first.key),
                _ => format!("a map of {} keys", entries.len()),
            },
        }
    }
}
