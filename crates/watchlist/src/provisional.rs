//! The provisional return of the incomplete session, from the prices so far. It is computed for each response and
//! never stored.

use std::collections::BTreeMap;

use jiff::civil::Date;
use market::calendar::{Session, new_york_date};
use market::{Price, Symbol};
use paper::{DailyCloses, DayReturn, ReturnTracker, Trade};

use super::follow::{kept_tracker, symbols_needed};
use super::trade_context::trade_of;
use crate::Watchlists;
use foundation::ServiceError;
use store::model::AccountId;

impl Watchlists {
    /// Returns the returns of the sessions that have begun and are not followed yet: the running one, and the previous
    /// one while it waits for closes.
    pub(super) async fn provisional_returns(&self, account: AccountId) -> Result<Vec<DayReturn>, ServiceError> {
        let store = &self.ports.store;
        let Some(progress) = store.paper_progress(account).await? else {
            return Ok(Vec::new());
        };
        let stored = store.all_paper_trades(account).await?;
        let trades: Vec<Trade> = stored.iter().filter_map(trade_of).collect();
        let mut tracker = kept_tracker(&progress).unwrap_or_default();
        let sessions = self.sessions_to_come(&tracker, &trades);
        let Some(first) = sessions.first().map(|session| session.date) else {
            return Ok(Vec::new());
        };
        let symbols = symbols_needed(&tracker, &trades);
        let mut closes: BTreeMap<Symbol, DailyCloses> = BTreeMap::new();
        for &symbol in &symbols {
            closes.insert(symbol, self.closes_so_far(symbol, first).await?);
        }
        let events = self.paper_events(symbols);
        let mut returns = Vec::new();
        for session in sessions {
            let price_of = |symbol: Symbol| {
                let close = closes.get(&symbol).and_then(|closes| closes.on(session.date));
                close.or_else(|| self.price_in(symbol, &session))
            };
            let calendar = &self.settings.calendar;
            // Late trades are followed anew first, and included afterwards.
            let Ok(day) = tracker.record_session(calendar, session.date, &trades, price_of, &events) else {
                break;
            };
            returns.push(day);
        }
        Ok(returns)
    }

    /// Returns the sessions that have begun after the last followed one.
    fn sessions_to_come(&self, tracker: &ReturnTracker, trades: &[Trade]) -> Vec<Session> {
        let calendar = &self.settings.calendar;
        let now = self.ports.clock.now();
        let first = match tracker.through() {
            Some(through) => calendar.next_session_after(through).map(|session| session.date),
            None => ReturnTracker::first_session(calendar, trades),
        };
        let Some(first) = first else {
            return Vec::new();
        };
        let sessions = calendar.sessions(first, new_york_date(now));
        sessions.filter(|session| session.open <= now).collect()
    }

    /// Returns a stock's closes from a day on, including observed ones.
    pub(super) async fn closes_so_far(&self, symbol: Symbol, from: Date) -> Result<DailyCloses, ServiceError> {
        let closes = self.ports.store.closes(symbol, from, Date::MAX).await?;
        Ok(closes.into_iter().collect())
    }

    /// Returns a stock's last price if it was observed in the session.
    fn price_in(&self, symbol: Symbol, session: &Session) -> Option<Price> {
        let quote = self.stocks.figures().quote(symbol);
        let is_in_session = |at| session.open <= at && at <= session.close;
        quote.price.filter(|_| quote.at.is_some_and(is_in_session))
    }

    /// Returns a stock's price in an incomplete session, with its day.
    pub(super) fn provisional_close(&self, symbol: Symbol, date: Date) -> Option<(Date, Price)> {
        let session = self.settings.calendar.session(date)?;
        Some((date, self.price_in(symbol, &session)?))
    }
}
