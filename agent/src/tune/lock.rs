//! One lock for a host: two runs would measure each other.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};

use camino::{Utf8Path, Utf8PathBuf};
use nix::fcntl::{Flock, FlockArg};

/// Held while a run may change or measure the machine; let go when dropped, also by a crash.
#[derive(Debug)]
pub struct HostLock {
    _file: Flock<File>,
}

/// Why the lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another agent has it.
    #[error("another agent (pid {holder}) holds `{path}`: one run at a time on a machine")]
    Held {
        /// Its process id, as it wrote it; `unknown` where it has not yet.
        holder: String,
        /// The lock.
        path: Utf8PathBuf,
    },
    /// The file cannot be opened.
    #[error("cannot open the host lock `{path}`")]
    Open {
        /// The lock.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        err: io::Error,
    },
}

impl HostLock {
    /// Takes `lock` in the folder of the agent's state, which is made where needed.
    ///
    /// # Errors
    /// Another process holds it; the file cannot be made.
    pub fn take(state: &Utf8Path) -> Result<Self, LockError> {
        let path = state.join("lock");
        let open = || -> io::Result<File> {
            fs::create_dir_all(state)?;
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
        };
        let mut file = open().map_err(|err| LockError::Open {
            path: path.clone(),
            err,
        })?;
        let mut holder = String::new();
        // The text is for the reader of the message alone: the lock is what counts.
        let _ = file.read_to_string(&mut holder);
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut file) => {
                let write = |f: &mut File| -> io::Result<()> {
                    f.set_len(0)?;
                    f.rewind()?;
                    write!(f, "{}", std::process::id())
                };
                write(&mut file).map_err(|err| LockError::Open { path, err })?;
                Ok(HostLock { _file: file })
            }
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
                let holder = match holder.trim() {
                    "" => "unknown".to_owned(),
                    pid => pid.to_owned(),
                };
                Err(LockError::Held { holder, path })
            }
            Err((_, errno)) => Err(LockError::Open {
                path,
                err: errno.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_agent_is_told_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let state = Utf8Path::from_path(dir.path()).unwrap().join("state");
        let first = HostLock::take(&state).unwrap();
        let err = HostLock::take(&state).unwrap_err().to_string();
        assert!(
            err.contains(&format!("pid {}", std::process::id())),
            "{err}"
        );
        drop(first);
        assert!(HostLock::take(&state).is_ok());
    }
}
