//! Files of this machine, or of a tree that looks like one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::files::{Entry, Held, HostFiles};

/// No file of the kernel that this program reads is longer: /proc/schedstat of 8192 CPUs has 25 MB.
const LONGEST_FILE: u64 = 64 << 20;

/// More records than a log buffer of 1 MiB holds.
const MOST_RECORDS: usize = 20_000;

/// Files below a root: `/` on a machine, a folder in tests.
#[derive(Clone, Debug)]
pub struct RealFiles {
    root: Utf8PathBuf,
}

impl RealFiles {
    /// Files below `root`.
    pub fn new(root: &Utf8Path) -> Self {
        RealFiles {
            root: root.to_owned(),
        }
    }

    /// Where a path is.
    pub fn absolute(&self, path: &str) -> Utf8PathBuf {
        self.root.join(path)
    }
}

/// Reads to the end whatever the sizes of the pieces: files of /proc come a page at a time.
///
/// # Errors
/// What the reader says; a text longer than any file of the kernel.
pub fn read_text(reader: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

impl HostFiles for RealFiles {
    fn read(&self, path: &str) -> io::Result<String> {
        read_text(File::open(self.absolute(path))?)
    }

    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.absolute(path))?;
        file.write_all(text.as_bytes())
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.absolute(folder))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            // Of the links in /sys what they point at counts.
            let folder = if kind.is_symlink() {
                fs::metadata(entry.path()).is_ok_and(|m| m.is_dir())
            } else {
                kind.is_dir()
            };
            if let Ok(name) = entry.file_name().into_string() {
                entries.push(Entry { name, folder });
            }
        }
        Ok(entries)
    }

    fn exists(&self, path: &str) -> bool {
        self.absolute(path).exists()
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        fs::create_dir(self.absolute(path))
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        fs::remove_dir(self.absolute(path))
    }

    fn append_durably(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.absolute(path);
        let is_new = !path.exists();
        if let Some(folder) = path.parent().filter(|_| is_new) {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if is_new {
            sync_folder_of(&path)
        } else {
            Ok(())
        }
    }

    fn remove_file(&self, path: &str) -> io::Result<()> {
        let path = self.absolute(path);
        fs::remove_file(&path)?;
        sync_folder_of(&path)
    }

    fn hold_open(&self, path: &str, bytes: &[u8]) -> io::Result<Held> {
        let mut file = OpenOptions::new().write(true).open(self.absolute(path))?;
        file.write_all(bytes)?;
        Ok(Box::new(file))
    }

    fn open_folder(&self, path: &str) -> io::Result<OwnedFd> {
        Ok(File::open(self.absolute(path))?.into())
    }

    fn wait_until(
        &self,
        path: &str,
        at_most: Duration,
        done: &dyn Fn(&str) -> bool,
    ) -> io::Result<bool> {
        let deadline = Instant::now() + at_most;
        let mut file = File::open(self.absolute(path))?;
        loop {
            // Reading arms the notification of this open file.
            file.rewind()?;
            if done(&read_text(&mut file)?) {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            poll(
                &mut [PollFd::new(file.as_fd(), PollFlags::POLLPRI)],
                timeout,
            )?;
        }
    }

    fn read_log(&self) -> io::Result<String> {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(self.absolute("dev/kmsg"))?;
        // One record a read, none longer than 8 KiB (PRINTK_MESSAGE_MAX and its head).
        let mut record = vec![0; 8192];
        let mut text = Vec::new();
        for _ in 0..MOST_RECORDS {
            match file.read(&mut record) {
                Ok(0) => break,
                Ok(n) => text.extend_from_slice(&record[..n]),
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                // Records were overwritten while reading: the next read goes on behind them.
                Err(err) if err.raw_os_error() == Some(libc::EPIPE) => {}
                Err(err) => return Err(err),
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn pause(&self, time: Duration) {
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        // A signal ends it early, which does no harm.
        let _ = poll(&mut [], timeout);
    }
}

fn sync_folder_of(path: &Utf8Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives 1 to 7 bytes a call, as a pipe or a busy /proc may.
    struct Short<'a>(&'a [u8], usize);

    impl Read for Short<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 7 + 1;
            let n = self.1.min(self.0.len()).min(buf.len());
            buf[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn a_file_of_64_kib_is_read_to_its_end_in_short_pieces() {
        let text: String = (0..4096).map(|n| format!("cpu{n:<12}\n")).collect();
        assert_eq!(text.len(), 65_536);
        assert_eq!(read_text(Short(text.as_bytes(), 0)).unwrap(), text);
    }

    #[test]
    fn the_journal_is_appended_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let files = RealFiles::new(Utf8Path::from_path(dir.path()).unwrap());
        files.append_durably("var/lib/x/journal", "a\n").unwrap();
        files.append_durably("var/lib/x/journal", "b\n").unwrap();
        assert_eq!(files.read("var/lib/x/journal").unwrap(), "a\nb\n");
        files.remove_file("var/lib/x/journal").unwrap();
        assert!(!files.exists("var/lib/x/journal"));
    }
}
