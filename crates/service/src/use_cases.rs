//! The use cases of all areas and their dependencies.

use std::sync::Arc;

use accounts::AccountUseCases;
use accounts::access::{Accounts, Authenticator};
use accounts::identity::AccountAccess;
use accounts::identity::account::AccountSettings;
use accounts::oauth::OAuth;
use delivery::DeliveryUseCases;
use delivery::messages::{ChannelTests, EmailSubscriptions, OperatorOutbox, SentMessages};
use delivery::notification_channels::NotificationChannels;
use delivery::webhooks::Webhooks;
use evaluation::EvaluationUseCases;
use evaluation::blindness::BlindnessNotices;
use evaluation::cluster::Cluster;
use evaluation::market::{MarketIntake, MarketOverview};
use evaluation::prices::Prices;
use evaluation::stocks::Stocks;
use foundation::{Ports, SharedLimiter};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use watchlist::analyst::StockAnalysis;
use watchlist::{WatchlistUseCases, Watchlists};

use crate::alerts::{Alerts, GuestAlerts};
use crate::approvals::Approvals;
use crate::cron::Jobs;
use crate::feedback::FeedbackBoard;
use crate::firings::{FiringLinks, Firings};
use crate::idempotency::Idempotency;
use crate::operator::Operators;
use crate::redirect::Redirects;
use crate::templates::Templates;
use crate::{ServiceConfig, StartError};

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
    /// Notification channels.
    pub notification_channels: NotificationChannels,
    /// Messages that are kept for the operator.
    pub outbox: OperatorOutbox,
    /// Messages about alerts that accounts were sent.
    pub sent_messages: SentMessages,
    /// Tests of the channels of messages.
    pub channel_tests: ChannelTests,
    /// Unsubscribe links in mail about alerts.
    pub email_subscriptions: EmailSubscriptions,
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
    /// The state of the service, for operators.
    pub operators: Operators,
    /// Periodic jobs.
    pub jobs: Jobs,
    /// Feedback about the service.
    pub feedback: FeedbackBoard,
    /// Firings with their times, messages and acknowledgements.
    pub firings: Firings,
    /// Links in messages about firings.
    pub firing_links: FiringLinks,
    /// Templates for notifications.
    pub templates: Templates,
    /// Idempotent requests.
    pub idempotency: Idempotency,
    /// Signed links to other sites.
    pub redirects: Redirects,
    pub(crate) ports: Ports,
    /// The engine's owner and the state that it shares.
    pub evaluation: EvaluationUseCases,
    pub(crate) delivery: DeliveryUseCases,
    pub(crate) account_use_cases: AccountUseCases,
    pub(crate) is_confirmation_required: bool,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl UseCases {
    /// Creates a limiter whose limits hold for all processes on the database together, with at most `max_tracked` windows in memory.
    /// Returns `None` if this is the only process.
    #[must_use]
    pub fn shared_limiter(&self, max_tracked: usize) -> Option<SharedLimiter> {
        SharedLimiter::new(&self.ports.store, max_tracked)
    }

    /// Creates the use cases in the order of their dependencies.
    ///
    /// # Errors
    /// [`StartError::Channels`], [`StartError::Analyst`], [`StartError::AccessTokens`]
    pub(crate) fn new(ports: Ports, settings: ServiceConfig) -> Result<Self, StartError> {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let is_confirmation_required = settings.identity.require_email_confirmation;
        let delivery_settings = Arc::new(settings.delivery);
        let evaluation_settings = Arc::new(settings.evaluation);
        let delivery = DeliveryUseCases::new(&ports, &delivery_settings)?;
        let cluster = settings.cluster.map(|config| Cluster::new(&ports, config));
        let cluster = cluster.transpose()?.map(Arc::new);
        let evaluation = EvaluationUseCases::new(&ports, &evaluation_settings, cluster);
        let evaluator = &evaluation.evaluator;
        let account_use_cases = AccountUseCases::new(
            &ports,
            settings.identity,
            &delivery_settings,
            &delivery,
            evaluator,
            &tasks,
        )?;
        let watchlist = WatchlistUseCases::new(&ports, &settings.analyst, &evaluation_settings, &evaluation, &stop)?;
        let alerts = Alerts {
            ports: ports.clone(),
            settings: Arc::clone(&evaluation_settings),
            evaluator: Arc::clone(evaluator),
            initial_prices: Arc::clone(&evaluation.initial_prices),
            interest: Arc::clone(&evaluation.interest),
            prices: evaluation.prices.clone(),
            stocks: evaluation.stocks.clone(),
            previews: Arc::default(),
        };
        let firings = Firings { ports: ports.clone() };
        let firing_links = FiringLinks {
            ports: ports.clone(),
            firings: firings.clone(),
            alerts: alerts.clone(),
        };
        let templates = Templates {
            ports: ports.clone(),
            alerts: alerts.clone(),
            writer: delivery.writer.clone(),
        };
        let guest_alerts = GuestAlerts {
            ports: ports.clone(),
            settings: Arc::clone(&evaluation_settings),
            evaluator: Arc::clone(evaluator),
            initial_prices: Arc::clone(&evaluation.initial_prices),
            alerts: alerts.clone(),
            prices: evaluation.prices.clone(),
            writer: delivery.writer.clone(),
        };
        let approvals = Approvals {
            ports: ports.clone(),
            settings: Arc::clone(&evaluation_settings),
            identity: account_use_cases.identity.clone(),
            prices: evaluation.prices.clone(),
            alerts: alerts.clone(),
            watchlists: watchlist.watchlists.clone(),
        };
        let operators = Operators {
            ports: ports.clone(),
            evaluator: Arc::clone(evaluator),
            settings: evaluation_settings,
            live_source: evaluation.live_source.clone(),
        };
        let jobs = Jobs {
            ports: ports.clone(),
            evaluator: Arc::clone(evaluator),
            watchlists: watchlist.watchlists.clone(),
            wanted: evaluation.wanted.clone(),
        };
        let redirects = Redirects {
            ports: ports.clone(),
            writer: delivery.writer.clone(),
        };
        Ok(Self {
            authenticator: account_use_cases.authenticator.clone(),
            accounts: account_use_cases.accounts.clone(),
            account_settings: account_use_cases.account_settings.clone(),
            identity: account_use_cases.identity.clone(),
            oauth: account_use_cases.oauth.clone(),
            alerts,
            guest_alerts,
            approvals,
            watchlists: watchlist.watchlists,
            webhooks: delivery.webhooks.clone(),
            notification_channels: delivery.notification_channels.clone(),
            outbox: delivery.outbox.clone(),
            sent_messages: delivery.sent_messages.clone(),
            channel_tests: delivery.channel_tests.clone(),
            email_subscriptions: delivery.email_subscriptions.clone(),
            analysis: watchlist.analysis,
            prices: evaluation.prices.clone(),
            stocks: evaluation.stocks.clone(),
            market: evaluation.market.clone(),
            market_intake: evaluation.market_intake.clone(),
            blindness: evaluation.blindness.clone(),
            operators,
            jobs,
            feedback: FeedbackBoard { ports: ports.clone() },
            firing_links,
            templates,
            firings,
            idempotency: Idempotency::new(&ports, evaluation.cluster.as_ref().map(|cluster| cluster.id())),
            redirects,
            ports,
            evaluation,
            delivery,
            account_use_cases,
            is_confirmation_required,
            stop,
            tasks,
        })
    }
}
