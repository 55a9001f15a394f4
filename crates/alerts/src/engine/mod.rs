//! # The engine
//!
//! It is told what happens ([`Event`]) and as of when, and it answers what is to be done ([`Decision`]), each with
//! its reason. It has no clock, does no I/O and keeps no user's data beyond what judging needs; the same events give
//! the same decisions.
//!
//! ## Why it is fast
//!
//! Nearly every observation of nearly every stock changes nothing for anybody. So each stock has a *quiet band*: two
//! prices and a volume between which none of its alerts, of whatever family, can fire. An observation inside the
//! band costs one look at one cache line ([`hot_line`]) and is done, whether ten alerts wait or ten million. Only
//! who leaves the band is judged, in integers and exactly, against the alerts that stand first in line ([`group`]);
//! firing `k` of them costs `k` ([`level_index`]).
//!
//! ## The cast
//!
//! * [`group`]: what the alerts of a stock wait for, and the arithmetic that makes each of it a question of price or
//!   volume.
//! * [`stock`]: a stock's history and session; [`judge`]: its alerts judged, its quiet band drawn.
//! * [`reason`]: why an alert fired.
//! * [`facts`], [`buzz`]: what is known beside the price: dates, insiders, mentions.
//! * [`clock`]: what waits for an instant.
//! * [`arm`]: puts an alert where it waits, takes it away, moves it when its stock splits.
//! * [`registry`]: which alerts are armed.
//! * [`evaluation`]: why an alert cannot be judged at present; [`feeds`]: which kinds of data were delivered.
//! * [`figures`]: what is known of a stock, for showing.
//!
//! ## How it is driven
//!
//! One thread calls [`Engine::process`]; `now` never goes back. Before the observations of an instant, tell what
//! became known by then and call [`Event::Clock`]. An alert that fires is not judged any more (a daily reminder is):
//! should the firing not be committed, arm it again. [`Event::Armed`] of an alert that is armed already puts the new
//! revision in the place of the old.
//!
//! To restart, tell a new engine the bars, facts and [`SessionSoFar`]s, then [`Event::Clock`] with the last instant
//! that was processed, then arm the active alerts with their own `armed_at`. It goes on exactly where the old one
//! stopped.
//!
//! ## What is not promised
//!
//! A price that jumps over a level and back between two observations was never seen. Corrections of bars are taken
//! in, but what fired or not by the bar of before stays.

mod arm;
mod buzz;
mod clock;
mod decision;
mod evaluation;
mod event;
mod facts;
mod feeds;
mod figures;
mod group;
mod hot_line;
mod judge;
mod level_index;
mod reason;
mod registry;
mod stock;

pub use arm::after_split;
pub(crate) use arm::change_level;
pub use buzz::BuzzLevels;
pub use decision::{Decision, NotTaken, Verdict};
pub use evaluation::{Evaluation, NotJudged, StaleStock, State, Tally};
pub use event::{Dividend, Event, Feed, InsiderTrade, Quote, SessionSoFar, StockIx};
pub use reason::{InsiderNames, Reason};

use std::collections::BTreeSet;

use hashbrown::HashMap;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::calendar::new_york_date;
use market::day::day_number;
use market::{Calendar, Price, Symbol};

use feeds::FeedStates;
use group::Eps;
use hot_line::{HotLine, NO_DAY, seconds};
use level_index::Slot;
use registry::Registry;
use stock::Stock;

use crate::alert::{AlertId, Revision};

/// What can be set about judging.
#[derive(Clone, Debug)]
pub struct Settings {
    /// When discussion counts as risen or faded.
    pub buzz: BuzzLevels,
    /// A stock without an observation for so long during a session has stale quotes.
    pub stale_after: SignedDuration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            buzz: BuzzLevels::default(),
            stale_after: SignedDuration::from_mins(15),
        }
    }
}

