//! Starting and stopping the service.

use std::sync::Arc;

use jiff::SignedDuration;
use market::{Calendar, Symbol};
use sources::live::Matter;
use store::{Store, StoreError};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{Reception, Tokens};
use crate::analyst::{Analyst, AnalystError};
use crate::catalog::Catalog;
use crate::cron::Housekeeping;
use crate::evaluator::Evaluator;
use crate::identity::Throttle;
use crate::market::Intake;
use crate::messages::Sending;
use crate::oauth::Documents;
use crate::prices::initial::{self, InitialPrices};
use crate::prices::interest::Interest;
use crate::prices::loading::Loading;
use crate::prices::source::PriceSource;
use crate::vault::Vault;
use crate::watchlist::analysis;
use crate::watchlist::opening::{self, Awaiting};
use crate::webhooks::{self, Dispatching, Network, Webhooks};
use crate::{Chance, Clock, ServiceError};

/// So much may be wanted while the source of market data is busy; what is wanted longest is given up first.
const WANTED_AT_ONCE: usize = 16;

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
    pub engine: alerts::engine::Settings,
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
    Tls(#[from] notify::client::TlsError),
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

/// The service. Cloning it is cheap and gives another handle of the same.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<Inner>);

/// What all handles share.
pub(crate) struct Inner {
    pub(crate) ports: Ports,
    pub(crate) settings: Settings,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) evaluator: Arc<Evaluator>,
    /// Held by whoever takes a delivery in.
    pub(crate) intake: tokio::sync::Mutex<Intake>,
    /// Who was let in lately.
    pub(crate) reception: Reception,
    pub(crate) webhooks: Arc<Webhooks>,
    /// Who programs say they are.
    pub(crate) documents: Documents,
    pub(crate) tokens: Tokens,
    pub(crate) throttle: Throttle,
    /// What the analyst is asked.
    pub(crate) analyses: analysis::Queue,
    /// Items of watchlists that await prices.
    pub(crate) awaiting: Awaiting,
    /// Alerts that wait for their initial price.
    pub(crate) initial_prices: InitialPrices,
    /// Stocks that are wanted for a while.
    pub(crate) interest: Interest,
    /// The live source, if there is one.
    pub(crate) price_source: PriceSource,
    /// Counts what has been taken in.
    pub(crate) arrivals: watch::Sender<u64>,
    /// Whether the source still delivers what it had at the start.
    pub(crate) loading: Loading,
    pub(crate) analyst: Analyst,
    /// Tells the source of market data what is wanted now.
    pub(crate) wanted: broadcast::Sender<Matter>,
    pub(crate) stop: CancellationToken,
    /// What runs in the background.
    tasks: TaskTracker,
}

impl Service {
    /// Loads what is known of the market and all active alerts, and begins to judge them.
    ///
    /// # Errors
    /// [`StartError`]
    pub async fn start(ports: Ports, settings: Settings) -> Result<Self, StartError> {
        let service = Self::without_evaluation(ports, settings)?;
        let sending = Sending::of(&service)?;
        let evaluator = &service.0.evaluator;
        evaluator.load().await?;
        evaluator.apply_due_splits().await?;
        // What became due while nobody looked.
        evaluator.evaluate(true).await?;
        let background = Arc::clone(evaluator).run(service.0.stop.clone());
        service.0.tasks.spawn(background);
        if !service.0.ports.store.is_shared() {
            // Whoever had claimed something is no more.
            service
                .0
                .ports
                .store
                .end_leases(service.0.ports.network.time.now())
                .await?;
        }
        let housekeeping = Housekeeping::of(&service).run(service.0.stop.clone());
        service.0.tasks.spawn(housekeeping);
        service
            .0
            .tasks
            .spawn(analysis::run(service.clone(), service.0.stop.clone()));
        service
            .0
            .tasks
            .spawn(opening::run(service.clone(), service.0.stop.clone()));
        service
            .0
            .tasks
            .spawn(initial::run(service.clone(), service.0.stop.clone()));
        let watching = service.clone().watch_for_blindness(service.0.stop.clone());
        service.0.tasks.spawn(watching);
        let (network, tasks) = (&service.0.ports.network, &service.0.tasks);
        let dispatching = Dispatching::of(&service).run(service.0.stop.clone());
        network.spawn(tasks, dispatching);
        network.spawn(tasks, sending.run(service.0.stop.clone()));
        Ok(service)
    }

