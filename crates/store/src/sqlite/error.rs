//! Errors of SQLite as errors of sqlx.

use std::borrow::Cow;
use std::fmt;

use rusqlite::Error;
use rusqlite::ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
use sqlx::error::{DatabaseError, ErrorKind};

/// A failure that SQLite reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SqliteError {
    /// The extended result code.
    code: i32,
    message: String,
}

impl SqliteError {
    /// The primary result code: the lowest byte of the extended one.
    pub(crate) const fn primary_code(&self) -> i32 {
        self.code & 0xff
    }
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl std::error::Error for SqliteError {}

impl DatabaseError for SqliteError {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Owned(self.code.to_string()))
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

    fn kind(&self) -> ErrorKind {
        match self.code {
            SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE => ErrorKind::UniqueViolation,
            SQLITE_CONSTRAINT_FOREIGNKEY => ErrorKind::ForeignKeyViolation,
            _ => ErrorKind::Other,
        }
    }
}

/// Converts an error of the library.
pub(super) fn sqlx_error(error: Error) -> sqlx::Error {
    match error {
        Error::SqliteFailure(failure, message) => {
            let message = message.unwrap_or_else(|| failure.to_string());
            let code = failure.extended_code;
            sqlx::Error::from(SqliteError { code, message })
        }
        Error::SqlInputError { error, msg, sql, .. } => {
            let (code, message) = (error.extended_code, format!("{msg} in {sql}"));
            sqlx::Error::from(SqliteError { code, message })
        }
        Error::QueryReturnedNoRows => sqlx::Error::RowNotFound,
        Error::InvalidColumnName(name) => sqlx::Error::ColumnNotFound(name),
        other => sqlx::Error::Decode(Box::new(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_code_is_lowest_byte_of_extended_code() {
        // SQLITE_IOERR_WRITE, SQLITE_BUSY_SNAPSHOT, SQLITE_CONSTRAINT_UNIQUE.
        for (code, primary) in [(778, 10), (517, 5), (2067, 19)] {
            let error = SqliteError {
                code,
                message: String::new(),
            };
            assert_eq!(error.primary_code(), primary);
        }
    }
}
