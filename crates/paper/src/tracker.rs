//! The day's return on all of an account's trades, session by session.
//!
//! For each session and each trade that was open in it, the *base* is what the trade was worth at the previous close, or
//! its notional if it was opened since; the *profit* is what it gained from there to the close (or to its exit),
//! dividends included. The day's return is the sum of the profits ÷ the sum of the bases. So each trade weighs as much
//! as its gross value, shorts like longs, and money that comes or goes with trades is no return.
//!
//! A [`Tracker`] holds what the next session needs, some sixty bytes for each open trade, all of it in integers and text, so
//! that a stored state goes on exactly where it stopped. What is stored beside it is one number a session.
//!
//! What became known late (a corrected close, a dividend) is not mended afterwards: start anew from the trades.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use market::{Calendar, Price, Symbol};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::direction::Direction;
use crate::events::Events;
use crate::holding::Holding;
use crate::trade::Trade;
use crate::wire;

/// What a session brought.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DayReturn {
    /// The session.
    pub date: Date,
    /// The return of all trades that were open in it, as a ratio: 0.01 for one percent. Zero without trades.
    pub value: f64,
}

/// Follows an account's trades from session to session.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tracker {
    /// The last session that was taken in.
    through: Option<Date>,
    /// The trades that were open at its close.
    open: BTreeMap<Uuid, Open>,
}

/// A trade that is open at a close.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Open {
    #[serde(with = "wire::symbol")]
    symbol: Symbol,
    direction: Direction,
    holding: Holding,
}

/// Why a session cannot be taken in. The tracker is as it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// The market is closed that day.
    #[error("{0} is no session; hand in sessions only")]
    NotASession(Date),
    /// Not the session after the last.
    #[error("{got} is not the session after the last one, which is {expected}; hand in each session once, in order")]
    OutOfOrder {
        /// The session that is next.
        expected: Date,
        /// The session that was handed in.
        got: Date,
    },
    /// A trade was opened or closed before the close of a session that was taken in without it.
    #[error("trade {0} was opened or closed in a session that was taken in without it; start anew from all trades")]
    Late(Uuid),
}

impl Tracker {
    /// The session from which on to follow some trades: the first that closes at or after the first entry.
    #[must_use]
    pub fn first_session<'a>(calendar: &Calendar, trades: impl IntoIterator<Item = &'a Trade>) -> Option<Date> {
        let entry_at = trades.into_iter().map(|trade| trade.entry.at).min()?;
        let day = market::calendar::new_york_date(entry_at);
        let session = calendar.session(day).filter(|session| entry_at <= session.close);
        session
            .or_else(|| calendar.next_session_after(day))
            .map(|session| session.date)
    }

    /// The last session that was taken in.
    #[must_use]
    pub const fn through(&self) -> Option<Date> {
        self.through
    }

    /// The stocks of the trades that were open at the last close: of these, and of those opened since, the next session
    /// needs closes and events.
    #[must_use]
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.open.values().map(|open| open.symbol).collect()
    }

    /// Takes in a session: the one after the last, or any if it is the first.
    ///
    /// `trades` are at least those that were opened or closed since the last close; all of the account's will do.
    /// `close_of` answers with a stock's close of this session as it was traded, in the shares of the day. A stock
    /// without one stands where it stood, and the next close makes up for it.
    ///
    /// # Errors
    /// [`TrackerError`]
    pub fn take<'a>(
        &mut self,
        calendar: &Calendar,
        date: Date,
        trades: impl IntoIterator<Item = &'a Trade>,
        close_of: impl Fn(Symbol) -> Option<Price>,
        events: &Events,
    ) -> Result<DayReturn, TrackerError> {
        let session = calendar.session(date).ok_or(TrackerError::NotASession(date))?;
        if let Some(through) = self.through {
            let next = calendar.next_session_after(through).map(|next| next.date);
            if let Some(expected) = next.filter(|expected| *expected != date) {
                return Err(TrackerError::OutOfOrder { expected, got: date });
            }
        }
        let before = calendar.previous_session_before(date);
        let since = before.map_or(session.open, |before| before.close);

        let mut began = BTreeMap::new();
        let mut ended = BTreeMap::new();
        for trade in trades {
            let exit = trade.exit.filter(|exit| exit.at <= session.close);
            let over = exit.is_some_and(|exit| exit.at <= since);
            let held = self.open.contains_key(&trade.id);
            let new = since < trade.entry.at && trade.entry.at <= session.close;
            let of_before = trade.entry.at <= since;
            if (held && over) || (of_before && !held && !over) {
                return Err(TrackerError::Late(trade.id));
            }
            if new && !held {
                let Ok(holding) = Holding::bought(trade.notional, trade.entry.price) else {
                    continue; // Nothing was put on it.
                };
                let (symbol, direction) = (trade.symbol, trade.direction);
                let open = Open {
                    symbol,
                    direction,
                    holding,
                };
                began.insert(trade.id, (open, trade.entry.at));
            }
            if let Some(exit) = exit.filter(|_| held || new) {
                ended.insert(trade.id, exit);
            }
        }

        let began_at: BTreeMap<Uuid, _> = began.iter().map(|(id, (_, at))| (*id, *at)).collect();
        self.open.extend(began.into_iter().map(|(id, (open, _))| (id, open)));
        let (mut profit, mut base) = (0.0, 0.0);
        for (id, open) in &mut self.open {
            let exit = ended.get(id);
            let Open {
                symbol,
                direction,
                holding,
            } = open;
            let worth = holding.value();
            let after = began_at.get(id).copied().unwrap_or(since);
            let until = exit.map_or(session.close, |exit| exit.at);
            let paid: f64 = events
                .between(*symbol, after, until)
                .map(|event| holding.take(event))
                .sum();
            if let Some(price) = exit.map(|exit| exit.price).or_else(|| close_of(*symbol)) {
                holding.see(price);
            }
            profit += direction.sign_f64() * (holding.value() - worth + paid);
            base += worth;
        }
        self.open.retain(|id, _| !ended.contains_key(id));
        self.through = Some(date);
        let value = if base > 0.0 { profit / base } else { 0.0 };
        Ok(DayReturn { date, value })
    }
}
