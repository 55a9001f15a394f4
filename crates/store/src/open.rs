//! Opens databases: address, version check and migrations.
//!
//! SQLite runs in WAL mode with `synchronous=FULL`, so committed data is on disk. One connection writes; the others
//! only read. Only the owner can read the file, because it contains addresses and password hashes.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use log::LevelFilter;
use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection};

use crate::database::{Either, Pools, WriteConnection, execute, query};
use crate::sqlite::{self, SqliteConnection, SqliteOptions, SqlitePool};
use crate::threads::{BlockingThreads, StatementThreads};
use crate::timeouts::{
    PingTimeouts, limit_statements, notice_closed_clients, with_pings, with_statement_timeout, with_timeout,
};
use crate::{StoreError, availability, migrations};

/// How to open and use a database.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// `sqlite://FILE` or `postgres://...`.
    pub url: String,
    /// Maximum number of connections for reading; one more writes, and two write many firings on PostgreSQL. 0 means 1.
    pub max_connections: u32,
    /// For the test harness only: accepts firings without checking status and revision. A test of exactly-once
    /// firing uses it to show that it detects violations.
    pub unsafe_without_compare_and_set: bool,
    /// For the test harness only: writes observations without checking that the shards of the fence are owned. A test of a cluster uses
    /// it to show that it detects violations.
    pub unsafe_without_fence: bool,
    /// The threads of SQLite's statements. `None`: threads for blocking work.
    pub threads: Option<Arc<dyn StatementThreads>>,
}

impl StoreOptions {
    /// The threads of SQLite's statements.
    pub(crate) fn statement_threads(&self) -> Arc<dyn StatementThreads> {
        self.threads.clone().unwrap_or_else(|| Arc::new(BlockingThreads))
    }

    /// The default options for the database at `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            max_connections: 8,
            unsafe_without_compare_and_set: false,
            unsafe_without_fence: false,
            threads: None,
        }
    }
}

/// The address of a database.
#[derive(Clone, Debug)]
pub(crate) struct Address(Either<SqliteOptions, PgConnectOptions>);

/// Older versions of SQLite could corrupt a database in WAL mode when two connections reset the log at the same
/// time.
const MIN_SQLITE_VERSION: (&str, [u32; 3]) = ("3.51.3", [3, 51, 3]);
const MIN_POSTGRESQL_VERSION: (&str, u32) = ("14", 140_000);

/// How often, and after which pause, a program opens a file again that another one switches to WAL mode.
const SWITCH_ATTEMPTS: u32 = 100;
const SWITCH_PAUSE: Duration = Duration::from_millis(10);
/// How long a program that wants exclusive access waits for others to release the database.
const EXCLUSIVE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a program waits for another one with exclusive access. A server may notice late that the other has
/// ended.
const SHARED_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of the advisory lock that excludes other programs while the key is rotated ("bellweth" in ASCII).
const KEY_ROTATION_LOCK: i64 = 0x6265_6c6c_7765_7468;
/// How long a read waits for a connection to a server. An unreachable server is retried for this long.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the connection that writes is waited for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection that does not answer any more may take to be closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a connection to a server may take to answer a ping.
const PING_TIMEOUTS: PingTimeouts = PingTimeouts {
    unused: Duration::from_secs(1),
    released: Duration::from_secs(10),
};
/// Makes PostgreSQL confirm commits only when they are on disk, whatever the server's default. Stricter settings
/// remain.
const COMMIT_TO_DISK: &str = "SELECT set_config('synchronous_commit', 'on', false)
                              WHERE current_setting('synchronous_commit') IN ('off', 'local')";
/// Ends transactions that block others. A writer that waits for another transaction's lock blocks all transactions behind it. A process
/// that is stopped or cut off during a transaction would keep its locks, and other nodes could not take over.
const LIMIT_TRANSACTIONS: &str = "SELECT set_config('lock_timeout', '10s', false),
                                  set_config('idle_in_transaction_session_timeout', '2s', false)";

