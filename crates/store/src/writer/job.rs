//! A work with the one who waits for it, as the writer sees it: without its types.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use tokio::sync::oneshot;

use super::{Abort, BoxFuture, Work};
use crate::{StoreError, Unit};

/// What came of running a work, as far as its transaction is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ran {
    /// It is done, if the transaction is committed.
    Done,
    /// It refused.
    Refused,
    /// The database failed, or it panicked.
    Failed,
}

/// A work of any type.
pub(super) trait Job: Send + fmt::Debug {
    /// Runs it, and keeps what came of it.
    fn run<'a>(&'a mut self, unit: &'a mut Unit) -> BoxFuture<'a, Ran>;

    /// Tells it that what it did is on disk.
    fn committed(&self);

    /// Tells the one who waits what came of it.
    fn answer(&mut self);

    /// Tells the one who waits that it came to nothing.
    fn fail(&mut self, error: StoreError);
}

type Outcome<W> = Result<<W as Work>::Done, Abort<<W as Work>::Refusal>>;

pub(super) struct Task<W: Work> {
    work: W,
    outcome: Option<Outcome<W>>,
    waiting: Option<oneshot::Sender<Outcome<W>>>,
}

impl<W: Work> fmt::Debug for Task<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<W>())
    }
}

impl<W: Work> Task<W> {
    pub(super) const fn new(work: W, waiting: oneshot::Sender<Outcome<W>>) -> Self {
        Self {
            work,
            outcome: None,
            waiting: Some(waiting),
        }
    }
}

impl<W: Work> Job for Task<W> {
    fn run<'a>(&'a mut self, unit: &'a mut Unit) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let work = &self.work;
            let running = AssertUnwindSafe(async move { work.run(unit).await });
            let outcome = running.catch_unwind().await.unwrap_or_else(|panic| {
                let said = said(panic.as_ref());
                tracing::error!(work = std::any::type_name::<W>(), said, "a unit of work panicked");
                Err(Abort::Store(StoreError::Panicked(said.to_owned())))
            });
            let ran = match &outcome {
                Ok(_) => Ran::Done,
                Err(Abort::Refused(_)) => Ran::Refused,
                Err(Abort::Store(_)) => Ran::Failed,
            };
            self.outcome = Some(outcome);
            ran
        })
    }

    fn committed(&self) {
        if let Some(Ok(done)) = &self.outcome
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work.committed(done)))
        {
            let said = said(panic.as_ref());
            tracing::error!(
                work = std::any::type_name::<W>(),
                said,
                "a hook after a commit panicked"
            );
        }
    }

    fn answer(&mut self) {
        if let (Some(waiting), Some(outcome)) = (self.waiting.take(), self.outcome.take()) {
            // Whoever asked may have gone away meanwhile.
            let _ = waiting.send(outcome);
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.outcome = Some(Err(Abort::Store(error)));
        self.answer();
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("nothing")
}
