//! The journal of old values: what is in it, and how it is written down. One line a record, with a
//! checksum before it; a torn last line is no record, as the write it announces was never made.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::write::ReadBack;

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "record")]
pub enum JournalRecord {
    /// A run begins to change the machine.
    Begin {
        /// The run.
        run: String,
        /// Of `/proc/sys/kernel/random/boot_id`; a reboot puts most files back by itself.
        boot: Option<String>,
    },
    /// The old value of a file that is about to change.
    Old(OldValue),
    /// Everything was put back.
    Clean,
}

/// The old value of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OldValue {
    /// Relative to the root of the file system.
    pub path: String,
    /// How the file prints values.
    pub read_back: ReadBack,
    /// In the form that puts it back; `None`: it was unset.
    pub old: Option<String>,
    /// What is about to be written; for a file that only changes along with another: nothing.
    pub new: Option<String>,
}

impl OldValue {
    /// What tells apart settings: the file, and the feature where a file has many.
    pub fn key(&self) -> String {
        match (self.read_back, self.new.as_deref().or(self.old.as_deref())) {
            (ReadBack::Feature, Some(token)) => {
                format!(
                    "{}#{}",
                    self.path,
                    token.strip_prefix("NO_").unwrap_or(token)
                )
            }
            _ => self.path.clone(),
        }
    }
}

/// One line, with its checksum and line end.
pub fn encode_record(record: &JournalRecord) -> String {
    // A record is plain data: it always has a JSON form.
    let json = serde_json::to_string(record).unwrap_or_default();
    format!("{} {json}\n", checksum(&json))
}

/// What a journal says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// The run that changed the machine.
    pub run: Option<String>,
    /// The boot it did so in.
    pub boot: Option<String>,
    /// Old values since the last time all was put back, in the order they were kept.
    pub entries: Vec<OldValue>,
    /// Lines (from 1) that are damaged, a torn last one apart.
    pub damaged: Vec<usize>,
}

/// Reads a journal.
pub fn decode_journal(text: &str) -> Journal {
    let mut journal = Journal::default();
    let last = text.lines().count();
    for (index, line) in text.lines().enumerate() {
        match decode_line(line) {
            Some(JournalRecord::Begin { run, boot }) => {
                journal.run = Some(run);
                journal.boot = boot;
            }
            Some(JournalRecord::Old(entry)) => journal.entries.push(entry),
            Some(JournalRecord::Clean) => journal = Journal::default(),
            None if index + 1 == last || line.is_empty() => {}
            None => journal.damaged.push(index + 1),
        }
    }
    journal
}

fn decode_line(line: &str) -> Option<JournalRecord> {
    let (sum, json) = line.split_once(' ')?;
    (sum == checksum(json)).then(|| serde_json::from_str(json).ok())?
}

fn checksum(json: &str) -> String {
    Sha256::digest(json.as_bytes())
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect()
}

impl Journal {
    /// Whether something is still to be put back.
    pub fn is_dirty(&self) -> bool {
        !self.entries.is_empty() || !self.damaged.is_empty()
    }

    /// What to put back, in order: the first value kept of each setting, last changed first.
    pub fn to_restore(&self) -> Vec<OldValue> {
        let mut seen = std::collections::HashSet::new();
        let first = self.entries.iter().filter(|e| seen.insert(e.key()));
        let mut order: Vec<OldValue> = first.cloned().collect();
        order.reverse();
        order
    }
}

/// What to do with one old value, by what the file reads now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutBack {
    /// It reads as before.
    Done,
    /// Write this.
    Write(String),
    /// A reboot put other values there than the ones this program knows: left alone.
    Left(String),
}

