//! Values of a checked map by key. What does not fit its shape has been reported by the checker and
//! counts as absent here.

use super::node::{Node, Value};
use super::source::Pos;
use super::words;

/// The text of a key.
pub(super) fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    node.get(key).and_then(Node::text)
}

/// The texts of a key that takes a list.
pub(super) fn texts(node: &Node, key: &str) -> Vec<(String, Pos)> {
    node.get(key)
        .map_or(&[][..], Node::items)
        .iter()
        .filter_map(|i| i.text().map(|t| (t.to_owned(), i.pos)))
        .collect()
}

/// The texts of a key without their places.
pub(super) fn words(node: &Node, key: &str) -> Vec<String> {
    texts(node, key).into_iter().map(|(t, _)| t).collect()
}

/// A number of any type.
pub(super) fn number<T: std::str::FromStr>(node: &Node, key: &str) -> Option<T> {
    text(node, key).and_then(|t| t.parse().ok())
}

/// A switch.
pub(super) fn switch(node: &Node, key: &str) -> Option<bool> {
    match text(node, key) {
        Some("on") => Some(true),
        Some("off") => Some(false),
        _ => None,
    }
}

/// A phrase read by `read`, with its place.
pub(super) fn phrase<T>(
    node: &Node,
    key: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<(T, Pos)> {
    let node = node.get(key)?;
    Some((read(node.text()?).ok()?, node.pos))
}

/// A time in microseconds, with its place.
pub(super) fn time_us(node: &Node, key: &str) -> Option<(u64, Pos)> {
    phrase(node, key, words::parse_time_us)
}

/// The entries of a key that takes a map: name, value.
pub(super) fn pairs(node: &Node, key: &str) -> Vec<(String, String)> {
    node.get(key)
        .map_or(&[][..], Node::entries)
        .iter()
        .filter_map(|e| match &e.node.value {
            Value::Scalar { text, .. } => Some((e.key.clone(), text.clone())),
            _ => None,
        })
        .collect()
}
