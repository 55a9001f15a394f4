//! Follows paper trades through the completed sessions, and stores the return of each.
//!
//! The progress of each account is stored, so that a day costs a day's work however old the account is. A late
//! change of the past (a corrected bar, a split, a dividend) invalidates it: the store deletes the progress, and
//! the trades are followed from the beginning.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::{Session, new_york_date};
use market::{Calendar, Symbol};
use paper::{DailyCloses, ReturnTracker, ReturnTrackerError, Trade};
use store::model::{PaperProgress, PaperReturn};

use super::trade_context::trade_of;
use crate::Watchlists;
use foundation::ServiceError;
use store::model::AccountId;

/// How long a session waits for missing closes. Then it is taken without them, and the next close makes up for it.
const MAX_CLOSE_WAIT: SignedDuration = SignedDuration::from_hours(20);
/// The number of accounts that one query reads.
const ACCOUNT_BATCH_SIZE: u32 = 256;

impl Watchlists {
    /// Follows the trades of all accounts through the completed sessions. Returns the number of accounts with progress.
    pub async fn follow_all_paper_trades(&self) -> Result<u64, ServiceError> {
        let Some(last) = last_completed_session(&self.settings.calendar, self.ports.clock.now()) else {
            return Ok(0);
        };
        let (mut followed, mut after) = (0, None);
        loop {
            let store = &self.ports.store;
            let accounts = store.accounts_behind(last.date, after, ACCOUNT_BATCH_SIZE).await?;
            after = accounts.last().copied().or(after);
            if accounts.is_empty() {
                return Ok(followed);
            }
            for account in accounts {
                followed += u64::from(self.follow_paper_trades(account).await?);
            }
        }
    }

    /// Follows an account's trades through the completed sessions that are still missing. Returns whether there were
    /// any.
    pub(super) async fn follow_paper_trades(&self, account: AccountId) -> Result<bool, ServiceError> {
        let store = &self.ports.store;
        let Some(progress) = store.paper_progress(account).await? else {
            return Ok(false);
        };
        let stored = store.all_paper_trades(account).await?;
        let trades: Vec<Trade> = stored.iter().filter_map(trade_of).collect();
        let mut followed = match kept_tracker(&progress) {
            Some(tracker) => self.follow(tracker, &trades).await?,
            None => None,
        };
        let anew = followed.is_none();
        if anew {
            followed = self.follow(ReturnTracker::default(), &trades).await?;
        }
        let Some((tracker, returns)) = followed else {
            return Err(ServiceError::internal("trades are late even in a new tracker"));
        };
        let Some(through) = tracker.through().filter(|_| anew || !returns.is_empty()) else {
            return Ok(false);
        };
        let state = serde_json::to_string(&tracker).map_err(ServiceError::internal)?;
        // If the progress was invalidated meanwhile, nothing is stored and the next call starts anew.
        let inputs = (account, progress.version, (through, state), returns, anew);
        let transaction =
            self.ports
                .store
                .commit(inputs, |&(account, before, ref reached, ref returns, anew), unit| {
                    Box::pin(unit.record_progress(account, before, reached, returns, anew))
                });
        Ok(transaction.await?)
    }

    /// Follows trades from a tracker's position. Returns `None` if a trade was opened or closed in a session that was
    /// taken without it.
    async fn follow(
        &self,
        mut tracker: ReturnTracker,
        trades: &[Trade],
    ) -> Result<Option<(ReturnTracker, Vec<PaperReturn>)>, ServiceError> {
        let calendar = &self.settings.calendar;
        let now = self.ports.clock.now();
        let first = match tracker.through() {
            Some(through) => calendar.next_session_after(through).map(|session| session.date),
            None => ReturnTracker::first_session(calendar, trades),
        };
        let (Some(first), Some(last)) = (first, last_completed_session(calendar, now)) else {
            return Ok(Some((tracker, Vec::new())));
        };
        let symbols = symbols_needed(&tracker, trades);
        let mut closes: BTreeMap<Symbol, DailyCloses> = BTreeMap::new();
        for &symbol in &symbols {
            closes.insert(symbol, self.closes_from(symbol, first).await?);
        }
        let events = self.paper_events(symbols);
        let close_of = |symbol: Symbol, date: Date| closes.get(&symbol).and_then(|closes| closes.on(date));
        let mut returns = Vec::new();
        for session in calendar.sessions(first, last.date) {
            let is_whole = || held_over(trades, &session).all(|symbol| close_of(symbol, session.date).is_some());
            if waits_for_closes(&session, now) && !is_whole() {
                break;
            }
            let taken = tracker.record_session(
                calendar,
                session.date,
                trades,
                |symbol| close_of(symbol, session.date),
                &events,
            );
            match taken {
                Ok(day) => returns.push(PaperReturn {
                    date: day.date,
                    value: day.value,
                }),
                Err(ReturnTrackerError::LateTrade(_)) => return Ok(None),
                Err(error) => return Err(ServiceError::internal(error)),
            }
        }
        Ok(Some((tracker, returns)))
    }
}

/// Returns the last session that is over.
fn last_completed_session(calendar: &Calendar, now: Timestamp) -> Option<Session> {
    let today = new_york_date(now);
    let of_today = calendar.session(today).filter(|session| session.close <= now);
    of_today.or_else(|| calendar.previous_session_before(today))
}

/// Returns the first day whose session may still wait for delivered closes.
pub(super) fn first_waiting(calendar: &Calendar, now: Timestamp) -> Date {
    match last_completed_session(calendar, now) {
        Some(last) if waits_for_closes(&last, now) => last.date,
        Some(last) => last.date.saturating_add(Span::new().days(1)),
        None => new_york_date(now),
    }
}

fn waits_for_closes(session: &Session, now: Timestamp) -> bool {
    now < session.close.saturating_add(MAX_CLOSE_WAIT).unwrap_or(Timestamp::MAX)
}

pub(super) fn kept_tracker(progress: &PaperProgress) -> Option<ReturnTracker> {
    let (_, state) = progress.reached.as_ref()?;
    let tracker = serde_json::from_str(state);
    if let Err(error) = &tracker {
        tracing::warn!(%error, "the stored progress of paper trades cannot be read; they are followed from the beginning");
    }
    tracker.ok()
}

/// Returns the stocks whose closes the next sessions need.
pub(super) fn symbols_needed(tracker: &ReturnTracker, trades: &[Trade]) -> BTreeSet<Symbol> {
    let mut symbols = tracker.symbols();
    symbols.extend(trades.iter().filter(|trade| trade.is_open()).map(|trade| trade.symbol));
    if let Some(through) = tracker.through() {
        let day = |at: Timestamp| market::calendar::new_york_date(at);
        let later = trades.iter().filter(|trade| day(trade.entry.at) >= through);
        symbols.extend(later.map(|trade| trade.symbol));
    } else {
        symbols.extend(trades.iter().map(|trade| trade.symbol));
    }
    symbols
}

/// Returns the stocks that were held at the end of a session.
fn held_over<'a>(trades: &'a [Trade], session: &Session) -> impl Iterator<Item = Symbol> + use<'a> {
    let close = session.close;
    let held = trades
        .iter()
        .filter(move |trade| trade.entry.at <= close && trade.exit.is_none_or(|exit| exit.at > close));
    held.map(|trade| trade.symbol)
}
