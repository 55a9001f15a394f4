//! Stocks of temporary interest, without an alert or a watchlist item.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use tokio::sync::watch;

/// How long a stock stays wanted after a read, a rejected request or a pause.
const LEASE_DURATION: SignedDuration = SignedDuration::from_mins(15);
/// The maximum number of leases, so that reads do not use up the requests that alerts need.
const MAX_LEASES: usize = 64;
/// The maximum number of source requests by reads within [`LEASE_DURATION`].
const MAX_READ_REQUESTS: usize = 64;
/// The maximum number of stocks that are remembered as unknown to the source.
const MAX_UNKNOWN_STOCKS: usize = 1_024;

/// The lease of a wanted stock.
#[derive(Clone, Copy, Debug)]
struct Lease {
    since: Timestamp,
    /// Whether a request has waited for the source already.
    has_waited: bool,
    /// Whether daily bars of the stock are known to be stored.
    has_bars: bool,
}

#[derive(Debug, Default)]
struct LeaseState {
    leases: HashMap<Symbol, Lease>,
    /// When the source last had no newer price of a stock.
    confirmed: HashMap<Symbol, Timestamp>,
    /// When the source did not know a stock.
    unknown: HashMap<Symbol, Timestamp>,
    /// The times of source requests by reads.
    read_requests: Vec<Timestamp>,
}

/// The stocks of temporary interest, and the source's replies about them.
#[derive(Debug)]
pub struct StockInterest {
    state: Mutex<LeaseState>,
    changed: watch::Sender<()>,
}

impl Default for StockInterest {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            changed: watch::Sender::new(()),
        }
    }
}

/// Whether less than [`LEASE_DURATION`] has passed since `since`. A lease that lies ahead of the clock has ended:
/// the clock was set back.
fn is_running(since: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(since);
    SignedDuration::ZERO <= age && age < LEASE_DURATION
}

/// Keeps the newest `max` entries.
fn keep_newest<T>(entries: &mut HashMap<Symbol, T>, max: usize, since: impl Fn(&T) -> Timestamp) {
    while entries.len() > max {
        let oldest = entries
            .iter()
            .min_by_key(|(_, entry)| since(entry))
            .map(|(symbol, _)| *symbol);
        let Some(oldest) = oldest else { return };
        entries.remove(&oldest);
    }
}

impl LeaseState {
    /// Counts a source request by a read. Returns `false` if there were too many in the last 15 minutes.
    fn count_read_request(&mut self, now: Timestamp) -> bool {
        self.read_requests.retain(|at| is_running(*at, now));
        let may_ask = self.read_requests.len() < MAX_READ_REQUESTS;
        if may_ask {
            self.read_requests.push(now);
        }
        may_ask
    }
}

impl StockInterest {
    /// Renews the lease of a stock after a read, for 15 minutes. Returns whether the stock is wanted: a read does not
    /// evict another stock.
    pub(crate) fn renew_by_read(&self, symbol: Symbol, now: Timestamp) -> bool {
        let is_full = {
            let mut state = self.state();
            state.leases.retain(|_, lease| is_running(lease.since, now));
            state.leases.len() >= MAX_LEASES && !state.leases.contains_key(&symbol)
        };
        if !is_full {
            self.renew(symbol, now);
        }
        !is_full
    }

    /// Whether a stock is wanted at `now`.
    pub(crate) fn is_wanted(&self, symbol: Symbol, now: Timestamp) -> bool {
        let state = self.state();
        state
            .leases
            .get(&symbol)
            .is_some_and(|lease| is_running(lease.since, now))
    }

