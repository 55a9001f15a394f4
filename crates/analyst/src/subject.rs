//! What an analysis is made of.

use alerts::Plan;
use alerts::engine::Dividend;
use alerts::request::Context;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{History, Price, Symbol};

use crate::Intention;

/// A stock, what is known of it, and for whom it is looked at.
///
/// All prices are per today's share: a [`History`] follows splits, and so has to whoever fills in the others.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The stock.
    pub symbol: Symbol,
    /// What its owner means to do.
    pub intention: Intention,
    /// The current price.
    pub price: Price,
    /// The price at which the owner means to do it, if they said so.
    pub target_price: Option<Price>,
    /// The completed sessions.
    pub history: &'a History,
    /// The volume so far of the session that is going on; `None` when there is none or nobody tells.
    pub session_volume: Option<i64>,
    /// Known dates of earnings, in any order, past ones included or not.
    pub earnings: &'a [Date],
    /// Known dividends, in any order, past ones included or not.
    pub dividends: &'a [Dividend],
    /// What the account may have.
    pub plan: Plan,
    /// How many alerts of the account are active, those left out that will make room for the proposals.
    pub active_alerts: u32,
    /// The instant, the account's time zone and the calendar, as for a request of the account's own.
    pub context: Context<'a>,
}

impl Subject<'_> {
    /// The date in New York.
    #[must_use]
    pub fn today(&self) -> Date {
        new_york_date(self.context.now)
    }

    /// How many alerts the plan still has room for; `None` is any number.
    #[must_use]
    pub fn room(&self) -> Option<u32> {
        let quota = self.plan.active_alert_quota()?;
        Some(quota.saturating_sub(self.active_alerts))
    }

    /// How far `level` is from the current price: the natural logarithm of their ratio, positive above the price.
    #[must_use]
    pub fn distance(&self, level: Price) -> f64 {
        (level.as_f64() / self.price.as_f64()).ln()
    }
}
