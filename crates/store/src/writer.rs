//! The one door for writes: those that wait at the same time share a transaction, and so one `fsync`.

use std::future::Future;
use std::pin::Pin;

use crate::{StoreError, Unit};

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

    /// Called once after what was done is on disk, in the order of the transactions, before [`Store::write`]
    /// (crate::Store::write) returns. Others wait for it, so it must be short and must not block.
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
