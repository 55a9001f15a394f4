//! What can go wrong with the database.

/// Why the database did not do what was asked.
///
/// The texts are for operators and logs. They name tables and files, so they are never shown to users.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address is none of `sqlite://FILE` and `postgres://...`.
    #[error("database.url must be sqlite://FILE or postgres://USER@HOST/NAME; {0}")]
    Url(String),
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
    /// Whatever else the database said.
    #[error("the database did not answer as it should: {0}")]
    Database(#[from] sqlx::Error),
}