/// Judges alerts. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Engine {
    settings: Settings,
    calendar: Calendar,
    gate: Option<Gate>,
    names: HashMap<Symbol, StockIx>,
    symbols: Vec<Symbol>,
    hot: Vec<HotLine>,
    stocks: Vec<Stock>,
    registry: Registry,
    /// The last instant that [`Event::Clock`] was processed with.
    clock: Timestamp,
    moments: BTreeSet<(Timestamp, Slot)>,
    /// Stocks of which something was armed or became known since their last observation.
    unsettled: Vec<StockIx>,
    /// Insider alerts that were armed since the last [`Event::Clock`].
    unjudged_insiders: Vec<Slot>,
    feeds: FeedStates,
}

/// The session that the last snapshot was in, so that the calendar is not asked at every one.
#[derive(Clone, Copy, Debug)]
struct Gate {
    date: Date,
    day: i32,
    from: Timestamp,
    to: Timestamp,
}

impl Engine {
    /// An engine that knows no stock and no alert.
    #[must_use]
    pub fn new(calendar: Calendar, settings: Settings) -> Self {
        Self {
            settings,
            calendar,
            gate: None,
            names: HashMap::new(),
            symbols: Vec::new(),
            hot: Vec::new(),
            stocks: Vec::new(),
            registry: Registry::default(),
            clock: Timestamp::MIN,
            moments: BTreeSet::new(),
            unsettled: Vec::new(),
            unjudged_insiders: Vec::new(),
            feeds: FeedStates::default(),
        }
    }

    /// The place of a stock, which it gets when it is first asked for.
    ///
    /// # Panics
    /// Beyond four billion stocks.
    pub fn stock(&mut self, symbol: Symbol) -> StockIx {
        if let Some(&stock) = self.names.get(&symbol) {
            return stock;
        }
        let stock = StockIx(u32::try_from(self.stocks.len()).expect("fewer than 2^32 stocks"));
        self.stocks.push(Stock::new());
        self.hot.push(HotLine::NEW);
        self.symbols.push(symbol);
        self.names.insert(symbol, stock);
        stock
    }

    /// The name of a stock of this engine.
    #[must_use]
    pub fn symbol(&self, stock: StockIx) -> Symbol {
        self.symbols[stock.0 as usize]
    }

    /// How many alerts are judged at present.
    #[must_use]
    pub fn armed_alerts(&self) -> usize {
        self.registry.armed()
    }

    /// How many alerts of each stock are armed, of those that have any. It looks at each of them.
    #[must_use]
    pub fn armed_per_stock(&self) -> Vec<(Symbol, usize)> {
        let mut counts = vec![0_usize; self.stocks.len()];
        for slot in self.registry.live() {
            counts[self.registry.watch(slot).stock.0 as usize] += 1;
        }
        let stocks = self.symbols.iter().copied().zip(counts);
        stocks.filter(|(_, count)| *count > 0).collect()
    }

    /// The revision of an alert that is judged at present.
    #[must_use]
    pub fn revision(&self, id: AlertId) -> Option<Revision> {
        self.registry.find(id).map(|slot| self.registry.identity(slot).1)
    }

    /// The ids of all alerts that are judged at present.
    pub fn armed_ids(&self) -> impl Iterator<Item = AlertId> {
        self.registry.live().map(|slot| self.registry.identity(slot).0)
    }

    /// The last observed price of a stock, per today's share.
    #[must_use]
    pub fn last_price(&self, symbol: Symbol) -> Option<Price> {
        let stock = self.names.get(&symbol)?;
        Stock::last_price(&self.hot[stock.0 as usize])
    }

    /// What was observed of a stock last: to be kept for [`Event::Resume`].
    #[must_use]
    pub fn session_so_far(&self, symbol: Symbol) -> Option<SessionSoFar> {
        let at = self.names.get(&symbol)?.0 as usize;
        self.stocks[at].session_so_far(&self.hot[at])
    }

    /// The completed sessions of a stock.
    #[must_use]
    pub fn history(&self, symbol: Symbol) -> Option<&market::History> {
        self.names
            .get(&symbol)
            .map(|stock| &self.stocks[stock.0 as usize].history)
    }

