//! Values as columns: how instants, dates, prices and names are kept, and how they are read back.
//!
//! What does not read back is [`StoreError::Corrupt`]: it was not written by this program.

use std::fmt::Display;

use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::{Price, Symbol};
use serde_json::{Map, Value};

use crate::StoreError;

/// A table, for what is said about rows of it that cannot be read.
#[derive(Clone, Copy)]
pub(crate) struct Table(pub(crate) &'static str);

const EPOCH: Date = Date::constant(1970, 1, 1);

/// A date as days since 1970-01-01.
pub(crate) fn days(date: Date) -> i64 {
    i64::from(market::day::day_number(date))
}

/// A text without U+0000, which PostgreSQL cannot keep.
pub(crate) fn text(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// An object as JSON text.
pub(crate) fn json(object: &Map<String, Value>) -> Result<String, StoreError> {
    // Maps with text keys always can be written.
    serde_json::to_string(object).map_err(|error| Table("any").corrupt(error))
}

impl Table {
    /// The error for a row that cannot be read.
    pub(crate) fn corrupt(self, what: impl Display) -> StoreError {
        StoreError::Corrupt {
            table: self.0,
            what: what.to_string(),
        }
    }

    /// What a column says, if it can be said.
    fn known<T>(self, value: Option<T>, column: &str, found: impl Display) -> Result<T, StoreError> {
        value.ok_or_else(|| self.corrupt(format_args!("{column} is {found}")))
    }

    pub(crate) fn instant(self, micros: i64) -> Result<Timestamp, StoreError> {
        Timestamp::from_microsecond(micros).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn instant_if_any(self, micros: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
        micros.map(|micros| self.instant(micros)).transpose()
    }

    pub(crate) fn date(self, days: i64) -> Result<Date, StoreError> {
        let date = Span::new().try_days(days).and_then(|span| EPOCH.checked_add(span));
        date.map_err(|error| self.corrupt(error))
    }

    pub(crate) fn price(self, micros: i64) -> Result<Price, StoreError> {
        Price::from_micros(micros).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn price_if_any(self, micros: Option<i64>) -> Result<Option<Price>, StoreError> {
        micros.map(|micros| self.price(micros)).transpose()
    }

    pub(crate) fn symbol(self, text: &str) -> Result<Symbol, StoreError> {
        text.parse().map_err(|error| self.corrupt(error))
    }

    /// What a name stands for, by the function that knows.
    pub(crate) fn named<T>(
        self,
        column: &str,
        name: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        self.known(from_name(name), column, name)
    }

    /// A number in its narrower type.
    pub(crate) fn narrow<T: TryFrom<i64>>(self, column: &str, number: i64) -> Result<T, StoreError> {
        self.known(T::try_from(number).ok(), column, number)
    }

    pub(crate) fn object(self, text: &str) -> Result<Map<String, Value>, StoreError> {
        serde_json::from_str(text).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn object_if_any(self, text: Option<&str>) -> Result<Option<Map<String, Value>>, StoreError> {
        text.map(|text| self.object(text)).transpose()
    }
}
