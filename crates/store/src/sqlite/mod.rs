//! SQLite's driver.
//!
//! A statement runs on the thread that asks for it: the writer's own thread, or one for blocking work that runs a whole read. So a
//! statement costs no change of threads, unlike with a driver whose connections each have a thread. A read of a few rows that an index
//! finds runs on the calling thread: it takes a few microseconds, a change of threads takes longer.
//!
//! Errors are [`sqlx::Error`]s, like those of PostgreSQL.

mod connection;
mod error;
mod migrate;
mod pool;
mod query;
mod repeat;
mod row;

pub(crate) use connection::{SqliteConnection, SqliteOptions};
pub(crate) use error::SqliteError;
pub(crate) use migrate::migrate;
pub(crate) use pool::{SqlitePool, SqliteReads};
pub(crate) use query::{in_chunks, query};
pub(crate) use row::{ReadRow, RowReader, row};
