//! The figures of a stock for display: the same values that its alerts are evaluated against.

use jiff::civil::Date;
use market::day::day_number;
use market::{Decimal, Price, Symbol};

use super::Engine;
use super::group::average;
use super::hot_line::{HotLine, NO_DAY};
use super::stock::Stock;
use crate::condition::{Condition, EpsBasis, InsiderCriteria};

impl Engine {
    fn find_stock(&self, symbol: Symbol) -> Option<(&Stock, HotLine)> {
        let at = self.indices.get(&symbol)?.0 as usize;
        Some((&self.stocks[at], self.hot.get(at)))
    }

    /// Returns whether the session of the stock's last observation is not completed by a bar yet. In a completed session, the
    /// observed price is part of the history and must not be counted again.
    #[must_use]
    pub fn is_session_running(&self, symbol: Symbol) -> bool {
        self.find_stock(symbol).is_some_and(|(_, hot)| hot.day != NO_DAY)
    }

    /// Returns the highest and lowest price of the 52 weeks up to `today`, including the running session.
    #[must_use]
    pub fn extremes_52_weeks(&self, symbol: Symbol, today: Date) -> Option<(Price, Price)> {
        let (stock, hot) = self.find_stock(symbol)?;
        let completed = stock.history.extremes_52_weeks(day_number(today));
        let running = (hot.day != NO_DAY).then_some((hot.high, hot.low));
        let (high, low) = match (completed, running) {
            (Some((high, low)), Some((other_high, other_low))) => (high.max(other_high), low.min(other_low)),
            (one, other) => one.or(other)?,
        };
        Price::from_micros(high).ok().zip(Price::from_micros(low).ok())
    }

    /// Returns the average of `period` sessions (1 or more). During a session its last price stands in for the close.
    #[must_use]
    pub fn current_average(&self, symbol: Symbol, period: u16) -> Option<Decimal> {
        let (stock, hot) = self.find_stock(symbol)?;
        if hot.day != NO_DAY {
            return average(period, hot.last, &stock.history);
        }
        let sum = stock.history.sum_of_closes(usize::from(period))?;
        let period = i64::from(period);
        Some(Decimal::from_micros((sum + period / 2) / period))
    }

    /// Returns the RSI. During a session its last price stands in for the close.
    #[must_use]
    pub fn current_rsi(&self, symbol: Symbol) -> Option<Decimal> {
        let (stock, hot) = self.find_stock(symbol)?;
        stock.current_rsi(&hot).map(Decimal::from_micros)
    }

    /// Returns the known earnings per share, per today's share.
    #[must_use]
    pub fn earnings_per_share(&self, symbol: Symbol, which: EpsBasis) -> Option<Decimal> {
        let (stock, _) = self.find_stock(symbol)?;
        stock.fundamentals.eps(which)
    }

    /// Returns the mentions of the newest 24 hours; `None` while the usual number is unknown.
    #[must_use]
    pub fn mentions_in_24_hours(&self, symbol: Symbol) -> Option<i64> {
        self.find_stock(symbol)?.0.facts.as_deref()?.buzz.mentions_in_24_hours()
    }

    /// Returns the total value in US dollars of the insider trades that count on `today`, and the number of their insiders.
    #[must_use]
    pub fn insider_totals(&self, symbol: Symbol, criteria: &InsiderCriteria, today: Date) -> (Decimal, u32) {
        let facts = self.find_stock(symbol).and_then(|(stock, _)| stock.facts.as_deref());
        facts.map_or((Decimal::ZERO, 0), |facts| facts.insider_totals(criteria, today))
    }

    /// Returns the next date of a date condition, and the amount per share if it is a payment date.
    #[must_use]
    pub fn next_date(&self, symbol: Symbol, condition: &Condition, today: Date) -> Option<(Date, Option<Decimal>)> {
        self.find_stock(symbol)?.0.facts.as_deref()?.next_date(condition, today)
    }
}
