//! A store in one SQLite file.
//!
//! Documents are kept as JSON, with the columns beside them that lists need. Write-ahead log and
//! full synchronisation: what a call wrote is there after a power loss.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use camino::Utf8Path;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use schedrig_model::host::Granted;
use schedrig_model::record::{RECORD_FORMAT, RepetitionRecord, RunRecord, RunState};
use schedrig_model::{HostId, RunId};

use super::contract::{RunSummary, Store, StoreError};

/// Version of the tables, in `PRAGMA user_version`. Changelog:
/// - 1: first.
const STORE_FORMAT: i64 = 1;
/// How long a writer waits for another process.
const BUSY: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE run (
    id TEXT PRIMARY KEY, started_at TEXT NOT NULL, finished_at TEXT, state TEXT NOT NULL,
    backend TEXT NOT NULL, title TEXT NOT NULL, head TEXT NOT NULL
) STRICT;
CREATE TABLE repetition (
    run TEXT NOT NULL REFERENCES run(id), step INTEGER NOT NULL, attempt INTEGER NOT NULL,
    record TEXT NOT NULL, PRIMARY KEY (run, step, attempt)
) STRICT;
CREATE TABLE granted (run TEXT NOT NULL REFERENCES run(id), host TEXT NOT NULL, granted TEXT NOT NULL) STRICT;
CREATE TABLE note (run TEXT NOT NULL REFERENCES run(id), note TEXT NOT NULL) STRICT;
";

/// A store in a file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens a store, and makes it where there is none.
    ///
    /// # Errors
    /// The file cannot be made or read, is no store, or is of a newer format.
    pub fn open(path: &Utf8Path) -> Result<Self, StoreError> {
        let open_error = |source: Box<dyn std::error::Error + Send + Sync>| StoreError::Open {
            path: path.to_owned(),
            source,
        };
        if let Some(dir) = path.parent().filter(|d| !d.as_str().is_empty()) {
            std::fs::create_dir_all(dir).map_err(|e| open_error(e.into()))?;
        }
        let mut connection = Connection::open(path).map_err(|e| open_error(e.into()))?;
        prepare(&mut connection).map_err(|e| match e {
            Prepare::Sql(e) => open_error(e.into()),
            Prepare::Newer(found) => StoreError::Newer {
                path: path.to_owned(),
                found,
                known: STORE_FORMAT,
            },
        })?;
        Ok(SqliteStore {
            connection: Mutex::new(connection),
        })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

enum Prepare {
    Sql(rusqlite::Error),
    Newer(i64),
}

impl From<rusqlite::Error> for Prepare {
    fn from(error: rusqlite::Error) -> Self {
        Prepare::Sql(error)
    }
}

fn prepare(connection: &mut Connection) -> Result<(), Prepare> {
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match found {
        0 => {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", STORE_FORMAT)?;
        }
        STORE_FORMAT => {}
        newer => return Err(Prepare::Newer(newer)),
    }
    transaction.commit()?;
    Ok(())
}

fn database<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    action: &'static str,
) -> impl Fn(E) -> StoreError {
    move |source| StoreError::Database {
        action,
        source: source.into(),
    }
}

fn to_json<T: Serialize>(action: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(database(action))
}

fn from_json<T: DeserializeOwned>(action: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(database(action))
}

impl Store for SqliteStore {
    fn create(&self, head: &RunRecord) -> Result<(), StoreError> {
        const ACTION: &str = "begin a run";
        let bare = RunRecord {
            repetitions: Vec::new(),
            ..head.clone()
        };
        let values = params![
            head.id.as_str(),
            head.started_at,
            head.finished_at,
            to_json(ACTION, &head.state)?,
            to_json(ACTION, &head.backend)?,
            head.plan.title,
            to_json(ACTION, &bare)?,
        ];
        let sql = "INSERT INTO run (id, started_at, finished_at, state, backend, title, head) VALUES (?, ?, ?, ?, ?, ?, ?)";
        self.connection()
            .execute(sql, values)
            .map_err(database(ACTION))?;
        for repetition in &head.repetitions {
            self.append(&head.id, repetition)?;
        }
        Ok(())
    }

    fn append(&self, run: &RunId, repetition: &RepetitionRecord) -> Result<(), StoreError> {
        const ACTION: &str = "write a repetition";
        let record = to_json(ACTION, repetition)?;
        let sql = "INSERT INTO repetition (run, step, attempt, record) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        let values = params![run.as_str(), repetition.step.0, repetition.attempt, record];
        self.connection()
            .execute(sql, values)
            .map(drop)
            .map_err(database(ACTION))
    }

