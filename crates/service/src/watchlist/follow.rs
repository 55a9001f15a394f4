//! Takes paper trades through one session after another, and writes down what each brought.
//!
//! How far an account's trades have been followed is kept, so that a day costs a day's work however long the account has been
//! there. Whatever becomes known of the past later (a corrected bar, a split, a dividend) makes that invalid: the store forgets
//! how far the trades were followed, and they are followed from the beginning.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::{SignedDuration, Span, Timestamp};
use market::calendar::{Session, new_york_date};
use market::{Calendar, Symbol};
use paper::{DailyCloses, ReturnTracker, ReturnTrackerError, Trade};
use store::model::{PaperProgress, PaperReturn};
use store::{Abort, BoxFuture, Transaction, UnitOfWork};

use super::desk::trade_of;
use crate::watchlist::Watchlists;
use crate::{AccountId, ServiceError};

/// So long a session waits for closes that are missing; then it is taken without them, and the next close makes up for it.
const PATIENCE: SignedDuration = SignedDuration::from_hours(20);
/// Accounts are followed in pieces of so many.
const AT_ONCE: u32 = 256;

impl Watchlists {
    /// Follows the trades of all accounts through the sessions that are over. Answers how many accounts went on.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
    pub(crate) async fn follow_all_paper_trades(&self) -> Result<u64, ServiceError> {
        let Some(last) = last_over(&self.settings.calendar, self.ports.clock.now()) else {
            return Ok(0);
        };
        let (mut followed, mut after) = (0, None);
        loop {
            let store = &self.ports.store;
            let accounts = store.accounts_behind(last.date, after, AT_ONCE).await?;
            after = accounts.last().copied().or(after);
            if accounts.is_empty() {
                return Ok(followed);
            }
            for account in accounts {
                followed += u64::from(self.follow_paper_trades(account).await?);
            }
        }
    }

    /// Follows an account's trades through the sessions that are over and were not taken in yet. Answers whether there were any.
    ///
    /// # Errors
    /// [`ServiceError::Internal`] if the database fails.
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
            return Err(ServiceError::internal("trades come late even from the beginning"));
        };
        let Some(through) = tracker.through().filter(|_| anew || !returns.is_empty()) else {
            return Ok(false);
        };
        let state = serde_json::to_string(&tracker).map_err(ServiceError::internal)?;
        let note = Note {
            account,
            before: progress.version,
            reached: (through, state),
            returns,
            anew,
        };
        // If something has become invalid meanwhile, the next look sees it.
        Ok(store.write(note).await?)
    }

    /// Follows trades on from where a tracker is. `None`: a trade was made or ended in a session that was taken in without it.
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
        let (Some(first), Some(last)) = (first, last_over(calendar, now)) else {
            return Ok(Some((tracker, Vec::new())));
        };
        let symbols = concerned(&tracker, trades);
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

/// The last session that is over.
fn last_over(calendar: &Calendar, now: Timestamp) -> Option<Session> {
    let today = new_york_date(now);
    let of_today = calendar.session(today).filter(|session| session.close <= now);
    of_today.or_else(|| calendar.previous_session_before(today))
}

/// The first day whose session may still wait for delivered closes.
pub(super) fn first_waiting(calendar: &Calendar, now: Timestamp) -> Date {
    match last_over(calendar, now) {
        Some(last) if waits_for_closes(&last, now) => last.date,
        Some(last) => last.date.saturating_add(Span::new().days(1)),
        None => new_york_date(now),
    }
}

fn waits_for_closes(session: &Session, now: Timestamp) -> bool {
    now < session.close.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX)
}

pub(super) fn kept_tracker(progress: &PaperProgress) -> Option<ReturnTracker> {
    let (_, state) = progress.reached.as_ref()?;
    let tracker = serde_json::from_str(state);
    if let Err(error) = &tracker {
        tracing::warn!(%error, "how far paper trades were followed cannot be read; they are followed from the beginning");
    }
    tracker.ok()
}

/// The stocks whose closes the next sessions need.
pub(super) fn concerned(tracker: &ReturnTracker, trades: &[Trade]) -> BTreeSet<Symbol> {
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

/// The stocks that were held at the end of a session.
fn held_over<'a>(trades: &'a [Trade], session: &Session) -> impl Iterator<Item = Symbol> + use<'a> {
    let close = session.close;
    let held = trades
        .iter()
        .filter(move |trade| trade.entry.at <= close && trade.exit.is_none_or(|exit| exit.at > close));
    held.map(|trade| trade.symbol)
}

/// Writes down how far trades were followed.
struct Note {
    account: AccountId,
    before: i64,
    reached: (Date, String),
    returns: Vec<PaperReturn>,
    anew: bool,
}

impl Transaction for Note {
    type Output = bool;
    type Refusal = ServiceError;

    fn run<'a>(&'a self, unit: &'a mut UnitOfWork) -> BoxFuture<'a, Result<bool, Abort<ServiceError>>> {
        Box::pin(async move {
            let Self {
                account,
                before,
                reached,
                returns,
                anew,
            } = self;
            Ok(unit.record_progress(*account, *before, reached, returns, *anew).await?)
        })
    }
}
