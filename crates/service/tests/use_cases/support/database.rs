//! Databases that nobody else uses.

use store::Options;
use tempfile::TempDir;

/// A fresh database.
pub(crate) enum Database {
    Sqlite(TempDir),
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// `None` where there is no PostgreSQL to test with.
    pub(crate) async fn postgres() -> Option<Self> {
        None
    }

    pub(crate) fn options(&self) -> Options {
        let url = match self {
            Self::Sqlite(folder) => format!("sqlite://{}", folder.path().join("test.db").display()),
        };
        Options {
            url,
            max_connections: 4,
        }
    }
}
