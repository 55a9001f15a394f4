//! # The test kit: a fresh database of either kind for each test
//!
//! ```
//! testkit::on_both! {
//!     async fn a_new_database_has_no_tables(database) {
//!         assert!(database.url().contains("://"));
//!     }
//! }
//! ```
//!
//! makes two tests, `a_new_database_has_no_tables::on_sqlite` and `...::on_postgresql`, each with a [`Database`] that nobody
//! else uses and that goes away with it. For SQLite that is a file in a temporary folder. For PostgreSQL it is a database
//! in the server that `BELLWETHER_TEST_POSTGRES_URL` names, or else in a private one that all test processes share: the
//! first starts it (`scripts/postgres-for-tests`), and it stops by itself a while after the last. Without PostgreSQL the
//! tests fail and say what to install; they are not skipped.
//!
//! [`endpoint`] is somebody else's server, which answers as a test says.
//!
//! [`chance()`] is the chance of a test: the same for the same number, and it says which secrets were drawn from it, so that a
//! test knows what is in a letter without opening it.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may fail so")]

mod chance;
pub mod endpoint;
mod postgres;

pub use chance::{Drawn, Generator, chance};
use std::time::Duration;
use tempfile::TempDir;

/// The time after which a test that waits for a state fails: long enough that only a hang reaches it, also on a machine
/// that is busy with other work.
pub const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold within [`HANG_LIMIT`], naming `condition`.
pub async fn eventually(condition: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(HANG_LIMIT, waiting).await;
    assert!(waited.is_ok(), "after {HANG_LIMIT:?} it still does not hold that {condition}");
}

/// A database that is there for one test and goes away when it is dropped.
#[derive(Debug)]
pub struct Database {
    url: String,
    /// What has to go away.
    place: Place,
}

#[derive(Debug)]
enum Place {
    Folder(TempDir),
    Postgres { name: String },
}

impl Database {
    /// A file of SQLite that is not there yet, in a folder that is.
    #[must_use]
    pub fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        Self {
            url: format!("sqlite://{}", folder.path().join("test.db").display()),
            place: Place::Folder(folder),
        }
    }

    /// An empty database of PostgreSQL.
    pub async fn postgres() -> Self {
        let (name, url) = postgres::create().await;
        Self {
            url,
            place: Place::Postgres { name },
        }
    }

    /// Its address, as `database.url` has it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether it is PostgreSQL's.
    #[must_use]
    pub const fn is_postgres(&self) -> bool {
        matches!(self.place, Place::Postgres { .. })
    }

    /// The file of SQLite's.
    #[must_use]
    pub fn file(&self) -> Option<std::path::PathBuf> {
        match &self.place {
            Place::Folder(folder) => Some(folder.path().join("test.db")),
            Place::Postgres { .. } => None,
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Place::Postgres { name } = &self.place {
            postgres::remove(name);
        }
    }
}

/// One fresh database of each kind.
pub async fn fresh_databases() -> [Database; 2] {
    [Database::sqlite(), Database::postgres().await]
}

/// Runs a test's future to its end.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// Makes of each function a test for each kind of database.
#[macro_export]
macro_rules! on_both {
    ($($(#[$meta:meta])* async fn $name:ident($database:ident) $body:block)*) => {$(
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses all")]
            use super::*;

            async fn test($database: &$crate::Database) $body

            #[test]
            fn on_sqlite() {
                $crate::run(async { test(&$crate::Database::sqlite()).await });
            }

            #[test]
            fn on_postgresql() {
                $crate::run(async { test(&$crate::Database::postgres().await).await });
            }
        }
    )*};
}
