//! Start and stop of the service.

use std::ops::Deref;
use std::sync::Arc;

use crate::cron::CleanupWorker;
use crate::use_cases::UseCases;
use crate::{ServiceConfig, StartError};
use delivery::notification_channels::stored_web_push_key;
use evaluation::prices::initial;
use foundation::{Ports, ServiceError};
use watchlist::{analysis, opening};

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
    pub async fn start(ports: Ports, mut settings: ServiceConfig) -> Result<Self, StartError> {
        let web_push_key = &mut settings.delivery.channels.web_push_key;
        if web_push_key.is_none() {
            *web_push_key = Some(stored_web_push_key(&ports).await?);
        }
        let service = Self::without_evaluation(ports, settings)?;
        let ports = &service.ports;
        let dispatchers = service.delivery.dispatchers(service.is_confirmation_required)?;
        let evaluator = &service.evaluation.evaluator;
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
        let channels = service.notification_channels.clone();
        service.spawn(channels.run_telegram_updates(service.firing_links.clone(), stop()));
        dispatchers.spawn(ports, &service.tasks, &service.stop);
        Ok(service)
    }

    /// Creates the service without evaluating alerts, for administration commands: another process may evaluate them.
    ///
    /// # Errors
    /// [`StartError::Channels`], [`StartError::Analyst`], [`StartError::AccessTokens`]
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
        Ok(self.evaluation.evaluator.evaluate_due(false).await?)
    }

    /// Compares the engine's alerts with the database and fixes differences. The service does this periodically.
    /// Returns the number of differences.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] or [`ServiceError::StorageUnavailable`] if the database fails.
    pub async fn compare(&self) -> Result<usize, ServiceError> {
        Ok(self.evaluation.evaluator.compare().await?)
    }

    /// Stops the background tasks, commits the last decisions and closes the database.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if let Err(error) = self.evaluation.evaluator.flush().await {
            tracing::error!(%error, "the last decisions could not be committed; they are made again after the next start");
        }
        self.account_use_cases.close().await;
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
        if self.evaluation.loading.is_loading() {
            let message = "the data folder is still being read";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if self.evaluation.evaluator.is_behind() {
            let message = "fired alerts cannot be stored at the moment; they are kept in memory and retried";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if let Some(stocks) = self.evaluation.evaluator.stocks_in_future() {
            return Err(ServiceError::Unavailable(format!(
                "the last prices of {stocks} stocks are dated in the future, so their alerts wait for new prices; \
                 check the machine's clock"
            )));
        }
        Ok(())
    }
}