    /// Takes over all completed sessions of a stock as another engine knows them, in the place of its own: what that one
    /// would tell by so many [`Event::Bar`]s, without the loss of what its indicators remember of sessions it has forgotten.
    pub fn adopt_history(&mut self, symbol: Symbol, history: market::History) {
        let (stock, hot) = self.parts(symbol);
        stock.history = history;
        hot.unsettle();
        self.mark_unsettled(symbol);
    }

    /// Whether a stock has alerts that are judged by its observations.
    #[must_use]
    pub fn waits_for_price(&self, symbol: Symbol) -> bool {
        let stock = self.names.get(&symbol).map(|stock| &self.stocks[stock.0 as usize]);
        stock.is_some_and(|stock| !stock.groups.is_empty())
    }

    /// Checks that an observation of a stock at `now` is judged.
    ///
    /// # Errors
    /// [`NotTaken`] if the market is closed, or if a bar or an observation of a later session has completed the session.
    pub fn takes_observation(&self, stock: StockIx, now: Timestamp) -> Result<(), NotTaken> {
        let session = self.calendar.session_at(now).ok_or(NotTaken::MarketClosed)?;
        let at = stock.0 as usize;
        let is_over = self.hot.get(at).is_some_and(|hot| hot.day > day_number(session.date))
            || (self.stocks.get(at)).is_some_and(|stock| stock.is_completed(session.date));
        if is_over {
            Err(NotTaken::SessionCompleted { count: 1 })
        } else {
            Ok(())
        }
    }

    /// The instant of the next [`Event::Clock`] that will do something for an alert that waits for one.
    #[must_use]
    pub fn next_moment(&self) -> Option<Timestamp> {
        self.moments.first().map(|&(at, _)| at)
    }