    /// Renews the lease of a stock for 15 minutes, because an alert or a trade needs its price. At the maximum it
    /// evicts the oldest lease: these requests ask the source in any case, and have their own limit.
    pub fn renew(&self, symbol: Symbol, now: Timestamp) {
        let mut state = self.state();
        state.leases.retain(|_, lease| is_running(lease.since, now));
        state.confirmed.retain(|_, at| is_running(*at, now));
        let before = state.leases.get(&symbol).copied();
        let lease = Lease {
            since: now,
            has_waited: before.is_some_and(|before| before.has_waited),
            has_bars: before.is_some_and(|before| before.has_bars),
        };
        state.leases.insert(symbol, lease);
        keep_newest(&mut state.leases, MAX_LEASES, |lease| lease.since);
        drop(state);
        if before.is_none() {
            self.changed.send_replace(());
        }
    }

    /// Whether no request has waited for the source since the stock became wanted, and reads may still ask. Returns
    /// `true` once.
    pub(crate) fn begin_first_read(&self, symbol: Symbol, now: Timestamp) -> bool {
        let mut state = self.state();
        let is_first = state.leases.get(&symbol).is_some_and(|lease| !lease.has_waited);
        let may_ask = is_first && state.count_read_request(now);
        if let Some(lease) = state.leases.get_mut(&symbol).filter(|_| may_ask) {
            lease.has_waited = true;
        }
        may_ask
    }

    /// Returns whether daily bars of a wanted stock are known to be stored.
    pub(crate) fn has_bars(&self, symbol: Symbol) -> bool {
        self.state().leases.get(&symbol).is_some_and(|lease| lease.has_bars)
    }

    /// Records that daily bars of a stock are stored.
    pub(crate) fn note_bars(&self, symbol: Symbol) {
        if let Some(lease) = self.state().leases.get_mut(&symbol) {
            lease.has_bars = true;
        }
    }

    /// Whether a read may ask the source about a stock that is not in the catalog. Counts the request.
    pub(crate) fn begin_unlisted_read(&self, now: Timestamp) -> bool {
        self.state().count_read_request(now)
    }

    /// Returns the stocks that are wanted at `now`, by symbol.
    pub(crate) fn symbols(&self, now: Timestamp) -> Vec<Symbol> {
        let state = self.state();
        let running = state.leases.iter().filter(|(_, lease)| is_running(lease.since, now));
        let mut symbols: Vec<Symbol> = running.map(|(symbol, _)| *symbol).collect();
        symbols.sort_unstable();
        symbols
    }

    /// Subscribes to newly wanted stocks.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Records that the source has no newer price of a stock than the known one.
    pub(crate) fn confirm(&self, symbol: Symbol, now: Timestamp) {
        let mut state = self.state();
        state.unknown.remove(&symbol);
        state.confirmed.insert(symbol, now);
    }

    /// Returns when the source last confirmed the known price of a stock.
    pub(crate) fn confirmed_at(&self, symbol: Symbol) -> Option<Timestamp> {
        self.state().confirmed.get(&symbol).copied()
    }

    /// Records that the source does not know a stock. It is not asked again for 15 minutes.
    pub(crate) fn note_unknown(&self, symbol: Symbol, now: Timestamp) {
        let mut state = self.state();
        state.leases.remove(&symbol);
        state.unknown.insert(symbol, now);
        keep_newest(&mut state.unknown, MAX_UNKNOWN_STOCKS, |since| *since);
    }

    /// Whether the source recently did not know a stock.
    pub(crate) fn is_unknown(&self, symbol: Symbol, now: Timestamp) -> bool {
        let state = self.state();
        state.unknown.get(&symbol).is_some_and(|since| is_running(*since, now))
    }