impl Address {
    /// Parses a URL.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Url(error.to_string()))?;
            return Ok(Self(Either::Pg(options.application_name("bellwether"))));
        }
        let Some(file) = url.strip_prefix("sqlite://") else {
            return Err(StoreError::Url("this one starts with neither".to_owned()));
        };
        let options = SqliteOptions::parse(file).map_err(StoreError::Url)?;
        Ok(Self(Either::Lite(options)))
    }

    /// The file, or server and database name, without passwords.
    fn description(&self) -> String {
        match &self.0 {
            Either::Lite(options) => options.file.display().to_string(),
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
            place: self.description(),
            source: Arc::new(error),
        }
    }

    /// Opens the connection that writes.
    pub(crate) async fn connect(&self) -> Result<WriteConnection, sqlx::Error> {
        let mut connection = self.connect_for_migrations().await?;
        limit_statements(&mut connection).await?;
        Ok(connection)
    }

    /// Opens the connection that writes, without a limit of its statements.
    async fn connect_for_migrations(&self) -> Result<WriteConnection, sqlx::Error> {
        match &self.0 {
            Either::Lite(options) => Ok(Either::Lite(connect_to_file(options).await?)),
            Either::Pg(options) => {
                let options = log_at_trace(options.clone());
                let mut connection = with_timeout(CONNECT_TIMEOUT, options.connect()).await?;
                let sql = "SELECT pg_advisory_lock_shared($1)";
                if !lock(&mut connection, sql, SHARED_TIMEOUT).await? {
                    let message = "bellwether admin rotate-key is running on this database; wait until it has finished";
                    return Err(sqlx::Error::Configuration(message.into()));
                }
                notice_closed_clients(&mut connection).await;
                let mut connection: WriteConnection = Either::Pg(connection);
                execute!(&mut connection, COMMIT_TO_DISK)?;
                execute!(&mut connection, LIMIT_TRANSACTIONS)?;
                Ok(connection)
            }
        }
    }

    /// Opens a connection with exclusive access for its whole lifetime. `None`: another program uses the database.
    ///
    /// With `locking_mode=EXCLUSIVE` SQLite locks the file: every other program that has the file open in WAL mode
    /// holds a shared lock on it. On PostgreSQL every connection that writes holds a shared advisory lock.
    pub(crate) async fn connect_exclusively(&self) -> Result<Option<WriteConnection>, StoreError> {
        let locked = match &self.0 {
            Either::Lite(options) => {
                let options = options.clone().exclusive(EXCLUSIVE_TIMEOUT);
                lock_file(&options).await.map(|locked| locked.map(Either::Lite))
            }
            Either::Pg(options) => {
                let options = options.clone().disable_statement_logging();
                lock_server(&options).await.map(|locked| locked.map(Either::Pg))
            }
        };
        let Some(mut connection) = locked.map_err(|error| self.cannot_open(error))? else {
            return Ok(None);
        };
        check_version(&mut connection).await?;
        migrate(&mut connection).await?;
        Ok(Some(connection))
    }

    /// Opens the database. Creates a missing file and applies migrations.
    pub(crate) async fn open(
        &self,
        max_connections: u32,
        threads: &Arc<dyn StatementThreads>,
    ) -> Result<(Pools, WriteConnection), StoreError> {
        if let Either::Lite(options) = &self.0 {
            create_private_file(&options.file).map_err(|error| self.cannot_open(sqlx::Error::Io(error)))?;
        }
        let connected = self.connect_for_migrations().await;
        let mut connection = connected.map_err(|error| self.cannot_open(error))?;
        check_version(&mut connection).await?;
        migrate(&mut connection).await?;
        limit_statements(&mut connection).await.map_err(StoreError::Database)?;
        let max_connections = max_connections.max(1);
        let pools = match &self.0 {
            Either::Lite(options) => Either::Lite(SqlitePool::new(
                options.clone().reading_only(),
                max_connections,
                Arc::clone(threads),
            )),
            Either::Pg(options) => {
                let pool = PgPoolOptions::new()
                    .max_connections(max_connections)
                    .acquire_timeout(ACQUIRE_TIMEOUT);
                Either::Pg(with_pings(pool, PING_TIMEOUTS).connect_lazy_with(options.clone()))
            }
        };
        Ok((pools, connection))
    }
}

/// Logs statements at the level of traces only, slow ones as well: bulk statements are long.
fn log_at_trace<O: ConnectOptions>(options: O) -> O {
    options
        .log_statements(LevelFilter::Trace)
        .log_slow_statements(LevelFilter::Off, Duration::MAX)
}

/// Opens a file. Two programs that switch a new file to WAL mode at the same time get "database is locked" at once, without the
/// busy timeout.
async fn connect_to_file(options: &SqliteOptions) -> Result<SqliteConnection, sqlx::Error> {
    for _ in 1..SWITCH_ATTEMPTS {
        match options.open() {
            Err(error) if availability::is_busy(&error) => tokio::time::sleep(SWITCH_PAUSE).await,
            connected => return connected,
        }
    }
    options.open()
}

