//! Parses the fields of a row.

use std::str;

use csv::ByteRecord;
use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{EarningsTime, TransactionSide};
use market::{Decimal, Price, SplitRatio, Symbol};

use super::header::Column;
use super::rejected::{Excerpt, FieldError, RowError};
use super::text;

/// A row whose fields are read by column. White space around a field is ignored.
#[derive(Default)]
pub(super) struct Row {
    /// The fields, in the order of the columns.
    pub(super) record: ByteRecord,
}

impl Row {
    fn bytes(&self, column: Column) -> &[u8] {
        self.record.get(column.index).unwrap_or_default().trim_ascii()
    }

    /// Creates the error that `column` of this row has `problem`.
    pub(super) fn error(&self, column: Column, problem: impl Into<FieldError>) -> RowError {
        RowError::Field {
            field: column.name,
            value: Excerpt::of_value(self.bytes(column)),
            problem: problem.into(),
        }
    }

    /// Parses the text in `column`, which must not be empty, with `read`.
    fn value<T, E: Into<FieldError>>(
        &self,
        column: Column,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, RowError> {
        let bytes = self.bytes(column);
        if bytes.is_empty() {
            return Err(self.error(column, FieldError::Empty));
        }
        let text = str::from_utf8(bytes).map_err(|_| self.error(column, FieldError::NotUtf8))?;
        read(text).map_err(|problem| self.error(column, problem))
    }

    /// Reads `column` with `read`. Returns `None` if the file has no such column or the field is empty.
    pub(super) fn optional<T>(
        &self,
        column: Option<Column>,
        read: impl FnOnce(&Self, Column) -> Result<T, RowError>,
    ) -> Result<Option<T>, RowError> {
        column
            .filter(|column| !self.bytes(*column).is_empty())
            .map(|column| read(self, column))
            .transpose()
    }

    /// Reads any text.
    pub(super) fn text(&self, column: Column) -> Result<String, RowError> {
        self.value(column, |text| Ok::<_, FieldError>(text.to_owned()))
    }

    /// Reads a ticker.
    pub(super) fn symbol(&self, column: Column) -> Result<Symbol, RowError> {
        self.value(column, text::symbol)
    }

    /// Reads a date such as `2024-03-08`.
    pub(super) fn date(&self, column: Column) -> Result<Date, RowError> {
        self.value(column, text::date)
    }

    /// Reads an RFC 3339 time, with `Z` or an offset.
    pub(super) fn time(&self, column: Column) -> Result<Timestamp, RowError> {
        self.value(column, text::time)
    }

    /// Reads a price.
    pub(super) fn price(&self, column: Column) -> Result<Price, RowError> {
        self.value(column, text::price)
    }

    /// Reads a split ratio.
    pub(super) fn ratio(&self, column: Column) -> Result<SplitRatio, RowError> {
        self.value(column, text::ratio)
    }

    /// Reads a number of either sign.
    pub(super) fn decimal(&self, column: Column) -> Result<Decimal, RowError> {
        self.value(column, text::decimal)
    }

    /// Reads a number that is zero or more.
    pub(super) fn amount(&self, column: Column) -> Result<Decimal, RowError> {
        self.value(column, text::amount)
    }

    /// Reads a market capitalisation; `None` for one that is too large.
    pub(super) fn market_cap(&self, column: Column) -> Result<Option<Decimal>, RowError> {
        self.value(column, text::market_cap)
    }

    /// Reads a whole number, also in the forms `2113300.0` and `2.1133e6`.
    pub(super) fn integer(&self, column: Column) -> Result<i64, RowError> {
        self.value(column, text::integer)
    }

    /// Reads a whole number from 0 to `u32::MAX`.
    pub(super) fn count(&self, column: Column) -> Result<u32, RowError> {
        self.value(column, text::count)
    }

    /// Reads the time of day of an earnings report.
    pub(super) fn earnings_time(&self, column: Column) -> Result<EarningsTime, RowError> {
        self.value(column, text::earnings_time)
    }

    /// Reads the side of a transaction.
    pub(super) fn side(&self, column: Column) -> Result<TransactionSide, RowError> {
        self.value(column, text::side)
    }

    /// Reads `true`, `false`, `1` or `0`.
    pub(super) fn boolean(&self, column: Column) -> Result<bool, RowError> {
        self.value(column, text::boolean)
    }

    /// Reads a transaction code: one letter, returned in upper case.
    pub(super) fn code(&self, column: Column) -> Result<char, RowError> {
        self.value(column, text::code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil;
    use market::{DecimalError, PriceError, SplitRatioError, SymbolError};

    const COLUMN: Column = Column {
        name: "field",
        index: 0,
    };

    /// Reads a field with these bytes; of an error, only the problem is returned.
    fn read<T>(bytes: &[u8], read: impl FnOnce(&Row, Column) -> Result<T, RowError>) -> Result<T, FieldError> {
        let row = Row {
            record: ByteRecord::from(vec![bytes]),
        };
        read(&row, COLUMN).map_err(|error| match error {
            RowError::Field { problem, .. } => problem,
            other => panic!("{other}"),
        })
    }

    #[test]
    fn white_space_is_trimmed_and_empty_fields_are_rejected() {
        assert_eq!(read(b" 5 ", Row::integer), Ok(5));
        assert_eq!(read(b" ", Row::integer), Err(FieldError::Empty));
        assert_eq!(read(b"", Row::symbol), Err(FieldError::Empty));
        assert_eq!(
            read(b" ", |row, column| row.optional(Some(column), Row::date)),
            Ok(None)
        );
        assert_eq!(
            read(b"x", |row, column| row.optional(Some(column), Row::date)),
            Err(FieldError::Date)
        );
    }

    #[test]
    fn invalid_utf8_is_rejected() {
        assert_eq!(read(b"\xe9", Row::text), Err(FieldError::NotUtf8));
        assert_eq!(read(b"5\xff", Row::integer), Err(FieldError::NotUtf8));
    }

    #[test]
    fn symbol_has_at_most_ten_characters() {
        assert_eq!(read(b"abcdefghij", Row::symbol), Ok("ABCDEFGHIJ".parse().unwrap()));
        assert_eq!(
            read(b"ABCDEFGHIJK", Row::symbol),
            Err(FieldError::Symbol(SymbolError::TooLong))
        );
    }

    #[test]
    fn date_must_be_valid_and_in_iso_format() {
        assert_eq!(read(b"2024-02-29", Row::date), Ok(civil::date(2024, 2, 29)));
        for text in [
            "2023-02-29",
            "2024-2-29",
            "20240229",
            "2024-02-29T00:00",
            "29.02.2024",
            "2024/02/29",
            "2024-13-01",
            "2024-00-10",
            "-024-02-29",
            "2024-+2-29",
        ] {
            assert_eq!(read(text.as_bytes(), Row::date), Err(FieldError::Date), "{text}");
        }
    }

    #[test]
    fn time_needs_an_offset() {
        let instant: Timestamp = "2024-03-08T14:30:00Z".parse().unwrap();
        for text in [
            "2024-03-08T14:30:00Z",
            "2024-03-08T09:30:00-05:00",
            "2024-03-08 14:30:00+00:00",
        ] {
            assert_eq!(read(text.as_bytes(), Row::time), Ok(instant), "{text}");
        }
        for text in ["2024-03-08T14:30:00", "2024-03-08", "14:30", "1709908200"] {
            assert_eq!(read(text.as_bytes(), Row::time), Err(FieldError::Time), "{text}");
        }
    }

    #[test]
    fn price_must_be_a_number_above_zero() {
        assert_eq!(read(b"0.000001", Row::price).map(Price::micros), Ok(1));
        for text in ["0", "-1", "0.0"] {
            assert_eq!(
                read(text.as_bytes(), Row::price),
                Err(FieldError::Price(PriceError::NotPositive)),
                "{text}"
            );
        }
        for text in ["NaN", "inf", "1,5", "$5"] {
            assert_eq!(
                read(text.as_bytes(), Row::price),
                Err(FieldError::Price(PriceError::Decimal(DecimalError::NotANumber))),
                "{text}"
            );
        }
    }

    #[test]
    fn split_ratio_is_at_most_ten_thousand() {
        assert!(read(b"10000", Row::ratio).is_ok());
        assert_eq!(
            read(b"10000.1", Row::ratio),
            Err(FieldError::Ratio(SplitRatioError::OutOfRange))
        );
    }

    #[test]
    fn decimal_may_be_negative_but_amount_may_not() {
        assert_eq!(read(b"-1.5", Row::decimal).map(Decimal::micros), Ok(-1_500_000));
        assert_eq!(read(b"0", Row::amount), Ok(Decimal::ZERO));
        assert_eq!(read(b"-0.000001", Row::amount), Err(FieldError::Negative));
    }

    #[test]
    fn whole_number_may_be_written_with_zero_decimals() {
        for text in ["2113300", "2113300.0", "2113300.", "2.1133e6", "+2113300"] {
            assert_eq!(read(text.as_bytes(), Row::integer), Ok(2_113_300), "{text}");
        }
        assert_eq!(read(b"9223372036854775807", Row::integer), Ok(i64::MAX));
        assert_eq!(read(b"-1", Row::integer), Ok(-1));
        assert_eq!(read(b"0.5", Row::integer), Err(FieldError::Fractional));
        assert_eq!(
            read(b"9223372036854775808", Row::integer),
            Err(FieldError::Number(DecimalError::TooLarge))
        );
        for text in [".", "-", "1.0.0", "many"] {
            assert_eq!(
                read(text.as_bytes(), Row::integer),
                Err(FieldError::Number(DecimalError::NotANumber)),
                "{text}"
            );
        }
    }

    #[test]
    fn count_is_between_zero_and_u32_max() {
        assert_eq!(read(b"0", Row::count), Ok(0));
        assert_eq!(read(b"4294967295", Row::count), Ok(u32::MAX));
        assert_eq!(
            read(b"4294967296", Row::count),
            Err(FieldError::TooLarge(4_294_967_295))
        );
        assert_eq!(read(b"-1", Row::count), Err(FieldError::Negative));
    }

    #[test]
    fn transaction_code_is_one_letter() {
        assert_eq!(read(b"p", Row::code), Ok('P'));
        for text in ["PS", "1", "é"] {
            assert_eq!(read(text.as_bytes(), Row::code), Err(FieldError::Code), "{text}");
        }
    }
}
