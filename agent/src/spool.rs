//! Reports that the controller has not acknowledged, on disk: an agent that is killed after a
//! repetition still has its result.

use std::fs::File;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};

use schedrig_model::run::Numbered;

/// A report that could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("failed to keep report {seq} in `{dir}`")]
pub struct SpoolError {
    seq: u64,
    dir: Utf8PathBuf,
    #[source]
    source: std::io::Error,
}

/// A directory with one file a report.
#[derive(Debug)]
pub struct Spool {
    dir: Utf8PathBuf,
}

impl Spool {
    /// Opens the spool and reads what an earlier life left. Files that were cut short by a crash
    /// were never reported as kept: they are removed.
    ///
    /// # Errors
    /// The directory cannot be made or read.
    pub fn open(dir: &Utf8Path) -> std::io::Result<(Self, Vec<Numbered>)> {
        std::fs::create_dir_all(dir)?;
        let mut kept = Vec::new();
        for entry in dir.read_dir_utf8()? {
            let entry = entry?;
            match std::fs::read(entry.path())
                .ok()
                .and_then(|b| serde_json::from_slice(&b).ok())
            {
                Some(report) => kept.push(report),
                None => drop(std::fs::remove_file(entry.path())),
            }
        }
        Ok((
            Spool {
                dir: dir.to_owned(),
            },
            kept,
        ))
    }

    /// Keeps a report: on return it is on the disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, report: &Numbered) -> Result<(), SpoolError> {
        let write = || -> std::io::Result<()> {
            let temporary = self.dir.join(format!("{}.tmp", report.seq));
            let mut file = File::create(&temporary)?;
            serde_json::to_writer(&file, report)?;
            file.flush()?;
            file.sync_all()?;
            std::fs::rename(&temporary, self.path(report.seq))?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|source| SpoolError {
            seq: report.seq,
            dir: self.dir.clone(),
            source,
        })
    }

    /// Forgets a report that the controller has acknowledged.
    pub fn forget(&self, seq: u64) {
        // Were it to stay, the controller would be told twice, which does no harm.
        let _ = std::fs::remove_file(self.path(seq));
    }

    fn path(&self, seq: u64) -> Utf8PathBuf {
        self.dir.join(format!("{seq}.json"))
    }
}

#[cfg(test)]
mod tests {
    use schedrig_model::StepId;
    use schedrig_model::run::AgentReport;

    use super::*;

    #[test]
    fn a_report_outlives_the_agent_and_a_torn_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let report = Numbered {
            seq: 4,
            run: "r".into(),
            report: AgentReport::Started {
                step: StepId(1),
                attempt: 0,
            },
        };
        Spool::open(dir).unwrap().0.keep(&report).unwrap();
        std::fs::write(dir.join("5.tmp"), "{\"seq\":5").unwrap();
        let (spool, kept) = Spool::open(dir).unwrap();
        assert_eq!(kept, [report]);
        spool.forget(4);
        assert!(Spool::open(dir).unwrap().1.is_empty());
    }
}
