//! Programs in PATH: where, which version, which file.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use schedrig_model::host::ToolFact;
use sha2::{Digest, Sha256};

/// A program to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolProbe {
    /// The name in PATH.
    pub program: String,
    /// Arguments that make it say its version; empty: it cannot.
    pub version_args: Vec<String>,
}

/// Runs a program and gives what it said of its version.
pub type VersionOf<'a> = &'a dyn Fn(&Path, &[String]) -> Option<String>;

/// Programs that collect, beside those of the workloads.
pub fn collectors() -> Vec<ToolProbe> {
    [
        ("perf", "--version"),
        ("turbostat", "--version"),
        ("numactl", "--version"),
    ]
    .map(|(program, arg)| ToolProbe {
        program: program.to_owned(),
        version_args: vec![arg.to_owned()],
    })
    .into()
}

/// The first file of each name in PATH that can be executed.
pub(super) fn find_tools(
    dirs: &[PathBuf],
    probes: &[ToolProbe],
    version_of: VersionOf<'_>,
) -> Vec<ToolFact> {
    let found = |probe: &ToolProbe| {
        let path = find(dirs, &probe.program)?;
        let version = (!probe.version_args.is_empty())
            .then(|| version_of(&path, &probe.version_args))
            .flatten();
        Some(ToolFact {
            name: probe.program.clone(),
            version,
            sha256: sha256_of(&path).ok(),
            path: path.to_string_lossy().into_owned(),
        })
    };
    probes.iter().filter_map(found).collect()
}

/// Looks a program up in the folders of PATH.
pub fn find(dirs: &[PathBuf], program: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    dirs.iter().map(|dir| dir.join(program)).find(is_program)
}

/// SHA-256 of a file, hexadecimal.
///
/// # Errors
/// The file cannot be read.
pub fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => break,
            n => hash.update(&block[..n]),
        }
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

/// Longest a program may take to say its version.
const VERSION_DEADLINE: Duration = Duration::from_secs(2);
/// Longest text looked at for a version.
const VERSION_BYTES: u64 = 16 << 10;

/// Runs a program for its version: the first line of either stream with a digit in it. A program that
/// takes longer than two seconds is ended and has no version.
pub fn run_for_version(path: &Path, args: &[String]) -> Option<String> {
    let mut child = Command::new(path)
        .args(args)
        .env_clear()
        .env("LC_ALL", "C")
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let (sender, texts) = mpsc::sync_channel(2);
    let read = |place: usize, stream: Option<Box<dyn Read + Send>>| {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(stream) = stream {
                // What was read before an error is still worth a look.
                let _ = stream.take(VERSION_BYTES).read_to_end(&mut text);
            }
            // Where nobody waits any more the text is not wanted.
            let _ = sender.send((place, String::from_utf8_lossy(&text).into_owned()));
        });
    };
    read(0, child.stdout.take().map(|s| Box::new(s) as _));
    read(1, child.stderr.take().map(|s| Box::new(s) as _));
    let end = Instant::now() + VERSION_DEADLINE;
    let mut said: Vec<(usize, String)> = (0..2)
        .map_while(|_| {
            texts
                .recv_timeout(end.saturating_duration_since(Instant::now()))
                .ok()
        })
        .collect();
    // It may have ended by itself: then there is nothing to kill.
    let _ = child.kill();
    let _ = child.wait();
    if said.len() < 2 {
        return None;
    }
    said.sort();
    let text = said
        .into_iter()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join("\n");
    let says = |l: &&str| l.bytes().any(|b| b.is_ascii_digit());
    text.lines().find(says).map(|l| l.trim().to_owned())
}
