//! # The engine
//!
//! The engine processes events ([`Event`]) as of an instant and returns decisions ([`Decision`]) with their reasons. It has no
//! clock, does no I/O, and keeps only the data that evaluation needs. The same events produce the same decisions.
//!
//! ## Performance
//!
//! Nearly every observation of nearly every stock fires nothing. So each stock has a *quiet band*: two prices and a volume
//! between which none of its alerts, of any family, can fire. An observation inside the band and the session's extremes reads half
//! a cache line ([`hot_lines`]), and a new extreme a line more ([`hot_line`]), whether ten alerts wait or ten million. An
//! observation outside the band is evaluated exactly, in integers, against the alerts that are first in order ([`group`]). Firing
//! `k` alerts costs `k` ([`level_index`]).
//!
//! ## Modules
//!
//! * [`group`]: the triggers of a stock's alerts, and the arithmetic that reduces each of them to a price or a volume.
//! * [`stock`]: a stock's history and session; [`observe`]: the evaluation of its alerts and its quiet band.
//! * [`reason`]: the reasons of firings.
//! * [`facts`], [`buzz`]: data besides the price: dates, insider trades, mentions.
//! * [`clock`]: alerts that wait for an instant.
//! * [`arm`]: arms, disarms and, after a split, adjusts alerts.
//! * [`registry`]: the armed alerts; [`level_key`]: their levels.
//! * [`rules`]: expressions, and all alerts with options: their quiet bands, judgements, facts and splits.
//! * [`evaluation`]: the evaluation status of alerts; [`feeds`]: the delivered kinds of data.
//! * [`sessions`]: cached sessions of the calendar.
//! * [`extended_hours`]: the newest price of a stock outside its session.
//! * [`figures`]: the figures of a stock, for display; [`inspect`]: questions about the engine's state.
//!
//! ## Usage
//!
//! One thread calls [`Engine::process`]; `now` never decreases. Before the observations of an instant, process the facts known
//! by then and [`Event::Clock`]. An alert that fires is disarmed (except a daily reminder): if the firing is not committed, arm
//! it again. [`Event::Armed`] of an armed alert replaces its revision.
//!
//! To restart, pass a new engine the bars, facts and [`ObservedSession`]s, then [`Event::Clock`] with the last processed
//! instant, then arm the active alerts with their original `armed_at`. The engine continues exactly where the old one stopped.
//!
//! ## Limits
//!
//! A price that crosses a level and returns between two observations is not seen. Corrections of bars are applied, but decisions
//! based on the earlier bar are not revised.

mod arm;
mod blind_stocks;
mod buzz;
mod clock;
mod decision;
mod evaluation;
pub(crate) mod event;
mod extended_hours;
mod facts;
mod feeds;
mod figures;
mod group;
mod hot_line;
mod hot_lines;
mod inspect;
mod level_index;
mod level_key;
mod observe;
mod reason;
mod registry;
mod rules;
mod sessions;
mod stock;

pub use arm::after_split;
pub use blind_stocks::BlindStock;
pub use buzz::BuzzThresholds;
pub use decision::{AlertAction, Decision, EventError};
pub use evaluation::{Evaluation, EvaluationCounts, EvaluationIssue, EvaluationStatus, StaleStock};
pub use event::{
    Dividend, Event, ExtendedPrice, ExtendedQuote, Feed, InsiderTrade, ObservedSession, Quote, QuoteDetails, StockIndex,
};
pub(crate) use level_key::change_level;
pub use reason::{InsiderNames, Reason};
pub use rules::{ExplainedTerm, Explanation, RuleReason, TermSource};

use std::collections::BTreeSet;

use hashbrown::HashMap;
use jiff::{SignedDuration, Timestamp};
use market::{Calendar, Symbol};

use feeds::FeedStates;
use hot_line::{HotLine, NO_DAY, seconds};
use hot_lines::HotLines;
use level_index::Slot;
use registry::Registry;
use rules::ArmedRules;
use sessions::{CachedSession, CachedSessions};
use stock::Stock;

use crate::metrics::FundamentalFigures;
use crate::metrics::MetricDependency;

/// The configuration of the evaluation.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// The thresholds of rising and falling discussion.
    pub buzz: BuzzThresholds,
    /// The time without an observation during a session after which a stock's quotes are stale.
    pub stale_after: SignedDuration,
    /// Whether the source may deliver prices of extended hours. Without them, alerts that are judged in these hours report it.
    pub has_extended_hours: bool,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            buzz: BuzzThresholds::default(),
            stale_after: SignedDuration::from_mins(15),
            has_extended_hours: true,
        }
    }
}

/// The evaluation engine. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Engine {
    config: EngineConfig,
    calendar: Calendar,
    sessions: CachedSessions,
    indices: HashMap<Symbol, StockIndex>,
    symbols: Vec<Symbol>,
    hot: HotLines,
    stocks: Vec<Stock>,
    registry: Registry,
    rules: ArmedRules,
    /// The instant of the last processed [`Event::Clock`].
    clock: Timestamp,
    moments: BTreeSet<(Timestamp, Slot)>,
    /// The stocks for which an alert was armed, or data arrived, since their last observation.
    unsettled: Vec<StockIndex>,
    /// The insider alerts that were armed since the last [`Event::Clock`].
    unevaluated_insiders: Vec<Slot>,
    feeds: FeedStates,
}

