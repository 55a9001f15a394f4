//! The input of an analysis, gathered from engine, catalog and calendar.

use ::alerts::Plan;
use ::alerts::engine::Dividend;
use ::alerts::request::ParseContext;
use ::analyst::freshness::StaleReason;
use ::analyst::llm::PromptInput;
use ::analyst::{Advice, Analysis, AnalysisSubject, Intention};
use ::market::calendar::new_york_date;
use ::market::{Calendar, CurrentPrice, Price, Symbol};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::analyst::StockAnalysis;
use evaluation::evaluator::Snapshot;
use evaluation::prices::no_current_price;
use foundation::{Actor, ServiceError};
use store::StoreError;
use store::model::AccountId;

/// A request to analyze a stock.
#[derive(Clone, Debug)]
pub struct AnalysisRequest {
    /// The stock.
    pub symbol: Symbol,
    /// The intended trade.
    pub intention: Intention,
    /// The intended price, per today's share.
    pub target_price: Option<Price>,
    /// The user's notes.
    pub notes: Option<String>,
    /// The account.
    pub account: AccountId,
    /// Its plan.
    pub plan: Plan,
    /// The number of its active alerts, without those that the proposals will replace.
    pub active_alerts: u32,
    /// The owner's time zone.
    pub time_zone: TimeZone,
}

impl StockAnalysis {
    /// Returns the request of an actor to analyze a stock, without notes.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn request_for(
        &self,
        actor: &Actor,
        symbol: Symbol,
        intention: Intention,
        target_price: Option<Price>,
    ) -> Result<AnalysisRequest, ServiceError> {
        let active = self.count_active_alerts(actor.account).await?;
        Ok(AnalysisRequest {
            symbol,
            intention,
            target_price,
            notes: None,
            account: actor.account,
            plan: actor.plan,
            active_alerts: u32::try_from(active).unwrap_or(u32::MAX),
            time_zone: actor.time_zone.clone(),
        })
    }

    /// Counts the active alerts of an account.
    pub(crate) async fn count_active_alerts(&self, account: AccountId) -> Result<u64, StoreError> {
        let counts = self.ports.store.count_alerts(account).await?;
        let active = counts.iter().find(|(status, _)| *status == ::alerts::Status::Active);
        Ok(active.map_or(0, |(_, count)| *count))
    }
}

/// The gathered input of an analysis: everything that a [`AnalysisSubject`] borrows.
#[derive(Clone, Debug)]
pub(super) struct AnalysisInput {
    pub(super) request: AnalysisRequest,
    pub(super) price: CurrentPrice,
    pub(super) at: Timestamp,
    snapshot: Snapshot,
    earnings: Vec<Date>,
    dividends: Vec<Dividend>,
    stock_name: Option<String>,
    calendar: Calendar,
}

impl AnalysisInput {
    /// Gathers the present input. It waits for the engine, so do not call it on a request thread.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`] for a stock without a current price.
    pub(super) fn of(analysis: &StockAnalysis, request: AnalysisRequest) -> Result<Self, ServiceError> {
        let symbol = request.symbol;
        let snapshot = analysis.evaluator.snapshot(symbol);
        let current = snapshot
            .price
            .and_then(|observed| analysis.prices.as_current(symbol, observed));
        let price = current.ok_or_else(|| no_current_price(symbol, snapshot.price))?;
        let at = analysis.ports.clock.now();
        let today = new_york_date(at);
        let entry = analysis.catalog.get(symbol);
        let facts = entry.as_ref().map(|entry| &entry.facts);
        let earnings = facts.into_iter().flat_map(|facts| &facts.earnings);
        let dividends = facts.into_iter().flat_map(|facts| &facts.dividends);
        let dividends = dividends.filter(|dividend| dividend.ex_date >= today);
        Ok(Self {
            price,
            at,
            snapshot,
            earnings: earnings
                .map(|earnings| earnings.date)
                .filter(|&date| date >= today)
                .collect(),
            dividends: dividends
                .map(|dividend| Dividend {
                    ex_date: dividend.ex_date,
                    payment_date: dividend.payment_date,
                    amount: dividend.amount,
                })
                .collect(),
            stock_name: entry.as_ref().map(|entry| entry.row.name.clone()),
            calendar: analysis.settings.calendar.clone(),
            request,
        })
    }

    pub(super) fn subject(&self) -> AnalysisSubject<'_> {
        let request = &self.request;
        AnalysisSubject {
            symbol: request.symbol,
            intention: request.intention,
            price: self.price.price(),
            target_price: request.target_price,
            history: &self.snapshot.history,
            session_volume: self.snapshot.session_volume,
            earnings: &self.earnings,
            dividends: &self.dividends,
            plan: request.plan,
            active_alerts: request.active_alerts,
            context: ParseContext {
                now: self.at,
                time_zone: &request.time_zone,
                calendar: &self.calendar,
            },
        }
    }

    /// Calls `job` with the input of the model's prompt.
    pub(super) fn with_brief<T>(&self, analysis: &Analysis, job: impl FnOnce(&PromptInput<'_>) -> T) -> T {
        job(&PromptInput {
            subject: &self.subject(),
            analysis,
            stock_name: self.stock_name.as_deref(),
            notes: self.request.notes.as_deref(),
        })
    }
}

/// A stock that was analyzed by the rules: figures, and the resulting alerts.
#[derive(Debug)]
pub struct RuleAnalysis {
    pub(super) input: AnalysisInput,
    pub(super) rules: Advice,
}

impl RuleAnalysis {
    /// Runs the rules. The same input has the same result.
    pub(super) fn at(input: AnalysisInput) -> Self {
        let rules = ::analyst::advise(&input.subject());
        Self { input, rules }
    }

    /// Returns the request.
    #[must_use]
    pub const fn request(&self) -> &AnalysisRequest {
        &self.input.request
    }

    /// Returns the advice of the rules.
    #[must_use]
    pub const fn advice_by_rules(&self) -> &Advice {
        &self.rules
    }

    /// Returns the stock's price at the analysis, per today's share.
    #[must_use]
    pub const fn price(&self) -> Price {
        self.input.price.price()
    }

    /// Returns the instant of the analysis.
    #[must_use]
    pub const fn taken_at(&self) -> Timestamp {
        self.input.at
    }

    /// Returns the figures.
    #[must_use]
    pub const fn analysis(&self) -> &Analysis {
        &self.rules.analysis
    }

    /// Returns why alerts that were created at an instant and a price, per today's share, are stale now; `None` if they
    /// are not.
    #[must_use]
    pub fn staleness(&self, made_at: Timestamp, made_price: Price) -> Option<StaleReason> {
        StaleReason::of(made_at, made_price, &self.input.subject(), self.analysis())
    }
}
