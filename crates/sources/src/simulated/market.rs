//! The simulated market itself: a value that goes on from instant to instant.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::{new_york, new_york_date};
use market::records::{Batch, StockRow};
use market::{Bar, Calendar, Price, Symbol};
use rand::Rng;

use super::chance::{self, Topic, Who, happens, normal};
use super::companies::{companies, funds};
use super::news::{Subject, hours};
use super::numbers::count;
use super::stock::{Cluster, SESSIONS_A_YEAR, Step, Stock};
use crate::{Delivery, Missed};

/// What the whole market usually moves in a year, as a fraction.
const TIDE_A_YEAR: f64 = 0.15;
/// Of which so much comes overnight.
const TIDE_OVERNIGHT: f64 = 0.2;
/// What it gains in a session, as a logarithm.
const TIDE_TREND: f64 = 0.0003;
/// Something happens to one lively stock about so often, in a second.
const HAPPENINGS_A_SECOND: f64 = 1.0 / 40.0;

/// What kind of market is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The number that everything follows from.
    pub seed: u64,
    /// How many companies there are, beside the index funds; the first twenty are always the same.
    pub companies: usize,
    /// How many days of history a new market has.
    pub history_days: u16,
    /// How often all prices are observed.
    pub pace: SignedDuration,
    /// Whether prices swing so far within a minute that alerts a percent or two away fire, and something happens
    /// every now and then, for people to watch.
    pub lively: bool,
}

impl Default for Options {
    /// Twenty companies with two years of history, observed every second, as calm as a real market.
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

/// What is known of the market from before the program was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Until when everything is known.
    pub at: Timestamp,
    /// What is known of each stock; those that are missing here begin anew, with a history.
    pub stocks: BTreeMap<Symbol, KnownStock>,
}

/// What is known of one stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownStock {
    /// Its last price.
    pub price: Price,
    /// The session that was under way, so far.
    pub today: Option<Bar>,
}

/// The market, simulated up to an instant. The same options, the same calendar and the same instants make the same
/// market.
#[derive(Debug, Clone)]
pub struct Market {
    options: Options,
    calendar: Calendar,
    now: Timestamp,
    /// From when on mentions are counted.
    talk_from: Date,
    tide: Cluster,
    /// How far the market went in the running session, in usual deviations.
    tide_shock: f64,
    stocks: Vec<Stock>,
    /// Mentions beside the usual ones, in the hour that begins then.
    stirred: BTreeMap<(Who, Timestamp), u32>,
}

impl Market {
    /// A market that has come to the first instant of `from` without any past.
    pub(super) fn new(options: Options, calendar: &Calendar, from: Date, with_funds: bool) -> Self {
        let companies = companies(options.seed, options.companies);
        // The benchmark comes first and the other funds last, so that all others are as they were without them.
        let mut funds = funds().filter(|_| with_funds);
        let everything = funds.next().into_iter().chain(companies).chain(funds);
        Self {
            options,
            calendar: calendar.clone(),
            now: new_york(from, 0, 0),
            talk_from: from,
            tide: Cluster::default(),
            tide_shock: 0.0,
            stocks: (1..)
                .zip(everything)
                .map(|(who, company)| Stock::new(who, company))
                .collect(),
            stirred: BTreeMap::new(),
        }
    }

    /// The market at `now`, and how it came there: the catalog and the history of stocks of which nothing is known,
    /// and of the others what happened since.
    #[must_use]
    pub fn begin(
        options: Options,
        calendar: &Calendar,
        known: Option<&Known>,
        now: Timestamp,
    ) -> (Self, Vec<Delivery>) {
        let nothing = BTreeMap::new();
        let (at, stocks) = known.map_or((now, &nothing), |known| (known.at.min(now), &known.stocks));
        let days_before = |days: u16| new_york_date(at).saturating_sub(Span::new().days(i64::from(days)));
        let mut market = Self::new(options, calendar, days_before(options.history_days), true);
        market.talk_from = days_before(options.history_days.min(30));
        let mut past = market.catch_up(at);
        for delivery in &mut past {
            delivery.batch.retain(|symbol| !stocks.contains_key(&symbol));
        }
        market.resume(stocks, at);
        past.extend(market.catch_up(now));
        let mut catalog = Batch::default();
        catalog.stocks.extend(market.catalog());
        let begun = past.first().map_or(now, |delivery| delivery.at);
        let mut deliveries = vec![Delivery {
            at: begun,
            backfill: true,
            batch: catalog,
            missed: Missed::default(),
        }];
        deliveries.extend(past.into_iter().filter(|delivery| !delivery.batch.is_empty()));
        (market, deliveries)
    }

