//! Stocks that are wanted for a while without an alert or a watchlist.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use market::Symbol;
use tokio::sync::watch;

/// How long a stock stays wanted after it was read, refused or paused.
const LEASE: SignedDuration = SignedDuration::from_mins(15);
/// The most stocks that are wanted in this way at one time, so that readers do not use up the requests that alerts need.
const MAX_LEASES: usize = 64;
/// The most requests that reads make of the source within [`LEASE`].
const MAX_READ_REQUESTS: usize = 64;
/// The most stocks that are remembered as unknown to the source.
const MAX_UNKNOWN: usize = 1_024;

/// A stock that is wanted for a while.
#[derive(Clone, Copy, Debug)]
struct Lease {
    since: Timestamp,
    /// Whether a request has waited for the source already.
    is_asked: bool,
}

#[derive(Debug, Default)]
struct State {
    leases: HashMap<Symbol, Lease>,
    /// When the source last knew no newer price of a stock.
    confirmed: HashMap<Symbol, Timestamp>,
    /// When the source did not know a stock.
    unknown: HashMap<Symbol, Timestamp>,
    /// When reads asked the source.
    read_requests: Vec<Timestamp>,
}

/// The stocks that are wanted for a while, and the source's replies about them.
#[derive(Debug)]
pub(crate) struct Interest {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

impl Default for Interest {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            changed: watch::Sender::new(()),
        }
    }
}

/// Whether less than [`LEASE`] has passed since then. What lies ahead of the clock has ended: the clock was set back.
fn is_running(since: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(since);
    SignedDuration::ZERO <= age && age < LEASE
}

/// Keeps the newest `most` entries.
fn keep_newest<T>(entries: &mut HashMap<Symbol, T>, most: usize, since: impl Fn(&T) -> Timestamp) {
    while entries.len() > most {
        let oldest = entries
            .iter()
            .min_by_key(|(_, entry)| since(entry))
            .map(|(symbol, _)| *symbol);
        let Some(oldest) = oldest else { return };
        entries.remove(&oldest);
    }
}

impl State {
    /// Counts a request that a read makes of the source. `false`: there were too many in the last 15 minutes.
    fn count_read_request(&mut self, now: Timestamp) -> bool {
        self.read_requests.retain(|at| is_running(*at, now));
        let may_ask = self.read_requests.len() < MAX_READ_REQUESTS;
        if may_ask {
            self.read_requests.push(now);
        }
        may_ask
    }
}

impl Interest {
    /// Wants a stock that was read for the next 15 minutes. Returns whether it is wanted: a read takes no place from another stock.
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

    /// Wants a stock for the next 15 minutes, because its owner's alert or trade asked for its price. With too many, it takes the
    /// place of the one that was wanted longest ago: each of these requests asks the source anyway, and is counted by its own limit.
    pub(crate) fn renew(&self, symbol: Symbol, now: Timestamp) {
        let mut state = self.state();
        state.leases.retain(|_, lease| is_running(lease.since, now));
        state.confirmed.retain(|_, at| is_running(*at, now));
        let before = state.leases.get(&symbol).copied();
        let lease = Lease {
            since: now,
            is_asked: before.is_some_and(|before| before.is_asked),
        };
        state.leases.insert(symbol, lease);
        keep_newest(&mut state.leases, MAX_LEASES, |lease| lease.since);
        drop(state);
        if before.is_none() {
            self.changed.send_replace(());
        }
    }

    /// Whether no request has waited for the source since the stock became wanted, and reads may still ask. Returns `true` once.
    pub(crate) fn begin_first_read(&self, symbol: Symbol, now: Timestamp) -> bool {
        let mut state = self.state();
        let is_first = state.leases.get(&symbol).is_some_and(|lease| !lease.is_asked);
        let may_ask = is_first && state.count_read_request(now);
        if let Some(lease) = state.leases.get_mut(&symbol).filter(|_| may_ask) {
            lease.is_asked = true;
        }
        may_ask
    }

    /// Whether the source may be asked about a stock that is read and not in the catalog. Counts the request.
    pub(crate) fn begin_unlisted_read(&self, now: Timestamp) -> bool {
        self.state().count_read_request(now)
    }

    /// The stocks that are wanted at `now`, by symbol.
    pub(crate) fn symbols(&self, now: Timestamp) -> Vec<Symbol> {
        let state = self.state();
        let running = state.leases.iter().filter(|(_, lease)| is_running(lease.since, now));
        let mut symbols: Vec<Symbol> = running.map(|(symbol, _)| *symbol).collect();
        symbols.sort_unstable();
        symbols
    }

    /// Notifies about stocks that come to be wanted.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Notes that the source knows no newer price of a stock than the one that is known.
    pub(crate) fn confirm(&self, symbol: Symbol, now: Timestamp) {
        let mut state = self.state();
        state.unknown.remove(&symbol);
        state.confirmed.insert(symbol, now);
    }

