//! What was read of a machine before anything is written.

use std::collections::BTreeMap;

/// What a file gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Its text, without the last line end.
    Text(String),
    /// It is there and cannot be read: the error number.
    Unreadable(i32),
}

/// Files by path, relative to the root of the file system, no leading slash
/// (`sys/devices/system/cpu/online`). A path that is absent does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneFacts {
    files: BTreeMap<String, Reading>,
}

impl TuneFacts {
    /// Puts a file in.
    pub fn insert(&mut self, path: impl Into<String>, reading: Reading) {
        self.files.insert(path.into(), reading);
    }

    /// The text of a file; `None` where it is absent or unreadable.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.files.get(path)? {
            Reading::Text(text) => Some(text.trim_end()),
            Reading::Unreadable(_) => None,
        }
    }

    /// Whether the file exists.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// What the file gave.
    pub fn reading(&self, path: &str) -> Option<&Reading> {
        self.files.get(path)
    }

    /// The paths that match a pattern (see [`matches_pattern`]), numbers in ascending order.
    pub fn matching(&self, pattern: &str) -> Vec<&str> {
        let mut found: Vec<&str> = self
            .files
            .keys()
            .map(String::as_str)
            .filter(|p| matches_pattern(pattern, p))
            .collect();
        found.sort_by_key(|path| numbers_in(path));
        found
    }
}

impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for TuneFacts {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        let mut facts = TuneFacts::default();
        for (path, text) in files {
            facts.insert(path, Reading::Text(text.into()));
        }
        facts
    }
}

/// Whether a path fits a pattern: in each part between slashes `#` stands for a decimal number and `*`
/// for the whole part.
pub fn matches_pattern(pattern: &str, path: &str) -> bool {
    let mut wanted = pattern.split('/');
    let mut found = path.split('/');
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(want), Some(have)) if part_fits(want, have) => {}
            _ => return false,
        }
    }
}

fn part_fits(want: &str, have: &str) -> bool {
    if want == "*" {
        return !have.is_empty();
    }
    let Some((before, after)) = want.split_once('#') else {
        return want == have;
    };
    let middle = have
        .strip_prefix(before)
        .and_then(|h| h.strip_suffix(after));
    middle.is_some_and(|m| !m.is_empty() && m.bytes().all(|b| b.is_ascii_digit()))
}

/// The numbers in a path, for an order in which cpu10 comes after cpu2.
fn numbers_in(path: &str) -> (Vec<u64>, &str) {
    let digits = path.split(|c: char| !c.is_ascii_digit());
    let numbers = digits
        .filter(|d| !d.is_empty())
        .map(|d| d.parse().unwrap_or(u64::MAX));
    (numbers.collect(), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_numbers_and_whole_parts_only() {
        assert!(matches_pattern(
            "cpu#/cpuidle/state#/name",
            "cpu10/cpuidle/state0/name"
        ));
        assert!(!matches_pattern("cpu#/online", "cpufreq/online"));
        assert!(!matches_pattern("cpu#/online", "cpu/online"));
        assert!(matches_pattern(
            "domains/*/domain1/flags",
            "domains/cpu0/domain1/flags"
        ));
        assert!(!matches_pattern("a/*", "a/b/c"));
    }

    #[test]
    fn matches_come_in_numeric_order() {
        let files = ["cpu10/online", "cpu2/online", "cpu1/online"].map(|p| (p, "1"));
        let facts: TuneFacts = files.into_iter().collect();
        assert_eq!(
            facts.matching("cpu#/online"),
            ["cpu1/online", "cpu2/online", "cpu10/online"]
        );
    }
}
