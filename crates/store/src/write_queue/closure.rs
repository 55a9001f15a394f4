//! Transactions as closures.
//!
//! The body of a transaction is a closure in the use case that needs it:
//!
//! ```ignore
//! let inputs = (actor.account, id, now);
//! let transaction = store.transaction(inputs, |&(account, id, now), unit| {
//!     Box::pin(async move {
//!         if !unit.end_grant(account, id, now).await? {
//!             return Err(Abort::Refused(ServiceError::NotFound("grant")));
//!         }
//!         Ok(())
//!     })
//! });
//! transaction.await?;
//! ```
//!
//! Everything that the body needs is in its inputs, including ids and instants. They are borrowed, because the body
//! may run more than once: if another transaction of its batch fails, the batch is undone and each runs again.

use std::convert::Infallible;

use tokio::sync::oneshot;

use super::queued_transaction::PendingTransaction;
use super::{Abort, BoxFuture};
use crate::idempotency::current_claim;
use crate::{Store, StoreError, UnitOfWork};

impl Store {
    /// Runs a transaction: reads, decides and writes. When this returns `Ok`, the data is on disk.
    ///
    /// If the body returns an error, everything it has written is undone. If the caller is cancelled, the transaction
    /// is either run completely or not at all.
    ///
    /// # Errors
    ///
    /// [`Abort::Refused`] if the body refused, [`Abort::Store`] if the database failed or the claim of the request
    /// ([`Store::with_claim`]) was lost. Nothing was written, except
    /// possibly after [`StoreError::Unconfirmed`].
    pub async fn transaction<I, O, R>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<R>>> + Send + Sync + 'static,
    ) -> Result<O, Abort<R>>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
        R: Send + 'static,
    {
        self.transaction_then(inputs, run, |_| {}).await
    }

    /// Runs a transaction like [`Store::transaction`], and calls `on_commit` once after its data is on disk, in the
    /// order of the commits, before this returns.
    ///
    /// Other transactions wait for `on_commit`, so it must be short and must not block. It is called even if the caller
    /// was cancelled: this is how the engine learns of every committed change.
    ///
    /// # Errors
    ///
    /// Those of [`Store::transaction`].
    pub async fn transaction_then<I, O, R>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<R>>> + Send + Sync + 'static,
        on_commit: impl Fn(&O) + Send + Sync + 'static,
    ) -> Result<O, Abort<R>>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
        R: Send + 'static,
    {
        let (reply, replied) = oneshot::channel();
        let pending = PendingTransaction {
            inputs,
            run,
            on_commit,
            claim: current_claim(),
            result: None,
            reply: Some(reply),
        };
        self.write_queue.send(Box::new(pending)).await?;
        replied.await.unwrap_or(Err(Abort::Store(StoreError::Closed)))
    }

    /// Runs a transaction that never refuses, like [`Store::transaction`].
    pub async fn commit<I, O>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, StoreError>> + Send + Sync + 'static,
    ) -> Result<O, StoreError>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
    {
        self.commit_then(inputs, run, |_| {}).await
    }

    /// Runs a transaction that never refuses, like [`Store::transaction_then`].
    pub async fn commit_then<I, O>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, StoreError>> + Send + Sync + 'static,
        on_commit: impl Fn(&O) + Send + Sync + 'static,
    ) -> Result<O, StoreError>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
    {
        let transaction = self.transaction_then(
            inputs,
            move |inputs, unit| {
                let running = run(inputs, unit);
                Box::pin(async move { Ok(running.await?) })
            },
            on_commit,
        );
        match transaction.await {
            Ok(output) => Ok(output),
            Err(Abort::Store(error)) => Err(error),
            Err(Abort::<Infallible>::Refused(never)) => match never {},
        }
    }
}
