//! Opening a database: where it is, whether it is recent enough, and its tables.
//!
//! SQLite runs in WAL mode with `synchronous=FULL`: what was committed is on disk. One connection writes, others only
//! read. The file is made for its owner's eyes alone, because it holds addresses and password hashes.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteLockingMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, PgConnection, SqliteConnection};

use crate::database::{Either, Link, Pools, execute, on, query};
use crate::{StoreError, availability, migrations};

/// How a database is used.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `sqlite://FILE` or `postgres://...`.
    pub url: String,
    /// At most so many connections for reading; one more writes. 0 is taken for 1.
    pub max_connections: u32,
    /// For the harness only, never for service: takes firings without looking at status and revision, so that a test of
    /// exactly-once firing can show that it would notice.
    pub unsafe_without_compare_and_set: bool,
}

impl Options {
    /// The usual way to use the database at `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            max_connections: 8,
            unsafe_without_compare_and_set: false,
        }
    }
}

/// How to reach the database.
#[derive(Clone, Debug)]
pub(crate) struct Address(Either<SqliteConnectOptions, PgConnectOptions>);

/// Before this, SQLite could corrupt a database in WAL mode when two connections reset the log at once.
const SQLITE: (&str, [u32; 3]) = ("3.51.3", [3, 51, 3]);
const POSTGRESQL: (&str, u32) = ("14", 140_000);

/// How long a write waits for another program's transaction on the same file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a program that wants the database for itself waits for others to let it go.
const EXCLUSIVE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a program waits for one that has the database for itself. A server may notice late that it has ended.
const SHARED_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of the advisory lock that keeps programs away while the key is rotated ("bellweth" in ASCII).
const KEY_ROTATION_LOCK: i64 = 0x6265_6c6c_7765_7468;
/// How long a read waits for a connection to a server. One that is away is tried again that long.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of the file a connection keeps, in negative KiB. SQLite's own 2 MB make a storm of firings read pages again and
/// again.
const CACHE: &str = "-32000";
/// How much of the file is read without copying it.
const MAPPED: &str = "268435456";
/// How long the log gets before it is brought into the file: many changes of one page are then one write.
const LOG_PAGES: &str = "8000";
/// What is left of the log's file after that.
const LOG_BYTES: &str = "67108864";
/// Rows that SQLite's thread reads ahead of the one who asked for them.
const ROW_BUFFER: usize = 512;
/// Whatever the server's default is, a commit is on its disk when it is confirmed. A firmer setting stays.
const COMMIT_TO_DISK: &str = "SELECT set_config('synchronous_commit', 'on', false)
                              WHERE current_setting('synchronous_commit') IN ('off', 'local')";