    fn add_granted(
        &self,
        run: &RunId,
        host: &HostId,
        granted: &[Granted],
    ) -> Result<(), StoreError> {
        const ACTION: &str = "write what was granted";
        let values = params![run.as_str(), host.as_str(), to_json(ACTION, &granted)?];
        let sql = "INSERT INTO granted (run, host, granted) VALUES (?, ?, ?)";
        self.connection()
            .execute(sql, values)
            .map(drop)
            .map_err(database(ACTION))
    }

    fn add_note(&self, run: &RunId, note: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO note (run, note) VALUES (?, ?)";
        let done = self.connection().execute(sql, params![run.as_str(), note]);
        done.map(drop).map_err(database("write a note"))
    }

    fn finish(&self, run: &RunId, state: RunState, finished_at: &str) -> Result<(), StoreError> {
        const ACTION: &str = "end a run";
        let sql = "UPDATE run SET state = ?, finished_at = ? WHERE id = ?";
        let values = params![to_json(ACTION, &state)?, finished_at, run.as_str()];
        match self
            .connection()
            .execute(sql, values)
            .map_err(database(ACTION))?
        {
            0 => Err(StoreError::NoSuchRun(run.0.clone())),
            _ => Ok(()),
        }
    }

    fn load(&self, run: &RunId) -> Result<RunRecord, StoreError> {
        const ACTION: &str = "read a run";
        let connection = self.connection();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let found: Option<(String, String, Option<String>)> = connection
            .query_row(
                "SELECT head, state, finished_at FROM run WHERE id = ?",
                [run.as_str()],
                read,
            )
            .optional()
            .map_err(database(ACTION))?;
        let (head, state, finished_at) =
            found.ok_or_else(|| StoreError::NoSuchRun(run.0.clone()))?;
        check_format(run, &head)?;
        let mut record: RunRecord = from_json(ACTION, &head)?;
        record.state = from_json(ACTION, &state)?;
        record.finished_at = finished_at;
        let texts = |sql: &str| -> Result<Vec<String>, rusqlite::Error> {
            connection
                .prepare(sql)?
                .query_map([run.as_str()], |row| row.get(0))?
                .collect()
        };
        let repetitions = texts("SELECT record FROM repetition WHERE run = ? ORDER BY rowid")
            .map_err(database(ACTION))?;
        for text in repetitions {
            record.repetitions.push(from_json(ACTION, &text)?);
        }
        record.notes.extend(
            texts("SELECT note FROM note WHERE run = ? ORDER BY rowid")
                .map_err(database(ACTION))?,
        );
        let mut statement = connection
            .prepare("SELECT host, granted FROM granted WHERE run = ? ORDER BY rowid")
            .map_err(database(ACTION))?;
        let rows = statement
            .query_map([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(database(ACTION))?;
        for row in rows {
            let (host, granted): (String, String) = row.map_err(database(ACTION))?;
            let granted: Vec<Granted> = from_json(ACTION, &granted)?;
            record
                .granted
                .entry(HostId(host))
                .or_default()
                .extend(granted);
        }
        Ok(record)
    }

    fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        const ACTION: &str = "list the runs";
        let connection = self.connection();
        let sql = "SELECT id, started_at, finished_at, state, backend, title,
                   (SELECT count(*) FROM repetition WHERE repetition.run = run.id)
                   FROM run ORDER BY started_at DESC, rowid DESC";
        let mut statement = connection.prepare(sql).map_err(database(ACTION))?;
        let read = |row: &rusqlite::Row<'_>| {
            let texts: (String, String) = (row.get(3)?, row.get(4)?);
            Ok((
                RunId(row.get(0)?),
                row.get(1)?,
                row.get(2)?,
                texts,
                row.get(5)?,
                row.get::<_, i64>(6)? as u64,
            ))
        };
        let rows = statement.query_map([], read).map_err(database(ACTION))?;
        rows.map(|row| {
            let (id, started_at, finished_at, (state, backend), title, repetitions) =
                row.map_err(database(ACTION))?;
            let (state, backend) = (from_json(ACTION, &state)?, from_json(ACTION, &backend)?);
            Ok(RunSummary {
                id,
                started_at,
                finished_at,
                state,
                backend,
                title,
                repetitions,
            })
        })
        .collect()
    }
}

/// Looks at the version before the rest: a newer record need not have a shape that can be read.
fn check_format(run: &RunId, head: &str) -> Result<(), StoreError> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        format: schedrig_model::record::RecordFormat,
    }
    let found = from_json::<Versioned>("read a run's version", head)?.format;
    if found.major > RECORD_FORMAT.major {
        return Err(StoreError::NewerRecord {
            run: run.clone(),
            found,
            known: RECORD_FORMAT,
        });
    }
    Ok(())
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
