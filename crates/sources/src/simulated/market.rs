//! The simulated market, which advances from instant to instant.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::{new_york, new_york_date};
use market::records::{Batch, StockRow};
use market::{Bar, Calendar, Price, Symbol};
use rand::Rng;

use super::companies::{companies, funds};
use super::news::{NewsContext, hours};
use super::numbers::count;
use super::random::{self, DrawKind, EntityId, happens, normal};
use super::stock::{MarketStep, SESSIONS_PER_YEAR, SimulatedStock, VolatilityCluster};
use crate::MarketUpdate;

/// The volatility of the market per year, as a fraction.
const MARKET_VOLATILITY_PER_YEAR: f64 = 0.15;
/// The part of the variance that occurs overnight.
const MARKET_OVERNIGHT_VARIANCE: f64 = 0.2;
/// The trend of the market per session, as a logarithm.
const MARKET_TREND_PER_SESSION: f64 = 0.0003;
/// The average number of random events per second in a lively market.
const MARKET_EVENTS_PER_SECOND: f64 = 1.0 / 40.0;

/// The configuration of the simulated market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulationConfig {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of companies without the index funds. The first twenty are always the same.
    pub companies: usize,
    /// The days of history of a new market.
    pub history_days: u16,
    /// The interval between two quotes of all stocks.
    pub pace: SignedDuration,
    /// Whether prices swing so much within a minute that alerts a percent or two away fire, with occasional random events,
    /// for demos.
    pub lively: bool,
}

impl Default for SimulationConfig {
    /// Twenty companies with two years of history, quoted every second, as calm as a real market.
    fn default() -> Self {
        Self {
            seed: 7,
            companies: 20,
            history_days: 740,
            pace: SignedDuration::from_secs(1),
            lively: false,
        }
    }
}

/// The state of the market in an earlier run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMarket {
    /// The time of the state.
    pub at: Timestamp,
    /// The state of each stock. Stocks that are missing here start anew, with a history.
    pub stocks: BTreeMap<Symbol, SavedStock>,
}

/// The state of a stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedStock {
    /// The last price.
    pub price: Price,
    /// The session in progress, so far.
    pub today: Option<Bar>,
}

/// The market, simulated up to an instant. The same configuration, calendar and instants give the same market.
#[derive(Debug, Clone)]
pub struct SimulatedMarket {
    config: SimulationConfig,
    calendar: Calendar,
    now: Timestamp,
    /// The first day with counts of mentions.
    mentions_from: Date,
    volatility: VolatilityCluster,
    /// The market's shock in the current session, in usual deviations.
    market_shock: f64,
    stocks: Vec<SimulatedStock>,
    /// The mentions in addition to the usual ones, by the beginning of their hour.
    extra_mentions: BTreeMap<(EntityId, Timestamp), u32>,
}

impl SimulatedMarket {
    /// Creates a market at the beginning of `from`, without history.
    pub(super) fn new(config: SimulationConfig, calendar: &Calendar, from: Date, with_funds: bool) -> Self {
        let companies = companies(config.seed, config.companies);
        // The benchmark comes first and the other funds last, so that the companies are the same as without funds.
        let mut funds = funds().filter(|_| with_funds);
        let everything = funds.next().into_iter().chain(companies).chain(funds);
        Self {
            config,
            calendar: calendar.clone(),
            now: new_york(from, 0, 0),
            mentions_from: from,
            volatility: VolatilityCluster::default(),
            market_shock: 0.0,
            stocks: (1..)
                .zip(everything)
                .map(|(entity, company)| SimulatedStock::new(entity, company))
                .collect(),
            extra_mentions: BTreeMap::new(),
        }
    }

    /// Creates the market at `now`. Also returns its history: the catalog, the whole history of stocks without saved state,
    /// and the time since then for the others.
    #[must_use]
    pub fn begin(
        config: SimulationConfig,
        calendar: &Calendar,
        saved: Option<&SavedMarket>,
        now: Timestamp,
    ) -> (Self, Vec<MarketUpdate>) {
        let nothing = BTreeMap::new();
        let (at, stocks) = saved.map_or((now, &nothing), |saved| (saved.at.min(now), &saved.stocks));
        let days_before = |days: u16| new_york_date(at).saturating_sub(Span::new().days(i64::from(days)));
        let mut market = Self::new(config, calendar, days_before(config.history_days), true);
        market.mentions_from = days_before(config.history_days.min(30));
        let mut past = market.catch_up(at);
        for update in &mut past {
            update.batch.retain(|symbol| !stocks.contains_key(&symbol));
        }
        market.resume(stocks, at);
        past.extend(market.catch_up(now));
        let mut catalog = Batch::default();
        catalog.stocks.extend(market.catalog());
        let begun = past.first().map_or(now, |update| update.at);
        let mut updates = vec![MarketUpdate::history(begun, catalog)];
        updates.extend(past.into_iter().filter(|update| !update.batch.is_empty()));
        (market, updates)
    }

