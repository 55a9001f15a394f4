//! The one door for writes: those that wait at the same time share a transaction, and so one `fsync`.
//!
//! A single task per store ([`Writer`]) owns the connection that writes. It takes all [`Work`]s that wait, up to
//! [`MAX_BATCH`], runs them one after another in one transaction, commits once, tells each that it is on disk, and only
//! then answers all. While it commits, the next ones gather. The queue is bounded: whoever finds it full waits.
//!
//! Sharing a transaction must not be noticed. A work that refuses *after* it has written, that panics, or that the
//! database fails, spoils the transaction for all: it is rolled back, and each work is run again in a transaction of its
//! own, so that only the one undoes only itself. For this a work is run by reference and may be run more than once.
//!
//! What is not promised: when the connection breaks during the commit, nobody knows whether it was made. All works of
//! that transaction are answered with [`StoreError::Unconfirmed`].

mod batch;
mod job;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::database::Link;
use crate::messages::Bells;
use crate::open::Address;
use crate::{StoreError, Unit};
use batch::Batches;
use job::{Job, Task};

/// A future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something to be done within one transaction: it reads, decides and writes.
///
/// It may be run more than once (when the transaction that it shared with others has to be repeated), so it is run by
/// reference and has all it needs from the start: ids and instants, too.
pub trait Work: Send + Sync + 'static {
    /// What it gives back.
    type Done: Send + 'static;
    /// Why it may refuse. What it wrote until then is undone.
    type Refusal: Send + 'static;

    /// Does it.
    fn run<'a>(&'a self, unit: &'a mut Unit) -> BoxFuture<'a, Result<Self::Done, Abort<Self::Refusal>>>;

    /// Called once after what was done is on disk, in the order of the transactions, before
    /// [`Store::write`](crate::Store::write) returns. Others wait for it, so it must be short and must not block.
    fn committed(&self, _done: &Self::Done) {}
}

/// Why a unit of work came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Abort<R> {
    /// It refused.
    #[error("refused")]
    Refused(R),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How many works share a transaction at most.
const MAX_BATCH: usize = 256;
/// How many works wait at most; more wait outside.
const MAX_QUEUE: usize = 1024;

/// What the writer has done since the store was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// How many works came to their end, refused ones included.
    pub works: u64,
    /// How many transactions were committed for them.
    pub transactions: u64,
}

/// Counts for [`Written`].
#[derive(Debug, Default)]
struct Counters {
    works: AtomicU64,
    transactions: AtomicU64,
}

impl Counters {
    fn add(counter: &AtomicU64, number: usize) {
        counter.fetch_add(u64::try_from(number).unwrap_or_default(), Ordering::Relaxed);
    }
}

/// The door to the writer, shared by all handles of a store. When the last is gone, the writer finishes what waits and
/// ends.
#[derive(Debug)]
pub(crate) struct Door {
    queue: mpsc::Sender<Box<dyn Job>>,
    closing: Arc<Notify>,
    ended: watch::Receiver<()>,
    counters: Arc<Counters>,
}

impl Door {
    /// Starts the writer on its connection.
    pub(crate) fn open(address: Address, link: Link, bells: Bells) -> Self {
        let (queue, waiting) = mpsc::channel(MAX_QUEUE);
        let (end, ended) = watch::channel(());
        let closing = Arc::new(Notify::new());
        let counters = Arc::new(Counters::default());
        let writer = Writer {
            waiting,
            closing: Arc::clone(&closing),
            batches: Batches::new(address, link, Arc::clone(&counters), bells),
            _end: end,
        };
        tokio::spawn(writer.serve());
        Self {
            queue,
            closing,
            ended,
            counters,
        }
    }

    /// Has a work done. If the caller goes away, it is done all the same, once it waits in the queue.
    pub(crate) async fn write<W: Work>(&self, work: W) -> Result<W::Done, Abort<W::Refusal>> {
        let (answer, answered) = oneshot::channel();
        let task = Box::new(Task::new(work, answer));
        self.queue.send(task).await.map_err(|_| StoreError::Closed)?;
        answered.await.unwrap_or(Err(Abort::Store(StoreError::Closed)))
    }

    /// Takes nothing more, and returns when all that waited is done.
    pub(crate) async fn close(&self) {
        self.closing.notify_one();
        // The writer drops its end when it ends; nothing is ever sent.
        let _ = self.ended.clone().changed().await;
    }

    pub(crate) fn written(&self) -> Written {
        Written {
            works: self.counters.works.load(Ordering::Relaxed),
            transactions: self.counters.transactions.load(Ordering::Relaxed),
        }
    }
}

/// The task behind the door.
struct Writer {
    waiting: mpsc::Receiver<Box<dyn Job>>,
    closing: Arc<Notify>,
    batches: Batches,
    _end: watch::Sender<()>,
}

impl Writer {
    async fn serve(mut self) {
        loop {
            let first = tokio::select! {
                biased;
                () = self.closing.notified() => {
                    self.waiting.close();
                    continue;
                }
                job = self.waiting.recv() => job,
            };
            let Some(first) = first else { break };
            let mut jobs = vec![first];
            // Those who were just answered may have something new; let them come in before the transaction begins.
            tokio::task::yield_now().await;
            while jobs.len() < MAX_BATCH
                && let Ok(job) = self.waiting.try_recv()
            {
                jobs.push(job);
            }
            self.batches.run(jobs).await;
        }
        self.batches.close().await;
    }
}
