//! JSON whose numbers are what their sender wrote.
//!
//! A number is kept as its text until it is known what it means: a price is read from its digits, and a row whose price
//! makes no sense costs that row only.

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price, SplitRatio};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Fault, ProviderError};
use crate::folder::{Problem, text};

/// A number, or a text of one, as it was written. Null and nothing are `Option::None` around it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(super) struct Num<'a>(#[serde(borrow)] &'a RawValue);

impl<'a> Num<'a> {
    /// The digits.
    pub(super) fn text(self) -> &'a str {
        let text = self.0.get();
        text.strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or(text)
            .trim()
    }

    fn read<T>(self, read: impl FnOnce(&str) -> Result<T, Problem>) -> Result<T, Problem> {
        match self.text() {
            "" | "null" => Err(Problem::Empty),
            text => read(text),
        }
    }
}

/// The fields of one row, asked for as values; `of` says whose row it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    /// Whose row it is, as the provider writes it.
    pub(super) of: &'a str,
}

impl Row<'_> {
    fn some<T>(
        self,
        field: &'static str,
        number: Option<Num<'_>>,
        read: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Result<T, Fault> {
        let number = number.ok_or_else(|| Fault::new(self.of, field, "", &Problem::Empty))?;
        number
            .read(read)
            .map_err(|problem| Fault::new(self.of, field, number.text(), &problem))
    }

    /// A price, which must be there.
    pub(super) fn price(self, field: &'static str, number: Option<Num<'_>>) -> Result<Price, Fault> {
        self.some(field, number, text::price)
    }

    /// A price, if there is one: none, null and zero are none.
    pub(super) fn price_if_any(self, number: Option<Num<'_>>) -> Option<Price> {
        number.and_then(|number| number.read(text::price).ok())
    }

    /// A number of either sign, if there is one; what is no number is none.
    pub(super) fn figure(self, number: Option<Num<'_>>) -> Option<Decimal> {
        number.and_then(|number| number.read(text::decimal).ok())
    }

    /// A number that is zero or more.
    pub(super) fn amount(self, field: &'static str, number: Option<Num<'_>>) -> Result<Decimal, Fault> {
        self.some(field, number, text::amount)
    }

    /// Shares, of which fractions are cut: some providers count them.
    pub(super) fn shares(self, field: &'static str, number: Option<Num<'_>>) -> Result<i64, Fault> {
        let shares = self.some(field, number, text::amount)?;
        Ok(shares.micros() / market::MICROS_PER_UNIT)
    }

    /// Shares, if there are any said.
    pub(super) fn shares_if_any(self, number: Option<Num<'_>>) -> Option<i64> {
        let shares = number.and_then(|number| number.read(text::amount).ok())?;
        Some(shares.micros() / market::MICROS_PER_UNIT)
    }

    /// A whole number.
    pub(super) fn whole(self, field: &'static str, number: Option<Num<'_>>) -> Result<i64, Fault> {
        self.some(field, number, text::whole)
    }

    /// A split's ratio from its two sides.
    pub(super) fn ratio(
        self,
        fields: [&'static str; 2],
        new: Option<Num<'_>>,
        old: Option<Num<'_>>,
    ) -> Result<SplitRatio, Fault> {
        let new = self.some(fields[0], new, text::decimal)?;
        let shares = self.some(fields[1], old, text::decimal)?;
        let micros = i128::from(new.micros()) * i128::from(market::MICROS_PER_UNIT);
        let ratio = micros
            .checked_div(i128::from(shares.micros()))
            .and_then(|ratio| i64::try_from(ratio).ok());
        ratio
            .and_then(|ratio| SplitRatio::try_from(Decimal::from_micros(ratio)).ok())
            .ok_or_else(|| Fault::said(self.of, fields[0], &format!("{new}/{shares}"), "is no split ratio"))
    }

    /// A date, also where a time of day follows it.
    pub(super) fn date(self, field: &'static str, value: Option<&str>) -> Result<Date, Fault> {
        let value = value.unwrap_or_default();
        let day = value.get(..10).unwrap_or(value);
        text::date(day).map_err(|problem| Fault::new(self.of, field, value, &problem))
    }

    /// An instant.
    pub(super) fn time(self, field: &'static str, value: Option<&str>) -> Result<Timestamp, Fault> {
        let value = value.unwrap_or_default();
        text::time(value).map_err(|problem| Fault::new(self.of, field, value, &problem))
    }

    /// An instant as a count since 1970, of which `a_second` make one.
    pub(super) fn epoch(self, field: &'static str, number: Option<Num<'_>>, a_second: i64) -> Result<Timestamp, Fault> {
        let count = self.whole(field, number)?;
        let nanoseconds = i128::from(count) * i128::from(1_000_000_000 / a_second);
        Timestamp::from_nanosecond(nanoseconds)
            .map_err(|_| Fault::new(self.of, field, &count.to_string(), &Problem::Time))
    }
}

/// The body as the model that is documented.
pub(super) fn body<'a, T: Deserialize<'a>>(provider: &'static str, body: &'a [u8]) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|error| malformed(provider, &error))
}

