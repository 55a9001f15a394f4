//! The use cases and their dependencies.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{AccessTokens, Accounts, Authenticator, CredentialCache};
use crate::alerts::{Alerts, GuestAlerts};
use crate::analyst::{Analyst, StockAnalysis};
use crate::approvals::Approvals;
use crate::blindness::BlindnessNotices;
use crate::catalog::Catalog;
use crate::cron::Jobs;
use crate::evaluator::Evaluator;
use crate::feedback::FeedbackBoard;
use crate::idempotency::Idempotency;
use crate::identity::account::AccountSettings;
use crate::identity::{AccountAccess, SignInThrottle};
use crate::market::{MarketIntake, MarketOverview};
use crate::messages::{MessageWriter, OperatorOutbox};
use crate::oauth::{ClientMetadataCache, OAuth};
use crate::prices::Prices;
use crate::prices::arrivals::PriceArrivals;
use crate::prices::awaited::AwaitedPrices;
use crate::prices::initial_stocks::InitialPrices;
use crate::prices::interest::StockInterest;
use crate::prices::loading::FirstLoad;
use crate::redirect::Redirects;
use crate::stocks::Stocks;
use crate::watchlist::Watchlists;
use crate::webhooks::{DeliveryContext, Webhooks};
use crate::{Ports, ServiceConfig, StartError};

/// Maximum number of queued refresh requests while the source of market data is busy. Beyond it, the oldest is dropped.
const MAX_QUEUED_REFRESH_REQUESTS: usize = 16;

