//! Errors of the database.

use std::sync::Arc;

use sqlx::migrate::MigrateError;

use crate::availability;

/// A database error.
///
/// The texts are for operators and logs. They name tables and files, so users never see them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The URL is neither `sqlite://FILE` nor `postgres://...`.
    #[error("database.url must be sqlite://FILE or postgres://USER@HOST/NAME; {0}")]
    Url(String),
    /// The database cannot be reached or opened.
    #[error("the database at {place} cannot be opened: {source}; check database.url")]
    Open {
        /// The file, or the server and the database name.
        place: String,
        /// The error of the database.
        source: Arc<sqlx::Error>,
    },
    /// The database product is older than required.
    #[error("{product} {found} is too old; install {needed} or later")]
    TooOld {
        /// SQLite or PostgreSQL.
        product: &'static str,
        /// The version found.
        found: String,
        /// The oldest supported version.
        needed: &'static str,
    },
    /// The tables belong to a later version of this program.
    #[error(
        "the database has tables of a later version of this program (migration {0} is unknown to this version); \
         use that version, or a later one"
    )]
    TooNew(i64),
    /// The tables do not belong to this program.
    #[error(
        "the database's tables do not belong to this program: {0}; use the program that created them, or a later version"
    )]
    Migration(MigrateError),
    /// The tables could not be created or updated, for instance because the disk is full. The next start tries it again.
    #[error(
        "the database's tables could not be created or updated: {0}; free disk space or remove another cause, and start the program \
         again; if another program has created this database, set database.url to a different one"
    )]
    NotMigrated(MigrateError),
    /// A row cannot be read.
    #[error("table {table} has a row that cannot be read: {what}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The problem, with the row's key.
        what: String,
    },
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
    /// A transaction could not be begun. Nothing was written.
    #[error("the database does not accept writes at the moment: {0}")]
    Unwritable(Arc<sqlx::Error>),
    /// The database did not confirm a commit. The transaction may or may not be on disk.
    #[error("the database did not confirm the commit: {0}; check the data before retrying")]
    Unconfirmed(Arc<sqlx::Error>),
    /// A transaction continued after a database error. Nothing was written.
    #[error("a transaction was aborted because the database failed: {0}")]
    Aborted(String),
    /// A transaction failed because the database was unreachable or accepted no writes. Nothing was written.
    #[error("the database is unavailable or does not accept writes: {0}")]
    Unavailable(String),
    /// The transaction is a part of a request that this process may not process any more: its claim was taken over or has ended. Nothing
    /// was written.
    #[error("the claim to this request was lost")]
    ClaimLost,
    /// A transaction panicked. Nothing of it was written.
    #[error("a transaction panicked: {0}")]
    Panicked(String),
    /// Any other database error.
    #[error("unexpected database error: {0}")]
    Database(#[from] sqlx::Error),
}

impl StoreError {
    /// Whether the database is temporarily unavailable: it cannot be reached, its disk is full, or another program
    /// holds it.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Closed | Self::Unwritable(_) | Self::Unconfirmed(_) | Self::Unavailable(_) => true,
            Self::Database(error)
            | Self::NotMigrated(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                availability::is_unavailable(error)
            }
            Self::Open { source, .. } => availability::is_unavailable(source),
            Self::NotMigrated(_)
            | Self::Url(_)
            | Self::TooOld { .. }
            | Self::TooNew(_)
            | Self::Migration(_)
            | Self::Corrupt { .. }
            | Self::Aborted(_)
            | Self::ClaimLost
            | Self::Panicked(_) => false,
        }
    }
}
