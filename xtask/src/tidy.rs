//! Rules a compiler does not know.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::deps;

/// A file longer than this is more than one idea.
const LINES_MAX: usize = 800;
const NAMES_THAT_SAY_NOTHING: &[&str] = &["util", "utils", "helpers", "common", "misc"];
/// Text, and what to do instead. Split so that this file does not find itself.
const BANNED: &[(&str, &str)] = &[
    (
        concat!("todo", "!("),
        "finish it or return an error that says what is missing",
    ),
    (
        concat!("unimplemented", "!("),
        "finish it or return an error that says what is missing",
    ),
    (concat!("FIX", "ME"), "mend it or open an issue"),
    (
        concat!("#[", "ignore"),
        "a test that needs what a machine lacks goes into a suite of its own",
    ),
    (
        concat!("#[", "allow("),
        "use #[expect(lint, reason = \"..\")]",
    ),
];
/// What a pure crate may not name.
const BANNED_IN_PURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "Instant::now",
    "SystemTime::now",
    "thread::sleep",
];

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut faults = deps::check(root)?;
    for path in sources(root)? {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        let text = std::fs::read_to_string(&path)?;
        faults.extend(file_faults(&name, &text));
    }
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if !faults.is_empty() {
        bail!("{} places break a rule", faults.len());
    }
    Ok(())
}

fn file_faults(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > LINES_MAX {
        faults.push(format!(
            "{name} has {lines} lines, more than {LINES_MAX}: split it by idea"
        ));
    }
    if name
        .split(['/', '.'])
        .any(|part| NAMES_THAT_SAY_NOTHING.contains(&part))
    {
        faults.push(format!(
            "{name}: the name says nothing; name it for what it holds"
        ));
    }
    let pure = ["stats/src", "model/src", "sim/src"]
        .iter()
        .any(|p| name.starts_with(p))
        && !name.contains("/bin/");
    let mut in_tests = false;
    for (number, line) in text.lines().enumerate() {
        let at = format!("{name}:{}", number + 1);
        in_tests |=
            line.starts_with("mod tests") || name.ends_with("tests.rs") || name.contains("/tests/");
        for (banned, instead) in BANNED {
            if line.contains(banned) {
                faults.push(format!("{at}: `{banned}`: {instead}"));
            }
        }
        if pure && !in_tests && !line.trim_start().starts_with("//") {
            let found = BANNED_IN_PURE.iter().filter(|b| line.contains(*b));
            faults.extend(found.map(|b| format!("{at}: `{b}` in a pure crate: pass the value in")));
        }
        if name.ends_with("mod.rs")
            && (line.starts_with("fn ") || line.starts_with("pub fn ") || line.starts_with("impl "))
        {
            faults.push(format!("{at}: mod.rs only re-exports"));
        }
    }
    faults
}

fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = [
        "stats",
        "model",
        "proto",
        "sim",
        "agent",
        "controller",
        "e2e",
        "xtask",
    ]
    .iter()
    .map(|m| root.join(m))
    .collect();
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let path = entry?.path();
            let skip =
                path.ends_with("target") || path.ends_with("gen") || path.ends_with("testdata");
            if path.is_dir() && !skip {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::file_faults;

    #[test]
    fn a_clock_in_a_pure_crate_is_found_and_a_comment_is_not() {
        let bad = format!("let t = Instant::{}();\n", "now");
        assert_eq!(file_faults("sim/src/time.rs", &bad).len(), 1);
        assert!(file_faults("sim/src/time.rs", &format!("// {bad}")).is_empty());
        assert!(file_faults("agent/src/clock.rs", &bad).is_empty());
    }

    #[test]
    fn a_file_of_many_ideas_and_a_name_without_one_are_found() {
        assert_eq!(file_faults("agent/src/a.rs", &"x\n".repeat(801)).len(), 1);
        assert_eq!(file_faults("agent/src/utils/a.rs", "").len(), 1);
    }
}
