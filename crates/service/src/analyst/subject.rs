//! What the analyst looks at, gathered from engine, catalog and calendar.

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
use crate::evaluator::Snapshot;
use crate::prices::no_current_price;
use crate::{AccountId, Actor, ServiceError};

/// A stock that somebody wants looked at.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The stock.
    pub symbol: Symbol,
    /// What they mean to do with it.
    pub intention: Intention,
    /// The price at which they mean to do it, per today's share.
    pub target_price: Option<Price>,
    /// What they wrote about it.
    pub notes: Option<String>,
    /// For which account.
    pub account: AccountId,
    /// What it pays for.
    pub plan: Plan,
    /// How many of its alerts are active, those left out that will make room for the proposals.
    pub active_alerts: u32,
    /// The zone its owner's clocks show.
    pub time_zone: TimeZone,
}

impl StockAnalysis {
    /// A stock that the actor wants looked at, without notes.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub async fn wish_of(
        &self,
        actor: &Actor,
        symbol: Symbol,
        intention: Intention,
        target_price: Option<Price>,
    ) -> Result<Wish, ServiceError> {
        let counts = self.ports.store.count_alerts(actor.account).await?;
        let active = counts
            .iter()
            .find(|(status, _)| *status == ::alerts::Status::Active)
            .map_or(0, |(_, count)| *count);
        Ok(Wish {
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
}

/// A stock as it was looked at: all that an [`AnalysisSubject`] borrows.
#[derive(Clone, Debug)]
pub(super) struct Sitting {
    pub(super) wish: Wish,
    pub(super) price: CurrentPrice,
    pub(super) at: Timestamp,
    snapshot: Snapshot,
    earnings: Vec<Date>,
    dividends: Vec<Dividend>,
    stock_name: Option<String>,
    calendar: Calendar,
}

impl Sitting {
    /// Gathers what is known of a stock now. It waits for the engine, so it is no work for a thread that answers requests.
    ///
    /// # Errors
    /// [`ServiceError::Unavailable`] for a stock without a current price.
    pub(super) fn of(analysis: &StockAnalysis, wish: Wish) -> Result<Self, ServiceError> {
        let symbol = wish.symbol;
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
            wish,
        })
    }

    pub(super) fn subject(&self) -> AnalysisSubject<'_> {
        let wish = &self.wish;
        AnalysisSubject {
            symbol: wish.symbol,
            intention: wish.intention,
            price: self.price.price(),
            target_price: wish.target_price,
            history: &self.snapshot.history,
            session_volume: self.snapshot.session_volume,
            earnings: &self.earnings,
            dividends: &self.dividends,
            plan: wish.plan,
            active_alerts: wish.active_alerts,
            context: ParseContext {
                now: self.at,
                time_zone: &wish.time_zone,
                calendar: &self.calendar,
            },
        }
    }

    /// Does something with what a model is told.
    pub(super) fn with_brief<T>(&self, analysis: &Analysis, job: impl FnOnce(&PromptInput<'_>) -> T) -> T {
        job(&PromptInput {
            subject: &self.subject(),
            analysis,
            stock_name: self.stock_name.as_deref(),
            notes: self.wish.notes.as_deref(),
        })
    }
}

/// A stock that was looked at by the rules: figures, and the alerts that follow from them.
#[derive(Debug)]
pub struct Look {
    pub(super) sitting: Sitting,
    pub(super) rules: Advice,
}

impl Look {
    /// By the rules. The same sitting gets the same look.
    pub(super) fn at(sitting: Sitting) -> Self {
        let rules = ::analyst::advise(&sitting.subject());
        Self { sitting, rules }
    }

    /// What was wished for.
    #[must_use]
    pub const fn wish(&self) -> &Wish {
        &self.sitting.wish
    }

    /// The price that the stock had, per today's share.
    #[must_use]
    pub const fn price(&self) -> Price {
        self.sitting.price.price()
    }

    /// When it was looked at.
    #[must_use]
    pub const fn taken_at(&self) -> Timestamp {
        self.sitting.at
    }

    /// The figures.
    #[must_use]
    pub const fn analysis(&self) -> &Analysis {
        &self.rules.analysis
    }

    /// Whether alerts that were made at an instant and at a price, per today's share, are stale by now.
    #[must_use]
    pub fn stale_since(&self, made_at: Timestamp, made_price: Price) -> Option<StaleReason> {
        StaleReason::of(made_at, made_price, &self.sitting.subject(), self.analysis())
    }
}