    /// Does what the administrator's commands need, without judging alerts: another process may be doing that.
    ///
    /// # Errors
    /// [`StartError::Tls`], [`StartError::Analyst`]
    pub fn without_evaluation(ports: Ports, settings: Settings) -> Result<Self, StartError> {
        let catalog = Arc::new(Catalog::default());
        let evaluator = Arc::new(Evaluator::new(&ports, &settings, Arc::clone(&catalog)));
        let webhooks = Webhooks::new(&settings.webhooks, &ports.network, Arc::clone(&ports.vault))?;
        let tokens = Tokens::new(&ports.vault, &settings.public_url)?;
        let analyst = Analyst::new(&settings.analyst, &ports)?;
        let documents = Documents::new(Arc::clone(&webhooks.client), ports.network.clone());
        Ok(Self(Arc::new(Inner {
            ports,
            settings,
            catalog,
            evaluator,
            intake: tokio::sync::Mutex::default(),
            reception: Reception::default(),
            webhooks: Arc::new(webhooks),
            documents,
            tokens,
            throttle: Throttle::default(),
            analyses: analysis::Queue::default(),
            awaiting: Awaiting::default(),
            initial_prices: InitialPrices::default(),
            interest: Interest::default(),
            price_source: PriceSource::default(),
            arrivals: watch::Sender::new(0),
            loading: Loading::default(),
            analyst,
            wanted: broadcast::channel(WANTED_AT_ONCE).0,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        })))
    }

    /// Does something in the background, which the end of the service waits for.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    /// Judges what is due by now, and what was armed or became known since it was judged last. It happens by itself
    /// every second; this is for those who do not want to wait.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails; what was decided is kept and committed as soon as it answers.
    pub async fn evaluate(&self) -> Result<(), ServiceError> {
        Ok(self.0.evaluator.evaluate(false).await?)
    }

    /// Compares the alerts that are judged with those in the database, and mends what differs. It happens by itself
    /// every now and then. Returns how many differed.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn compare(&self) -> Result<usize, ServiceError> {
        Ok(self.0.evaluator.compare().await?)
    }

    /// Ends the background tasks, commits what was decided and closes the database.
    pub async fn stop(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        if let Err(error) = self.0.evaluator.flush().await {
            tracing::error!(%error, "what was decided last could not be committed; it is judged again at the next start");
        }
        self.0.reception.close().await;
        self.0.ports.store.close().await;
    }

    /// Whether the database answers, the first data has been loaded, the evaluation keeps up, and no stored prices are dated in
    /// the future. The latter is reported for as long as it takes quotes to become stale; then alerts and the metric go on
    /// reporting it.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`], saying what does not.
    pub async fn ready(&self) -> Result<(), ServiceError> {
        if let Err(error) = self.0.ports.store.ping().await {
            tracing::warn!(%error, "the database does not answer");
            return Err(ServiceError::Unavailable("the database does not answer".to_owned()));
        }
        if self.0.loading.is_loading() {
            let message = "the data folder is still being read";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if self.0.evaluator.is_behind() {
            let message = "what alerts have fired cannot be written down at the moment; it is kept and tried again";
            return Err(ServiceError::Unavailable(message.to_owned()));
        }
        if let Some(stocks) = self.0.evaluator.stocks_in_future() {
            return Err(ServiceError::Unavailable(format!(
                "the last prices of {stocks} stocks are dated in the future, so their alerts wait for new prices; \
                 check the machine's clock"
            )));
        }
        Ok(())
    }
}