async fn lock_file(options: &SqliteOptions) -> Result<Option<SqliteConnection>, sqlx::Error> {
    let locked = async {
        let mut connection = options.open()?;
        sqlite::query("BEGIN IMMEDIATE").execute(&mut connection).await?;
        sqlite::query("COMMIT").execute(&mut connection).await?;
        Ok(connection)
    };
    match locked.await {
        Ok(connection) => Ok(Some(connection)),
        Err(error) if availability::is_busy(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn lock_server(options: &PgConnectOptions) -> Result<Option<PgConnection>, sqlx::Error> {
    let mut connection = with_timeout(CONNECT_TIMEOUT, options.connect()).await?;
    let is_free = lock(&mut connection, "SELECT pg_advisory_lock($1)", EXCLUSIVE_TIMEOUT).await?;
    with_statement_timeout(sqlx::query(COMMIT_TO_DISK).execute(&mut connection)).await?;
    Ok(is_free.then_some(connection))
}

/// Takes an advisory lock. Returns `false` on timeout.
async fn lock(connection: &mut PgConnection, sql: &'static str, timeout: Duration) -> Result<bool, sqlx::Error> {
    let limit = sqlx::query("SELECT set_config('lock_timeout', $1, false)").bind(format!("{}ms", timeout.as_millis()));
    with_statement_timeout(limit.execute(&mut *connection)).await?;
    match with_statement_timeout(sqlx::query(sql).bind(KEY_ROTATION_LOCK).execute(connection)).await {
        Ok(_) => Ok(true),
        Err(error) if availability::is_lock_timeout(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a missing file that only its owner can read. SQLite gives its log the same permissions.
fn create_private_file(file: &Path) -> Result<(), std::io::Error> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

async fn check_version(connection: &mut WriteConnection) -> Result<(), StoreError> {
    if connection.is_pg() {
        let (found,): (String,) = query!(
            fetch_one(String,),
            connection,
            "SELECT current_setting('server_version_num')"
        )?;
        if found.parse::<u32>().unwrap_or(0) < MIN_POSTGRESQL_VERSION.1 {
            return Err(StoreError::TooOld {
                product: "PostgreSQL",
                found,
                needed: MIN_POSTGRESQL_VERSION.0,
            });
        }
    } else {
        let (found,): (String,) = query!(fetch_one(String,), connection, "SELECT sqlite_version()")?;
        if !is_recent(&found, MIN_SQLITE_VERSION.1) {
            return Err(StoreError::TooOld {
                product: "SQLite",
                found,
                needed: MIN_SQLITE_VERSION.0,
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

/// Applies migrations. Programs that open the same database at the same time wait for each other.
async fn migrate(connection: &mut WriteConnection) -> Result<(), StoreError> {
    let migrated = match connection {
        Either::Lite(connection) => sqlite::migrate(connection, &migrations::sqlite()),
        // sqlx holds an advisory lock meanwhile. The future of `run` is not `Send`.
        Either::Pg(connection) => migrations::postgres().run_direct(None, connection, false).await,
    };
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(version) if version > migrations::newest_version() => StoreError::TooNew(version),
        MigrateError::Execute(_) | MigrateError::ExecuteMigration(..) => StoreError::NotMigrated(error),
        error => StoreError::Migration(error),
    })
}

/// Closes the connection that writes.
pub(crate) async fn close(connection: WriteConnection) {
    let closed = match connection {
        Either::Lite(connection) => connection.close(),
        Either::Pg(connection) => with_timeout(CLOSE_TIMEOUT, connection.close()).await,
    };
    if let Err(error) = closed {
        tracing::warn!(%error, "closing the connection to the database failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_recent("3.51.3", MIN_SQLITE_VERSION.1));
        assert!(is_recent("3.100.0", MIN_SQLITE_VERSION.1));
        assert!(!is_recent("3.51.2", MIN_SQLITE_VERSION.1));
        assert!(!is_recent("3.9.4", MIN_SQLITE_VERSION.1));
    }

    #[test]
    fn rejects_unsupported_url_and_names_supported_ones() {
        for url in [
            "",
            "mysql://root@host/db",
            "sqlite://",
            "sqlite::memory:",
            "sqlite://:memory:",
            "bellwether.db",
            "sqlite://bellwether.db?mode=ro",
        ] {
            let refusal = Address::parse(url).unwrap_err();
            assert!(refusal.to_string().contains("sqlite://FILE"), "{url}: {refusal}");
        }
    }
}