    fn state(&self) -> MutexGuard<'_, LeaseState> {
        // A panic elsewhere leaves the maps consistent: each change is one insertion or removal.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn symbol(number: usize) -> Symbol {
        format!("S{number}").parse().unwrap()
    }

    #[test]
    fn stock_is_wanted_for_fifteen_minutes_after_the_last_renewal() {
        let interest = StockInterest::default();
        interest.renew(symbol(1), at(0));
        interest.renew(symbol(2), at(600));
        assert_eq!(interest.symbols(at(899)), [symbol(1), symbol(2)]);
        assert_eq!(interest.symbols(at(900)), [symbol(2)]);
        interest.renew(symbol(2), at(1_499));
        assert_eq!(interest.symbols(at(2_398)), [symbol(2)]);
        assert_eq!(interest.symbols(at(2_399)), []);
    }

    #[test]
    fn lease_from_the_future_has_ended() {
        let interest = StockInterest::default();
        interest.renew(symbol(1), at(86_400));
        assert_eq!(interest.symbols(at(0)), []);
        interest.renew(symbol(1), at(0));
        assert_eq!(interest.symbols(at(0)), [symbol(1)]);
    }

    #[test]
    fn oldest_lease_is_evicted_at_the_maximum() {
        let interest = StockInterest::default();
        for (number, second) in (0..=MAX_LEASES).zip(0..) {
            interest.renew(symbol(number), at(second));
        }
        let wanted = interest.symbols(at(100));
        assert_eq!(wanted.len(), MAX_LEASES);
        assert!(!wanted.contains(&symbol(0)) && wanted.contains(&symbol(MAX_LEASES)));
    }

    #[test]
    fn only_the_first_read_of_a_lease_waits() {
        let interest = StockInterest::default();
        assert!(!interest.begin_first_read(symbol(1), at(0)), "it is not wanted");
        interest.renew(symbol(1), at(0));
        assert!(interest.begin_first_read(symbol(1), at(0)));
        interest.renew(symbol(1), at(800));
        assert!(!interest.begin_first_read(symbol(1), at(800)));
        interest.renew(symbol(1), at(1_700));
        assert!(interest.begin_first_read(symbol(1), at(1_700)), "the lease had ended");
    }

    #[test]
    fn read_evicts_no_lease_and_asks_nothing_without_one() {
        let interest = StockInterest::default();
        for number in 0..MAX_LEASES {
            assert!(interest.renew_by_read(symbol(number), at(0)));
        }
        let one_more = symbol(MAX_LEASES);
        assert!(!interest.renew_by_read(one_more, at(1)));
        assert!(!interest.begin_first_read(one_more, at(1)));
        assert!(interest.is_wanted(symbol(0), at(1)) && !interest.is_wanted(one_more, at(1)));
        assert!(interest.renew_by_read(symbol(0), at(1)), "it has a lease");
        assert!(interest.renew_by_read(one_more, at(900)), "the others have ended");
        assert!(interest.begin_first_read(one_more, at(900)));
    }

    #[test]
    fn requests_by_reads_are_limited_in_fifteen_minutes() {
        let interest = StockInterest::default();
        for number in 0..MAX_READ_REQUESTS {
            assert!(interest.begin_unlisted_read(at(0)));
            interest.note_unknown(symbol(number), at(0));
        }
        assert!(!interest.begin_unlisted_read(at(899)));
        interest.renew(symbol(1), at(899));
        assert!(!interest.begin_first_read(symbol(1), at(899)));
        assert!(interest.begin_first_read(symbol(1), at(900)));
    }

    #[test]
    fn unknown_stock_is_not_wanted_and_remembered_for_fifteen_minutes() {
        let interest = StockInterest::default();
        interest.renew(symbol(1), at(0));
        interest.note_unknown(symbol(1), at(1));
        assert_eq!(interest.symbols(at(1)), []);
        assert!(interest.is_unknown(symbol(1), at(900)));
        assert!(!interest.is_unknown(symbol(1), at(901)));
        interest.confirm(symbol(1), at(2));
        assert!(!interest.is_unknown(symbol(1), at(3)));
    }

    #[test]
    fn subscribers_are_notified_of_newly_wanted_stocks() {
        let interest = StockInterest::default();
        let mut changes = interest.changes();
        interest.renew(symbol(1), at(0));
        assert!(changes.has_changed().unwrap());
        changes.borrow_and_update();
        interest.renew(symbol(1), at(1));
        assert!(!changes.has_changed().unwrap());
    }
}
