//! The store: opening and closing. Reads are in the files named after their subjects.

use std::sync::Arc;

use crate::StoreError;
use crate::database::{Either, Pools, Reads, query};
use crate::open::{Address, StoreOptions};
use crate::queue::WakeHandles;
use crate::write_queue::{SecondQueue, WriteQueue, WriteStats};

/// The database. Clones are cheap handles of the same store.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pools: Pools,
    pub(crate) write_queue: Arc<WriteQueue>,
    second_queue: Arc<SecondQueue>,
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
        let second_queue = SecondQueue::new(address.clone(), wake_handles.clone(), Arc::clone(&threads));
        let write_queue = WriteQueue::open(address, connection, wake_handles.clone(), &*threads);
        Ok(Self {
            pools,
            write_queue: Arc::new(write_queue),
            second_queue: Arc::new(second_queue),
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

    /// Returns the stores that write many firings at the same time. On PostgreSQL there is a second connection, if the server has one left.
    pub(crate) async fn storm_writers(&self) -> Vec<Self> {
        let mut stores = vec![self.clone()];
        if !self.is_shared() {
            return stores;
        }
        match self.second_queue.get().await {
            Ok(write_queue) => stores.push(Self {
                write_queue,
                ..self.clone()
            }),
            Err(error) => {
                tracing::warn!(%error, "many firings are written on one connection, because there is no second one")
            }
        }
        stores
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
        self.second_queue.close().await;
        match &self.pools {
            Either::Lite(pool) => pool.close().await,
            Either::Pg(pool) => pool.close().await,
        }
    }

    /// Returns write statistics since the store was opened.
    #[must_use]
    pub fn write_stats(&self) -> WriteStats {
        let (first, second) = (self.write_queue.write_stats(), self.second_queue.write_stats());
        WriteStats {
            transactions: first.transactions + second.transactions,
            commits: first.commits + second.commits,
        }
    }
}
