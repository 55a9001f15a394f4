//! The database access of a transaction.
//!
//! The reads and writes are in the files named after their subjects, as `impl UnitOfWork` blocks. This file has the
//! transaction itself and the facts that the write queue needs afterwards: whether a transaction has written, and
//! whether the database has failed during it. Failures are tracked here rather than by each transaction, because
//! PostgreSQL aborts a transaction at the first failure but does not report this at the commit.

use std::fmt;
use std::time::Duration;

use crate::alerts::TotalChanges;
use crate::database::{Either, WriteConnection, execute};
use crate::queue::Wakes;
use crate::timeouts::with_timeout;
use crate::{StoreError, availability, sqlite};

/// How long PostgreSQL may take to begin a transaction.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(2);

/// One database transaction. All [transactions](crate::Store::transaction) that are committed together share it.
pub struct UnitOfWork {
    pub(crate) connection: WriteConnection,
    has_written: bool,
    failure: Option<TransactionError>,
    /// Whether this transaction has announced that it writes history (`feed.rs`).
    pub(crate) is_announced: bool,
    /// The dispatchers and jobs to notify after the commit.
    pub(crate) wakes: Wakes,
    /// Changes of the number of alerts, written before the commit.
    pub(crate) total_changes: TotalChanges,
}

/// A database failure during a transaction.
#[derive(Clone, Debug)]
pub(crate) struct TransactionError {
    /// Whether the transaction conflicted with another one and was rolled back. A retry may succeed.
    pub(crate) is_conflict: bool,
    /// Whether the connection failed.
    pub(crate) is_connection_failure: bool,
    /// Whether the database is temporarily unavailable.
    pub(crate) is_unavailable: bool,
    /// The error message of the database.
    pub(crate) message: String,
}

impl TransactionError {
    pub(crate) fn from_sqlx(error: &sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(|error| error.code());
        // Serialization failure, deadlock, or a unique key that another transaction has inserted since this one
        // checked for it. A retry sees that key.
        let is_conflict = matches!(code.as_deref(), Some("40001" | "40P01" | "23505"));
        // The server is stopped or starting, one of its processes has crashed, or this process has stopped during the transaction.
        let is_shut_down = matches!(code.as_deref(), Some("57P01" | "57P02" | "57P03" | "25P03"));
        let is_connection_failure = is_shut_down
            || matches!(
                error,
                sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed
            );
        Self {
            is_conflict,
            is_connection_failure,
            is_unavailable: availability::is_unavailable(error),
            message: error.to_string(),
        }
    }
}

impl fmt::Debug for UnitOfWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnitOfWork")
            .field("has_written", &self.has_written)
            .finish_non_exhaustive()
    }
}

impl UnitOfWork {
    pub(crate) fn new(connection: WriteConnection) -> Self {
        Self {
            connection,
            has_written: false,
            failure: None,
            is_announced: false,
            wakes: Wakes::default(),
            total_changes: TotalChanges::new(),
        }
    }

    pub(crate) fn into_connection(self) -> WriteConnection {
        self.connection
    }

    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        self.is_announced = false;
        self.wakes.clear();
        self.total_changes.clear();
        self.reset();
        match &mut self.connection {
            // A deferred BEGIN fails at its first write if another connection has written since its first read.
            Either::Lite(connection) => sqlite::query("BEGIN IMMEDIATE").execute(connection).await.map(drop),
            // It waits for no lock, so the connection is lost if there is no answer.
            Either::Pg(connection) => with_timeout(BEGIN_TIMEOUT, sqlx::query("BEGIN").execute(connection))
                .await
                .map(drop),
        }
    }

    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        execute!(&mut self.connection, "COMMIT").map(drop)
    }

    pub(crate) async fn roll_back(&mut self) -> Result<(), sqlx::Error> {
        execute!(&mut self.connection, "ROLLBACK").map(drop)
    }

    /// Clears the state of the previous transaction.
    pub(crate) fn reset(&mut self) {
        self.has_written = false;
        self.failure = None;
    }

    /// Whether the current transaction has written anything.
    pub(crate) const fn has_written(&self) -> bool {
        self.has_written
    }

    /// The first database failure of the current transaction.
    pub(crate) fn failure(&self) -> Option<TransactionError> {
        self.failure.clone()
    }

    /// Tracks the result of a query.
    pub(crate) fn track<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        result.map_err(|error| {
            if self.failure.is_none() {
                self.failure = Some(TransactionError::from_sqlx(&error));
            }
            StoreError::Database(error)
        })
    }

    /// Tracks the result of a statement that writes.
    pub(crate) fn track_write<T>(&mut self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.has_written = true;
        self.track(result)
    }

    /// Tracks the result of a statement that returns the row it has written, if any.
    pub(crate) fn track_optional_write<T>(
        &mut self,
        result: Result<Option<T>, sqlx::Error>,
    ) -> Result<Option<T>, StoreError> {
        self.has_written |= !matches!(result, Ok(None));
        self.track(result)
    }

    /// Tracks the number of rows written. A failed statement counts as one that may have written.
    pub(crate) fn track_rows(&mut self, result: Result<u64, sqlx::Error>) -> Result<u64, StoreError> {
        self.has_written |= !matches!(result, Ok(0));
        self.track(result)
    }
}

/// Runs a query within a unit of work.
macro_rules! fetch {
    ($unit:expr, $fetch:ident $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let result = $crate::database::query!($fetch $row, &mut $unit.connection, $sql $(, $bind)*);
        $unit.track(result)?
    }};
}

/// Runs a statement that writes within a unit of work. Returns the number of rows written.
macro_rules! write_rows {
    ($unit:expr, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let result = $crate::database::execute!(&mut $unit.connection, $sql $(, $bind)*);
        $unit.track_rows(result)?
    }};
}

/// Selects rows, and locks them on PostgreSQL until the end of the transaction. SQLite has one writer at a time, so it
/// needs no row locks. PostgreSQL's weaker lock still lets other transactions reference the rows.
macro_rules! select_locked {
    ($unit:expr, $select:ident!("", $rest:literal)) => {
        if $unit.connection.is_pg() {
            $select!("", concat!($rest, " FOR NO KEY UPDATE"))
        } else {
            $select!("", $rest)
        }
    };
    ($unit:expr, $select:ident!($rest:literal)) => {
        if $unit.connection.is_pg() {
            $select!(concat!($rest, " FOR NO KEY UPDATE"))
        } else {
            $select!($rest)
        }
    };
}

pub(crate) use {fetch, select_locked, write_rows};
