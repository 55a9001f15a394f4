//! What can go wrong with the database.

use std::sync::Arc;

use crate::availability;

/// Why the database did not do what was asked.
///
/// The texts are for operators and logs. They name tables and files, so they are never shown to users.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address is none of `sqlite://FILE` and `postgres://...`.
    #[error("database.url must be sqlite://FILE or postgres://USER@HOST/NAME; {0}")]
    Url(String),
    /// The database cannot be reached or opened.
    #[error("the database at {place} cannot be opened: {source}; check database.url")]
    Open {
        /// The file, or the server and the name of the database.
        place: String,
        /// What the database said.
        source: Arc<sqlx::Error>,
    },
    /// The database is older than what is needed.
    #[error("{product} {found} is too old; install {needed} or later")]
    TooOld {
        /// SQLite or PostgreSQL.
        product: &'static str,
        /// Its version.
        found: String,
        /// The oldest version that will do.
        needed: &'static str,
    },
    /// The tables are those of a later version of this program.
    #[error(
        "the database has tables of a later version of this program (migration {0}, which this version does not know); \
         use that version, or a later one"
    )]
    TooNew(i64),
    /// The tables are not those of this program.
    #[error("the database's tables do not fit this program: {0}; use the program that made them, or a later one")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row that cannot be read.
    #[error("table {table} has a row that cannot be read: {what}")]
    Corrupt {
        /// Which table.
        table: &'static str,
        /// What is wrong, with the row's key.
        what: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A transaction could not be begun. Nothing was written.
    #[error("the database takes no writes at the moment: {0}")]
    Unwritable(Arc<sqlx::Error>),
    /// The database did not confirm a commit. What was to be written may be there or not.
    #[error("the database did not say whether it has committed: {0}; look before doing it again")]
    Unconfirmed(Arc<sqlx::Error>),
    /// A unit of work went on after the database had failed it. Nothing was written.
    #[error("a unit of work was given up, because the database failed in the middle of it: {0}")]
    Spoiled(String),
    /// A unit of work came to nothing, because the database was away or took no writes. Nothing was written.
    #[error("the database is away or takes no writes: {0}")]
    Unavailable(String),
    /// A unit of work panicked. Nothing of it was written.
    #[error("a unit of work panicked: {0}")]
    Panicked(String),
    /// Whatever else the database said.
    #[error("the database did not answer as it should: {0}")]
    Database(#[from] sqlx::Error),
}

impl StoreError {
    /// Whether the database is away or takes no writes at the moment, and may be back soon: it cannot be reached, its disk is
    /// full, or another program holds it.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Closed | Self::Unwritable(_) | Self::Unconfirmed(_) | Self::Unavailable(_) => true,
            Self::Database(error) => availability::is_unavailable(error),
            Self::Open { source, .. } => availability::is_unavailable(source),
            Self::Url(_)
            | Self::TooOld { .. }
            | Self::TooNew(_)
            | Self::Migration(_)
            | Self::Corrupt { .. }
            | Self::Spoiled(_)
            | Self::Panicked(_) => false,
        }
    }
}
