//! The model: what must be true, known from the requests and their responses alone.
//!
//! It is small enough to be read at once, and it does not use the engine. Each alert is a set of possible states ([`alert`]). A request
//! that has been answered leaves the states that agree with the answer; one that was interrupted leaves those with it and those without
//! it. When a quote was answered, every alert whose level it reaches has fired. At the end, the database must agree with one possible
//! state of each alert ([`Model::check_database`]), and the receivers with the database ([`Model::check_deliveries`]).

mod alert;
mod due;
mod emails;
mod evidence;
mod flags;
mod split;
mod state;
mod successors;
mod times;
mod wanted_alert;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

pub(crate) use alert::AlertModel;
pub(crate) use emails::{EmailResult, RecordedEmail};
pub(crate) use evidence::{Delivered, RecordedAlert, RecordedFiring, missing_deliveries};
pub(crate) use flags::Flags;
pub(crate) use split::Split;
use split::Splits;
pub(crate) use state::{AlertState, AlertStatus, Change, Hold, Outcome, Phase};
pub(crate) use wanted_alert::{Cooldown, WantedAlert};

/// A price in cents.
pub(crate) type Cents = i64;

/// A request, numbered in the order of their beginnings.
pub(crate) type RequestId = u64;

/// The largest step of the clock that leaves the last prices current.
pub(crate) const MAX_SMALL_STEP: SignedDuration = SignedDuration::from_secs(60);
/// How long a last price is current for certain. It is for 15 minutes, but a quote may name an earlier time than that of its request.
const CURRENT_FOR: SignedDuration = SignedDuration::from_mins(12);
/// The number of active alerts that the basic plan includes.
pub(crate) const BASIC_QUOTA: usize = 20;

/// The expected state of all alerts.
#[derive(Default)]
pub(crate) struct Model {
    /// The alerts, by the number in their requests.
    pub(crate) alerts: BTreeMap<usize, AlertModel>,
    /// The prices that each stock may have, in the engine or in the database. `None`: its last price is too old.
    prices: BTreeMap<usize, BTreeSet<Option<Cents>>>,
    /// When the last quote of each stock was answered, by the clock of the machine.
    quoted_at: BTreeMap<usize, Timestamp>,
    splits: Splits,
    /// Whether the clock was set back, so that an expiry that it has reached may not be past.
    was_set_back: bool,
    /// The time that the clock shows.
    now: Timestamp,
    /// The latest time that the clock has shown.
    latest: Timestamp,
    /// Acknowledged firings, by their id.
    pub(crate) acknowledged: Flags<String>,
    /// The stocks on the watchlists of the users, with the user.
    pub(crate) watched: Flags<(usize, usize)>,
    /// The quotes that have not been answered, each with its stock, its price, and whether a split is applied before.
    open_quotes: BTreeMap<RequestId, (usize, Cents, bool)>,
    /// Quotes whose request failed, by stock: the service may still evaluate them.
    failed_quotes: BTreeMap<usize, Vec<RequestId>>,
    pub(crate) violations: Vec<String>,
}

impl Model {
    /// Creates the model of stocks that have a price since some time.
    pub(crate) fn new(stocks: usize, price: Cents, since: Timestamp) -> Self {
        Self {
            now: since,
            quoted_at: (0..stocks).map(|stock| (stock, since)).collect(),
            prices: (0..stocks)
                .map(|stock| (stock, BTreeSet::from([Some(price)])))
                .collect(),
            ..Self::default()
        }
    }

    /// The prices that a stock may have.
    pub(crate) fn prices_of(&self, stock: usize) -> BTreeSet<Option<Cents>> {
        let open = self.open_quotes.values().filter(|(of, ..)| *of == stock);
        let known = self.prices.get(&stock).into_iter().flatten().copied();
        known.chain(open.map(|(_, price, _)| Some(*price))).collect()
    }

    /// A request to create an alert begins.
    pub(crate) fn add(&mut self, slot: usize, mut alert: AlertModel) {
        for (request, (stock, price, needs_split)) in &self.open_quotes {
            if *stock == alert.stock {
                alert.add_open_quote(*request, *price, *needs_split);
            }
        }
        self.alerts.insert(slot, alert);
    }

    /// Updates an alert, and keeps a contradiction.
    fn update(&mut self, slot: usize, run: impl FnOnce(&mut AlertModel) -> Result<(), String>) {
        if let Some(Err(violation)) = self.alerts.get_mut(&slot).map(run) {
            self.violations.push(format!("alert {slot}: {violation}"));
        }
    }

    /// Updates the alerts on a stock, and keeps contradictions.
    fn update_all(&mut self, stock: usize, mut run: impl FnMut(&mut AlertModel) -> Result<(), String>) {
        for (slot, alert) in self.alerts.iter_mut().filter(|(_, alert)| alert.stock == stock) {
            if let Err(violation) = run(alert) {
                self.violations.push(format!("alert {slot}: {violation}"));
            }
        }
    }

    /// A request for a change begins.
    pub(crate) fn change_begins(&mut self, slot: usize, request: RequestId, change: Change) {
        self.update(slot, |alert| {
            alert.change_begins(request, change);
            Ok(())
        });
    }