impl Address {
    /// Reads a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Url(error.to_string()))?;
            return Ok(Self(Either::Pg(options.application_name("bellwether"))));
        }
        let Some(file) = url.strip_prefix("sqlite://") else {
            return Err(StoreError::Url("this one begins with neither".to_owned()));
        };
        if file.is_empty() || file.contains(":memory:") || file.contains("mode=memory") {
            return Err(StoreError::Url(
                "the database has to be a file, so that it survives".to_owned(),
            ));
        }
        let options = SqliteConnectOptions::from_str(url).map_err(|error| StoreError::Url(error.to_string()))?;
        Ok(Self(Either::Lite(
            options
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .foreign_keys(true)
                .busy_timeout(BUSY_TIMEOUT)
                .row_buffer_size(ROW_BUFFER)
                .pragma("cache_size", CACHE)
                .pragma("mmap_size", MAPPED)
                // What a statement of many rows needs to take itself back is not written to a file.
                .pragma("temp_store", "memory")
                .pragma("wal_autocheckpoint", LOG_PAGES)
                .pragma("journal_size_limit", LOG_BYTES),
        )))
    }

    /// The place without passwords.
    fn place(&self) -> String {
        match &self.0 {
            Either::Lite(options) => options.get_filename().display().to_string(),
            Either::Pg(options) => format!(
                "{}:{}/{}",
                options.get_host(),
                options.get_port(),
                options.get_database().unwrap_or_default()
            ),
        }
    }

    fn cannot_open(&self, error: sqlx::Error) -> StoreError {
        StoreError::Open {
            place: self.place(),
            source: Arc::new(error),
        }
    }

    /// The connection that writes.
    pub(crate) async fn link(&self) -> Result<Link, sqlx::Error> {
        match &self.0 {
            Either::Lite(options) => {
                let options = options.clone().disable_statement_logging();
                Ok(Either::Lite(options.connect().await?))
            }
            Either::Pg(options) => {
                let options = options.clone().disable_statement_logging();
                let mut connection = options.connect().await?;
                let sql = "SELECT pg_advisory_lock_shared($1)";
                if !lock(&mut connection, sql, SHARED_TIMEOUT).await? {
                    let message = "bellwether admin rotate-key is at work on this database; wait until it is done";
                    return Err(sqlx::Error::Configuration(message.into()));
                }
                let mut link: Link = Either::Pg(connection);
                execute!(&mut link, COMMIT_TO_DISK)?;
                // A writer that waits for somebody else's lock keeps all others waiting behind it.
                execute!(&mut link, "SELECT set_config('lock_timeout', '10s', false)")?;
                Ok(link)
            }
        }
    }

    /// A connection to a database that no other program uses, nor will while the connection lasts; `None` if one does.
    ///
    /// With `locking_mode=EXCLUSIVE` SQLite takes the file for itself: every other program that has the file open in WAL mode
    /// holds a shared lock on it. On PostgreSQL every connection that writes holds a shared advisory lock.
    pub(crate) async fn exclusive_link(&self) -> Result<Option<Link>, StoreError> {
        let taken = match &self.0 {
            Either::Lite(options) => {
                let options = options
                    .clone()
                    .disable_statement_logging()
                    .create_if_missing(false)
                    .busy_timeout(EXCLUSIVE_TIMEOUT)
                    .locking_mode(SqliteLockingMode::Exclusive);
                take_file(&options).await.map(|taken| taken.map(Either::Lite))
            }
            Either::Pg(options) => {
                let options = options.clone().disable_statement_logging();
                take_server(&options).await.map(|taken| taken.map(Either::Pg))
            }
        };
        let Some(mut link) = taken.map_err(|error| self.cannot_open(error))? else {
            return Ok(None);
        };
        check_version(&mut link).await?;
        migrate(&mut link).await?;
        Ok(Some(link))
    }

    /// Opens the database, makes its file if there is none, and brings its tables up to date.
    pub(crate) async fn open(&self, max_connections: u32) -> Result<(Pools, Link), StoreError> {
        if let Either::Lite(options) = &self.0 {
            make_file(options.get_filename()).map_err(|error| self.cannot_open(sqlx::Error::Io(error)))?;
        }
        let mut link = self.link().await.map_err(|error| self.cannot_open(error))?;
        check_version(&mut link).await?;
        migrate(&mut link).await?;
        let most = max_connections.max(1);
        let pools = match &self.0 {
            Either::Lite(options) => {
                let options = options.clone().pragma("query_only", "on");
                Either::Lite(
                    SqlitePoolOptions::new()
                        .max_connections(most)
                        .connect_lazy_with(options),
                )
            }
            Either::Pg(options) => Either::Pg(
                PgPoolOptions::new()
                    .max_connections(most)
                    .acquire_timeout(ACQUIRE_TIMEOUT)
                    .connect_lazy_with(options.clone()),
            ),
        };
        Ok((pools, link))
    }
}