impl Engine {
    /// Creates an engine without stocks and alerts.
    #[must_use]
    pub fn new(calendar: Calendar, config: EngineConfig) -> Self {
        Self {
            config,
            calendar,
            sessions: CachedSessions::default(),
            indices: HashMap::new(),
            symbols: Vec::new(),
            hot: HotLines::new(),
            stocks: Vec::new(),
            registry: Registry::default(),
            rules: ArmedRules::default(),
            clock: Timestamp::MIN,
            moments: BTreeSet::new(),
            unsettled: Vec::new(),
            unevaluated_insiders: Vec::new(),
            feeds: FeedStates::default(),
        }
    }

    /// Returns the index of a stock. The first call for a symbol adds the stock.
    ///
    /// # Panics
    /// Panics beyond 2³² stocks.
    pub fn stock(&mut self, symbol: Symbol) -> StockIndex {
        if let Some(&stock) = self.indices.get(&symbol) {
            return stock;
        }
        let stock = StockIndex(u32::try_from(self.stocks.len()).expect("fewer than 2^32 stocks"));
        self.stocks.push(Stock::new());
        self.hot.push();
        self.symbols.push(symbol);
        self.indices.insert(symbol, stock);
        stock
    }

    /// Returns the symbol of a stock.
    #[must_use]
    pub fn symbol(&self, stock: StockIndex) -> Symbol {
        self.symbols[stock.0 as usize]
    }

    /// Replaces the completed sessions of a stock with those of another engine. Unlike the same number of [`Event::Bar`]s, this
    /// keeps the indicators' memory of sessions that were already dropped.
    pub fn replace_history(&mut self, symbol: Symbol, history: market::History) {
        self.change_stock(symbol, |stock, hot| {
            stock.history = history;
            hot.unsettle();
        });
        self.mark_unsettled(symbol);
    }

    /// Processes an event at `now` and appends the decisions to `out`.
    ///
    /// # Errors
    /// [`EventError`] if the event was ignored because of its time. The other observations of a snapshot are still evaluated.
    pub fn process(&mut self, event: Event<'_>, now: Timestamp, out: &mut Vec<Decision>) -> Result<(), EventError> {
        match event {
            Event::Snapshot(quotes) => return self.snapshot(quotes, now, out),
            Event::QuoteDetails(details) => self.set_details(details, now),
            Event::ExtendedSnapshot(quotes) => return self.observe_extended_hours(quotes, now, out),
            Event::Clock => self.advance_clock(now, out),
            Event::Evaluate => self.evaluate_unsettled(now, out),
            Event::Armed(alert) => self.arm(alert, now, out),
            Event::Loaded(alert) => self.arm_active(alert, now, out),
            Event::TakenOver { alert, evaluated_until } => self.take_over(alert, evaluated_until, now, out),
            Event::Disarmed(id) if self.disarm_rule(id) => {}
            Event::Disarmed(id) => return self.disarm(id),
            Event::Bar { symbol, bar } => {
                self.sessions.require_completed(&self.calendar, bar.date, now)?;
                self.judge_closes_of(symbol, now, out);
                self.change_stock(symbol, |stock, hot| stock.record(hot, bar))?;
                self.mark_unsettled(symbol);
            }
            Event::Resume { symbol, session } => {
                self.change_stock(symbol, |stock, hot| stock.resume(hot, &session));
                self.mark_unsettled(symbol);
            }
            Event::ResumeExtended { symbol, newest } => self.resume_extended_hours(symbol, newest),
            Event::Fundamentals { symbol, figures } => {
                self.change_stock(symbol, |stock, hot| {
                    stock.fundamentals = figures;
                    hot.unsettle();
                });
                self.mark_unsettled(symbol);
                self.record_delivery(Feed::Fundamentals, figures != FundamentalFigures::default());
                self.judge_fact(symbol, MetricDependency::Fundamentals, now, out);
            }
            Event::Earnings { symbol, dates } => {
                self.record_delivery(Feed::Earnings, !dates.is_empty());
                self.facts(symbol, now, |facts| facts.set_earnings(dates));
                self.judge_fact(symbol, MetricDependency::EarningsDates, now, out);
            }
            Event::Dividends { symbol, dividends } => {
                self.record_delivery(Feed::Dividends, !dividends.is_empty());
                self.facts(symbol, now, |facts| facts.set_dividends(dividends));
                self.judge_fact(symbol, MetricDependency::DividendDates, now, out);
            }
            Event::Split { symbol, ratio } => self.split(symbol, ratio, now, out),
            Event::KnownSplits { symbol, splits } => {
                self.change_stock(symbol, |stock, hot| {
                    stock.splits = splits.to_vec();
                    hot.unsettle();
                });
                self.mark_unsettled(symbol);
            }
            Event::InsiderTrades { symbol, trades } => self.insider_trades(symbol, trades, now, out),
            Event::InsiderTradesReplaced { symbol, trades } => {
                let stock = self.stock(symbol);
                self.facts_mut(stock).clear_trades();
                self.insider_trades(symbol, trades, now, out);
            }
            Event::Mentions { symbol, hour, count } => {
                self.feeds.deliver(Feed::Mentions);
                self.mentioned(symbol, (hour, count), now, out);
                self.judge_fact(symbol, MetricDependency::Mentions, now, out);
            }
            Event::Feed { feed, lost: true } => self.feeds.lose(feed),
            Event::Feed { feed, lost: false } => self.feeds.restore(feed),
        }
        Ok(())
    }

