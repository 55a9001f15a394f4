//! Company dates: dividends by month, earnings by day, as delivered by the sources.

use jiff::ToSpan;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::records::{DividendRow, EarningsRow};

use crate::market::MarketOverview;
use foundation::ServiceError;

/// The longest range of earnings dates in days, including the last day.
pub const MAX_EARNINGS_DAYS: i32 = 31;
/// The default range of earnings dates in days, from today.
const DEFAULT_EARNINGS_DAYS: i32 = 7;

/// A record with the name of its company.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedRow<Row> {
    /// The company's name.
    pub name: String,
    /// The record.
    pub row: Row,
}

impl MarketOverview {
    /// Returns the present date in New York.
    #[must_use]
    pub fn today(&self) -> Date {
        new_york_date(self.ports.clock.now())
    }

    /// Returns the dividends with an ex-date or a payment date in the month of `day` (default: today), ordered by the
    /// first of these dates in that month, then by symbol.
    #[must_use]
    pub fn dividend_dates(&self, day: Option<Date>) -> Vec<NamedRow<DividendRow>> {
        let day = day.unwrap_or_else(|| self.today());
        let (first, last) = (day.first_of_month(), day.last_of_month());
        let within = |date: &Date| (first..=last).contains(date);
        let mut found = Vec::new();
        for entry in self.catalog.all() {
            for row in &entry.facts.dividends {
                let dates = [Some(row.ex_date), row.payment_date];
                if let Some(date) = dates.into_iter().flatten().filter(within).min() {
                    found.push((date, named(&entry.row.name, *row)));
                }
            }
        }
        found.sort_by_key(|(date, named)| (*date, named.row.symbol, named.row.ex_date));
        found.into_iter().map(|(_, named)| named).collect()
    }

    /// Returns the earnings dates from `from` (default: today) to `to` (default: six days later), both inclusive,
    /// ordered by date, then by symbol.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] if the range ends before it begins, or is longer than [`MAX_EARNINGS_DAYS`].
    pub fn earnings_dates(
        &self,
        from: Option<Date>,
        to: Option<Date>,
    ) -> Result<Vec<NamedRow<EarningsRow>>, ServiceError> {
        let from = from.unwrap_or_else(|| self.today());
        let later = |days: i32| from.saturating_add((days - 1).days());
        let to = to.unwrap_or_else(|| later(DEFAULT_EARNINGS_DAYS));
        if to < from {
            let message = format!("must not be before from, which is {from}");
            return Err(ServiceError::field("to", message));
        }
        if later(MAX_EARNINGS_DAYS) < to {
            let last = later(MAX_EARNINGS_DAYS);
            let message =
                format!("must be at most {last}: {MAX_EARNINGS_DAYS} days from {from} on; request the rest separately");
            return Err(ServiceError::field("to", message));
        }
        let mut found = Vec::new();
        for entry in self.catalog.all() {
            let in_range = entry
                .facts
                .earnings
                .iter()
                .filter(|row| (from..=to).contains(&row.date));
            found.extend(in_range.map(|row| named(&entry.row.name, *row)));
        }
        found.sort_by_key(|named| (named.row.date, named.row.symbol));
        Ok(found)
    }
}

fn named<Row>(name: &str, row: Row) -> NamedRow<Row> {
    NamedRow {
        name: name.to_owned(),
        row,
    }
}
