//! Applies migrations to a file.

use rusqlite::params;
use sqlx::migrate::{MigrateError, Migrator};

use super::SqliteConnection;
use super::error::sqlx_error;

/// The list of applied migrations, in the form of sqlx, which wrote it in earlier versions.
const CREATE_LIST: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
)";
const READ_LIST: &str = "SELECT version, success, checksum FROM _sqlx_migrations ORDER BY version";
const ADD_TO_LIST: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                           VALUES (?1, ?2, TRUE, ?3, 0)";

/// A migration that was applied: its version, whether it succeeded, and the checksum of its text.
type Applied = (i64, bool, Vec<u8>);

/// Applies the migrations that are missing. All of them are one transaction, so that of two programs that open a file at the same
/// time one waits for the other.
pub(crate) fn migrate(connection: &mut SqliteConnection, migrator: &Migrator) -> Result<(), MigrateError> {
    let transaction = connection.begin_immediate().map_err(execute_error)?;
    transaction.execute_batch(CREATE_LIST).map_err(execute_error)?;
    let applied: Vec<Applied> = {
        let mut list = transaction.prepare(READ_LIST).map_err(execute_error)?;
        let rows = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let rows: rusqlite::Result<_> = rows.and_then(Iterator::collect);
        rows.map_err(execute_error)?
    };
    for (version, succeeded, checksum) in &applied {
        let known = migrator.iter().find(|migration| migration.version == *version);
        let known = known.ok_or(MigrateError::VersionMissing(*version))?;
        if !succeeded {
            return Err(MigrateError::Dirty(*version));
        }
        if *known.checksum != **checksum {
            return Err(MigrateError::VersionMismatch(*version));
        }
    }
    let missing = migrator
        .iter()
        .filter(|migration| !applied.iter().any(|(version, ..)| *version == migration.version));
    for migration in missing {
        let failed = |error| MigrateError::ExecuteMigration(sqlx_error(error), migration.version);
        transaction.execute_batch(migration.sql.as_str()).map_err(failed)?;
        let listed = params![migration.version, migration.description, &*migration.checksum];
        transaction.execute(ADD_TO_LIST, listed).map_err(failed)?;
    }
    transaction.commit().map_err(execute_error)
}

fn execute_error(error: rusqlite::Error) -> MigrateError {
    MigrateError::Execute(sqlx_error(error))
}
