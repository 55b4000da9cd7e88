//! Paths that match a pattern, and what is in them.

use schedrig_model::host::tune::{Reading, TuneFacts, matches_pattern};

use super::files::{HostFiles, errno_of};

/// The paths that exist and fit a pattern of [`matches_pattern`].
pub fn expand(files: &impl HostFiles, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        let join = |folder: &str, name: &str| {
            if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            }
        };
        let step = |folder: String| -> Vec<String> {
            if !part.contains(['*', '#']) {
                return vec![join(&folder, part)];
            }
            let names = files.list(&folder).unwrap_or_default();
            let fits = names.into_iter().filter(|e| matches_pattern(part, &e.name));
            fits.map(|e| join(&folder, &e.name)).collect()
        };
        found = found.into_iter().flat_map(step).collect();
    }
    found.retain(|path| files.exists(path));
    found.sort();
    found
}

/// Reads every file that fits one of the patterns.
pub fn scan(files: &impl HostFiles, patterns: &[String]) -> TuneFacts {
    let mut facts = TuneFacts::default();
    for path in patterns.iter().flat_map(|p| expand(files, p)) {
        // A file that only takes writes, or must not be read for its side effects, exists all the same.
        let reading = match path.as_str() {
            "dev/cpu_dma_latency" => Reading::Unreadable(libc::EACCES),
            _ => match files.read(&path) {
                Ok(text) => Reading::Text(text),
                Err(err) => Reading::Unreadable(errno_of(&err)),
            },
        };
        facts.insert(path, reading);
    }
    facts
}
