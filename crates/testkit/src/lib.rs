//! # Test kit: fresh databases, seeded randomness and a stub HTTP server for tests
//!
//! ```
//! testkit::on_both_databases! {
//!     async fn each_database_has_a_url(database) {
//!         assert!(database.url().contains("://"));
//!     }
//! }
//! ```
//!
//! defines two tests, `each_database_has_a_url::on_sqlite` and `...::on_postgresql`. Each gets its own
//! [`Database`], which is deleted afterwards. For SQLite it is a missing file in a temporary folder. For PostgreSQL it is a
//! database, with all tables, on the server of `BELLWETHER_TEST_POSTGRES_URL`, or on a private server that all test processes share:
//! the first process starts it (`scripts/postgres-for-tests`), and it stops by itself a while after the last. Without
//! PostgreSQL the tests fail and say what to install; they are not skipped.
//!
//! [`nats::NatsServer`] is a NATS server of its own for each test.
//!
//! [`stub_server`] is an HTTP server with a response that the test sets.
//!
//! [`seeded_random()`] is a random generator with a fixed sequence per seed. It records the generated secrets, so a
//! test knows the tokens in an email without parsing it.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may fail so")]

mod goal;
mod memory_usage;
pub mod nats;
mod postgres;
mod processor_time;
mod random;
mod refusing_port;
pub mod stub_server;

pub use goal::print_goal;
pub use memory_usage::MemoryUsage;
pub use processor_time::{processor_time, thread_times};
pub use random::{GeneratedSecrets, SeededRandom, seeded_random};
pub use refusing_port::RefusingPort;
use std::time::Duration;
use tempfile::TempDir;

/// The time after which a test that waits for a state fails. Only a hang reaches it, even on a busy machine.
pub const HANG_LIMIT: Duration = Duration::from_secs(120);

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold within [`HANG_LIMIT`], naming `condition`.
pub async fn eventually(condition: &str, mut holds: impl AsyncFnMut() -> bool) {
    eventually_some(condition, async || holds().await.then_some(())).await;
}

/// Waits until there is a value, and returns it.
///
/// # Panics
/// If there is none within [`HANG_LIMIT`], naming `condition`.
pub async fn eventually_some<T>(condition: &str, mut find: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(value) = find().await {
                return value;
            }
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(HANG_LIMIT, waiting).await;
    waited.unwrap_or_else(|_| panic!("after {HANG_LIMIT:?} it still does not hold that {condition}"))
}

/// A database for one test, deleted on drop.
#[derive(Debug)]
pub struct Database {
    url: String,
    /// The storage to delete.
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Folder(TempDir),
    Postgres {
        name: String,
    },
    /// A PostgreSQL database that the test removes itself.
    ExistingPostgres,
}

impl Database {
    /// Prepares a SQLite database: its folder exists, its file does not exist yet.
    #[must_use]
    pub fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        Self {
            url: format!("sqlite://{}", folder.path().join("test.db").display()),
            storage: Storage::Folder(folder),
        }
    }

    /// Creates a PostgreSQL database with the tables of this checkout: a copy, which takes less time than the migrations.
    pub async fn postgres() -> Self {
        Self::named(postgres::create().await)
    }

    /// Creates an empty PostgreSQL database.
    pub async fn empty_postgres() -> Self {
        Self::named(postgres::create_empty().await)
    }

    /// Uses a PostgreSQL database that exists already, and remains.
    #[must_use]
    pub fn existing_postgres(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            storage: Storage::ExistingPostgres,
        }
    }

    fn named((name, url): (String, String)) -> Self {
        Self {
            url,
            storage: Storage::Postgres { name },
        }
    }

    /// The database's URL, in the form of `database.url`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether this is a PostgreSQL database.
    #[must_use]
    pub const fn is_postgres(&self) -> bool {
        !matches!(self.storage, Storage::Folder(_))
    }

    /// The SQLite file.
    #[must_use]
    pub fn file(&self) -> Option<std::path::PathBuf> {
        match &self.storage {
            Storage::Folder(folder) => Some(folder.path().join("test.db")),
            Storage::Postgres { .. } | Storage::ExistingPostgres => None,
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Storage::Postgres { name } = &self.storage {
            postgres::remove(name);
        }
    }
}

/// Creates one fresh database of each kind.
pub async fn fresh_databases() -> [Database; 2] {
    [Database::sqlite(), Database::postgres().await]
}

/// Runs a test's future to completion.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(test);
}

/// Turns each function into one test per kind of database.
#[macro_export]
macro_rules! on_both_databases {
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
