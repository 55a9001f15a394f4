//! What is known of a stock, for showing: the same figures that its alerts are judged by.

use jiff::civil::Date;
use market::day::day_number;
use market::{Decimal, Price, Symbol};

use super::Engine;
use super::group::average;
use super::hot_line::{HotLine, NO_DAY};
use super::stock::Stock;
use crate::condition::{Condition, Earnings, InsiderWatch};

impl Engine {
    fn known(&self, symbol: Symbol) -> Option<(&Stock, &HotLine)> {
        let at = self.names.get(&symbol)?.0 as usize;
        Some((&self.stocks[at], &self.hot[at]))
    }

    /// Whether the session of the stock's last observation has not been completed by a bar yet. If it has, the
    /// observation's price is part of the history and must not be counted once more.
    #[must_use]
    pub fn is_session_running(&self, symbol: Symbol) -> bool {
        self.known(symbol).is_some_and(|(_, hot)| hot.day != NO_DAY)
    }

    /// The highest and lowest price of the 52 weeks up to `today`, the running session included.
    #[must_use]
    pub fn extremes_of_52_weeks(&self, symbol: Symbol, today: Date) -> Option<(Price, Price)> {
        let (stock, hot) = self.known(symbol)?;
        let completed = stock.history.extremes_52_weeks(day_number(today));
        let running = (hot.day != NO_DAY).then_some((hot.high, hot.low));
        let (high, low) = match (completed, running) {
            (Some((high, low)), Some((other_high, other_low))) => (high.max(other_high), low.min(other_low)),
            (one, other) => one.or(other)?,
        };
        Price::from_micros(high).ok().zip(Price::from_micros(low).ok())
    }

    /// The average of `period` sessions (1 or more): while a session is running its last price stands in for its close.
    #[must_use]
    pub fn average_now(&self, symbol: Symbol, period: u16) -> Option<Decimal> {
        let (stock, hot) = self.known(symbol)?;
        if hot.day != NO_DAY {
            return average(period, hot.last, &stock.history);
        }
        let sum = stock.history.sum_of_closes(usize::from(period))?;
        let period = i64::from(period);
        Some(Decimal::from_micros((sum + period / 2) / period))
    }

    /// The RSI: while a session is running its last price stands in for its close.
    #[must_use]
    pub fn rsi_now(&self, symbol: Symbol) -> Option<Decimal> {
        let (stock, hot) = self.known(symbol)?;
        stock.rsi_now(hot).map(Decimal::from_micros)
    }

    /// The earnings per share that are known, per today's share.
    #[must_use]
    pub fn earnings_per_share(&self, symbol: Symbol, which: Earnings) -> Option<Decimal> {
        let (stock, _) = self.known(symbol)?;
        stock.eps.known(which).map(Decimal::from_micros)
    }

    /// Mentions of the last 24 hours there are; `None` while it cannot be said what is usual.
    #[must_use]
    pub fn mentions_of_a_day(&self, symbol: Symbol) -> Option<i64> {
        self.known(symbol)?.0.facts.as_deref()?.buzz.mentions_of_a_day()
    }

    /// What the trades that an insider alert counts on `today` are worth together in US dollars, and how many insiders
    /// made them.
    #[must_use]
    pub fn insider_totals(&self, symbol: Symbol, watch: &InsiderWatch, today: Date) -> (Decimal, u32) {
        let facts = self.known(symbol).and_then(|(stock, _)| stock.facts.as_deref());
        facts.map_or((Decimal::ZERO, 0), |facts| facts.insider_totals(watch, today))
    }

    /// The date that a date condition waits for on `today`, and what is paid a share then, if it is about a payment.
    #[must_use]
    pub fn next_date(&self, symbol: Symbol, condition: &Condition, today: Date) -> Option<(Date, Option<Decimal>)> {
        self.known(symbol)?.0.facts.as_deref()?.next_date(condition, today)
    }
}
