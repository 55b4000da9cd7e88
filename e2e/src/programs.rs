//! Where the built programs are, and a place of their own for each test.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

/// The built programs.
#[derive(Clone, Debug)]
pub struct Programs {
    dir: Utf8PathBuf,
}

impl Programs {
    /// Beside the test that runs: cargo puts tests into `deps` of the directory of the programs.
    ///
    /// # Panics
    /// They are not there.
    pub fn built() -> Self {
        let own = std::env::current_exe().expect("a test has a file");
        let dir = own.parent().and_then(Path::parent).expect("cargo's layout");
        let dir = Utf8PathBuf::from_path_buf(dir.to_path_buf()).expect("a UTF-8 path");
        for name in ["schedrig", "schedrig-agent"] {
            let path = dir.join(name);
            assert!(
                path.is_file(),
                "`{path}` is not there: run `cargo build --workspace --bins` first, as `make test` does"
            );
        }
        Programs { dir }
    }

    /// `schedrig` with a home of its own.
    pub fn schedrig(&self, scratch: &Scratch) -> Command {
        self.program("schedrig", scratch)
    }

    /// `schedrig-agent` with a home of its own.
    pub fn agent(&self, scratch: &Scratch) -> Command {
        self.program("schedrig-agent", scratch)
    }

    fn program(&self, name: &str, scratch: &Scratch) -> Command {
        let mut command = Command::new(self.dir.join(name));
        command
            .env("HOME", scratch.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_STATE_HOME");
        command.stdin(Stdio::null());
        command
    }
}

/// A directory that is removed afterwards.
#[derive(Debug)]
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// An empty one.
    ///
    /// # Panics
    /// The temporary directory cannot be written.
    pub fn new() -> Self {
        Scratch {
            dir: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// Where it is.
    ///
    /// # Panics
    /// Its path is not UTF-8.
    pub fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.dir.path()).expect("a UTF-8 path")
    }

    /// Writes a file into it.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn file(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).expect("a writable directory");
        path
    }

    /// The two streams of a finished program, for messages.
    pub fn said(output: &Output) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!(
            "--- stdout\n{}--- stderr\n{}",
            text(&output.stdout),
            text(&output.stderr)
        )
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
