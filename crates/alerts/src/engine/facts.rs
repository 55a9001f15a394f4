//! The facts about a stock besides its price: future dates, insider trades and mentions.
//!
//! Facts change rarely, so their evaluation is simple: a change evaluates the few alerts that depend on it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use market::Decimal;
use market::day::day_number;

use super::buzz::Buzz;
use super::event::{Dividend, InsiderTrade};
use super::level_index::Slot;
use super::reason::{InsiderNames, Reason};
use crate::condition::{Condition, InsiderCriteria, InsiderDirection};

/// The number of days after which filings are dropped. No window is longer.
const KEPT_FILING_DAYS: i32 = 400;

/// The facts about a stock, and the alerts that wait for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Sorted.
    earnings: Vec<Date>,
    /// Sorted by ex-date.
    dividends: Vec<Dividend>,
    /// The alerts that wait for a date.
    pub(super) dated: BTreeSet<Slot>,
    trades: Vec<InsiderTrade>,
    /// The alerts that wait for insider trades.
    pub(super) insider_watchers: BTreeSet<Slot>,
    pub(super) buzz: Buzz,
}

/// The first day on which a date condition holds, and the date that it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DueDate {
    pub(super) day: Date,
    about: Date,
}

impl Facts {
    pub(super) fn set_earnings(&mut self, dates: &[Date]) {
        self.earnings = dates.to_vec();
        self.earnings.sort_unstable();
    }

    pub(super) fn set_dividends(&mut self, dividends: &[Dividend]) {
        self.dividends = dividends.to_vec();
        self.dividends.sort_unstable();
    }

    /// Returns the first day from `from` on which a date condition holds, as far as dates are known.
    pub(super) fn next_due(&self, condition: &Condition, from: Date) -> Option<DueDate> {
        let is_ahead = |date: &Date| *date >= from;
        let mut earnings = self.earnings.iter().copied();
        let mut ex_dates = self.dividends.iter().map(|dividend| dividend.ex_date);
        let payment_dates = self.dividends.iter().filter_map(|dividend| dividend.payment_date);
        let (about, days_ahead) = match *condition {
            Condition::EarningsAnnouncement { days_ahead } => (earnings.find(is_ahead)?, days_ahead),
            Condition::DividendExDate { days_ahead } => (ex_dates.find(is_ahead)?, days_ahead),
            Condition::DividendPayment { .. } => (payment_dates.filter(is_ahead).min()?, 0),
            _ => return None,
        };
        let first = about.saturating_sub(jiff::Span::new().days(i64::from(days_ahead)));
        Some(DueDate {
            day: first.max(from),
            about,
        })
    }

    /// Returns the reason for which a date condition holds on `today`; `None` if it does not hold.
    pub(super) fn date_reason(&self, condition: &Condition, today: Date) -> Option<Reason> {
        let due = self.next_due(condition, today).filter(|due| due.day == today)?;
        let date = due.about;
        let days = u16::try_from(day_number(date) - day_number(today)).ok()?;
        match *condition {
            Condition::EarningsAnnouncement { .. } => Some(Reason::EarningsNear { date, days }),
            Condition::DividendExDate { .. } => Some(Reason::ExDividendNear {
                date,
                days,
                amount: self.amount(|dividend| dividend.ex_date == date),
            }),
            Condition::DividendPayment { shares } => {
                let amount = self.amount(|dividend| dividend.payment_date == Some(date));
                Some(Reason::DividendPaid {
                    amount,
                    expected: amount.zip(shares).map(|(amount, shares)| product(amount, shares)),
                })
            }
            _ => None,
        }
    }

    /// Returns the amount per share of the first matching dividend, if it is known.
    fn amount(&self, is_it: impl Fn(&Dividend) -> bool) -> Option<Decimal> {
        self.dividends.iter().find(|dividend| is_it(dividend))?.amount
    }

    pub(super) fn trades(&self) -> &[InsiderTrade] {
        &self.trades
    }

    pub(super) fn earnings(&self) -> &[Date] {
        &self.earnings
    }

    pub(super) fn dividends(&self) -> &[Dividend] {
        &self.dividends
    }

    pub(super) fn clear_trades(&mut self) {
        self.trades.clear();
    }

