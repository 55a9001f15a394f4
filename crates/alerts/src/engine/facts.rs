//! What is known of a stock beside its price: dates ahead, insiders' trades, mentions.
//!
//! These change rarely, so they are judged plainly: when one of them changes, the few alerts that depend on it are
//! looked at.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use market::Decimal;
use market::day::day_number;

use super::buzz::Buzz;
use super::event::{Dividend, InsiderTrade};
use super::level_index::Slot;
use super::reason::{InsiderNames, Reason};
use crate::condition::{Condition, InsiderDirection, InsiderWatch};

/// Filings older than this many days are forgotten; no window is longer.
const KEPT_FILING_DAYS: i32 = 400;

/// The facts and who waits for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Sorted.
    earnings: Vec<Date>,
    /// Sorted by ex-date.
    dividends: Vec<Dividend>,
    /// Alerts that wait for one of the dates.
    pub(super) dated: BTreeSet<Slot>,
    trades: Vec<InsiderTrade>,
    /// Alerts that wait for insiders.
    pub(super) insider_watchers: BTreeSet<Slot>,
    pub(super) buzz: Buzz,
}

/// When a date alert is due: the first day on which it holds, and the date it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Due {
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

    /// The first day from `from` on at which a date condition holds, as far as dates are known.
    pub(super) fn next_due(&self, condition: &Condition, from: Date) -> Option<Due> {
        let (about, days_ahead) = match *condition {
            Condition::EarningsAnnouncement { days_ahead } => {
                (self.earnings.iter().copied().find(|&date| date >= from)?, days_ahead)
            }
            Condition::DividendExDate { days_ahead } => (
                self.dividends
                    .iter()
                    .map(|dividend| dividend.ex_date)
                    .find(|&date| date >= from)?,
                days_ahead,
            ),
            Condition::DividendPayment { .. } => (
                self.dividends
                    .iter()
                    .filter_map(|dividend| dividend.payment_date)
                    .filter(|&date| date >= from)
                    .min()?,
                0,
            ),
            _ => return None,
        };
        let first = about.saturating_sub(jiff::Span::new().days(i64::from(days_ahead)));
        Some(Due {
            day: first.max(from),
            about,
        })
    }

    /// Why a date condition holds on `today`; `None` if it does not.
    pub(super) fn date_reason(&self, condition: &Condition, today: Date) -> Option<Reason> {
        let due = self.next_due(condition, today).filter(|due| due.day == today)?;
        let date = due.about;
        let days = u16::try_from(day_number(date) - day_number(today)).ok()?;
        let dividend = |is_it: &dyn Fn(&Dividend) -> bool| {
            self.dividends
                .iter()
                .find(|dividend| is_it(dividend))
                .and_then(|dividend| dividend.amount)
        };
        match *condition {
            Condition::EarningsAnnouncement { .. } => Some(Reason::EarningsNear { date, days }),
            Condition::DividendExDate { .. } => Some(Reason::ExDividendNear {
                date,
                days,
                amount: dividend(&|dividend| dividend.ex_date == date),
            }),
            Condition::DividendPayment { shares } => {
                let amount = dividend(&|dividend| dividend.payment_date == Some(date));
                Some(Reason::DividendPaid {
                    amount,
                    expected: amount.zip(shares).map(|(amount, shares)| product(amount, shares)),
                })
            }
            _ => None,
        }
    }

    /// Whether a date of the kind the condition waits for is known for `today` or later.
    pub(super) fn knows_a_date(&self, condition: &Condition, today: Date) -> bool {
        self.next_due(condition, today).is_some()
    }

    pub(super) fn forget_trades(&mut self) {
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

    /// What the trades that an insider alert counts on `today` are worth together, and how many insiders made them.
    pub(super) fn insider_totals(&self, watch: &InsiderWatch, today: Date) -> (Decimal, u32) {
        totals(&self.counted_trades(watch, today))
    }

    fn counted_trades(&self, watch: &InsiderWatch, today: Date) -> Vec<&InsiderTrade> {
        let after = day_number(today) - i32::from(watch.window_days);
        let counts = |trade: &&InsiderTrade| {
            day_number(trade.filed_on) > after
                && (trade.open_market || !watch.open_market_only)
                && match watch.direction {
                    InsiderDirection::Both => true,
                    InsiderDirection::Buy => trade.bought,
                    InsiderDirection::Sell => !trade.bought,
                }
        };
        self.trades.iter().filter(counts).collect()
    }

    /// Why an insider alert holds on `today`; `None` if it does not.
    pub(super) fn insider_reason(&self, watch: &InsiderWatch, today: Date) -> Option<Reason> {
        let counted = self.counted_trades(watch, today);
        let (value_usd, insiders) = totals(&counted);
        let holds = value_usd >= watch.threshold_usd && insiders >= u32::from(watch.min_executives);
        holds.then(|| Reason::InsidersTraded {
            value_usd,
            insiders,
            window_days: watch.window_days,
            traded: direction(&counted),
            names: InsiderNames::of(&names(&counted)),
        })
    }

    /// The date that a date condition waits for on `today`, and what is paid then, if it is about a payment.
    pub(super) fn next_date(&self, condition: &Condition, today: Date) -> Option<(Date, Option<Decimal>)> {
        let date = self.next_due(condition, today)?.about;
        let paid = self
            .dividends
            .iter()
            .find(|dividend| dividend.payment_date == Some(date));
        let amount = match condition {
            Condition::DividendPayment { .. } => paid.and_then(|dividend| dividend.amount),
            _ => None,
        };
        Some((date, amount))
    }
}

/// The total value of trades in US dollars, and the number of insiders who made them.
fn totals(trades: &[&InsiderTrade]) -> (Decimal, u32) {
    let value: i128 = trades.iter().map(|trade| i128::from(trade.value_usd.micros())).sum();
    let insiders: BTreeSet<_> = trades.iter().map(|trade| trade.insider.as_str()).collect();
    (
        Decimal::from_micros(i64::try_from(value).unwrap_or(i64::MAX)),
        u32::try_from(insiders.len()).unwrap_or(u32::MAX),
    )
}

/// Whether the trades are purchases, sales or both.
fn direction(trades: &[&InsiderTrade]) -> InsiderDirection {
    let has = |bought: bool| trades.iter().any(|trade| trade.bought == bought);
    match (has(true), has(false)) {
        (true, true) => InsiderDirection::Both,
        (_, false) => InsiderDirection::Buy,
        (false, true) => InsiderDirection::Sell,
    }
}

/// The insiders of the trades, those with the largest trades first.
fn names<'a>(trades: &[&'a InsiderTrade]) -> Vec<&'a str> {
    let mut values: BTreeMap<&str, i128> = BTreeMap::new();
    for trade in trades {
        *values.entry(&trade.insider).or_default() += i128::from(trade.value_usd.micros());
    }
    let mut names: Vec<_> = values.into_iter().collect();
    names.sort_by_key(|&(_, value)| std::cmp::Reverse(value));
    names.into_iter().map(|(name, _)| name).collect()
}

/// The product of two decimals, rounded down to a millionth.
fn product(a: Decimal, b: Decimal) -> Decimal {
    let micros = i128::from(a.micros()) * i128::from(b.micros()) / i128::from(market::MICROS_PER_UNIT);
    Decimal::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
