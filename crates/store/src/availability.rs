//! Tells an unavailable database from an invalid request.
//!
//! Unavailability is temporary: the request may be retried. All other errors are defects of this program or of a
//! row.

use sqlx::Error;
use sqlx::error::DatabaseError;

use crate::sqlite::SqliteError;

/// SQLite's primary result codes for a file that is busy, read-only, unreachable or on a full disk.
///
/// `SQLITE_BUSY`, `SQLITE_LOCKED`, `SQLITE_READONLY`, `SQLITE_IOERR`, `SQLITE_FULL`, `SQLITE_CANTOPEN`,
/// `SQLITE_PROTOCOL`.
const SQLITE_UNAVAILABLE: &[i32] = &[5, 6, 8, 10, 13, 14, 15];
/// `SQLITE_BUSY`: another connection holds a lock.
const SQLITE_BUSY: i32 = 5;
/// `SQLITE_FULL`: the disk is full.
const SQLITE_FULL: i32 = 13;

/// PostgreSQL SQLSTATE classes: connection exception, insufficient resources (full disk, too many connections),
/// operator intervention (shutdown, crash, cancelled), system error (I/O).
const POSTGRESQL_UNAVAILABLE_CLASSES: &[&str] = &["08", "53", "57", "58"];
/// Single SQLSTATE codes of other classes: lock timeout, persistent serialization failure or deadlock, read-only
/// server, session ended because it was idle during a transaction.
const POSTGRESQL_UNAVAILABLE: &[&str] = &[POSTGRESQL_LOCK_TIMEOUT, "40001", "40P01", "25006", "25P03"];
/// `lock_not_available`.
const POSTGRESQL_LOCK_TIMEOUT: &str = "55P03";
/// The SQLSTATE class "insufficient resources".
const POSTGRESQL_INSUFFICIENT_RESOURCES: &str = "53";

/// Whether the database is unreachable or temporarily accepts no writes.
pub(crate) fn is_unavailable(error: &Error) -> bool {
    match error {
        Error::Io(_) | Error::Tls(_) | Error::Protocol(_) => true,
        Error::PoolTimedOut | Error::PoolClosed | Error::WorkerCrashed => true,
        Error::Database(error) => is_unavailable_code(error.as_ref()),
        _ => false,
    }
}

fn is_unavailable_code(error: &(dyn DatabaseError + 'static)) -> bool {
    if let Some(code) = sqlite_code(error) {
        return SQLITE_UNAVAILABLE.contains(&code);
    }
    let Some(code) = error.code() else { return false };
    let class = code.get(..2).unwrap_or_default();
    POSTGRESQL_UNAVAILABLE_CLASSES.contains(&class) || POSTGRESQL_UNAVAILABLE.contains(&code.as_ref())
}

/// Whether the database has run out of space. A commit that fails this way has not happened.
pub(crate) fn is_out_of_space(error: &Error) -> bool {
    let Some(error) = error.as_database_error() else {
        return false;
    };
    if let Some(code) = sqlite_code(error) {
        return code == SQLITE_FULL;
    }
    error
        .code()
        .is_some_and(|code| code.starts_with(POSTGRESQL_INSUFFICIENT_RESOURCES))
}

/// Whether another program has locked SQLite's file.
pub(crate) fn is_busy(error: &Error) -> bool {
    error.as_database_error().and_then(sqlite_code) == Some(SQLITE_BUSY)
}

/// Whether a PostgreSQL lock timed out.
pub(crate) fn is_lock_timeout(error: &Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| code == POSTGRESQL_LOCK_TIMEOUT)
}

/// The primary result code of an error of SQLite.
fn sqlite_code(error: &(dyn DatabaseError + 'static)) -> Option<i32> {
    error.try_downcast_ref::<SqliteError>().map(SqliteError::primary_code)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::fmt;
    use std::io;

    use super::*;

    /// A server error that has only a code.
    #[derive(Debug)]
    struct Refusal(&'static str);

    impl fmt::Display for Refusal {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl std::error::Error for Refusal {}

    impl DatabaseError for Refusal {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(Cow::Borrowed(self.0))
        }

        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> sqlx::error::ErrorKind {
            sqlx::error::ErrorKind::Other
        }
    }

    #[test]
    fn unreachable_full_or_stopping_server_is_unavailable() {
        for (code, expected) in [
            ("08006", true),
            ("53100", true),
            ("53300", true),
            ("57014", true),
            ("57P01", true),
            ("57P03", true),
            ("58030", true),
            ("55P03", true),
            ("25006", true),
            ("25P03", true),
            ("40001", true),
            ("23505", false),
            ("22001", false),
            ("42P01", false),
            ("25001", false),
            ("XX000", false),
        ] {
            assert_eq!(is_unavailable(&Error::from(Refusal(code))), expected, "{code}");
        }
    }

    #[test]
    fn lost_connection_is_unavailable_and_missing_row_is_not() {
        assert!(is_unavailable(&Error::Io(io::ErrorKind::ConnectionRefused.into())));
        assert!(is_unavailable(&Error::PoolTimedOut));
        assert!(!is_unavailable(&Error::RowNotFound));
    }

    #[test]
    fn only_disk_full_is_out_of_space() {
        assert!(is_out_of_space(&Error::from(Refusal("53100"))));
        assert!(!is_out_of_space(&Error::from(Refusal("57P01"))));
        assert!(!is_out_of_space(&Error::Io(io::ErrorKind::BrokenPipe.into())));
    }
}
