//! The input of an analysis.

use alerts::Plan;
use alerts::engine::Dividend;
use alerts::request::ParseContext;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{History, Price, Symbol};

use crate::Intention;

/// A stock, the known facts about it, and the account it is analysed for.
///
/// All prices are per today's share: a [`History`] is adjusted for splits, and the caller adjusts the other prices.
#[derive(Clone, Copy, Debug)]
pub struct AnalysisSubject<'a> {
    /// The stock.
    pub symbol: Symbol,
    /// The owner's intention.
    pub intention: Intention,
    /// The current price.
    pub price: Price,
    /// The price at which the owner wants to trade, if they named one.
    pub target_price: Option<Price>,
    /// The completed sessions.
    pub history: &'a History,
    /// The volume so far of the running session; `None` if there is none or it is unknown.
    pub session_volume: Option<i64>,
    /// The known earnings dates, in any order; past dates are allowed.
    pub earnings: &'a [Date],
    /// The known dividends, in any order; past dividends are allowed.
    pub dividends: &'a [Dividend],
    /// The account's plan.
    pub plan: Plan,
    /// The number of the account's active alerts, without those that the proposals replace.
    pub active_alerts: u32,
    /// The instant, the account's time zone and the calendar, as for a request of the account.
    pub context: ParseContext<'a>,
}

impl AnalysisSubject<'_> {
    /// Today's date in New York.
    #[must_use]
    pub fn today(&self) -> Date {
        new_york_date(self.context.now)
    }

    /// The number of alerts that the plan still allows; `None` means unlimited.
    #[must_use]
    pub fn remaining_alerts(&self) -> Option<u32> {
        let quota = self.plan.active_alert_quota()?;
        Some(quota.saturating_sub(self.active_alerts))
    }

    /// The distance of `level` from the current price: the natural logarithm of their ratio, positive above the
    /// price.
    #[must_use]
    pub fn distance(&self, level: Price) -> f64 {
        (level.as_f64() / self.price.as_f64()).ln()
    }
}