    /// A request for a change has been answered.
    pub(crate) fn change_ends(&mut self, slot: usize, request: RequestId, outcome: Outcome) {
        self.update(slot, |alert| alert.ends(request, outcome));
        self.alerts.values_mut().for_each(AlertModel::close);
        if outcome == Outcome::OverQuota {
            let most = self.active_alerts(slot, AlertModel::may_be_active);
            if most < BASIC_QUOTA {
                let text = format!("alert {slot}: refused by the quota with at most {most} active alerts");
                self.violations.push(text);
            }
        }
        let least = self.active_alerts(slot, |alert| alert.is_certainly(AlertStatus::Active));
        if self.alerts.get(&slot).is_some_and(|alert| alert.has_quota) && least > BASIC_QUOTA {
            let text = format!("alert {slot}: {least} active alerts exceed the quota");
            self.violations.push(text);
        }
    }

    fn active_alerts(&self, slot: usize, counts: impl Fn(&AlertModel) -> bool) -> usize {
        let owner = self.alerts.get(&slot).map(|alert| alert.owner);
        let of_owner = self.alerts.values().filter(|alert| Some(alert.owner) == owner);
        of_owner.filter(|alert| counts(alert)).count()
    }

    /// A quote is sent.
    pub(crate) fn quote_begins(&mut self, stock: usize, request: RequestId, price: Cents) {
        let needs_split = self.splits.is_certainly_due(stock);
        self.open_quotes.insert(request, (stock, price, needs_split));
        let is_clock_true = !self.was_set_back;
        self.update_all(stock, |alert| {
            alert.quote_begins(request, price, needs_split, is_clock_true);
            Ok(())
        });
    }

    /// A quote has been acknowledged: each alert whose level it reaches has fired.
    pub(crate) fn quote_ends(&mut self, stock: usize, request: RequestId, price: Cents) {
        self.open_quotes.remove(&request);
        // Decisions that could not be committed before were committed first.
        let failed = self.failed_quotes.remove(&stock).unwrap_or_default();
        self.update_all(stock, |alert| {
            alert.close();
            failed.iter().for_each(|failed| alert.interrupt(*failed));
            let ended = alert.ends(request, Outcome::Succeeded);
            alert.set_price(Some(price));
            ended
        });
        self.prices.insert(stock, BTreeSet::from([Some(price)]));
        self.quoted_at.insert(stock, self.now);
    }

    /// The clock of the machine was stepped. After a large step the last prices may be too old, so that alerts wait for the next quote.
    pub(crate) fn clock_stepped(&mut self, by: SignedDuration) {
        if by.is_negative() {
            self.was_set_back = true;
            self.alerts.values_mut().for_each(AlertModel::clock_set_back);
        }
        if by.abs() > MAX_SMALL_STEP {
            self.prices_may_be_old();
        }
    }

    /// The last prices may be too old for another evaluation.
    pub(crate) fn prices_may_be_old(&mut self) {
        for stock in self.prices.keys().copied().collect::<Vec<_>>() {
            self.price_may_be_old(stock);
        }
    }

    /// The last price of a stock may be too old for another evaluation.
    fn price_may_be_old(&mut self, stock: usize) {
        self.prices.entry(stock).or_default().insert(None);
        let on_stock = self.alerts.values_mut().filter(|alert| alert.stock == stock);
        on_stock.for_each(AlertModel::price_may_be_old);
    }

    /// A quote has been rejected as older than another one: it was not judged.
    pub(crate) fn quote_rejected(&mut self, stock: usize, request: RequestId) {
        self.open_quotes.remove(&request);
        self.update_all(stock, |alert| alert.ends(request, Outcome::Refused));
    }

    /// A quote's request has failed. The service keeps its decisions and commits them later.
    pub(crate) fn quote_fails(&mut self, stock: usize, request: RequestId) {
        if let Some((_, price, _)) = self.open_quotes.remove(&request) {
            self.prices.entry(stock).or_default().insert(Some(price));
        }
        self.failed_quotes.entry(stock).or_default().push(request);
    }

    /// The process has ended: each open request has been executed or not.
    pub(crate) fn process_ends(&mut self) {
        self.failed_quotes.clear();
        for (stock, price, _) in std::mem::take(&mut self.open_quotes).into_values() {
            self.prices.entry(stock).or_default().insert(Some(price));
        }
        for stock in self.prices.keys().copied().collect::<Vec<_>>() {
            let prices = self.prices_of(stock);
            self.update_all(stock, |alert| {
                alert.close();
                alert.interrupt_all();
                alert.forget_price(&prices);
                Ok(())
            });
        }
    }

    /// The clock of the machine shows this time.
    pub(crate) fn note_time(&mut self, now: Timestamp) {
        self.now = now;
        self.latest = self.latest.max(now);
        let is_old = |quoted_at: Timestamp| now.duration_since(quoted_at) > CURRENT_FOR;
        let old = self.quoted_at.iter().filter(|(_, quoted_at)| is_old(**quoted_at));
        for stock in old.map(|(stock, _)| *stock).collect::<Vec<_>>() {
            self.price_may_be_old(stock);
        }
        // After larger steps the service follows the clock.
        let latest = self.latest.min(now + MAX_SMALL_STEP);
        self.alerts.values_mut().for_each(|alert| alert.note_time(now, latest));
    }

    /// All faults have ended `delay` ago: an active alert whose level is reached, or whose moment has come, has fired.
    pub(crate) fn settle(&mut self, now: Timestamp, delay: SignedDuration) {
        self.note_time(now);
        for stock in self.prices.keys().copied().collect::<Vec<_>>() {
            self.require_splits(stock);
            self.update_all(stock, |alert| alert.settle(now, delay));
        }
    }
}