/// One element of a body, on its own; a fault if it is not as is documented.
pub(super) fn element<'a, T: Deserialize<'a>>(of: &str, element: &'a RawValue) -> Result<T, Fault> {
    serde_json::from_str(element.get()).map_err(|error| {
        Fault::said(
            of,
            "row",
            element.get(),
            format!("is not as documented: {}", place(&error)),
        )
    })
}

/// The same for a model that borrows nothing, of a body that may be something else altogether.
pub(super) fn maybe<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

fn malformed(provider: &'static str, error: &serde_json::Error) -> ProviderError {
    ProviderError::Malformed {
        provider,
        what: place(error),
    }
}

/// Where it is wrong, without what stands there: that may repeat what was sent.
fn place(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    let what = match error.classify() {
        Category::Io | Category::Eof => "it ends too early",
        Category::Syntax => "it is no JSON",
        Category::Data => "a member has another type",
    };
    format!("{what}, at line {} column {}", error.line(), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row<'_> = Row { of: "AAPL" };

    #[derive(Deserialize)]
    struct Model<'a> {
        #[serde(borrow)]
        p: Option<Num<'a>>,
    }

    fn price(json: &str) -> Result<Price, String> {
        let model: Model<'_> = serde_json::from_str(json).unwrap();
        ROW.price("p", model.p).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_price_is_its_digits_and_no_float_near_them() {
        assert_eq!(price(r#"{"p": 189.2}"#).unwrap().micros(), 189_200_000);
        assert_eq!(price(r#"{"p": "0.000001"}"#).unwrap().micros(), 1);
        assert_eq!(
            price(r#"{"p": 123456789.123456}"#).unwrap().micros(),
            123_456_789_123_456
        );
    }

    #[test]
    fn what_is_no_price_says_why() {
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
    fn a_ratio_has_two_sides() {
        let ratio = |new: &str, old: &str| {
            let [new, old] = [new, old].map(|text| serde_json::from_str::<&RawValue>(text).unwrap());
            ROW.ratio(["new", "old"], Some(Num(new)), Some(Num(old)))
                .map(SplitRatio::micros)
                .ok()
        };
        assert_eq!(ratio("4", "1"), Some(4_000_000));
        assert_eq!(ratio("1", "8"), Some(125_000));
        assert_eq!(ratio("1", "0"), None);
        assert_eq!(ratio("-1", "8"), None);
    }

    #[test]
    fn instants_are_read_in_each_unit() {
        let at = |text: &str, a_second: i64| {
            let number = serde_json::from_str(text).unwrap();
            ROW.epoch("t", Some(number), a_second).map(|time| time.to_string()).ok()
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