async fn take_file(options: &SqliteConnectOptions) -> Result<Option<SqliteConnection>, sqlx::Error> {
    let taken = async {
        let mut connection = options.connect().await?;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await?;
        sqlx::query("COMMIT").execute(&mut connection).await?;
        Ok(connection)
    };
    match taken.await {
        Ok(connection) => Ok(Some(connection)),
        Err(error) if availability::is_busy(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn take_server(options: &PgConnectOptions) -> Result<Option<PgConnection>, sqlx::Error> {
    let mut connection = options.connect().await?;
    let is_free = lock(&mut connection, "SELECT pg_advisory_lock($1)", EXCLUSIVE_TIMEOUT).await?;
    sqlx::query(COMMIT_TO_DISK).execute(&mut connection).await?;
    Ok(is_free.then_some(connection))
}

/// Takes an advisory lock, if it is free in time.
async fn lock(connection: &mut PgConnection, sql: &'static str, timeout: Duration) -> Result<bool, sqlx::Error> {
    sqlx::query("SELECT set_config('lock_timeout', $1, false)")
        .bind(format!("{}ms", timeout.as_millis()))
        .execute(&mut *connection)
        .await?;
    match sqlx::query(sql).bind(KEY_ROTATION_LOCK).execute(connection).await {
        Ok(_) => Ok(true),
        Err(error) if availability::is_lock_timeout(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes the file if there is none, so that nobody but its owner can read it. SQLite gives its log the same rights.
fn make_file(file: &Path) -> Result<(), std::io::Error> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

async fn check_version(link: &mut Link) -> Result<(), StoreError> {
    if link.is_pg() {
        let (found,): (String,) = query!(fetch_one(String,), link, "SELECT current_setting('server_version_num')")?;
        if found.parse::<u32>().unwrap_or(0) < POSTGRESQL.1 {
            return Err(StoreError::TooOld {
                product: "PostgreSQL",
                found,
                needed: POSTGRESQL.0,
            });
        }
    } else {
        let (found,): (String,) = query!(fetch_one(String,), link, "SELECT sqlite_version()")?;
        if !is_recent(&found, SQLITE.1) {
            return Err(StoreError::TooOld {
                product: "SQLite",
                found,
                needed: SQLITE.0,
            });
        }
    }
    Ok(())
}

/// Whether a version such as 3.51.3 is `needed` or later.
fn is_recent(found: &str, needed: [u32; 3]) -> bool {
    let parts: Vec<u32> = found.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    parts >= needed.to_vec()
}

/// Brings the tables up to date. Programs that open the same database at the same moment wait for each other.
async fn migrate(link: &mut Link) -> Result<(), StoreError> {
    let migrated = match link {
        Either::Lite(link) => migrate_file(link).await,
        // sqlx holds an advisory lock meanwhile. `run` makes a future that cannot be sent to another thread.
        Either::Pg(link) => migrations::postgres().run_direct(None, link, false).await,
    };
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(version) if version > migrations::newest_version() => StoreError::TooNew(version),
        error => StoreError::Migration(error),
    })
}

/// Brings the tables of a file up to date in one transaction, because sqlx locks no file between reading which migrations were
/// applied and applying the others.
async fn migrate_file(link: &mut SqliteConnection) -> Result<(), MigrateError> {
    let mut transaction = link.begin_with("BEGIN IMMEDIATE").await?;
    migrations::sqlite().run_direct(None, &mut *transaction, false).await?;
    transaction.commit().await?;
    Ok(())
}

/// Closes the connection that writes.
pub(crate) async fn close(link: Link) {
    let closed = on!(link, link => link.close().await);
    if let Err(error) = closed {
        tracing::warn!(%error, "the connection to the database did not close as it should");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        assert!(is_recent("3.51.3", SQLITE.1));
        assert!(is_recent("3.100.0", SQLITE.1));
        assert!(!is_recent("3.51.2", SQLITE.1));
        assert!(!is_recent("3.9.4", SQLITE.1));
    }

    #[test]
    fn an_address_that_is_no_file_and_no_server_is_refused_with_the_mend() {
        for url in [
            "",
            "mysql://root@host/db",
            "sqlite://",
            "sqlite::memory:",
            "sqlite://:memory:",
            "bellwether.db",
        ] {
            let refusal = Address::parse(url).unwrap_err();
            assert!(refusal.to_string().contains("sqlite://FILE"), "{url}: {refusal}");
        }
    }

    #[tokio::test]
    async fn the_connection_that_writes_waits_until_the_disk_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.db").display());
        let (_, mut link) = Address::parse(&url).unwrap().open(1).await.unwrap();
        let full = query!(fetch_one(i64,), &mut link, "PRAGMA synchronous").unwrap();
        let wal = query!(fetch_one(String,), &mut link, "PRAGMA journal_mode").unwrap();
        let keys = query!(fetch_one(i64,), &mut link, "PRAGMA foreign_keys").unwrap();
        assert_eq!((full, wal.0.as_str(), keys), ((2,), "wal", (1,)));
    }
}
