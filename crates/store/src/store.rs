//! The store: opening and closing. Reads are in the files named after their subjects.

use std::sync::Arc;
use std::time::Duration;

use crate::StoreError;
use crate::database::{Either, Pools, Reads, query};
use crate::open::{Address, StoreOptions};
use crate::queue::WakeHandles;
use crate::write_queue::{WriteQueue, WriteStats};

/// How long many firings wait for a second connection. Afterwards the first one writes them all.
const MAX_CONNECTING: Duration = Duration::from_secs(1);

/// How long the connections of a pool may take to end their statements at the end of the process.
const MAX_CLOSING: Duration = Duration::from_secs(10);

/// The database. Clones are cheap handles of the same store.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pools: Pools,
    pub(crate) write_queue: Arc<WriteQueue>,
    address: Address,
    /// See [`StoreOptions::unsafe_without_compare_and_set`].
    pub(crate) uses_compare_and_set: bool,
    /// See [`StoreOptions::unsafe_without_fence`].
    pub(crate) checks_fence: bool,
    pub(crate) wake_handles: WakeHandles,
}

impl Store {
    /// Opens the database, creates a missing file and applies migrations.
    ///
    /// # Errors
    ///
    /// [`StoreError`], if the database cannot be opened, is too old, or has tables of a later version.
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let address = Address::parse(&options.url)?;
        let threads = options.statement_threads();
        let (pools, connection) = address.open(options.max_connections, &threads).await?;
        let wake_handles = WakeHandles::default();
        let write_queue = WriteQueue::open(address.clone(), connection, wake_handles.clone(), &*threads);
        Ok(Self {
            pools,
            write_queue: Arc::new(write_queue),
            address,
            uses_compare_and_set: !options.unsafe_without_compare_and_set,
            checks_fence: !options.unsafe_without_fence,
            wake_handles,
        })
    }

    /// Connections for reads of a few rows that an index finds.
    pub(crate) fn short_reads(&self) -> Reads<'_> {
        match &self.pools {
            Either::Lite(pool) => Either::Lite(pool.on_this_thread()),
            Either::Pg(pool) => Either::Pg(pool),
        }
    }

    /// Connections for reads of any length.
    pub(crate) fn reads(&self) -> Reads<'_> {
        match &self.pools {
            Either::Lite(pool) => Either::Lite(pool.on_other_threads()),
            Either::Pg(pool) => Either::Pg(pool),
        }
    }

    /// Returns a handle whose transactions have a new connection; close its queue after use. `None` on SQLite, where one connection writes,
    /// and if the server does not take one more.
    pub(crate) async fn with_second_writer(&self) -> Option<Self> {
        if !self.is_shared() {
            return None;
        }
        let connecting = tokio::time::timeout(MAX_CONNECTING, self.address.connect()).await;
        let connected = connecting.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        let no_second =
            "many firings are written on one connection, because there is no second one; let the server take more";
        let connection = connected.inspect_err(|error| tracing::warn!(%error, "{no_second}"));
        let connection = connection.ok()?;
        let queue =
            self.write_queue
                .with_another_connection(self.address.clone(), connection, self.wake_handles.clone());
        Some(Self {
            write_queue: Arc::new(queue),
            ..self.clone()
        })
    }

    /// Checks that the database responds.
    pub async fn ping(&self) -> Result<(), StoreError> {
        query!(fetch_one(i64,), &self.pools, "SELECT CAST(1 AS BIGINT)")?;
        Ok(())
    }

    /// Whether other processes may change alerts in the same database. True on PostgreSQL.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.pools.is_pg()
    }

    /// Finishes pending writes and closes all connections. Later writes fail with [`StoreError::Closed`].
    pub async fn close(&self) {
        self.write_queue.close().await;
        match &self.pools {
            Either::Lite(pool) => pool.close().await,
            Either::Pg(pool) => {
                if tokio::time::timeout(MAX_CLOSING, pool.close()).await.is_err() {
                    tracing::warn!("PostgreSQL does not answer, so its connections are left open");
                }
            }
        }
    }

    /// Returns write statistics since the store was opened.
    #[must_use]
    pub fn write_stats(&self) -> WriteStats {
        self.write_queue.write_stats()
    }
}