    /// Returns the catalog.
    pub(super) fn catalog(&self) -> impl Iterator<Item = StockRow> {
        self.stocks.iter().map(|stock| stock.company.row())
    }

    fn resume(&mut self, saved: &BTreeMap<Symbol, SavedStock>, at: Timestamp) {
        let current_date = self.calendar.session_at(at).map(|session| session.date);
        for stock in &mut self.stocks {
            if let Some(last) = saved.get(&stock.company.symbol) {
                stock.resume(last.price, last.today.filter(|bar| Some(bar.date) == current_date));
            }
        }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> SimulationConfig {
        self.config
    }

    /// Advances to `now` and returns the new data: news, completed sessions, and the quotes of all stocks during a session.
    /// Returns nothing if `now` has passed already.
    #[must_use]
    pub fn step(&mut self, now: Timestamp) -> Batch {
        let mut batch = Batch::default();
        let after = self.now;
        if now <= after {
            return batch;
        }
        let mut date = new_york_date(after);
        while date <= new_york_date(now) {
            let Ok(tomorrow) = date.tomorrow() else { break };
            self.simulate_day(date, (after, now.min(new_york(tomorrow, 0, 0))), &mut batch);
            date = tomorrow;
        }
        self.now = now;
        if self.calendar.session_at(now).is_some() {
            self.add_quotes(now, &mut batch);
        }
        batch
    }

    /// Advances to `to` day by day.
    pub(super) fn catch_up(&mut self, to: Timestamp) -> Vec<MarketUpdate> {
        let mut updates = Vec::new();
        while self.now < to {
            let midnight = new_york_date(self.now).tomorrow().map_or(to, |day| new_york(day, 0, 0));
            let at = midnight.min(to);
            let mut batch = self.step(at);
            if at < to {
                // The bars contain the prices on the way.
                batch.quotes.clear();
            }
            updates.push(MarketUpdate::history(at, batch));
        }
        updates
    }

    /// Simulates `date` after the first instant of `span` and until the second.
    fn simulate_day(&mut self, date: Date, span: (Timestamp, Timestamp), batch: &mut Batch) {
        let midnight = new_york(date, 0, 0);
        if span.0 < midnight && midnight <= span.1 {
            self.apply_splits(date, batch);
        }
        let today = (span.0.max(midnight), span.1);
        for stock in &self.stocks {
            let context = self.context(stock);
            context.publish(date, span, batch);
            if stock.company.has_mentions && date >= self.mentions_from {
                for hour in hours(today) {
                    let mut row = context.mentions(hour, new_york_date(hour));
                    row.mentions += self.extra_mentions.get(&(stock.entity, hour)).copied().unwrap_or(0);
                    batch.mentions.push(row);
                }
            }
        }
        self.extra_mentions
            .retain(|&(_, hour), _| hour >= today.1 - SignedDuration::from_hours(2));
        self.simulate_session(date, span, batch);
    }

    fn context<'a>(&'a self, stock: &'a SimulatedStock) -> NewsContext<'a> {
        NewsContext {
            seed: self.config.seed,
            entity: stock.entity,
            company: &stock.company,
            calendar: &self.calendar,
            price: stock.price(),
        }
    }

    fn apply_splits(&mut self, date: Date, batch: &mut Batch) {
        let splits = self.stocks.iter().map(|stock| self.context(stock).split(date));
        let splits: Vec<_> = splits.collect();
        for (stock, split) in self.stocks.iter_mut().zip(splits) {
            if let Some(split) = split {
                stock.split(split.ratio.as_f64());
                batch.splits.push(split);
            }
        }
    }

    /// Returns the trading hours on `date`; the whole day if the market never closes.
    fn hours(&self, date: Date) -> Option<(Timestamp, Timestamp)> {
        let session = self.calendar.session(date)?;
        if self.calendar.is_always_open() {
            return Some((new_york(date, 0, 0), new_york(date.tomorrow().ok()?, 0, 0)));
        }
        Some((session.open, session.close))
    }

    fn simulate_session(&mut self, date: Date, (after, to): (Timestamp, Timestamp), batch: &mut Batch) {
        let Some((start, end)) = self.hours(date).filter(|&(start, end)| to >= start && after < end) else {
            return;
        };
        let length = end.duration_since(start).as_secs_f64();
        let progress = |at: Timestamp| (at.duration_since(start).as_secs_f64() / length).clamp(0.0, 1.0);
        let (from, until) = (after.max(start), to.min(end));
        self.open_sessions(date, progress(from));
        if until > from {
            let mut step = MarketStep {
                seed: self.config.seed,
                moment: until.as_microsecond(),
                progress: (progress(from), progress(until)),
                seconds: until.duration_since(from).as_secs_f64(),
                market_return: 0.0,
                lively: self.config.lively,
            };
            step.market_return = self.draw_market_return(&step);
            for stock in &mut self.stocks {
                stock.advance(&step);
            }
            if step.lively && step.is_quoted() {
                self.publish_random_event(date, until, &step, batch);
            }
            if to >= end && step.is_quoted() && !self.calendar.is_always_open() {
                self.add_quotes(end, batch);
            }
        }
        if to >= end {
            batch
                .bars
                .extend(self.stocks.iter_mut().filter_map(SimulatedStock::close));
            self.volatility.update(std::mem::take(&mut self.market_shock));
        }
    }

    /// Opens the session of the stocks that are not in it.
    fn open_sessions(&mut self, date: Date, progress: f64) {
        let mut rng = random::on(self.config.seed, DrawKind::OvernightGap, 0, date);
        let shock = MARKET_OVERNIGHT_VARIANCE.sqrt() * self.volatility.deviation() * normal(&mut rng);
        let closed = |stock: &SimulatedStock| stock.session.as_ref().is_none_or(|session| session.date != date);
        let reports: BTreeSet<EntityId> = self
            .stocks
            .iter()
            .filter(|stock| closed(stock) && self.context(stock).reports_on(date))
            .map(|stock| stock.entity)
            .collect();
        if progress <= 0.0 && self.stocks.iter().any(closed) {
            self.market_shock = shock;
        }
        let market_return = shock * MARKET_VOLATILITY_PER_YEAR / SESSIONS_PER_YEAR.sqrt();
        for stock in self.stocks.iter_mut().filter(|stock| closed(stock)) {
            let reports = reports.contains(&stock.entity);
            stock.open(self.config.seed, date, progress, market_return, reports);
        }
    }

    /// Draws the market's return in a step, as a logarithm.
    fn draw_market_return(&mut self, step: &MarketStep) -> f64 {
        let mut rng = random::of(step.seed, DrawKind::PriceStep, 0, step.moment);
        let part = (step.progress.1 - step.progress.0).max(0.0);
        let shock = self.volatility.deviation() * ((1.0 - MARKET_OVERNIGHT_VARIANCE) * part).sqrt() * normal(&mut rng);
        self.market_shock += shock;
        shock * MARKET_VOLATILITY_PER_YEAR / SESSIONS_PER_YEAR.sqrt() + MARKET_TREND_PER_SESSION * part
    }

    fn add_quotes(&self, at: Timestamp, batch: &mut Batch) {
        for mut quote in self.stocks.iter().filter_map(SimulatedStock::quote) {
            quote.time = Some(at);
            batch.quotes.push(quote);
        }
    }

    /// Occasionally publishes an event in a lively market for alerts that do not depend on prices.
    fn publish_random_event(&mut self, date: Date, at: Timestamp, step: &MarketStep, batch: &mut Batch) {
        let mut rng = random::of(step.seed, DrawKind::MarketEvent, 0, step.moment);
        if !happens(&mut rng, MARKET_EVENTS_PER_SECOND, step.seconds) {
            return;
        }
        let what = rng.random_range(0..4);
        let candidates: Vec<usize> = (0..self.stocks.len())
            .filter(|&at| self.stocks[at].company.is_company() && (what != 0 || self.stocks[at].company.has_mentions))
            .collect();
        if candidates.is_empty() {
            return;
        }
        let chosen = candidates[rng.random_range(0..candidates.len())];
        match what {
            0 => {
                let context = self.context(&self.stocks[chosen]);
                let hour = at.as_second().div_euclid(3600) * 3600;
                let mut row = context.mentions(Timestamp::from_second(hour).unwrap_or(at), date);
                let extra_mentions = self
                    .extra_mentions
                    .entry((self.stocks[chosen].entity, row.time))
                    .or_default();
                *extra_mentions += count(rng.random_range(300.0..900.0));
                row.mentions += *extra_mentions;
                batch.mentions.push(row);
            }
            1 => self.context(&self.stocks[chosen]).buy_together(date, &mut rng, batch),
            2 => self.stocks[chosen].add_volume_burst(rng.random_range(0.6..1.8)),
            _ => {
                let mut context = self.context(&self.stocks[chosen]);
                context.price *= rng.random_range(0.7..1.4);
                batch.fundamentals.push(context.figures(date));
            }
        }
    }
}
