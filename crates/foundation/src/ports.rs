//! External dependencies of the use cases.

use std::sync::Arc;

use clock::Clock;
use store::{Abort, BoxFuture, Store, UnitOfWork};

use crate::vault::Vault;
use crate::{Network, Random, ServiceError};

/// The running body of a transaction of a use case.
pub type TransactionFuture<'a, O> = BoxFuture<'a, Result<O, Abort<ServiceError>>>;

/// External dependencies of the service.
#[derive(Clone)]
pub struct Ports {
    /// Database.
    pub store: Store,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of ids and secrets.
    pub random: Arc<Random>,
    /// Seals secrets.
    pub vault: Arc<Vault>,
    /// Network access.
    pub network: Network,
}

impl Ports {
    /// Runs a transaction that refuses with a [`ServiceError`], like [`Store::transaction`].
    ///
    /// # Errors
    /// The refusal, or [`ServiceError`] if the database failed.
    pub async fn transaction<I, O>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> TransactionFuture<'a, O> + Send + Sync + 'static,
    ) -> Result<O, ServiceError>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
    {
        self.transaction_then(inputs, run, |_| {}).await
    }

    /// Runs a transaction, and calls `on_commit` after its data is on disk, like [`Store::transaction_then`].
    ///
    /// # Errors
    /// The refusal, or [`ServiceError`] if the database failed.
    pub async fn transaction_then<I, O>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> TransactionFuture<'a, O> + Send + Sync + 'static,
        on_commit: impl Fn(&O) + Send + Sync + 'static,
    ) -> Result<O, ServiceError>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
    {
        Ok(self.store.transaction_then(inputs, run, on_commit).await?)
    }
}
