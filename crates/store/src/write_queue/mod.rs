//! The write queue: transactions that wait at the same time are committed together and share one `fsync`.
//!
//! One task per store ([`WriterTask`], on a separate thread for SQLite) owns the connection that
//! writes; many firings have a second task with a second one. It takes all waiting transactions, up to [`MAX_BATCH_SIZE`], and
//! runs them one after another in one database transaction. It commits once, notifies each, and only then sends the results. During the commit the next transactions gather. The queue is bounded: a full
//! queue makes callers wait.
//!
//! Sharing a database transaction has no visible effect. If a transaction refuses *after* it has written, panics, or
//! fails in the database, the shared database transaction is rolled back. Then each transaction runs again in a
//! separate database transaction, so that only the failed one is undone. For this reason a transaction is run by
//! reference and may run more than once.
//!
//! If the connection breaks during the commit, it is unknown whether the commit happened. All transactions of that
//! batch fail with [`StoreError::Unconfirmed`].

mod batch;
mod closure;
mod queued_transaction;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, mpsc, watch};

use crate::StoreError;
use crate::database::WriteConnection;
use crate::open::Address;
use crate::queue::WakeHandles;
use crate::threads::StatementThreads;
use batch::BatchRunner;
use queued_transaction::QueuedTransaction;

/// A boxed future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why a transaction was aborted.
#[derive(Debug, thiserror::Error)]
pub enum Abort<R> {
    /// The transaction refused.
    #[error("refused")]
    Refused(R),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Maximum number of transactions that are committed together.
const MAX_BATCH_SIZE: usize = 256;
/// Maximum number of transactions in the queue. Further callers wait.
const MAX_QUEUE_LENGTH: usize = 1024;

/// Write statistics since the store was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteStats {
    /// Number of finished transactions, including refused ones.
    pub transactions: u64,
    /// Number of commits for them.
    pub commits: u64,
}

/// Counters for [`WriteStats`].
#[derive(Debug, Default)]
struct Counters {
    transactions: AtomicU64,
    commits: AtomicU64,
}

impl Counters {
    fn add(counter: &AtomicU64, number: usize) {
        counter.fetch_add(u64::try_from(number).unwrap_or_default(), Ordering::Relaxed);
    }
}

/// The queue to the writer, shared by all handles of a store. When the last handle is dropped, the writer finishes
/// the waiting transactions and ends.
#[derive(Debug)]
pub(crate) struct WriteQueue {
    queue: mpsc::Sender<Box<dyn QueuedTransaction>>,
    closing: Arc<Notify>,
    ended: watch::Receiver<()>,
    counters: Arc<Counters>,
}

impl WriteQueue {
    /// Starts the writer on its connection.
    pub(crate) fn open(
        address: Address,
        connection: WriteConnection,
        wake_handles: WakeHandles,
        threads: &dyn StatementThreads,
    ) -> Self {
        let counters = Arc::new(Counters::default());
        let is_file = !connection.is_pg();
        let (queue, writer) = Self::new(address, connection, counters, wake_handles);
        if is_file {
            threads.run_writer(Box::pin(writer.run()));
        } else {
            tokio::spawn(writer.run());
        }
        queue
    }

    /// Starts another writer on a connection to a server, with the same statistics.
    pub(crate) fn with_another_connection(
        &self,
        address: Address,
        connection: WriteConnection,
        wake_handles: WakeHandles,
    ) -> Self {
        let (queue, writer) = Self::new(address, connection, Arc::clone(&self.counters), wake_handles);
        tokio::spawn(writer.run());
        queue
    }

    fn new(
        address: Address,
        connection: WriteConnection,
        counters: Arc<Counters>,
        wake_handles: WakeHandles,
    ) -> (Self, WriterTask) {
        let (queue, waiting) = mpsc::channel(MAX_QUEUE_LENGTH);
        let (ended_sender, ended) = watch::channel(());
        let closing = Arc::new(Notify::new());
        let writer = WriterTask {
            waiting,
            closing: Arc::clone(&closing),
            batch_runner: BatchRunner::new(address, connection, Arc::clone(&counters), wake_handles),
            _ended: ended_sender,
        };
        let queue = Self {
            queue,
            closing,
            ended,
            counters,
        };
        (queue, writer)
    }

    /// Queues a transaction. It runs even if its caller is dropped then.
    async fn send(&self, transaction: Box<dyn QueuedTransaction>) -> Result<(), StoreError> {
        self.queue.send(transaction).await.map_err(|_| StoreError::Closed)
    }

    /// Closes the queue and returns when all waiting transactions are finished.
    pub(crate) async fn close(&self) {
        self.closing.notify_one();
        // The writer drops its sender when it ends; it never sends.
        let _ = self.ended.clone().changed().await;
    }

    pub(crate) fn write_stats(&self) -> WriteStats {
        WriteStats {
            transactions: self.counters.transactions.load(Ordering::Relaxed),
            commits: self.counters.commits.load(Ordering::Relaxed),
        }
    }
}

/// The task that runs queued transactions.
struct WriterTask {
    waiting: mpsc::Receiver<Box<dyn QueuedTransaction>>,
    closing: Arc<Notify>,
    batch_runner: BatchRunner,
    _ended: watch::Sender<()>,
}

impl WriterTask {
    async fn run(mut self) {
        loop {
            let first = tokio::select! {
                biased;
                () = self.closing.notified() => {
                    self.waiting.close();
                    continue;
                }
                transaction = self.waiting.recv() => transaction,
            };
            let Some(first) = first else { break };
            let mut batch = vec![first];
            // Callers that just got a result may have another transaction; let them queue it before the next batch
            // starts.
            tokio::task::yield_now().await;
            while batch.len() < MAX_BATCH_SIZE
                && let Ok(transaction) = self.waiting.try_recv()
            {
                batch.push(transaction);
            }
            self.batch_runner.run(batch).await;
        }
        self.batch_runner.close().await;
    }
}
