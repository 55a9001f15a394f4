//! Start and stop of the service.

use std::ops::Deref;
use std::sync::Arc;

use jiff::SignedDuration;
use market::{Calendar, Symbol};
use store::{Store, StoreError};

use crate::analyst::AnalystError;
use crate::cron::CleanupWorker;
use crate::messages::MessageDispatchers;
use crate::prices::initial::{self};
use crate::use_cases::UseCases;
use crate::vault::Vault;
use crate::watchlist::analysis;
use crate::watchlist::opening::{self};
use crate::webhooks::{self, Network, WebhookDispatcher};
use crate::{Clock, Random, ServiceError};

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

/// Configuration of the service.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// Trading calendar.
    pub calendar: Calendar,
    /// Configuration of the alert engine.
    pub engine: alerts::engine::EngineConfig,
    /// Benchmark for performance.
    pub benchmark: Symbol,
    /// Kinds of data that no source delivers. Alerts that need them cannot be evaluated.
    pub missing_feeds: Vec<alerts::engine::Feed>,
    /// Interval of the check for changes by other processes.
    pub follow_every: SignedDuration,
    /// Interval of the comparison between the engine's alerts and the database.
    pub compare_every: SignedDuration,
    /// Webhooks.
    pub webhooks: webhooks::WebhooksConfig,
    /// Public URL of this service, for links in messages.
    pub public_url: String,
    /// Registration and sign-in.
    pub identity: crate::identity::IdentityConfig,
    /// Messages.
    pub messages: crate::messages::MessagesConfig,
    /// Stock analysis.
    pub analyst: crate::analyst::AnalystConfig,
}

/// Reason why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Invalid root certificates.
    #[error(transparent)]
    Tls(#[from] notify::client::TlsSetupError),
    /// Invalid configuration of messages.
    #[error(transparent)]
    Messages(#[from] crate::messages::MessageTransportError),
    /// Invalid configuration of the language model.
    #[error(transparent)]
    Analyst(#[from] AnalystError),
    /// The key of access tokens is invalid.
    #[error(transparent)]
    AccessTokens(#[from] ServiceError),
}

/// The service: its use cases and background tasks. A clone is another handle of the same service.
#[derive(Clone)]
pub struct Service(Arc<UseCases>);

impl Deref for Service {
    type Target = UseCases;

    fn deref(&self) -> &UseCases {
        &self.0
    }
}

impl Service {
    /// Loads the market state and all active alerts, and starts to evaluate them.
    ///
    /// # Errors
    /// [`StartError`]
    pub async fn start(ports: Ports, settings: ServiceConfig) -> Result<Self, StartError> {
        let service = Self::without_evaluation(ports, settings)?;
        let (ports, settings) = (&service.ports, &service.settings);
        let sending = MessageDispatchers::new(ports, settings)?;
        let evaluator = &service.evaluator;
        evaluator.load().await?;
        evaluator.apply_due_splits().await?;
        // Some alerts became due while no process ran.
        evaluator.evaluate_due(true).await?;
        service.spawn(Arc::clone(evaluator).run(service.stop.clone()));
        if !ports.store.is_shared() {
            // The process that held these leases has ended.
            ports.store.release_all_leases(ports.network.time.now()).await?;
        }
        let stop = || service.stop.clone();
        service.spawn(CleanupWorker::new(ports, &service.watchlists).run(stop()));
        service.spawn(analysis::run(service.watchlists.clone(), stop()));
        service.spawn(opening::run(service.watchlists.clone(), stop()));
        service.spawn(initial::run(service.prices.clone(), stop()));
        service.spawn(service.blindness.clone().run_until_stopped(stop()));
        let dispatching = WebhookDispatcher::new(ports, &settings.webhooks, &service.webhooks.delivery);
        ports.network.spawn(&service.tasks, dispatching.run(stop()));
        ports.network.spawn(&service.tasks, sending.run(stop()));
        Ok(service)
    }

    /// Creates the service without evaluating alerts, for administration commands: another process may evaluate them.
    ///
    /// # Errors
    /// [`StartError::Tls`], [`StartError::Analyst`], [`StartError::AccessTokens`]
    pub fn without_evaluation(ports: Ports, settings: ServiceConfig) -> Result<Self, StartError> {
        Ok(Self(Arc::new(UseCases::new(ports, settings)?)))
    }

    /// Runs a task in the background. [`stop`](Self::stop) waits for it.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Evaluates everything that is due now. The service does this every second; call it to avoid the wait.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails; decisions are kept and
    /// committed when it is available again.
    pub async fn evaluate(&self) -> Result<(), ServiceError> {
        Ok(self.evaluator.evaluate_due(false).await?)
    }

    /// Compares the engine's alerts with the database and fixes differences. The service does this periodically.
    /// Returns the number of differences.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn compare(&self) -> Result<usize, ServiceError> {
        Ok(self.evaluator.compare().await?)
    }

    /// Stops the background tasks, commits the last decisions and closes the database.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if let Err(error) = self.evaluator.flush().await {
            tracing::error!(%error, "the last decisions could not be committed; they are made again after the next start");
        }
        self.credential_cache.close().await;
        self.ports.store.close().await;
    }

    /// Checks that the database responds, the first data is loaded, the evaluation keeps up, and no stored prices are
    /// dated in the future. The last is reported until quotes would be stale; after that, alerts and the metric still
    /// report it.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`] with the reason.
    pub async fn ready(&self) -> Result<(), ServiceError> {
        if let Err(error) = self.ports.store.ping().await {
            tracing::warn!(%error, "the database does not answer");
            return Err(ServiceError::Unavailable("the database does not answer".to_owned()));
        }
        if self.loading.is_loading() {
            let message = "the data folder is still being read";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if self.evaluator.is_behind() {
            let message = "fired alerts cannot be stored at the moment; they are kept in memory and retried";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if let Some(stocks) = self.evaluator.stocks_in_future() {
            return Err(ServiceError::Unavailable(format!(
                "the last prices of {stocks} stocks are dated in the future, so their alerts wait for new prices; \
                 check the machine's clock"
            )));
        }
        Ok(())
    }
}