    /// The memory that the ordered indexes of all stocks and their hot lines hold, in bytes.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        let groups = self.stocks.iter().flat_map(|stock| &stock.groups);
        let indexes: usize = groups
            .map(|group| size_of::<group::Group>() + group.index.bytes())
            .sum();
        indexes + self.hot.capacity() * size_of::<HotLine>()
    }

    /// Takes in what happened at `now` and adds what is to be done to `out`.
    ///
    /// # Errors
    /// [`NotTaken`] when the event changed nothing because it came at the wrong time; of a snapshot, the other
    /// observations were judged all the same.
    pub fn process(&mut self, event: Event<'_>, now: Timestamp, out: &mut Vec<Decision>) -> Result<(), NotTaken> {
        match event {
            Event::Snapshot(quotes) => return self.snapshot(quotes, now, out),
            Event::Clock => self.advance_clock(now, out),
            Event::Evaluate => self.evaluate_again(now, out),
            Event::Armed(alert) => self.arm(alert, now, out),
            Event::Disarmed(id) => return self.disarm(id),
            Event::Bar { symbol, bar } => {
                self.require_completed(bar.date, now)?;
                let (stock, hot) = self.parts(symbol);
                stock.record(hot, bar)?;
                self.mark_unsettled(symbol);
            }
            Event::Resume { symbol, session } => {
                let (stock, hot) = self.parts(symbol);
                stock.resume(hot, &session);
                self.mark_unsettled(symbol);
            }
            Event::Fundamentals {
                symbol,
                eps_ttm,
                eps_forward,
            } => {
                let (stock, hot) = self.parts(symbol);
                let micros = |eps: Option<market::Decimal>| eps.map(market::Decimal::micros);
                stock.eps = Eps {
                    trailing: micros(eps_ttm),
                    forward: micros(eps_forward),
                };
                hot.unsettle();
                self.mark_unsettled(symbol);
                self.note_delivery(Feed::Fundamentals, eps_ttm.or(eps_forward).is_some());
            }
            Event::Earnings { symbol, dates } => {
                self.note_delivery(Feed::Earnings, !dates.is_empty());
                self.facts(symbol, now, |facts| facts.set_earnings(dates));
            }
            Event::Dividends { symbol, dividends } => {
                self.note_delivery(Feed::Dividends, !dividends.is_empty());
                self.facts(symbol, now, |facts| facts.set_dividends(dividends));
            }
            Event::Split { symbol, ratio } => self.split(symbol, ratio, now, out),
            Event::InsiderTrades { symbol, trades } => {
                self.note_delivery(Feed::Insiders, !trades.is_empty());
                self.insiders_traded(symbol, trades, now, out);
            }
            Event::InsiderTradesAnew { symbol, trades } => {
                let (stock, _) = self.parts(symbol);
                stock.facts.get_or_insert_default().forget_trades();
                self.insiders_traded(symbol, trades, now, out);
            }
            Event::Mentions { symbol, hour, count } => {
                self.feeds.deliver(Feed::Mentions);
                self.mentioned(symbol, (hour, count), now, out);
            }
            Event::Feed { feed, lost: true } => self.feeds.lose(feed),
            Event::Feed { feed, lost: false } => self.feeds.restore(feed),
        }
        Ok(())
    }

    fn note_delivery(&mut self, feed: Feed, has_data: bool) {
        if has_data {
            self.feeds.deliver(feed);
        }
    }

    fn snapshot(&mut self, quotes: &[Quote], now: Timestamp, out: &mut Vec<Decision>) -> Result<(), NotTaken> {
        let Some(Gate { date, day, .. }) = self.open_gate(now) else {
            return Err(NotTaken::MarketClosed);
        };
        let (mut too_late, now_s) = (0, seconds(now));
        for quote in quotes {
            let at = quote.stock.0 as usize;
            let Some(hot) = self.hot.get_mut(at) else {
                continue;
            };
            if !hot.stays_quiet(quote, day, now_s)
                && !self.stocks[at].observe(hot, quote, (date, day), now, &mut self.registry, out)
            {
                too_late += 1;
            }
        }
        if too_late > 0 {
            Err(NotTaken::SessionCompleted { count: too_late })
        } else {
            Ok(())
        }
    }

    /// The session that is open at `now`.
    fn open_gate(&mut self, now: Timestamp) -> Option<Gate> {
        if let Some(gate) = self.gate.filter(|gate| gate.from <= now && now <= gate.to) {
            return Some(gate);
        }
        let session = self.calendar.session_at(now)?;
        // A market that never closes changes its date at midnight, which only the calendar knows.
        let (from, to) = if self.calendar.is_always_open() {
            (now, now)
        } else {
            (session.open, session.close)
        };
        let gate = Gate {
            date: session.date,
            day: day_number(session.date),
            from,
            to,
        };
        self.gate = Some(gate);
        Some(gate)
    }

    /// A bar counts once its session has ended.
    fn require_completed(&self, date: Date, now: Timestamp) -> Result<(), NotTaken> {
        let completed = if self.calendar.is_always_open() {
            date < new_york_date(now)
        } else {
            self.calendar.session(date).is_some_and(|session| session.close <= now)
        };
        if completed {
            Ok(())
        } else {
            Err(NotTaken::NoCompletedSession { date })
        }
    }

    fn parts(&mut self, symbol: Symbol) -> (&mut Stock, &mut HotLine) {
        let at = self.stock(symbol).0 as usize;
        (&mut self.stocks[at], &mut self.hot[at])
    }

    fn mark_unsettled(&mut self, symbol: Symbol) {
        let at = self.stock(symbol);
        let stock = &mut self.stocks[at.0 as usize];
        if !std::mem::replace(&mut stock.is_unsettled, true) {
            self.unsettled.push(at);
        }
    }

    /// Whether the last observation of a stock is recent enough for an alert to be judged by it again.
    fn is_fresh(&self, at: usize, now: Timestamp) -> bool {
        now.duration_since(self.hot[at].last_at()) <= self.settings.stale_after
    }

    fn evaluate_again(&mut self, now: Timestamp, out: &mut Vec<Decision>) {
        let day = self.open_gate(now).map_or(NO_DAY, |gate| gate.day);
        for stock in std::mem::take(&mut self.unsettled) {
            let at = stock.0 as usize;
            self.stocks[at].is_unsettled = false;
            // An old price does not fire: the next observation judges.
            if day != NO_DAY && self.is_fresh(at, now) {
                self.stocks[at].judge_again(&mut self.hot[at], day, now, &mut self.registry, out);
            }
        }
        self.judge_armed_insiders(now, out);
        self.registry.reclaim();
    }
}
