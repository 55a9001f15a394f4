//! Connections to a file and their settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::error::sqlx_error;

/// How long a statement waits for another program's transaction on the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements that a connection keeps.
const CACHED_STATEMENTS: usize = 256;

/// The settings of each connection.
const PRAGMAS: [(&str, &str); 8] = [
    ("journal_mode", "WAL"),
    // Committed data is on disk.
    ("synchronous", "FULL"),
    ("foreign_keys", "ON"),
    // Page cache in negative KiB. With SQLite's default of 2 MB, large evaluations read the same pages repeatedly.
    ("cache_size", "-32000"),
    // How much of the file is memory-mapped, in bytes.
    ("mmap_size", "268435456"),
    // Keeps the rollback data of statements over many rows out of files.
    ("temp_store", "MEMORY"),
    // Length of the write-ahead log before a checkpoint, in pages. A long log merges many changes of one page into one write.
    ("wal_autocheckpoint", "8000"),
    // Size to which the log file is truncated after a checkpoint, in bytes.
    ("journal_size_limit", "67108864"),
];

/// How to open a file.
#[derive(Clone, Debug)]
pub(crate) struct SqliteOptions {
    pub(crate) file: PathBuf,
    busy_timeout: Duration,
    /// Settings by name, in the order in which they are made.
    pragmas: Vec<(&'static str, &'static str)>,
}

impl SqliteOptions {
    /// Reads what follows `sqlite://` in an address: a path, percent-encoded.
    ///
    /// # Errors
    /// The reason why the address is invalid.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        if path.is_empty() || path.contains(":memory:") || path.contains("mode=memory") {
            return Err("the database must be a file, so that data persists".to_owned());
        }
        // Other programs want to be told that the file may be written and created.
        let path = path.strip_suffix("?mode=rwc").unwrap_or(path);
        if path.contains('?') {
            return Err("SQLite takes no options after the file; write ? in its name as %3F".to_owned());
        }
        let file = percent_decode_str(path).decode_utf8();
        let file = file.map_err(|error| format!("the name of the file is not UTF-8: {error}"))?;
        Ok(Self {
            file: Path::new(file.as_ref()).to_owned(),
            busy_timeout: BUSY_TIMEOUT,
            pragmas: PRAGMAS.to_vec(),
        })
    }

    /// Returns the options for a connection that excludes all others.
    pub(crate) fn exclusive(mut self, busy_timeout: Duration) -> Self {
        self.busy_timeout = busy_timeout;
        self.pragmas.insert(0, ("locking_mode", "EXCLUSIVE"));
        self
    }

    /// Returns the options for a connection that does not write.
    pub(crate) fn reading_only(mut self) -> Self {
        self.pragmas.push(("query_only", "ON"));
        self
    }

    /// Opens the file. Blocks the thread.
    pub(crate) fn open(&self) -> Result<SqliteConnection, sqlx::Error> {
        self.connect().map(SqliteConnection).map_err(sqlx_error)
    }

    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        // A missing file is not created here, because only its owner may read it.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.file, flags)?;
        connection.busy_timeout(self.busy_timeout)?;
        for (name, value) in &self.pragmas {
            connection.pragma_update(None, name, value)?;
        }
        // Otherwise SQLite compiles a statement anew whenever another number is bound to its LIMIT.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        Ok(connection)
    }
}

/// A connection of one thread at a time.
#[derive(Debug)]
pub(crate) struct SqliteConnection(Connection);

impl SqliteConnection {
    /// The connection of the library.
    pub(super) const fn raw(&self) -> &Connection {
        &self.0
    }

    /// Begins a transaction that may write. It is rolled back when it is dropped.
    pub(super) fn begin_immediate(&mut self) -> rusqlite::Result<Transaction<'_>> {
        self.0.transaction_with_behavior(TransactionBehavior::Immediate)
    }

    /// Closes the connection; the last one moves the log into the file.
    pub(crate) fn close(self) -> Result<(), sqlx::Error> {
        self.0.close().map_err(|(_, error)| sqlx_error(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_has_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file.db");
        std::fs::File::create(&file).unwrap();
        let path = file.display().to_string().replace(' ', "%20");
        let options = SqliteOptions::parse(&path).unwrap();
        let expected = ["wal", "2", "1", "-32000", "268435456", "2", "8000", "67108864"];
        let connection = options.connect().unwrap();
        for ((name, _), expected) in PRAGMAS.into_iter().zip(expected) {
            let mut found = String::new();
            let read = |row: &rusqlite::Row<'_>| {
                let value: rusqlite::types::Value = row.get(0)?;
                found = match value {
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    other => format!("{other:?}"),
                };
                Ok(())
            };
            connection.pragma_query(None, name, read).unwrap();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn connection_for_reading_does_not_write_and_no_connection_creates_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.db");
        let options = SqliteOptions::parse(&file.display().to_string())
            .unwrap()
            .reading_only();
        assert!(options.connect().is_err());
        assert!(!file.exists());
        std::fs::File::create(&file).unwrap();
        let written = options.connect().unwrap().execute_batch("CREATE TABLE t (a INTEGER)");
        assert!(written.unwrap_err().to_string().contains("readonly"));
    }

    #[test]
    fn options_after_the_file_but_the_usual_one_are_an_error() {
        for path in ["", ":memory:", "test.db?mode=ro", "test.db?cache=shared", "%FF"] {
            assert!(SqliteOptions::parse(path).is_err(), "{path}");
        }
        let options = SqliteOptions::parse("data/bw.db?mode=rwc").unwrap();
        assert_eq!(options.file, Path::new("data/bw.db"));
    }
}