    /// What the catalog says of its stocks.
    pub(super) fn catalog(&self) -> impl Iterator<Item = StockRow> {
        self.stocks.iter().map(|stock| stock.company.row())
    }

    fn resume(&mut self, known: &BTreeMap<Symbol, KnownStock>, at: Timestamp) {
        let under_way = self.calendar.session_at(at).map(|session| session.date);
        for stock in &mut self.stocks {
            if let Some(last) = known.get(&stock.company.symbol) {
                stock.resume(last.price, last.today.filter(|bar| Some(bar.date) == under_way));
            }
        }
    }

    /// The options it was made with.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    /// What becomes known until `now`: the news, the sessions that ended, and what all stocks are seen at if a session
    /// is under way. Nothing if `now` has passed already.
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
            self.day(date, (after, now.min(new_york(tomorrow, 0, 0))), &mut batch);
            date = tomorrow;
        }
        self.now = now;
        if self.calendar.session_at(now).is_some() {
            self.quote(now, &mut batch);
        }
        batch
    }

    /// Steps to `to` day by day.
    pub(super) fn catch_up(&mut self, to: Timestamp) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        while self.now < to {
            let midnight = new_york_date(self.now).tomorrow().map_or(to, |day| new_york(day, 0, 0));
            let at = midnight.min(to);
            let mut batch = self.step(at);
            if at < to {
                // What was seen on the way is in the bars.
                batch.quotes.clear();
            }
            deliveries.push(Delivery {
                at,
                backfill: true,
                batch,
                missed: Missed::default(),
            });
        }
        deliveries
    }

    /// What happens on `date` after the first instant and until the second.
    fn day(&mut self, date: Date, span: (Timestamp, Timestamp), batch: &mut Batch) {
        let midnight = new_york(date, 0, 0);
        if span.0 < midnight && midnight <= span.1 {
            self.splits(date, batch);
        }
        let today = (span.0.max(midnight), span.1);
        for stock in &self.stocks {
            let subject = self.subject(stock);
            subject.tell(date, span, batch);
            if stock.company.talked_about && date >= self.talk_from {
                for hour in hours(today) {
                    let mut row = subject.mentions(hour, new_york_date(hour));
                    row.mentions += self.stirred.get(&(stock.who, hour)).copied().unwrap_or(0);
                    batch.mentions.push(row);
                }
            }
        }
        self.stirred
            .retain(|&(_, hour), _| hour >= today.1 - SignedDuration::from_hours(2));
        self.session(date, span, batch);
    }

    fn subject<'a>(&'a self, stock: &'a Stock) -> Subject<'a> {
        Subject {
            seed: self.options.seed,
            who: stock.who,
            company: &stock.company,
            calendar: &self.calendar,
            price: stock.price(),
        }
    }

    fn splits(&mut self, date: Date, batch: &mut Batch) {
        let splits = self.stocks.iter().map(|stock| self.subject(stock).split(date));
        let splits: Vec<_> = splits.collect();
        for (stock, split) in self.stocks.iter_mut().zip(splits) {
            if let Some(split) = split {
                stock.split(split.ratio.as_f64());
                batch.splits.push(split);
            }
        }
    }

    /// When prices move on `date`: where the market never closes, all day.
    fn hours(&self, date: Date) -> Option<(Timestamp, Timestamp)> {
        let session = self.calendar.session(date)?;
        if self.calendar.is_always_open() {
            return Some((new_york(date, 0, 0), new_york(date.tomorrow().ok()?, 0, 0)));
        }
        Some((session.open, session.close))
    }

    fn session(&mut self, date: Date, (after, to): (Timestamp, Timestamp), batch: &mut Batch) {
        let Some((start, end)) = self.hours(date).filter(|&(start, end)| to >= start && after < end) else {
            return;
        };
        let length = end.duration_since(start).as_secs_f64();
        let progress = |at: Timestamp| (at.duration_since(start).as_secs_f64() / length).clamp(0.0, 1.0);
        let (from, until) = (after.max(start), to.min(end));
        self.open(date, progress(from));
        if until > from {
            let mut step = Step {
                seed: self.options.seed,
                moment: until.as_microsecond(),
                progress: (progress(from), progress(until)),
                seconds: until.duration_since(from).as_secs_f64(),
                tide: 0.0,
                lively: self.options.lively,
            };
            step.tide = self.flow(&step);
            for stock in &mut self.stocks {
                stock.go(&step);
            }
            if step.lively && step.is_watched() {
                self.happen(date, until, &step, batch);
            }
            if to >= end && step.is_watched() && !self.calendar.is_always_open() {
                self.quote(end, batch);
            }
        }
        if to >= end {
            batch.bars.extend(self.stocks.iter_mut().filter_map(Stock::close));
            self.tide.learn(std::mem::take(&mut self.tide_shock));
        }
    }

    /// Opens the session of those stocks that are not in it.
    fn open(&mut self, date: Date, progress: f64) {
        let mut chance = chance::on(self.options.seed, Topic::Gap, 0, date);
        let shock = TIDE_OVERNIGHT.sqrt() * self.tide.deviation() * normal(&mut chance);
        let closed = |stock: &Stock| stock.running.as_ref().is_none_or(|running| running.date != date);
        let reports: BTreeSet<Who> = self
            .stocks
            .iter()
            .filter(|stock| closed(stock) && self.subject(stock).reports_on(date))
            .map(|stock| stock.who)
            .collect();
        if progress <= 0.0 && self.stocks.iter().any(closed) {
            self.tide_shock = shock;
        }
        let tide = shock * TIDE_A_YEAR / SESSIONS_A_YEAR.sqrt();
        for stock in self.stocks.iter_mut().filter(|stock| closed(stock)) {
            let reports = reports.contains(&stock.who);
            stock.open(self.options.seed, date, progress, tide, reports);
        }
    }

    /// What the whole market does in a step, as a logarithm.
    fn flow(&mut self, step: &Step) -> f64 {
        let mut chance = chance::of(step.seed, Topic::Motion, 0, step.moment);
        let part = (step.progress.1 - step.progress.0).max(0.0);
        let shock = self.tide.deviation() * ((1.0 - TIDE_OVERNIGHT) * part).sqrt() * normal(&mut chance);
        self.tide_shock += shock;
        shock * TIDE_A_YEAR / SESSIONS_A_YEAR.sqrt() + TIDE_TREND * part
    }

    fn quote(&self, at: Timestamp, batch: &mut Batch) {
        for mut quote in self.stocks.iter().filter_map(Stock::quote) {
            quote.time = Some(at);
            batch.quotes.push(quote);
        }
    }

    /// Now and then something happens in a lively market that alerts other than on prices wait for.
    fn happen(&mut self, date: Date, at: Timestamp, step: &Step, batch: &mut Batch) {
        let mut chance = chance::of(step.seed, Topic::Happening, 0, step.moment);
        if !happens(&mut chance, HAPPENINGS_A_SECOND, step.seconds) {
            return;
        }
        let what = chance.random_range(0..4);
        let candidates: Vec<usize> = (0..self.stocks.len())
            .filter(|&at| self.stocks[at].company.is_company() && (what != 0 || self.stocks[at].company.talked_about))
            .collect();
        if candidates.is_empty() {
            return;
        }
        let chosen = candidates[chance.random_range(0..candidates.len())];
        match what {
            0 => {
                let subject = self.subject(&self.stocks[chosen]);
                let hour = at.as_second().div_euclid(3600) * 3600;
                let mut row = subject.mentions(Timestamp::from_second(hour).unwrap_or(at), date);
                let stirred = self.stirred.entry((self.stocks[chosen].who, row.time)).or_default();
                *stirred += count(chance.random_range(300.0..900.0));
                row.mentions += *stirred;
                batch.mentions.push(row);
            }
            1 => self
                .subject(&self.stocks[chosen])
                .buy_together(date, &mut chance, batch),
            2 => self.stocks[chosen].burst(chance.random_range(0.6..1.8)),
            _ => {
                let mut subject = self.subject(&self.stocks[chosen]);
                subject.price *= chance.random_range(0.7..1.4);
                batch.fundamentals.push(subject.figures(date));
            }
        }
    }
}
