//! Which processes came from which.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

/// Processes that `root_pid` started, directly or through others, in ascending order. `proc_root` is
/// `/proc` in production. Processes that end meanwhile are left out.
pub fn descendants_of(proc_root: &Utf8Path, root_pid: i32) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for pid in all_pids(proc_root) {
        if let Some(parent) = parent_of(proc_root, pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = BTreeSet::new();
    let mut open = vec![root_pid];
    while let Some(pid) = open.pop() {
        for &child in children.get(&pid).into_iter().flatten() {
            if found.insert(child) {
                open.push(child);
            }
        }
    }
    found.into_iter().collect()
}

/// Processes whose environment has `name=value` with a value that starts with `prefix`.
pub fn marked_processes(proc_root: &Utf8Path, name: &str, prefix: &str) -> Vec<i32> {
    let wanted = format!("{name}={prefix}").into_bytes();
    let is_marked = |pid: &i32| {
        let environ =
            std::fs::read(proc_root.join(pid.to_string()).join("environ")).unwrap_or_default();
        environ
            .split(|&b| b == 0)
            .any(|entry| entry.starts_with(&wanted))
    };
    all_pids(proc_root).into_iter().filter(is_marked).collect()
}

fn all_pids(proc_root: &Utf8Path) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir(proc_root) else {
        return Vec::new();
    };
    let pid = |e: std::io::Result<std::fs::DirEntry>| e.ok()?.file_name().to_str()?.parse().ok();
    entries.filter_map(pid).collect()
}

fn parent_of(proc_root: &Utf8Path, pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(proc_root.join(pid.to_string()).join("stat")).ok()?;
    // The name in parentheses may hold spaces and parentheses: fields are counted from its end.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proc_tree(entries: &[(i32, i32, &str)]) -> (tempfile::TempDir, camino::Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = camino::Utf8PathBuf::from_path_buf(dir.path().to_path_buf()).unwrap();
        for (pid, parent, name) in entries {
            let at = root.join(pid.to_string());
            std::fs::create_dir(&at).unwrap();
            std::fs::write(at.join("stat"), format!("{pid} ({name}) S {parent} 1 1 0")).unwrap();
            std::fs::write(at.join("environ"), format!("A=1\0SCHEDRIG_STEP=x/{pid}\0")).unwrap();
        }
        (dir, root)
    }

    #[test]
    fn grandchildren_with_odd_names_are_found_and_strangers_are_not() {
        let tree = [
            (1, 0, "init"),
            (10, 1, "agent"),
            (11, 10, "a) b (c"),
            (12, 11, "x y"),
            (20, 1, "other"),
        ];
        let (_dir, root) = proc_tree(&tree);
        assert_eq!(descendants_of(&root, 10), [11, 12]);
    }

    #[test]
    fn a_marker_is_matched_by_its_beginning() {
        let (_dir, root) = proc_tree(&[(7, 1, "a")]);
        assert_eq!(marked_processes(&root, "SCHEDRIG_STEP", "x/"), [7]);
        assert!(marked_processes(&root, "SCHEDRIG_STEP", "y/").is_empty());
    }
}
