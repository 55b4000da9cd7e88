//! Reading a playbook and what it includes, once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;

use camino::Utf8Path;

use schedrig_model::plan::Overrides;
use schedrig_model::playbook::{self, MAX_BYTES, Playbook};

use crate::error::CommandError;
use crate::session::Wanted;

/// Reads a file, unless it is too large for a playbook: looking at its size costs nothing, and of a
/// pipe no more is read than a playbook may have.
pub(super) fn read_bounded(path: &Utf8Path) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("failed to read `{path}`: {e}");
    let limit = MAX_BYTES as u64;
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > limit {
        return Err(format!(
            "`{path}` has {size} bytes, a playbook has at most {MAX_BYTES}"
        ));
    }
    let mut bytes = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    if read.map_err(failed)? as u64 > limit {
        return Err(format!(
            "`{path}` has more than {MAX_BYTES} bytes, the most a playbook has"
        ));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        format!("`{path}` is not UTF-8 text in line {line}: a playbook is YAML")
    })
}

/// Reads a playbook from disk; what it includes is kept, so that it can be sent elsewhere.
pub(super) fn read(
    path: &Utf8Path,
    overrides: Overrides,
) -> Result<(Playbook, Wanted), CommandError> {
    let text = read_bounded(path).map_err(CommandError::usage)?;
    let files = RefCell::new(BTreeMap::new());
    let loader = |wanted: &str| {
        let text = read_bounded(Utf8Path::new(wanted))?;
        files.borrow_mut().insert(wanted.to_owned(), text.clone());
        Ok(text)
    };
    let parsed = playbook::parse(path.as_str(), &text, &loader)
        .map_err(|d| CommandError::usage(d.to_text()))?;
    let wanted = Wanted {
        name: path.to_string(),
        text,
        files: files.into_inner(),
        on: BTreeMap::new(),
        overrides,
    };
    Ok((parsed, wanted))
}

/// `NAME=VALUE` arguments as a map.
pub(super) fn pairs(
    flag: &str,
    given: &[String],
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut map = BTreeMap::new();
    for pair in given {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| CommandError::usage(format!("`{flag} {pair}`: expected NAME=VALUE")))?;
        if map.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(CommandError::usage(format!(
                "`{flag} {name}=...` is given twice"
            )));
        }
    }
    Ok(map)
}