/// Decides for one file. `same_boot`: the machine has not been booted since the value was kept.
pub fn put_back(entry: &OldValue, text: &str, same_boot: bool) -> PutBack {
    let written = entry.old.as_deref().or(entry.new.as_deref()).unwrap_or("");
    let now = entry.read_back.value_of(text, written);
    let is_old = match &entry.old {
        Some(old) => entry.read_back.holds(text, old),
        None => now.is_none(),
    };
    if is_old {
        return PutBack::Done;
    }
    let is_ours = entry
        .new
        .as_deref()
        .is_some_and(|new| entry.read_back.holds(text, new));
    if !same_boot && !is_ours {
        let (now, old) = (
            now.unwrap_or_default(),
            entry.old.as_deref().unwrap_or("unset"),
        );
        return PutBack::Left(format!(
            "{} reads {now} since the reboot, was {old}",
            entry.path
        ));
    }
    // An empty line unsets.
    PutBack::Write(entry.old.clone().unwrap_or_else(|| "\n".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, old: Option<&str>, new: &str) -> OldValue {
        let own = |s: &str| s.to_owned();
        OldValue {
            path: own(path),
            read_back: ReadBack::Words,
            old: old.map(own),
            new: Some(own(new)),
        }
    }

    fn text(records: &[JournalRecord]) -> String {
        records.iter().map(encode_record).collect()
    }

    #[test]
    fn a_torn_tail_is_no_record_and_damage_in_the_middle_is_seen() {
        let records = [
            JournalRecord::Begin {
                run: "r1".into(),
                boot: None,
            },
            JournalRecord::Old(entry("a", Some("1"), "2")),
            JournalRecord::Old(entry("b", None, "2")),
        ];
        let full = text(&records);
        assert_eq!(decode_journal(&full).entries.len(), 2);
        let torn = decode_journal(&full[..full.len() - 9]);
        assert_eq!((torn.entries.len(), torn.damaged.len()), (1, 0));
        let damaged = decode_journal(&full.replacen("\"a\"", "\"x\"", 1));
        assert_eq!((damaged.entries.len(), damaged.damaged), (1, vec![2]));
    }

    #[test]
    fn clean_forgets_what_was_before() {
        let records = [
            JournalRecord::Old(entry("a", Some("1"), "2")),
            JournalRecord::Clean,
        ];
        assert!(!decode_journal(&text(&records)).is_dirty());
    }

    #[test]
    fn the_first_value_of_a_setting_counts_and_order_is_reversed() {
        let entries = vec![
            entry("a", Some("1"), "2"),
            entry("b", Some("1"), "2"),
            entry("a", Some("2"), "3"),
        ];
        let journal = Journal {
            entries,
            ..Journal::default()
        };
        let order: Vec<_> = journal
            .to_restore()
            .into_iter()
            .map(|e| (e.path, e.old))
            .collect();
        let one = Some("1".to_owned());
        assert_eq!(
            order,
            [("b".to_owned(), one.clone()), ("a".to_owned(), one)]
        );
    }

    #[test]
    fn features_of_one_file_are_settings_of_their_own() {
        let feature = |old: &str, new: &str| OldValue {
            read_back: ReadBack::Feature,
            ..entry("features", Some(old), new)
        };
        assert_ne!(feature("A", "NO_A").key(), feature("B", "NO_B").key());
        assert_eq!(feature("A", "NO_A").key(), feature("NO_A", "A").key());
    }

    #[test]
    fn after_a_reboot_only_our_own_values_are_taken_back() {
        let e = entry("a", Some("1"), "2");
        assert_eq!(put_back(&e, "1\n", true), PutBack::Done);
        assert_eq!(put_back(&e, "3\n", true), PutBack::Write("1".into()));
        assert_eq!(put_back(&e, "2\n", false), PutBack::Write("1".into()));
        assert!(matches!(put_back(&e, "3\n", false), PutBack::Left(_)));
        let unset = entry("a", None, "2");
        assert_eq!(put_back(&unset, "\n", true), PutBack::Done);
        assert_eq!(put_back(&unset, "2\n", true), PutBack::Write("\n".into()));
    }
}
