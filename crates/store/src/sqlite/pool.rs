//! Connections for reading.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::SqliteOptions;
use super::error::sqlx_error;
use super::query::Executor;
use crate::threads::StatementThreads;

/// Connections for reading, opened when they are needed. Each read runs as a whole on a thread for blocking work.
#[derive(Clone, Debug)]
pub(crate) struct SqlitePool {
    options: Arc<SqliteOptions>,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
    max_connections: u32,
    threads: Arc<dyn StatementThreads>,
}

impl SqlitePool {
    pub(crate) fn new(options: SqliteOptions, max_connections: u32, threads: Arc<dyn StatementThreads>) -> Self {
        let permits = usize::try_from(max_connections).unwrap_or(1);
        Self {
            options: Arc::new(options),
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(permits)),
            max_connections,
            threads,
        }
    }

    /// Reads that block the calling thread.
    pub(crate) const fn on_this_thread(&self) -> SqliteReads<'_> {
        SqliteReads {
            pool: self,
            blocks_caller: true,
        }
    }

    /// Reads on threads for blocking work.
    pub(crate) const fn on_other_threads(&self) -> SqliteReads<'_> {
        SqliteReads {
            pool: self,
            blocks_caller: false,
        }
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, sqlx::Error> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.map_err(|_| sqlx::Error::PoolClosed)
    }

    /// Runs `work` on a connection. It ends even if the caller is cancelled meanwhile.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, sqlx::Error> {
        let idle = Arc::clone(&self.idle);
        self.on_thread(move |options| run(options, &idle, work)).await
    }

    /// Runs `work` on a new connection and closes it, which releases the memory of the pages that were read.
    pub(super) async fn read_once<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, sqlx::Error> {
        self.on_thread(move |options| work(&options.connect()?)).await
    }

    /// Runs `work` on a thread for blocking work, once there is a permit for one more connection.
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SqliteOptions) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, sqlx::Error> {
        let permit = self.permit().await?;
        let options = Arc::clone(&self.options);
        let (sender, result) = oneshot::channel();
        self.threads.run_read(Box::new(move || {
            let result = work(&options);
            drop(permit);
            // There is no receiver if the caller was cancelled.
            let _ = sender.send(result);
        }));
        match result.await {
            Ok(result) => result.map_err(sqlx_error),
            // The thread panicked, or the runtime is shutting down.
            Err(_) => Err(sqlx::Error::WorkerCrashed),
        }
    }

    /// Runs `work` on a connection and on the calling thread.
    async fn read_here<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, sqlx::Error> {
        let _permit = self.permit().await?;
        run(&self.options, &self.idle, work).map_err(sqlx_error)
    }

    /// Waits for the reads that are running, and closes all connections. Later reads fail.
    pub(crate) async fn close(&self) {
        if let Ok(permits) = self.permits.acquire_many(self.max_connections).await {
            self.permits.close();
            permits.forget();
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Runs `work` on an idle connection, or on a new one.
fn run<T>(
    options: &SqliteOptions,
    idle: &Mutex<Vec<Connection>>,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let found = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let connection = match found {
        Some(connection) => connection,
        None => options.connect()?,
    };
    let result = work(&connection);
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    result
}

/// A pool and where its reads run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SqliteReads<'a> {
    pool: &'a SqlitePool,
    blocks_caller: bool,
}

impl Executor for SqliteReads<'_> {
    async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, sqlx::Error> {
        if self.blocks_caller {
            self.pool.read_here(work).await
        } else {
            self.pool.read(work).await
        }
    }
}
