//! A queued transaction and its waiting caller, type-erased for the writer.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use tokio::sync::oneshot;

use super::{Abort, BoxFuture, Transaction};
use crate::{StoreError, UnitOfWork};

/// The outcome of a run, as seen by the database transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RunOutcome {
    /// Succeeded, if the database transaction is committed.
    Done,
    /// Refused.
    Refused,
    /// The database failed, or the transaction panicked.
    Failed,
}

/// A queued transaction of any type.
pub(super) trait QueuedTransaction: Send + fmt::Debug {
    /// Runs it and stores its result.
    fn run<'a>(&'a mut self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, RunOutcome>;

    /// Notifies it that its data is on disk.
    fn committed(&self);

    /// Sends the stored result to the caller.
    fn send_result(&mut self);

    /// Sends an error to the caller.
    fn fail(&mut self, error: StoreError);
}

type TransactionResult<T> = Result<<T as Transaction>::Output, Abort<<T as Transaction>::Refusal>>;

pub(super) struct PendingTransaction<T: Transaction> {
    transaction: T,
    result: Option<TransactionResult<T>>,
    reply: Option<oneshot::Sender<TransactionResult<T>>>,
}

impl<T: Transaction> fmt::Debug for PendingTransaction<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<T>())
    }
}

impl<T: Transaction> PendingTransaction<T> {
    pub(super) const fn new(transaction: T, reply: oneshot::Sender<TransactionResult<T>>) -> Self {
        Self {
            transaction,
            result: None,
            reply: Some(reply),
        }
    }
}

impl<T: Transaction> QueuedTransaction for PendingTransaction<T> {
    fn run<'a>(&'a mut self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, RunOutcome> {
        Box::pin(async move {
            let transaction = &self.transaction;
            let running = AssertUnwindSafe(async move { transaction.run(unit).await });
            let result = running.catch_unwind().await.unwrap_or_else(|panic| {
                let message = panic_message(panic.as_ref());
                tracing::error!(
                    transaction = std::any::type_name::<T>(),
                    panic = message,
                    "a transaction panicked"
                );
                Err(Abort::Store(StoreError::Panicked(message.to_owned())))
            });
            let outcome = match &result {
                Ok(_) => RunOutcome::Done,
                Err(Abort::Refused(_)) => RunOutcome::Refused,
                Err(Abort::Store(_)) => RunOutcome::Failed,
            };
            self.result = Some(result);
            outcome
        })
    }

    fn committed(&self) {
        if let Some(Ok(output)) = &self.result
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.transaction.committed(output)))
        {
            let message = panic_message(panic.as_ref());
            tracing::error!(
                transaction = std::any::type_name::<T>(),
                panic = message,
                "a committed() hook panicked"
            );
        }
    }

    fn send_result(&mut self) {
        if let (Some(reply), Some(result)) = (self.reply.take(), self.result.take()) {
            // The caller may be gone by now.
            let _ = reply.send(result);
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.result = Some(Err(Abort::Store(error)));
        self.send_result();
    }
}

/// The message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("nothing")
}
