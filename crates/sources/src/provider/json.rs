//! JSON parsing that keeps numbers as the provider wrote them.
//!
//! A number stays text until its meaning is known. Prices are read from their digits, without floats.
//! An invalid price invalidates its row only, not the whole response.

use jiff::Timestamp;
use jiff::civil::Date;
use market::calendar::new_york_date;
use market::{Decimal, IntradayBar, Price, SplitRatio};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{InvalidRow, ProviderError};
use crate::folder::{FieldError, text};

/// A JSON number, or a string that contains one, as unparsed text. An absent or null field is `Option::None`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(super) struct JsonNumber<'a>(#[serde(borrow)] &'a RawValue);

impl<'a> JsonNumber<'a> {
    /// Returns the digits, without quotes.
    pub(super) fn text(self) -> &'a str {
        let text = self.0.get();
        text.strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or(text)
            .trim()
    }

    fn read<T>(self, read: impl FnOnce(&str) -> Result<T, FieldError>) -> Result<T, FieldError> {
        match self.text() {
            "" | "null" => Err(FieldError::Empty),
            text => read(text),
        }
    }
}

/// Reads the fields of one row as typed values. `label` names the row in errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowReader<'a> {
    /// The row's name in error messages, usually the provider's spelling of the symbol.
    pub(super) label: &'a str,
}