    fn insider_trades(&mut self, symbol: Symbol, trades: &[InsiderTrade], now: Timestamp, out: &mut Vec<Decision>) {
        let are_first = !self.feeds.has_delivered(Feed::Insiders);
        self.record_delivery(Feed::Insiders, !trades.is_empty());
        self.insiders_traded(symbol, trades, now, out);
        if are_first {
            self.judge_first_insider_trades(now, out);
        } else {
            self.judge_fact(symbol, MetricDependency::InsiderTrades, now, out);
        }
    }

    fn record_delivery(&mut self, feed: Feed, has_data: bool) {
        if has_data {
            self.feeds.deliver(feed);
        }
    }

    fn snapshot(&mut self, quotes: &[Quote], now: Timestamp, out: &mut Vec<Decision>) -> Result<(), EventError> {
        let Some(CachedSession { date, day, .. }) = self.sessions.at(&self.calendar, now) else {
            return Err(EventError::MarketClosed);
        };
        let (mut too_late, now_s) = (0, seconds(now));
        let mut observed = BTreeSet::new();
        let mut rest = quotes;
        while let Some((quote, later)) = self.hot.record_quiet(rest, day, now_s) {
            rest = later;
            let at = quote.stock.0 as usize;
            let observe =
                |hot: &mut HotLine| self.stocks[at].observe(hot, quote, (date, day), now, &mut self.registry, out);
            if !self.hot.update(at, observe) {
                too_late += 1;
            } else if !self.stocks[at].rules.is_empty() {
                observed.insert(quote.stock);
            }
        }
        self.judge_observed(&observed, now, out);
        if too_late > 0 {
            Err(EventError::SessionCompleted { count: too_late })
        } else {
            Ok(())
        }
    }

    fn set_details(&mut self, details: &[QuoteDetails], now: Timestamp) {
        let Some(CachedSession { day, .. }) = self.sessions.at(&self.calendar, now) else {
            return;
        };
        for new in details {
            if let Some(stock) = self.stocks.get_mut(new.stock.0 as usize) {
                stock.set_details(day, new);
            }
        }
    }

    /// Changes a stock. A symbol without a stock gets one.
    fn change_stock<T>(&mut self, symbol: Symbol, change: impl FnOnce(&mut Stock, &mut HotLine) -> T) -> T {
        let at = self.stock(symbol).0 as usize;
        self.hot.update(at, |hot| change(&mut self.stocks[at], hot))
    }

    fn mark_unsettled(&mut self, symbol: Symbol) {
        let at = self.stock(symbol);
        self.mark_stock_unsettled(at);
    }

    fn mark_stock_unsettled(&mut self, at: StockIndex) {
        let stock = &mut self.stocks[at.0 as usize];
        stock.rules.mark_all_due();
        if !std::mem::replace(&mut stock.is_unsettled, true) {
            self.unsettled.push(at);
        }
    }

    /// Returns whether the last observation of a stock is recent enough to be evaluated again.
    fn is_fresh(&self, at: usize, now: Timestamp) -> bool {
        now.duration_since(self.hot.get(at).last_at()) <= self.config.stale_after
    }

    fn evaluate_unsettled(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        let day = self
            .sessions
            .at(&self.calendar, now)
            .map_or(NO_DAY, |session| session.day);
        let is_extended = day == NO_DAY && self.calendar.extended_hours_at(now).is_some();
        // Taken first: a rule that is re-armed now is judged at the next evaluation.
        let rearmed = self.rules.take_rearmed();
        let mut judged = BTreeSet::new();
        for stock in std::mem::take(&mut self.unsettled) {
            let at = stock.0 as usize;
            self.stocks[at].is_unsettled = false;
            // A stale price does not fire. The next observation is evaluated.
            if day != NO_DAY && self.is_fresh(at, now) {
                let reevaluate = |hot: &mut HotLine| self.stocks[at].reevaluate(hot, day, now, &mut self.registry, out);
                self.hot.update(at, reevaluate);
                self.rejudge(stock, now, &mut judged, out);
            } else if is_extended {
                self.rejudge_in_extended_hours(stock, now, &mut judged, out);
            }
        }
        for slot in rearmed.difference(&judged) {
            if day != NO_DAY {
                self.judge_rearmed(*slot, now, out);
            } else if is_extended {
                self.judge_rearmed_in_extended_hours(*slot, now, out);
            }
        }
        self.judge_armed_fact_rules(now, out);
        self.evaluate_armed_insiders(now, out);
        self.registry.reclaim();
    }
}
