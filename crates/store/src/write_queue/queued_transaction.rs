//! A queued transaction and its waiting caller, type-erased for the writer.

use std::any::{Any, type_name};
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use tokio::sync::oneshot;

use super::{Abort, BoxFuture};
use crate::model::IdempotencyClaim;
use crate::{StoreError, UnitOfWork};

/// The outcome of a run, as seen by the database transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RunOutcome {
    /// Succeeded, if the database transaction is committed.
    Done,
    /// Refused.
    Refused,
    /// The database failed, the transaction panicked, or its claim was lost.
    Failed,
}

/// A queued transaction of any type.
pub(super) trait QueuedTransaction: Send {
    /// Runs it and stores its result.
    fn run<'a>(&'a mut self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, RunOutcome>;

    /// Notifies it that its data is on disk.
    fn committed(&self);

    /// Sends the stored result to the caller.
    fn send_result(&mut self);

    /// Sends an error to the caller.
    fn fail(&mut self, error: StoreError);
}

/// Inputs, body, hook and claim of a transaction, its result once it has run, and the way back to the caller.
pub(super) struct PendingTransaction<I, O, R, F, C> {
    pub(super) inputs: I,
    pub(super) run: F,
    pub(super) on_commit: C,
    /// The claim of the request that the transaction is a part of.
    pub(super) claim: Option<IdempotencyClaim>,
    pub(super) result: Option<Result<O, Abort<R>>>,
    pub(super) reply: Option<oneshot::Sender<Result<O, Abort<R>>>>,
}

impl<I, O, R, F, C> QueuedTransaction for PendingTransaction<I, O, R, F, C>
where
    I: Send + Sync,
    O: Send,
    R: Send,
    F: for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<R>>> + Send + Sync,
    C: Fn(&O) + Send,
{
    fn run<'a>(&'a mut self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, RunOutcome> {
        Box::pin(async move {
            let (body, inputs, claim) = (&self.run, &self.inputs, self.claim.as_ref());
            // Within a future, so that a panic before the first `await` is caught too.
            let running = AssertUnwindSafe(async move {
                let output = body(inputs, &mut *unit).await?;
                // After a failure, the caller gets that one.
                if let Some(claim) = claim.filter(|_| unit.has_written() && unit.failure().is_none()) {
                    unit.mark_written(claim).await?;
                }
                Ok(output)
            });
            let result = running.catch_unwind().await.unwrap_or_else(|panic| {
                let message = panic_message(panic.as_ref());
                tracing::error!(
                    transaction = type_name::<F>(),
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
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.on_commit)(output)))
        {
            let message = panic_message(panic.as_ref());
            tracing::error!(
                transaction = type_name::<F>(),
                panic = message,
                "a commit hook panicked"
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
