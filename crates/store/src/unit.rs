//! A unit of work: what can be read and written within one transaction.
//!
//! What a unit can do lies in the files named after the subjects, as blocks of `impl Unit`. Here is the transaction
//! itself, and what the writer has to know of it afterwards: whether a work has written, and whether the database has
//! failed in the middle of it. The latter is noted here and not left to the works, because PostgreSQL gives a transaction
//! up at the first failure, but does not say so at the commit.

use std::fmt;

use crate::database::{Link, execute};
use crate::{StoreError, availability};

/// One transaction, shared by those whose work is done in it.
pub struct Unit {
    pub(crate) link: Link,
    has_written: bool,
    trouble: Option<Trouble>,
    /// Whether this transaction has announced that it writes history (`feed.rs`).
    pub(crate) is_announced: bool,
    /// Whether there are messages in this transaction, for which it rings once they are on disk.
    pub(crate) has_messages: bool,
}

/// A failure of the database in the middle of a transaction.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// Whether it was in the way of another transaction, has been rolled back for that, and may well succeed if tried
    /// again.
    pub(crate) is_in_the_way: bool,
    /// Whether the connection is to blame.
    pub(crate) is_of_connection: bool,
    /// Whether the database is away or takes no writes, which passes.
    pub(crate) is_unavailable: bool,
    /// What the database said.
    pub(crate) said: String,
}

impl Trouble {
    pub(crate) fn of(error: &sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(|error| error.code());
        // Serialization failure and deadlock; and a key that another transaction has taken since this one has looked
        // whether it was free: who looks again sees it.
        let is_in_the_way = matches!(code.as_deref(), Some("40001" | "40P01" | "23505"));
        // The server is stopped, or one of its processes has crashed, or it is still starting.
        let is_shut_down = matches!(code.as_deref(), Some("57P01" | "57P02" | "57P03"));
        let is_of_connection = is_shut_down
            || matches!(
                error,
                sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed
            );
        Self {
            is_in_the_way,
            is_of_connection,
            is_unavailable: availability::is_unavailable(error),
            said: error.to_string(),
        }
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unit")
            .field("has_written", &self.has_written)
            .finish_non_exhaustive()
    }
}

impl Unit {
    pub(crate) const fn new(link: Link) -> Self {
        Self {
            link,
            has_written: false,
            trouble: None,
            is_announced: false,
            has_messages: false,
        }
    }

    pub(crate) fn into_link(self) -> Link {
        self.link
    }

    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        self.is_announced = false;
        self.has_messages = false;
        self.next_work();
        // A deferred BEGIN of SQLite fails when it wants to write and another has written since it has read.
        let begin = if self.link.is_pg() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        execute!(&mut self.link, begin).map(drop)
    }

    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        execute!(&mut self.link, "COMMIT").map(drop)
    }

    pub(crate) async fn roll_back(&mut self) -> Result<(), sqlx::Error> {
        execute!(&mut self.link, "ROLLBACK").map(drop)
    }

    /// Forgets what the work before has done.
    pub(crate) fn next_work(&mut self) {
        self.has_written = false;
        self.trouble = None;
    }

    /// Whether the work at hand has written anything.
    pub(crate) const fn has_written(&self) -> bool {
        self.has_written
    }

    /// The first failure of the database in the work at hand.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.trouble.clone()
    }

    /// Takes note of what the database answered.
    pub(crate) fn noted<T>(&mut self, answer: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        answer.map_err(|error| {
            if self.trouble.is_none() {
                self.trouble = Some(Trouble::of(&error));
            }
            StoreError::Database(error)
        })
    }

    /// Takes note of what the database answered to something that writes.
    pub(crate) fn noted_writing<T>(&mut self, answer: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.has_written = true;
        self.noted(answer)
    }

    /// Takes note of how many rows were written. A failed statement may be one that has written.
    pub(crate) fn noted_rows(&mut self, answer: Result<u64, sqlx::Error>) -> Result<u64, StoreError> {
        self.has_written |= !matches!(answer, Ok(0));
        self.noted(answer)
    }
}

/// Runs a query within a unit.
macro_rules! ask {
    ($unit:expr, $fetch:ident $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let answer = $crate::database::query!($fetch $row, &mut $unit.link, $sql $(, $bind)*);
        $unit.noted(answer)?
    }};
}

/// Writes within a unit, and says how many rows.
macro_rules! write {
    ($unit:expr, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let answer = $crate::database::execute!(&mut $unit.link, $sql $(, $bind)*);
        $unit.noted_rows(answer)?
    }};
}

pub(crate) use {ask, write};
