//! External dependencies of the use cases.

use std::sync::Arc;

use clock::Clock;
use store::{Abort, BoxFuture, Store, UnitOfWork};

use crate::vault::Vault;
use crate::{Network, Random, ServiceError};

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
    /// Runs a closure as a transaction ([`Store::transaction`]) that refuses with a [`ServiceError`].
    ///
    /// # Errors
    /// The refusal, or [`ServiceError`] if the database failed.
    pub async fn transaction<I, O>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<ServiceError>>>
        + Send
        + Sync
        + 'static,
    ) -> Result<O, ServiceError>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
    {
        Ok(self.store.transaction(inputs, run).await?)
    }

    /// Runs a closure as a transaction and calls another one once its data is on disk ([`Store::transaction_then`]).
    ///
    /// # Errors
    /// The refusal, or [`ServiceError`] if the database failed.
    pub async fn transaction_then<I, O>(
        &self,
        inputs: I,
        run: impl for<'a> Fn(&'a I, &'a mut UnitOfWork) -> BoxFuture<'a, Result<O, Abort<ServiceError>>>
        + Send
        + Sync
        + 'static,
        on_commit: impl Fn(&I, &O) + Send + Sync + 'static,
    ) -> Result<O, ServiceError>
    where
        I: Send + Sync + 'static,
        O: Send + 'static,
    {
        Ok(self.store.transaction_then(inputs, run, on_commit).await?)
    }
}