impl RowReader<'_> {
    fn required<T>(
        self,
        field: &'static str,
        number: Option<JsonNumber<'_>>,
        read: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Result<T, InvalidRow> {
        let number = number.ok_or_else(|| InvalidRow::new(self.label, field, "", &FieldError::Empty))?;
        number
            .read(read)
            .map_err(|problem| InvalidRow::new(self.label, field, number.text(), &problem))
    }

    /// Reads a required price.
    pub(super) fn price(self, field: &'static str, number: Option<JsonNumber<'_>>) -> Result<Price, InvalidRow> {
        self.required(field, number, text::price)
    }

    /// Reads an optional price. Absent, null, zero and invalid values are `None`.
    pub(super) fn optional_price(self, number: Option<JsonNumber<'_>>) -> Option<Price> {
        number.and_then(|number| number.read(text::price).ok())
    }

    /// Reads an optional number of either sign. Invalid values are `None`.
    pub(super) fn optional_decimal(self, number: Option<JsonNumber<'_>>) -> Option<Decimal> {
        number.and_then(|number| number.read(text::decimal).ok())
    }

    /// Reads a required number that is zero or more.
    pub(super) fn amount(self, field: &'static str, number: Option<JsonNumber<'_>>) -> Result<Decimal, InvalidRow> {
        self.required(field, number, text::amount)
    }

    /// Reads a required number of shares. Fractional shares, which some providers report, are truncated.
    pub(super) fn shares(self, field: &'static str, number: Option<JsonNumber<'_>>) -> Result<i64, InvalidRow> {
        let shares = self.required(field, number, text::amount)?;
        Ok(shares.micros() / market::MICROS_PER_UNIT)
    }

    /// Reads an optional number of shares.
    pub(super) fn optional_shares(self, number: Option<JsonNumber<'_>>) -> Option<i64> {
        let shares = number.and_then(|number| number.read(text::amount).ok())?;
        Some(shares.micros() / market::MICROS_PER_UNIT)
    }

    /// Reads a required integer.
    pub(super) fn integer(self, field: &'static str, number: Option<JsonNumber<'_>>) -> Result<i64, InvalidRow> {
        self.required(field, number, text::integer)
    }

    /// Reads a bar from its open, high, low and close, which must be consistent with each other, and its volume.
    pub(super) fn bar(
        self,
        time: Timestamp,
        [open, high, low, close]: [Option<JsonNumber<'_>>; 4],
        volume: Option<JsonNumber<'_>>,
    ) -> Result<IntradayBar, InvalidRow> {
        let bar = IntradayBar {
            time,
            open: self.price("o", open)?,
            high: self.price("h", high)?,
            low: self.price("l", low)?,
            close: self.price("c", close)?,
            volume: self.shares("v", volume)?,
        };
        let checked = bar.with_date(new_york_date(time)).checked();
        checked
            .map(|_| bar)
            .map_err(|error| InvalidRow::with_message(self.label, "bar", &time.to_string(), error.to_string()))
    }

    /// Reads a split ratio: `new` shares for `old` shares.
    pub(super) fn split_ratio(
        self,
        fields: [&'static str; 2],
        new: Option<JsonNumber<'_>>,
        old: Option<JsonNumber<'_>>,
    ) -> Result<SplitRatio, InvalidRow> {
        let new = self.required(fields[0], new, text::decimal)?;
        let shares = self.required(fields[1], old, text::decimal)?;
        let micros = i128::from(new.micros()) * i128::from(market::MICROS_PER_UNIT);
        let ratio = micros
            .checked_div(i128::from(shares.micros()))
            .and_then(|ratio| i64::try_from(ratio).ok());
        ratio
            .and_then(|ratio| SplitRatio::try_from(Decimal::from_micros(ratio)).ok())
            .ok_or_else(|| {
                InvalidRow::with_message(
                    self.label,
                    fields[0],
                    &format!("{new}/{shares}"),
                    "is not a valid split ratio",
                )
            })
    }

    /// Reads a date. A time of day after the date is ignored.
    pub(super) fn date(self, field: &'static str, value: Option<&str>) -> Result<Date, InvalidRow> {
        let value = value.unwrap_or_default();
        let day = value.get(..10).unwrap_or(value);
        text::date(day).map_err(|problem| InvalidRow::new(self.label, field, value, &problem))
    }

    /// Reads an RFC 3339 timestamp.
    pub(super) fn time(self, field: &'static str, value: Option<&str>) -> Result<Timestamp, InvalidRow> {
        let value = value.unwrap_or_default();
        text::time(value).map_err(|problem| InvalidRow::new(self.label, field, value, &problem))
    }

    /// Reads a Unix timestamp that counts `units_per_second` units in each second.
    pub(super) fn epoch(
        self,
        field: &'static str,
        number: Option<JsonNumber<'_>>,
        units_per_second: i64,
    ) -> Result<Timestamp, InvalidRow> {
        let count = self.integer(field, number)?;
        let nanoseconds = i128::from(count) * i128::from(1_000_000_000 / units_per_second);
        Timestamp::from_nanosecond(nanoseconds)
            .map_err(|_| InvalidRow::new(self.label, field, &count.to_string(), &FieldError::Time))
    }
}

/// Parses a response body.
pub(super) fn parse_body<'a, T: Deserialize<'a>>(provider: &'static str, body: &'a [u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|error| malformed(provider, &error))
}

/// Parses one element of a response body. An invalid element is an error row, so that the other elements are kept.
pub(super) fn parse_element<'a, T: Deserialize<'a>>(label: &str, element: &'a RawValue) -> Result<T, InvalidRow> {
    serde_json::from_str(element.get()).map_err(|error| {
        InvalidRow::with_message(
            label,
            "row",
            element.get(),
            format!("is not as documented: {}", error_position(&error)),
        )
    })
}

/// Parses a body that may have a different format, such as an error message; `None` if it does.
pub(super) fn parse_optional<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

fn malformed(provider: &'static str, error: &serde_json::Error) -> ProviderError {
    ProviderError::Malformed {
        provider,
        detail: error_position(error),
    }
}

/// Describes the kind and position of a JSON error. The content is left out, since it may repeat the key.
fn error_position(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    let problem = match error.classify() {
        Category::Io | Category::Eof => "the body ends too early",
        Category::Syntax => "the body is not valid JSON",
        Category::Data => "a field has an unexpected type",
    };
    format!("{problem}, at line {} column {}", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: RowReader<'_> = RowReader { label: "AAPL" };

    #[derive(Deserialize)]
    struct Model<'a> {
        #[serde(borrow)]
        p: Option<JsonNumber<'a>>,
    }

    fn price(json: &str) -> Result<Price, String> {
        let model: Model<'_> = serde_json::from_str(json).unwrap();
        ROW.price("p", model.p).map_err(|error| error.to_string())
    }

    #[test]
    fn price_is_read_exactly_without_floats() {
        assert_eq!(price(r#"{"p": 189.2}"#).unwrap().micros(), 189_200_000);
        assert_eq!(price(r#"{"p": "0.000001"}"#).unwrap().micros(), 1);
        assert_eq!(
            price(r#"{"p": 123456789.123456}"#).unwrap().micros(),
            123_456_789_123_456
        );
    }

    #[test]
    fn invalid_price_reports_the_reason() {
        for json in [r#"{"p": 0}"#, r#"{"p": -1}"#, r#"{"p": "NaN"}"#, r#"{"p": null}"#, "{}"] {
            assert!(price(json).is_err(), "{json}");
        }
        assert!(
            price(r#"{"p": 0}"#)
                .unwrap_err()
                .starts_with("AAPL: p \"0\" is not above zero")
        );
    }

    #[test]
    fn split_ratio_divides_new_by_old() {
        let ratio = |new: &str, old: &str| {
            let [new, old] = [new, old].map(|text| serde_json::from_str::<&RawValue>(text).unwrap());
            ROW.split_ratio(["new", "old"], Some(JsonNumber(new)), Some(JsonNumber(old)))
                .map(SplitRatio::micros)
                .ok()
        };
        assert_eq!(ratio("4", "1"), Some(4_000_000));
        assert_eq!(ratio("1", "8"), Some(125_000));
        assert_eq!(ratio("1", "0"), None);
        assert_eq!(ratio("-1", "8"), None);
    }

    #[test]
    fn epoch_reads_each_unit() {
        let at = |text: &str, units_per_second: i64| {
            let number = serde_json::from_str(text).unwrap();
            ROW.epoch("t", Some(number), units_per_second)
                .map(|time| time.to_string())
                .ok()
        };
        assert_eq!(at("1709911800", 1).as_deref(), Some("2024-03-08T15:30:00Z"));
        assert_eq!(at("1709911800123", 1_000).as_deref(), Some("2024-03-08T15:30:00.123Z"));
        assert_eq!(
            at("1709911800123456789", 1_000_000_000).as_deref(),
            Some("2024-03-08T15:30:00.123456789Z")
        );
        assert_eq!(at("9223372036854775807", 1), None);
    }
}