/// The use cases, one type each.
pub struct UseCases {
    /// API keys, tokens, sessions and passwords.
    pub authenticator: Authenticator,
    /// Accounts and API keys, for operators.
    pub accounts: Accounts,
    /// Settings of the actor's account.
    pub account_settings: AccountSettings,
    /// Registration, sign-in and sessions.
    pub identity: AccountAccess,
    /// The OAuth authorization server.
    pub oauth: OAuth,
    /// Alerts of accounts.
    pub alerts: Alerts,
    /// Alerts of people without an account.
    pub guest_alerts: GuestAlerts,
    /// Changes that wait for approval.
    pub approvals: Approvals,
    /// Watchlists and paper trades.
    pub watchlists: Watchlists,
    /// Webhooks and their deliveries.
    pub webhooks: Webhooks,
    /// Messages that are kept for the operator.
    pub outbox: OperatorOutbox,
    /// Analyses of stocks.
    pub analysis: StockAnalysis,
    /// Current prices.
    pub prices: Prices,
    /// The catalog of stocks.
    pub stocks: Stocks,
    /// The state of the market.
    pub market: MarketOverview,
    /// Market data that sources deliver.
    pub market_intake: MarketIntake,
    /// Notices about alerts that cannot be evaluated.
    pub blindness: BlindnessNotices,
    /// Periodic jobs.
    pub jobs: Jobs,
    /// Feedback about the service.
    pub feedback: FeedbackBoard,
    /// Idempotent requests.
    pub idempotency: Idempotency,
    /// Signed links to other sites.
    pub redirects: Redirects,
    pub(crate) ports: Ports,
    pub(crate) settings: Arc<ServiceConfig>,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) credential_cache: Arc<CredentialCache>,
    pub(crate) loading: Arc<FirstLoad>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl UseCases {
    /// Creates the use cases in the order of their dependencies.
    ///
    /// # Errors
    /// [`StartError::Tls`], [`StartError::Analyst`], [`StartError::AccessTokens`]
    pub(crate) fn new(ports: Ports, settings: ServiceConfig) -> Result<Self, StartError> {
        let catalog = Arc::new(Catalog::default());
        let evaluator = Arc::new(Evaluator::new(&ports, &settings, Arc::clone(&catalog)));
        let delivery = DeliveryContext::new(&settings.webhooks, &ports.network, Arc::clone(&ports.vault))?;
        let delivery = Arc::new(delivery);
        let tokens = Arc::new(AccessTokens::new(&ports.vault, &settings.public_url)?);
        let analyst = Arc::new(Analyst::new(&settings.analyst, &ports)?);
        let client_metadata = ClientMetadataCache::new(Arc::clone(&delivery.client), ports.network.clone());
        let client_metadata = Arc::new(client_metadata);
        let settings = Arc::new(settings);
        let credential_cache = Arc::new(CredentialCache::default());
        let throttle = Arc::new(SignInThrottle::default());
        let interest = Arc::new(StockInterest::default());
        let initial_prices = Arc::new(InitialPrices::default());
        let awaiting = Arc::new(AwaitedPrices::default());
        let loading = Arc::new(FirstLoad::default());
        let wanted = broadcast::channel(MAX_QUEUED_REFRESH_REQUESTS).0;
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let price_arrivals = PriceArrivals::new(Arc::clone(&awaiting), Arc::clone(&initial_prices));
        let writer = MessageWriter {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
        };

        let market_intake = MarketIntake {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            intake: Arc::default(),
            interest: Arc::clone(&interest),
            price_arrivals: price_arrivals.clone(),
            wanted: wanted.clone(),
        };
        let prices = Prices {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            interest: Arc::clone(&interest),
            initial_prices: Arc::clone(&initial_prices),
            price_source: Arc::default(),
            price_arrivals,
            loading: Arc::clone(&loading),
            market_intake: market_intake.clone(),
        };
        let stocks = Stocks {
            ports: ports.clone(),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            prices: prices.clone(),
        };
        let market = MarketOverview {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            market_intake: market_intake.clone(),
            prices: prices.clone(),
            stocks: stocks.clone(),
        };
        let alerts = Alerts {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            evaluator: Arc::clone(&evaluator),
            initial_prices: Arc::clone(&initial_prices),
            interest,
            prices: prices.clone(),
            stocks: stocks.clone(),
        };
        let guest_alerts = GuestAlerts {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            evaluator: Arc::clone(&evaluator),
            initial_prices: Arc::clone(&initial_prices),
            alerts: alerts.clone(),
            prices: prices.clone(),
            writer: writer.clone(),
        };
        let analysis = StockAnalysis {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            catalog: Arc::clone(&catalog),
            evaluator: Arc::clone(&evaluator),
            analyst,
            prices: prices.clone(),
        };
        let watchlists = Watchlists {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            catalog,
            evaluator: Arc::clone(&evaluator),
            initial_prices,
            awaiting,
            analyses: Arc::default(),
            stop: stop.clone(),
            prices: prices.clone(),
            stocks: stocks.clone(),
            analysis: analysis.clone(),
        };
        let webhooks = Webhooks {
            ports: ports.clone(),
            delivery,
        };
        let authenticator = Authenticator {
            ports: ports.clone(),
            credential_cache: Arc::clone(&credential_cache),
            tokens: Arc::clone(&tokens),
        };
        let accounts = Accounts {
            ports: ports.clone(),
            evaluator: Arc::clone(&evaluator),
            credential_cache: Arc::clone(&credential_cache),
            authenticator: authenticator.clone(),
            writer: writer.clone(),
        };
        let identity = AccountAccess {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            credential_cache: Arc::clone(&credential_cache),
            throttle: Arc::clone(&throttle),
            tokens,
            authenticator: authenticator.clone(),
            writer: writer.clone(),
        };
        let oauth = OAuth {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            credential_cache: Arc::clone(&credential_cache),
            client_metadata,
            identity: identity.clone(),
        };
        let account_settings = AccountSettings {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            evaluator: Arc::clone(&evaluator),
            credential_cache: Arc::clone(&credential_cache),
            throttle,
            authenticator: authenticator.clone(),
            identity: identity.clone(),
            writer: writer.clone(),
            tasks: tasks.clone(),
        };
        let approvals = Approvals {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            identity: identity.clone(),
            prices: prices.clone(),
            alerts: alerts.clone(),
            watchlists: watchlists.clone(),
        };
        let blindness = BlindnessNotices {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
            evaluator: Arc::clone(&evaluator),
        };
        let jobs = Jobs {
            ports: ports.clone(),
            evaluator: Arc::clone(&evaluator),
            watchlists: watchlists.clone(),
            wanted,
        };
        let outbox = OperatorOutbox {
            ports: ports.clone(),
            settings: Arc::clone(&settings),
        };
        let redirects = Redirects {
            ports: ports.clone(),
            writer,
        };
        let feedback = FeedbackBoard { ports: ports.clone() };
        let idempotency = Idempotency { ports: ports.clone() };
        Ok(Self {
            authenticator,
            accounts,
            account_settings,
            identity,
            oauth,
            alerts,
            guest_alerts,
            approvals,
            watchlists,
            webhooks,
            outbox,
            analysis,
            prices,
            stocks,
            market,
            market_intake,
            blindness,
            jobs,
            feedback,
            idempotency,
            redirects,
            ports,
            settings,
            evaluator,
            credential_cache,
            loading,
            stop,
            tasks,
        })
    }
}
