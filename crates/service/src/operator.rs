//! The state of the whole service, for operators.

use std::sync::Arc;

use ::alerts::engine::{BlindStock, EvaluationCounts, Feed};
use evaluation::EvaluationConfig;
use evaluation::evaluator::Evaluator;
use evaluation::feed::{GapReport, LiveSourceSnapshot, ProviderReport};
use foundation::{Actor, Ports, ServiceError};
use sources::live::LiveSourceHealth;
use store::model::{Account, Page, PageRequest};

/// The state of the whole service.
#[derive(Clone, Debug)]
pub struct ServiceOverview {
    /// A page of the accounts, newest first.
    pub accounts: Page<Account>,
    /// The numbers of armed alerts that are evaluated, wait or are blind.
    pub alerts: EvaluationCounts,
    /// The stocks whose alerts cannot be evaluated, those with the most first.
    pub blind: Vec<BlindStock>,
    /// The kinds of data that no configured source delivers.
    pub missing_feeds: Vec<Feed>,
    /// The gaps in the prices that providers deliver: the open ones, then the latest ended ones.
    pub gaps: Vec<GapReport>,
    /// The answers of each provider of market data since the start; empty if market data comes from elsewhere.
    pub providers: Vec<ProviderReport>,
    /// The counts of the prices that providers delivered, and the state of their stream.
    pub live: LiveSourceSnapshot,
    /// The number of deliveries that wait for an attempt.
    pub pending_deliveries: u64,
    /// The number of messages that wait for an attempt.
    pub pending_messages: u64,
}

/// The state of the service, for operators.
#[derive(Clone)]
pub struct Operators {
    pub(crate) ports: Ports,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) settings: Arc<EvaluationConfig>,
    pub(crate) live_source: LiveSourceHealth,
}

impl Operators {
    /// Returns the state of the service with a page of its accounts.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the actor is not an operator: others do not learn that there is such a page.
    pub async fn overview(&self, actor: &Actor, page: PageRequest) -> Result<ServiceOverview, ServiceError> {
        require_operator(actor)?;
        let now = self.ports.clock.now();
        let (alerts, blind) = self
            .evaluator
            .read(|engine| (engine.evaluation_counts(now), engine.blind_stocks(now)));
        let (pending_deliveries, pending_messages) = self.ports.store.count_pending().await?;
        Ok(ServiceOverview {
            accounts: self.ports.store.accounts_page(page).await?,
            alerts,
            blind,
            missing_feeds: self.settings.missing_feeds.clone(),
            gaps: self.live_source.gaps(),
            providers: self.live_source.providers(),
            live: self.live_source.snapshot(),
            pending_deliveries,
            pending_messages,
        })
    }
}

/// # Errors
/// [`ServiceError::NotFound`] if the actor is not an operator.
pub fn require_operator(actor: &Actor) -> Result<(), ServiceError> {
    if actor.is_operator {
        Ok(())
    } else {
        Err(ServiceError::NotFound("page"))
    }
}
