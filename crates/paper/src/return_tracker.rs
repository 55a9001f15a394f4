//! The daily return on all of an account's trades, session by session.
//!
//! For each session and each trade that was open in it, the *base* is the trade's value at the previous close, or its
//! notional if it was opened since. The *profit* is the gain from there to the close (or to its exit), including
//! dividends. The day's return is the sum of the profits ÷ the sum of the bases. Each trade weighs as much as its
//! gross value, shorts like longs, and money that enters or leaves with trades is not a return.
//!
//! A [`ReturnTracker`] contains the state for the next session, about sixty bytes per open trade, all of it in
//! integers and text, so that a restored state continues exactly. The only other stored data is one number per
//! session.
//!
//! Facts that become known late (a corrected close, a dividend) are not corrected afterwards: start again from the
//! trades.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Calendar, Price, Symbol};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::corporate_actions::CorporateActions;
use crate::direction::Direction;
use crate::holding::Holding;
use crate::serde_market;
use crate::trade::{Fill, Trade};

/// The return of one session.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DayReturn {
    /// The session.
    pub date: Date,
    /// The return of all trades that were open in the session, as a ratio: 0.01 for one percent; zero without trades.
    pub value: f64,
}

/// Tracks the returns of an account's trades from session to session.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReturnTracker {
    /// The last recorded session.
    through: Option<Date>,
    /// The trades that were open at its close.
    open: BTreeMap<Uuid, OpenTrade>,
}

/// A trade that is open at a close.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct OpenTrade {
    #[serde(with = "serde_market::symbol")]
    symbol: Symbol,
    direction: Direction,
    holding: Holding,
}

/// The trades that were opened or closed in a session.
#[derive(Default)]
struct SessionTrades {
    opened: Vec<(Uuid, Timestamp, OpenTrade)>,
    exits: BTreeMap<Uuid, Fill>,
}

/// The reason why a session cannot be recorded. The tracker remains unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReturnTrackerError {
    /// The market is closed that day.
    #[error("{0} is not a session; record sessions only")]
    NotASession(Date),
    /// The session is not the one after the last.
    #[error("{got} is not the session after the last one, which is {expected}; record each session once, in order")]
    OutOfOrder {
        /// The next session.
        expected: Date,
        /// The given session.
        got: Date,
    },
    /// A trade was opened or closed before the close of a session that was recorded without it.
    #[error("trade {0} was opened or closed in a session that was recorded without it; start again from all trades")]
    LateTrade(Uuid),
}

impl ReturnTracker {
    /// Returns the session from which to track trades: the first that closes at or after the first entry.
    #[must_use]
    pub fn first_session<'a>(calendar: &Calendar, trades: impl IntoIterator<Item = &'a Trade>) -> Option<Date> {
        let entry_at = trades.into_iter().map(|trade| trade.entry.at).min()?;
        let day = market::calendar::new_york_date(entry_at);
        let session = calendar.session(day).filter(|session| entry_at <= session.close);
        session
            .or_else(|| calendar.next_session_after(day))
            .map(|session| session.date)
    }

    /// The last recorded session.
    #[must_use]
    pub const fn through(&self) -> Option<Date> {
        self.through
    }

    /// The stocks of the trades that were open at the last close. The next session needs closes and actions of these
    /// and of the trades opened since.
    #[must_use]
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.open.values().map(|open| open.symbol).collect()
    }

    /// Records a session: the one after the last, or any if it is the first.
    ///
    /// `trades` must include those that were opened or closed since the last close; all of the account's trades are
    /// fine. `close_of` returns a stock's close of this session as traded, per share of the day. Without a close the
    /// stock keeps its value, and the next close includes the difference.
    ///
    /// # Errors
    /// [`ReturnTrackerError`]
    pub fn record_session<'a>(
        &mut self,
        calendar: &Calendar,
        date: Date,
        trades: impl IntoIterator<Item = &'a Trade>,
        close_of: impl Fn(Symbol) -> Option<Price>,
        actions: &CorporateActions,
    ) -> Result<DayReturn, ReturnTrackerError> {
        let session = calendar.session(date).ok_or(ReturnTrackerError::NotASession(date))?;
        if let Some(through) = self.through {
            let next = calendar.next_session_after(through).map(|next| next.date);
            if let Some(expected) = next.filter(|expected| *expected != date) {
                return Err(ReturnTrackerError::OutOfOrder { expected, got: date });
            }
        }
        let before = calendar.previous_session_before(date);
        let since = before.map_or(session.open, |before| before.close);
        let SessionTrades { opened, exits } = self.session_trades(trades, since, session.close)?;
        let opened_at: BTreeMap<Uuid, _> = opened.iter().map(|(id, at, _)| (*id, *at)).collect();
        self.open.extend(opened.into_iter().map(|(id, _, open)| (id, open)));
        let (mut profit, mut base) = (0.0, 0.0);
        for (id, open) in &mut self.open {
            let exit = exits.get(id);
            let OpenTrade {
                symbol,
                direction,
                holding,
            } = open;
            let worth = holding.value();
            let after = opened_at.get(id).copied().unwrap_or(since);
            let until = exit.map_or(session.close, |exit| exit.at);
            let paid: f64 = actions
                .between(*symbol, after, until)
                .map(|action| holding.apply(action))
                .sum();
            if let Some(price) = exit.map(|exit| exit.price).or_else(|| close_of(*symbol)) {
                holding.mark_to(price);
            }
            profit += direction.sign_f64() * (holding.value() - worth + paid);
            base += worth;
        }
        self.open.retain(|id, _| !exits.contains_key(id));
        self.through = Some(date);
        let value = if base > 0.0 { profit / base } else { 0.0 };
        Ok(DayReturn { date, value })
    }

    /// Returns the trades that were opened or closed after `since`, the previous close, and up to `close`.
    fn session_trades<'a>(
        &self,
        trades: impl IntoIterator<Item = &'a Trade>,
        since: Timestamp,
        close: Timestamp,
    ) -> Result<SessionTrades, ReturnTrackerError> {
        let mut changes = SessionTrades::default();
        for trade in trades {
            let exit = trade.exit.filter(|exit| exit.at <= close);
            let is_over = exit.is_some_and(|exit| exit.at <= since);
            let is_held = self.open.contains_key(&trade.id);
            let is_new = since < trade.entry.at && trade.entry.at <= close;
            if (is_held && is_over) || (trade.entry.at <= since && !is_held && !is_over) {
                return Err(ReturnTrackerError::LateTrade(trade.id));
            }
            if is_new && !is_held {
                let Ok(holding) = Holding::bought(trade.notional, trade.entry.price) else {
                    continue; // Nothing was invested in it.
                };
                let (symbol, direction) = (trade.symbol, trade.direction);
                let open = OpenTrade {
                    symbol,
                    direction,
                    holding,
                };
                changes.opened.push((trade.id, trade.entry.at, open));
            }
            if let Some(exit) = exit.filter(|_| is_held || is_new) {
                changes.exits.insert(trade.id, exit);
            }
        }
        Ok(changes)
    }
}