    /// When the source confirmed the known price of a stock last.
    pub(crate) fn confirmed_at(&self, symbol: Symbol) -> Option<Timestamp> {
        self.state().confirmed.get(&symbol).copied()
    }

    /// Notes that the source does not know a stock: it is not asked again for 15 minutes.
    pub(crate) fn note_unknown(&self, symbol: Symbol, now: Timestamp) {
        let mut state = self.state();
        state.leases.remove(&symbol);
        state.unknown.insert(symbol, now);
        keep_newest(&mut state.unknown, MAX_UNKNOWN, |since| *since);
    }

    /// Whether the source said a short time ago that it does not know a stock.
    pub(crate) fn is_unknown(&self, symbol: Symbol, now: Timestamp) -> bool {
        let state = self.state();
        state.unknown.get(&symbol).is_some_and(|since| is_running(*since, now))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the maps whole: each change is one insertion or removal.
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
        let interest = Interest::default();
        interest.renew(symbol(1), at(0));
        interest.renew(symbol(2), at(600));
        assert_eq!(interest.symbols(at(899)), [symbol(1), symbol(2)]);
        assert_eq!(interest.symbols(at(900)), [symbol(2)]);
        interest.renew(symbol(2), at(1_499));
        assert_eq!(interest.symbols(at(2_398)), [symbol(2)]);
        assert_eq!(interest.symbols(at(2_399)), []);
    }

    #[test]
    fn lease_that_lies_ahead_of_a_clock_that_was_set_back_has_ended() {
        let interest = Interest::default();
        interest.renew(symbol(1), at(86_400));
        assert_eq!(interest.symbols(at(0)), []);
        interest.renew(symbol(1), at(0));
        assert_eq!(interest.symbols(at(0)), [symbol(1)]);
    }

    #[test]
    fn newest_leases_are_kept_when_there_are_too_many() {
        let interest = Interest::default();
        for (number, second) in (0..=MAX_LEASES).zip(0..) {
            interest.renew(symbol(number), at(second));
        }
        let wanted = interest.symbols(at(100));
        assert_eq!(wanted.len(), MAX_LEASES);
        assert!(!wanted.contains(&symbol(0)) && wanted.contains(&symbol(MAX_LEASES)));
    }

    #[test]
    fn only_the_first_read_of_a_lease_waits() {
        let interest = Interest::default();
        assert!(!interest.begin_first_read(symbol(1), at(0)), "nobody wants it");
        interest.renew(symbol(1), at(0));
        assert!(interest.begin_first_read(symbol(1), at(0)));
        interest.renew(symbol(1), at(800));
        assert!(!interest.begin_first_read(symbol(1), at(800)));
        interest.renew(symbol(1), at(1_700));
        assert!(interest.begin_first_read(symbol(1), at(1_700)), "the lease had ended");
    }

    #[test]
    fn read_takes_no_place_from_a_wanted_stock_and_asks_nothing_without_a_place() {
        let interest = Interest::default();
        for number in 0..MAX_LEASES {
            assert!(interest.renew_by_read(symbol(number), at(0)));
        }
        let one_more = symbol(MAX_LEASES);
        assert!(!interest.renew_by_read(one_more, at(1)));
        assert!(!interest.begin_first_read(one_more, at(1)));
        assert!(interest.is_wanted(symbol(0), at(1)) && !interest.is_wanted(one_more, at(1)));
        assert!(interest.renew_by_read(symbol(0), at(1)), "it has a place");
        assert!(interest.renew_by_read(one_more, at(900)), "the others have ended");
        assert!(interest.begin_first_read(one_more, at(900)));
    }

    #[test]
    fn reads_make_so_many_requests_in_fifteen_minutes() {
        let interest = Interest::default();
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
    fn stock_that_the_source_does_not_know_is_not_wanted_and_remembered_for_fifteen_minutes() {
        let interest = Interest::default();
        interest.renew(symbol(1), at(0));
        interest.note_unknown(symbol(1), at(1));
        assert_eq!(interest.symbols(at(1)), []);
        assert!(interest.is_unknown(symbol(1), at(900)));
        assert!(!interest.is_unknown(symbol(1), at(901)));
        interest.confirm(symbol(1), at(2));
        assert!(!interest.is_unknown(symbol(1), at(3)));
    }

    #[test]
    fn listeners_are_notified_of_stocks_that_come_to_be_wanted() {
        let interest = Interest::default();
        let mut changes = interest.changes();
        interest.renew(symbol(1), at(0));
        assert!(changes.has_changed().unwrap());
        changes.borrow_and_update();
        interest.renew(symbol(1), at(1));
        assert!(!changes.has_changed().unwrap());
    }
}
