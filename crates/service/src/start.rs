//! Start and stop of the service.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::cron::CleanupWorker;
use crate::due_hints;
use crate::use_cases::UseCases;
use crate::{ServiceConfig, StartError};
use delivery::notification_channels::stored_web_push_key;
use evaluation::cluster::Cluster;
use evaluation::prices::initial;
use foundation::{DispatchShare, Ports, Role, Roles, ServiceError};
use store::StoreError;
use watchlist::{analysis, opening};

/// The maximum time that the database may take for a check of readiness.
const MAX_DATABASE_WAIT: Duration = Duration::from_millis(1_500);

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
        let cluster = service.evaluation.cluster.as_ref();
        let share = cluster.map_or(DispatchShare::ALL, |cluster| cluster.dispatch_share().clone());
        let dispatchers = service.delivery.dispatchers(&share, service.is_confirmation_required)?;
        let roles = match service.evaluation.cluster.clone() {
            Some(cluster) => {
                service.join(&cluster).await?;
                cluster.roles()
            }
            None => {
                service.evaluate_alone().await?;
                Roles::ALL
            }
        };
        if !ports.store.is_shared() {
            // The process that held these leases has ended.
            ports.store.release_all_leases(ports.network.time.now()).await?;
        }
        let stop = || service.stop.clone();
        if roles.has(Role::Jobs) {
            service.spawn(CleanupWorker::new(ports, &service.watchlists).run(stop()));
            service.spawn(analysis::run(service.watchlists.clone(), stop()));
            service.spawn(opening::run(service.watchlists.clone(), stop()));
            service.spawn(service.blindness.clone().run_until_stopped(stop()));
            let channels = service.notification_channels.clone();
            service.spawn(channels.run_telegram_updates(service.firing_links.clone(), stop()));
        }
        // Where alerts are created, too: only there it is known at once which of them wait for a price.
        if roles.has(Role::Jobs) || roles.has(Role::Api) {
            service.spawn(initial::run(service.prices.clone(), stop()));
        }
        if roles.has(Role::Dispatcher) {
            dispatchers.spawn(ports, &service.tasks, &service.stop);
        }
        Ok(service)
    }

    /// Evaluates all alerts in this process.
    async fn evaluate_alone(&self) -> Result<(), StoreError> {
        let evaluator = &self.evaluation.evaluator;
        evaluator.load().await?;
        evaluator.apply_due_splits().await?;
        // Some alerts became due while no process ran.
        evaluator.evaluate_due(true).await?;
        self.spawn(Arc::clone(evaluator).run(self.stop.clone()));
        Ok(())
    }

    /// Evaluates alerts as a node of a cluster.
    async fn join(&self, cluster: &Arc<Cluster>) -> Result<(), StartError> {
        // First, so that no market data is missed between the load and the first message.
        let subscriptions = cluster.subscribe().await?;
        let due_elsewhere = cluster.bus().subscribe(due_hints::SUBJECT).await?;
        let evaluator = &self.evaluation.evaluator;
        evaluator.load().await?;
        evaluator.apply_due_splits().await?;
        cluster.start(subscriptions, &self.ports, &self.evaluation, &self.tasks, &self.stop);
        let hints = due_hints::run(
            self.ports.store.clone(),
            cluster.bus().clone(),
            due_elsewhere,
            self.stop.clone(),
        );
        self.spawn(hints);
        Ok(())
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
        let answered = tokio::select! {
            answered = self.ports.store.ping() => answered.inspect_err(|error| {
                tracing::warn!(%error, "the database does not answer");
            }).is_ok(),
            () = self.ports.network.time.sleep(MAX_DATABASE_WAIT) => false,
        };
        if !answered {
            return Err(ServiceError::Unavailable("the database does not answer".to_owned()));
        }
        if let Some(cluster) = &self.evaluation.cluster {
            cluster.ready(self.ports.clock.uptime())?;
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
