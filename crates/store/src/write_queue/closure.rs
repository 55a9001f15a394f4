//! Transactions as closures.

use std::marker::PhantomData;

use super::{Abort, BoxFuture, Transaction};
use crate::{Store, UnitOfWork};

/// Inputs, a closure that runs with them, and a closure that is called after the commit.
struct ClosureTransaction<I, O, R, F, C> {
    inputs: I,
    run: F,
    on_commit: C,
    result: PhantomData<fn() -> Result<O, R>>,
}

impl<I, O, R, F, C> Transaction for ClosureTransaction<I, O, R, F, C>
where
    I: Send + Sync + 'static,
    O: Send + 'static,
    R: Send + 'static,
    F: for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<R>>> + Send + Sync + 'static,
    C: Fn(&I, &O) + Send + Sync + 'static,
{
    type Output = O;
    type Refusal = R;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<R>>> {
        (self.run)(&self.inputs, unit)
    }

    fn committed(&self, output: &O) {
        (self.on_commit)(&self.inputs, output);
    }
}

impl Store {
    /// Runs a closure as a transaction, like [`Store::write`]. It may run more than once, so it borrows its inputs.
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
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
        self.transaction_then(inputs, run, |_, _| {}).await
    }

    /// Runs a closure as a transaction and calls another one as [`Transaction::committed`].
    ///
    /// # Errors
    ///
    /// Those of [`Store::write`].
    pub async fn transaction_then<I, O, R>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<R>>> + Send + Sync + 'static,
        on_commit: impl Fn(&I, &O) + Send + Sync + 'static,
    ) -> Result<O, Abort<R>>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
        R: Send + 'static,
    {
        self.write(ClosureTransaction {
            inputs,
            run,
            on_commit,
            result: PhantomData,
        })
        .await
    }
}