    pub(super) fn add_trades(&mut self, trades: &[InsiderTrade], today: Date) {
        let oldest = day_number(today) - KEPT_FILING_DAYS;
        self.trades.retain(|trade| day_number(trade.filed_on) > oldest);
        self.trades.extend(
            trades
                .iter()
                .filter(|trade| day_number(trade.filed_on) > oldest)
                .cloned(),
        );
    }

    /// Returns the total value of the trades that count on `today`, and the number of their insiders.
    pub(super) fn insider_totals(&self, criteria: &InsiderCriteria, today: Date) -> (Decimal, u32) {
        totals(&self.counted_trades(criteria, today))
    }

    fn counted_trades(&self, criteria: &InsiderCriteria, today: Date) -> Vec<&InsiderTrade> {
        let after = day_number(today) - i32::from(criteria.window_days);
        let counts = |trade: &&InsiderTrade| {
            day_number(trade.filed_on) > after
                && (trade.open_market || !criteria.open_market_only)
                && match criteria.direction {
                    InsiderDirection::Both => true,
                    InsiderDirection::Buy => trade.bought,
                    InsiderDirection::Sell => !trade.bought,
                }
        };
        self.trades.iter().filter(counts).collect()
    }

    /// Returns the reason for which an insider alert holds on `today`; `None` if it does not hold.
    pub(super) fn insider_reason(&self, criteria: &InsiderCriteria, today: Date) -> Option<Reason> {
        let counted = self.counted_trades(criteria, today);
        let (value_usd, insiders) = totals(&counted);
        let holds = value_usd >= criteria.threshold_usd && insiders >= u32::from(criteria.min_executives);
        holds.then(|| Reason::InsidersTraded {
            value_usd,
            insiders,
            window_days: criteria.window_days,
            traded: direction(&counted),
            names: Box::new(InsiderNames::of(&names(&counted))),
        })
    }

    /// Returns the next date of a date condition, and the amount per share if it is a payment date.
    pub(super) fn next_date(&self, condition: &Condition, today: Date) -> Option<(Date, Option<Decimal>)> {
        let date = self.next_due(condition, today)?.about;
        let amount = match condition {
            Condition::DividendPayment { .. } => self.amount(|dividend| dividend.payment_date == Some(date)),
            _ => None,
        };
        Some((date, amount))
    }
}

/// Returns the total value of trades in US dollars, and the number of distinct insiders.
fn totals(trades: &[&InsiderTrade]) -> (Decimal, u32) {
    let value: i128 = trades.iter().map(|trade| i128::from(trade.value_usd.micros())).sum();
    let insiders: BTreeSet<_> = trades.iter().map(|trade| trade.insider.as_str()).collect();
    (
        Decimal::from_micros(i64::try_from(value).unwrap_or(i64::MAX)),
        u32::try_from(insiders.len()).unwrap_or(u32::MAX),
    )
}

/// Returns whether the trades are purchases, sales or both.
fn direction(trades: &[&InsiderTrade]) -> InsiderDirection {
    let has = |bought: bool| trades.iter().any(|trade| trade.bought == bought);
    match (has(true), has(false)) {
        (true, true) => InsiderDirection::Both,
        (_, false) => InsiderDirection::Buy,
        (false, true) => InsiderDirection::Sell,
    }
}

/// Returns the insiders of the trades, ordered by the total value of their trades, largest first.
fn names<'a>(trades: &[&'a InsiderTrade]) -> Vec<&'a str> {
    let mut values: BTreeMap<&str, i128> = BTreeMap::new();
    for trade in trades {
        *values.entry(&trade.insider).or_default() += i128::from(trade.value_usd.micros());
    }
    let mut names: Vec<_> = values.into_iter().collect();
    names.sort_by_key(|&(_, value)| std::cmp::Reverse(value));
    names.into_iter().map(|(name, _)| name).collect()
}

/// Returns the product of two decimals, rounded down to a millionth.
fn product(a: Decimal, b: Decimal) -> Decimal {
    let micros = i128::from(a.micros()) * i128::from(b.micros()) / i128::from(market::MICROS_PER_UNIT);
    Decimal::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
