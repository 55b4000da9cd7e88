//! Where the kernel's files hang: arguments, so that a test gives a folder of its own.

use std::path::{Path, PathBuf};

/// The places facts are read from.
#[derive(Clone, Debug)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/etc`.
    pub etc: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// Folders of `PATH`, in its order.
    pub path_dirs: Vec<PathBuf>,
}

impl Roots {
    /// The machine itself; `path` is the text of `PATH`.
    pub fn machine(path: &str) -> Self {
        let dirs = path.split(':').filter(|d| d.starts_with('/'));
        Roots {
            proc: "/proc".into(),
            sys: "/sys".into(),
            etc: "/etc".into(),
            dev: "/dev".into(),
            path_dirs: dirs.map(PathBuf::from).collect(),
        }
    }

    /// Everything below one folder: `proc`, `sys`, `etc`, `dev`, `bin`.
    pub fn below(root: &Path) -> Self {
        Roots {
            proc: root.join("proc"),
            sys: root.join("sys"),
            etc: root.join("etc"),
            dev: root.join("dev"),
            path_dirs: vec![root.join("bin")],
        }
    }
}

/// A file's text without the line break at its end; `None` where it cannot be read or says nothing.
pub(super) fn line_of(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Names in a folder, sorted; empty where it cannot be read.
pub(super) fn names_in(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
