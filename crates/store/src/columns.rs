//! Encodes instants, dates, prices and names as columns, and decodes them.
//!
//! A value that cannot be decoded is [`StoreError::Corrupt`]: it was not written by this program.

use std::fmt::Display;

use alerts::routing::MessageTemplates;
use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::{Price, Symbol};
use serde_json::{Map, Value};

use crate::StoreError;

/// A table name, for errors about unreadable rows.
#[derive(Clone, Copy)]
pub(crate) struct Table(pub(crate) &'static str);

const EPOCH: Date = Date::constant(1970, 1, 1);

/// A date as days since 1970-01-01.
pub(crate) fn days(date: Date) -> i64 {
    i64::from(market::day::day_number(date))
}

/// Replaces U+0000, which PostgreSQL cannot store.
pub(crate) fn text(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// An object as JSON text.
pub(crate) fn json(object: &Map<String, Value>) -> Result<String, StoreError> {
    // Maps with text keys always serialize.
    serde_json::to_string(object).map_err(|error| Table("any").corrupt(error))
}

/// A list of texts as JSON text.
pub(crate) fn json_list(texts: &[String]) -> String {
    Value::from(texts).to_string()
}

/// The column value of templates: a JSON object.
pub(crate) fn templates_column(templates: Option<&MessageTemplates>) -> Option<String> {
    templates.map(|templates| Value::from(templates.to_json()).to_string())
}

/// Converts rows to values.
pub(crate) fn values<Row, T: TryFrom<Row, Error = StoreError>>(
    rows: impl IntoIterator<Item = Row>,
) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(T::try_from).collect()
}

impl Table {
    /// The error for an unreadable row.
    pub(crate) fn corrupt(self, what: impl Display) -> StoreError {
        StoreError::Corrupt {
            table: self.0,
            what: what.to_string(),
        }
    }

    /// Returns the value, or an error that names the column and the value found.
    fn required<T>(self, value: Option<T>, column: &str, found: impl Display) -> Result<T, StoreError> {
        value.ok_or_else(|| self.corrupt(format_args!("{column} is {found}")))
    }

    /// Reads templates from their column value.
    pub(crate) fn templates(self, text: Option<&str>) -> Result<Option<MessageTemplates>, StoreError> {
        let members = self.optional_object(text)?;
        Ok(members.and_then(|members| MessageTemplates::default().merged(&members).none_if_empty()))
    }

    pub(crate) fn instant(self, micros: i64) -> Result<Timestamp, StoreError> {
        Timestamp::from_microsecond(micros).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn optional_instant(self, micros: Option<i64>) -> Result<Option<Timestamp>, StoreError> {
        micros.map(|micros| self.instant(micros)).transpose()
    }

    pub(crate) fn date(self, days: i64) -> Result<Date, StoreError> {
        let date = Span::new().try_days(days).and_then(|span| EPOCH.checked_add(span));
        date.map_err(|error| self.corrupt(error))
    }

    pub(crate) fn price(self, micros: i64) -> Result<Price, StoreError> {
        Price::from_micros(micros).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn optional_price(self, micros: Option<i64>) -> Result<Option<Price>, StoreError> {
        micros.map(|micros| self.price(micros)).transpose()
    }

    pub(crate) fn symbol(self, text: &str) -> Result<Symbol, StoreError> {
        text.parse().map_err(|error| self.corrupt(error))
    }

    /// Parses a column's name with `from_name`.
    pub(crate) fn parse<T>(
        self,
        column: &str,
        name: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        self.required(from_name(name), column, name)
    }

    /// Converts a number to a narrower type.
    pub(crate) fn narrow<T: TryFrom<i64>>(self, column: &str, number: i64) -> Result<T, StoreError> {
        self.required(T::try_from(number).ok(), column, number)
    }

    pub(crate) fn object(self, text: &str) -> Result<Map<String, Value>, StoreError> {
        serde_json::from_str(text).map_err(|error| self.corrupt(error))
    }

    /// Reads a list of texts from JSON text.
    pub(crate) fn list(self, json: &str) -> Result<Vec<String>, StoreError> {
        serde_json::from_str(json).map_err(|error| self.corrupt(error))
    }

    pub(crate) fn optional_object(self, text: Option<&str>) -> Result<Option<Map<String, Value>>, StoreError> {
        text.map(|text| self.object(text)).transpose()
    }
}
