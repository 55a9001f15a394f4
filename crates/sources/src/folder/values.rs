//! Single fields turned into values.

use std::str;

use csv::ByteRecord;
use jiff::Timestamp;
use jiff::civil::Date;
use market::records::{EarningsTime, Side};
use market::{Decimal, Price, SplitRatio, Symbol};

use super::header::Column;
use super::rejected::{Excerpt, Problem, RowError};
use super::text;

/// One row, asked for its fields by column. White space around a field is ignored.
#[derive(Default)]
pub(super) struct Row {
    /// The fields, in the order of the columns.
    pub(super) record: ByteRecord,
}

impl Row {
    fn bytes(&self, column: Column) -> &[u8] {
        self.record.get(column.index).unwrap_or_default().trim_ascii()
    }

    /// The error that `column` of this row has `problem`.
    pub(super) fn error(&self, column: Column, problem: impl Into<Problem>) -> RowError {
        RowError::Field {
            field: column.name,
            value: Excerpt::of_value(self.bytes(column)),
            problem: problem.into(),
        }
    }

    /// What `read` makes of the text in `column`, which must not be empty.
    fn value<T, E: Into<Problem>>(
        &self,
        column: Column,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, RowError> {
        let bytes = self.bytes(column);
        if bytes.is_empty() {
            return Err(self.error(column, Problem::Empty));
        }
        let text = str::from_utf8(bytes).map_err(|_| self.error(column, Problem::NotUtf8))?;
        read(text).map_err(|problem| self.error(column, problem))
    }

    /// What `read` makes of `column`; `None` where the file has no such column or the field is empty.
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

    /// Any text.
    pub(super) fn words(&self, column: Column) -> Result<String, RowError> {
        self.value(column, |text| Ok::<_, Problem>(text.to_owned()))
    }

    /// A ticker.
    pub(super) fn symbol(&self, column: Column) -> Result<Symbol, RowError> {
        self.value(column, text::symbol)
    }

    /// A date such as `2024-03-08`.
    pub(super) fn date(&self, column: Column) -> Result<Date, RowError> {
        self.value(column, text::date)
    }

    /// An instant of RFC 3339, with `Z` or an offset.
    pub(super) fn time(&self, column: Column) -> Result<Timestamp, RowError> {
        self.value(column, text::time)
    }

    /// A price.
    pub(super) fn price(&self, column: Column) -> Result<Price, RowError> {
        self.value(column, text::price)
    }

    /// A split ratio.
    pub(super) fn ratio(&self, column: Column) -> Result<SplitRatio, RowError> {
        self.value(column, text::ratio)
    }

    /// A number of either sign.
    pub(super) fn decimal(&self, column: Column) -> Result<Decimal, RowError> {
        self.value(column, text::decimal)
    }

    /// A number that is zero or more.
    pub(super) fn amount(&self, column: Column) -> Result<Decimal, RowError> {
        self.value(column, text::amount)
    }

    /// A market capitalisation; `None` for one that is too large.
    pub(super) fn market_cap(&self, column: Column) -> Result<Option<Decimal>, RowError> {
        self.value(column, text::market_cap)
    }

    /// A whole number, also as `2113300.0` or `2.1133e6`.
    pub(super) fn whole(&self, column: Column) -> Result<i64, RowError> {
        self.value(column, text::whole)
    }

    /// A whole number from 0 to `u32::MAX`.
    pub(super) fn count(&self, column: Column) -> Result<u32, RowError> {
        self.value(column, text::count)
    }

    /// When in its day a company reports.
    pub(super) fn earnings_time(&self, column: Column) -> Result<EarningsTime, RowError> {
        self.value(column, text::earnings_time)
    }

    /// Whether shares came or went.
    pub(super) fn side(&self, column: Column) -> Result<Side, RowError> {
        self.value(column, text::side)
    }

    /// Yes or no, in the ways in which programs write it.
    pub(super) fn flag(&self, column: Column) -> Result<bool, RowError> {
        self.value(column, text::flag)
    }

    /// A transaction code: one letter, in upper case.
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

    /// What `read` makes of a field with these bytes; of an error, only the problem.
    fn read<T>(bytes: &[u8], read: impl FnOnce(&Row, Column) -> Result<T, RowError>) -> Result<T, Problem> {
        let row = Row {
            record: ByteRecord::from(vec![bytes]),
        };
        read(&row, COLUMN).map_err(|error| match error {
            RowError::Field { problem, .. } => problem,
            other => panic!("{other}"),
        })
    }

    #[test]
    fn white_space_around_a_field_is_ignored_and_an_empty_field_is_no_value() {
        assert_eq!(read(b" 5 ", Row::whole), Ok(5));
        assert_eq!(read(b" ", Row::whole), Err(Problem::Empty));
        assert_eq!(read(b"", Row::symbol), Err(Problem::Empty));
        assert_eq!(
            read(b" ", |row, column| row.optional(Some(column), Row::date)),
            Ok(None)
        );
        assert_eq!(
            read(b"x", |row, column| row.optional(Some(column), Row::date)),
            Err(Problem::Date)
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_no_value() {
        assert_eq!(read(b"\xe9", Row::words), Err(Problem::NotUtf8));
        assert_eq!(read(b"5\xff", Row::whole), Err(Problem::NotUtf8));
    }

    #[test]
    fn a_symbol_may_have_ten_characters() {
        assert_eq!(read(b"abcdefghij", Row::symbol), Ok("ABCDEFGHIJ".parse().unwrap()));
        assert_eq!(
            read(b"ABCDEFGHIJK", Row::symbol),
            Err(Problem::Symbol(SymbolError::TooLong))
        );
    }

    #[test]
    fn a_date_has_one_form_and_exists() {
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
            assert_eq!(read(text.as_bytes(), Row::date), Err(Problem::Date), "{text}");
        }
    }

    #[test]
    fn an_instant_needs_its_offset() {
        let instant: Timestamp = "2024-03-08T14:30:00Z".parse().unwrap();
        for text in [
            "2024-03-08T14:30:00Z",
            "2024-03-08T09:30:00-05:00",
            "2024-03-08 14:30:00+00:00",
        ] {
            assert_eq!(read(text.as_bytes(), Row::time), Ok(instant), "{text}");
        }
        for text in ["2024-03-08T14:30:00", "2024-03-08", "14:30", "1709908200"] {
            assert_eq!(read(text.as_bytes(), Row::time), Err(Problem::Time), "{text}");
        }
    }

    #[test]
    fn a_price_is_a_number_above_zero() {
        assert_eq!(read(b"0.000001", Row::price).map(Price::micros), Ok(1));
        for text in ["0", "-1", "0.0"] {
            assert_eq!(
                read(text.as_bytes(), Row::price),
                Err(Problem::Price(PriceError::NotPositive)),
                "{text}"
            );
        }
        for text in ["NaN", "inf", "1,5", "$5"] {
            assert_eq!(
                read(text.as_bytes(), Row::price),
                Err(Problem::Price(PriceError::Decimal(DecimalError::NotANumber))),
                "{text}"
            );
        }
    }

    #[test]
    fn a_split_ratio_ends_at_ten_thousand() {
        assert!(read(b"10000", Row::ratio).is_ok());
        assert_eq!(
            read(b"10000.1", Row::ratio),
            Err(Problem::Ratio(SplitRatioError::OutOfRange))
        );
    }

    #[test]
    fn earnings_may_be_negative_but_an_amount_may_not() {
        assert_eq!(read(b"-1.5", Row::decimal).map(Decimal::micros), Ok(-1_500_000));
        assert_eq!(read(b"0", Row::amount), Ok(Decimal::ZERO));
        assert_eq!(read(b"-0.000001", Row::amount), Err(Problem::Negative));
    }

    #[test]
    fn a_whole_number_may_be_written_as_a_decimal_one_but_has_no_decimals() {
        for text in ["2113300", "2113300.0", "2113300.", "2.1133e6", "+2113300"] {
            assert_eq!(read(text.as_bytes(), Row::whole), Ok(2_113_300), "{text}");
        }
        assert_eq!(read(b"9223372036854775807", Row::whole), Ok(i64::MAX));
        assert_eq!(read(b"-1", Row::whole), Ok(-1));
        assert_eq!(read(b"0.5", Row::whole), Err(Problem::Fractional));
        assert_eq!(
            read(b"9223372036854775808", Row::whole),
            Err(Problem::Number(DecimalError::TooLarge))
        );
        for text in [".", "-", "1.0.0", "many"] {
            assert_eq!(
                read(text.as_bytes(), Row::whole),
                Err(Problem::Number(DecimalError::NotANumber)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_count_goes_from_zero_to_the_largest_of_32_bits() {
        assert_eq!(read(b"0", Row::count), Ok(0));
        assert_eq!(read(b"4294967295", Row::count), Ok(u32::MAX));
        assert_eq!(read(b"4294967296", Row::count), Err(Problem::TooLarge(4_294_967_295)));
        assert_eq!(read(b"-1", Row::count), Err(Problem::Negative));
    }

    #[test]
    fn a_transaction_code_is_one_letter() {
        assert_eq!(read(b"p", Row::code), Ok('P'));
        for text in ["PS", "1", "é"] {
            assert_eq!(read(text.as_bytes(), Row::code), Err(Problem::Code), "{text}");
        }
    }
}
