//! Starting and stopping the service.

use std::ops::Deref;
use std::sync::Arc;

use jiff::SignedDuration;
use market::{Calendar, Symbol};
use store::{Store, StoreError};

use crate::analyst::AnalystError;
use crate::cron::Housekeeping;
use crate::messages::Sending;
use crate::prices::initial::{self};
use crate::use_cases::UseCases;
use crate::vault::Vault;
use crate::watchlist::analysis;
use crate::watchlist::opening::{self};
use crate::webhooks::{self, Dispatching, Network};
use crate::{Chance, Clock, ServiceError};

/// What the service works with.
#[derive(Clone)]
pub struct Ports {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and secrets.
    pub chance: Arc<Chance>,
    /// Seals secrets.
    pub vault: Arc<Vault>,
    /// The world outside.
    pub network: Network,
}

/// What can be set about the service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When the market is open.
    pub calendar: Calendar,
    /// How alerts are judged.
    pub engine: alerts::engine::EngineConfig,
    /// What performance is compared with.
    pub benchmark: Symbol,
    /// The kinds of data that no source delivers: alerts that need them are blind.
    pub missing_feeds: Vec<alerts::engine::Feed>,
    /// How often what other processes changed in the database is looked for.
    pub follow_every: SignedDuration,
    /// How often the engine's alerts are compared with the database's.
    pub compare_every: SignedDuration,
    /// How webhooks are called.
    pub webhooks: webhooks::Settings,
    /// The address under which people reach this service, for the links that they are sent.
    pub public_url: String,
    /// How people come to accounts.
    pub identity: crate::identity::Settings,
    /// How people are written to.
    pub messages: crate::messages::Settings,
    /// Who looks at stocks.
    pub analyst: crate::analyst::Settings,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operator's own authorities.
    #[error(transparent)]
    Tls(#[from] notify::client::TlsSetupError),
    /// Mail and text messages.
    #[error(transparent)]
    Carrier(#[from] crate::messages::CarrierError),
    /// The language model.
    #[error(transparent)]
    Analyst(#[from] AnalystError),
    /// The keys of tokens.
    #[error(transparent)]
    Tokens(#[from] ServiceError),
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
    /// Loads the market state and all active alerts, and begins to judge them.
    ///
    /// # Errors
    /// [`StartError`]
    pub async fn start(ports: Ports, settings: Settings) -> Result<Self, StartError> {
        let service = Self::without_evaluation(ports, settings)?;
        let (ports, settings) = (&service.ports, &service.settings);
        let sending = Sending::new(ports, settings)?;
        let evaluator = &service.evaluator;
        evaluator.load().await?;
        evaluator.apply_due_splits().await?;
        // Some alerts became due while no process ran.
        evaluator.evaluate(true).await?;
        service.spawn(Arc::clone(evaluator).run(service.stop.clone()));
        if !ports.store.is_shared() {
            // The process that held these leases has ended.
            ports.store.release_all_leases(ports.network.time.now()).await?;
        }
        let stop = || service.stop.clone();
        service.spawn(Housekeeping::new(ports, &service.watchlists).run(stop()));
        service.spawn(analysis::run(service.watchlists.clone(), stop()));
        service.spawn(opening::run(service.watchlists.clone(), stop()));
        service.spawn(initial::run(service.prices.clone(), stop()));
        service.spawn(service.blindness.clone().watch_for_blindness(stop()));
        let dispatching = Dispatching::new(ports, &settings.webhooks, &service.webhooks.delivery);
        ports.network.spawn(&service.tasks, dispatching.run(stop()));
        ports.network.spawn(&service.tasks, sending.run(stop()));
        Ok(service)
    }

    /// Creates the service without judging alerts, for the administrator's commands: another process may judge them.
    ///
    /// # Errors
    /// [`StartError::Tls`], [`StartError::Analyst`]
    pub fn without_evaluation(ports: Ports, settings: Settings) -> Result<Self, StartError> {
        Ok(Self(Arc::new(UseCases::new(ports, settings)?)))
    }

    /// Runs a task in the background until it ends. [`stop`](Self::stop) waits for it.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Judges what is due by now, and what was armed or became known since it was judged last. It happens by itself
    /// every second; this is for those who do not want to wait.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails; what was decided is kept and committed as soon as it answers.
    pub async fn evaluate(&self) -> Result<(), ServiceError> {
        Ok(self.evaluator.evaluate(false).await?)
    }

    /// Compares the alerts that are judged with those in the database, and mends what differs. It happens by itself
    /// every now and then. Returns how many differed.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn compare(&self) -> Result<usize, ServiceError> {
        Ok(self.evaluator.compare().await?)
    }

    /// Ends the background tasks, commits what was decided and closes the database.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if let Err(error) = self.evaluator.flush().await {
            tracing::error!(%error, "what was decided last could not be committed; it is judged again at the next start");
        }
        self.reception.close().await;
        self.ports.store.close().await;
    }

    /// Whether the database answers, the first data has been loaded, the evaluation keeps up, and no stored prices are dated in
    /// the future. The latter is reported for as long as it takes quotes to become stale; then alerts and the metric go on
    /// reporting it.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`], saying what does not.
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
            let message = "what alerts have fired cannot be written down at the moment; it is kept and tried again";
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
