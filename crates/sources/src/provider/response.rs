//! Responses of a provider.

use std::fmt;

use market::calendar::new_york_date;
use market::records::{BarRow, Batch};
use market::{IntradayBar, Symbol};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::json;
use super::request::BarRange;
use crate::folder::{Excerpt, FieldError};

/// The records for a [`DataRequest`](super::DataRequest).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataResponse {
    /// The records by kind.
    pub batch: Batch,
    /// Minute bars of a requested time range, in order for each symbol.
    pub minutes: Vec<MinuteBar>,
    /// Whether bar prices are adjusted for splits.
    pub price_adjustment: PriceAdjustment,
    /// The requested symbols that the provider does not know.
    pub unknown: Vec<Symbol>,
    /// The rows that were skipped because they are invalid.
    pub invalid_rows: InvalidRows,
}

impl DataResponse {
    /// Appends a later response.
    pub fn append(&mut self, later: Self) {
        self.batch.append(later.batch);
        self.minutes.extend(later.minutes);
        self.unknown.extend(later.unknown);
        self.invalid_rows.append(later.invalid_rows);
        if later.price_adjustment == PriceAdjustment::AdjustedForSplits {
            self.price_adjustment = later.price_adjustment;
        }
    }

    /// Parses an element. An invalid one is recorded under `label`, and `None` is returned.
    pub(super) fn parse<'a, T: Deserialize<'a>>(&mut self, label: &str, element: &'a RawValue) -> Option<T> {
        self.invalid_rows.keep_valid(json::parse_element(label, element))
    }

    /// Adds a valid bar of each of `symbols` if it is in `range`, and records an invalid one.
    pub(super) fn add_bar(&mut self, symbols: &[Symbol], bar: Result<IntradayBar, InvalidRow>, range: BarRange) {
        let Some(bar) = self.invalid_rows.keep_valid(bar) else {
            return;
        };
        match range {
            BarRange::Daily(days) if days.contains(new_york_date(bar.time)) => {
                let bar = bar.with_date(new_york_date(bar.time));
                let rows = symbols.iter().map(|&symbol| BarRow { symbol, bar });
                self.batch.bars.extend(rows);
            }
            BarRange::Minute(times) if times.contains(bar.time) => {
                let rows = symbols.iter().map(|&symbol| MinuteBar { symbol, bar });
                self.minutes.extend(rows);
            }
            BarRange::Daily(_) | BarRange::Minute(_) => {}
        }
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.len() + self.minutes.len()
    }

    /// Returns whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether a bar's prices are adjusted for splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PriceAdjustment {
    /// Prices per share of that day. Later splits must still be applied.
    #[default]
    AsTraded,
    /// Prices per share of today: the provider has applied all splits.
    AdjustedForSplits,
}

/// A minute bar of a stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinuteBar {
    /// The stock's symbol.
    pub symbol: Symbol,
    /// The bar; its time is the start of the minute.
    pub bar: IntradayBar,
}

/// A row that was skipped. It displays as `AAPL: p "0" is not above zero; …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRow {
    /// The row's name, usually the provider's spelling of the symbol; at most 20 characters.
    pub label: String,
    /// The provider's name of the invalid field.
    pub field: &'static str,
    /// The invalid value, shortened.
    pub value: Excerpt,
    /// A description of the problem.
    pub problem: String,
}

impl InvalidRow {
    /// Creates an invalid row from a field error.
    pub(super) fn new(label: &str, field: &'static str, value: &str, problem: &FieldError) -> Self {
        Self::with_message(label, field, value, problem.to_string())
    }

    /// Creates an invalid row from a message.
    pub(super) fn with_message(label: &str, field: &'static str, value: &str, problem: impl Into<String>) -> Self {
        Self {
            label: label.chars().take(20).collect(),
            field,
            value: Excerpt::of_value(value.as_bytes()),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for InvalidRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} {}", self.label, self.field, self.value, self.problem)
    }
}

/// The rows that were skipped: the total count, and the first of them in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvalidRows {
    /// The total number of invalid rows.
    pub count: u64,
    /// The first [`InvalidRows::MAX_KEPT`] invalid rows.
    pub first: Vec<InvalidRow>,
}

impl InvalidRows {
    /// Maximum number of rows that are kept in full.
    pub const MAX_KEPT: usize = 100;

    /// Counts an invalid row, and keeps it if fewer than [`InvalidRows::MAX_KEPT`] are kept.
    pub(super) fn record(&mut self, row: InvalidRow) {
        self.count += 1;
        if self.first.len() < Self::MAX_KEPT {
            self.first.push(row);
        }
    }

    /// Returns a valid row, or records an invalid one and returns `None`.
    pub(super) fn keep_valid<T>(&mut self, row: Result<T, InvalidRow>) -> Option<T> {
        row.map_err(|row| self.record(row)).ok()
    }

    fn append(&mut self, later: Self) {
        self.count += later.count;
        let free = Self::MAX_KEPT - self.first.len();
        self.first.extend(later.first.into_iter().take(free));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_all_invalid_rows_and_keeps_the_first() {
        let mut invalid_rows = InvalidRows::default();
        for _ in 0..=InvalidRows::MAX_KEPT {
            invalid_rows.record(InvalidRow::new("AAPL", "p", "0", &FieldError::Empty));
        }
        let mut twice = invalid_rows.clone();
        twice.append(invalid_rows);
        assert_eq!((twice.count, twice.first.len()), (202, InvalidRows::MAX_KEPT));
        assert_eq!(twice.first[0].to_string(), "AAPL: p \"0\" is empty; write a value");
    }
}
