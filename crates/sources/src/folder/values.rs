//! Parses the fields of a row.

use std::str;

use super::header::Column;
use super::rejected::{Excerpt, FieldError, RowError};
use csv::ByteRecord;

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
    fn error(&self, column: Column, problem: FieldError) -> RowError {
        RowError::Field {
            field: column.name,
            value: Excerpt::of_value(self.bytes(column)),
            problem,
        }
    }

    /// Parses the text in `column`, which must not be empty, with `parse`.
    pub(super) fn required<T>(
        &self,
        column: Column,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Result<T, RowError> {
        let bytes = self.bytes(column);
        if bytes.is_empty() {
            return Err(self.error(column, FieldError::Empty));
        }
        let text = str::from_utf8(bytes).map_err(|_| self.error(column, FieldError::NotUtf8))?;
        parse(text).map_err(|problem| self.error(column, problem))
    }

    /// Parses `column` with `parse`. Returns `None` if the file has no such column or the field is empty.
    pub(super) fn optional<T>(
        &self,
        column: Option<Column>,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Result<Option<T>, RowError> {
        column
            .filter(|column| !self.bytes(*column).is_empty())
            .map(|column| self.required(column, parse))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::super::text;
    use super::*;
    use jiff::{Timestamp, civil};
    use market::{Decimal, DecimalError, Price, PriceError, SplitRatioError, SymbolError};

    const COLUMN: Column = Column {
        name: "field",
        index: 0,
    };

    fn row(bytes: &[u8]) -> Row {
        Row {
            record: ByteRecord::from(vec![bytes]),
        }
    }

    fn problem(error: RowError) -> FieldError {
        match error {
            RowError::Field { problem, .. } => problem,
            other => panic!("{other}"),
        }
    }

    /// Parses a field with these bytes; of an error, only the problem is returned.
    fn read<T>(bytes: &[u8], parse: impl FnOnce(&str) -> Result<T, FieldError>) -> Result<T, FieldError> {
        row(bytes).required(COLUMN, parse).map_err(problem)
    }

    #[test]
    fn white_space_is_trimmed_and_empty_fields_are_rejected() {
        assert_eq!(read(b" 5 ", text::integer), Ok(5));
        assert_eq!(read(b" ", text::integer), Err(FieldError::Empty));
        assert_eq!(read(b"", text::symbol), Err(FieldError::Empty));
        let optional = |bytes: &[u8]| row(bytes).optional(Some(COLUMN), text::date).map_err(problem);
        assert_eq!(optional(b" "), Ok(None));
        assert_eq!(optional(b"x"), Err(FieldError::Date));
    }

    #[test]
    fn invalid_utf8_is_rejected() {
        assert_eq!(read(b"\xe9", text::string), Err(FieldError::NotUtf8));
        assert_eq!(read(b"5\xff", text::integer), Err(FieldError::NotUtf8));
    }

    #[test]
    fn symbol_has_at_most_ten_characters() {
        assert_eq!(read(b"abcdefghij", text::symbol), Ok("ABCDEFGHIJ".parse().unwrap()));
        assert_eq!(
            read(b"ABCDEFGHIJK", text::symbol),
            Err(FieldError::Symbol(SymbolError::TooLong))
        );
    }

    #[test]
    fn date_must_be_valid_and_in_iso_format() {
        assert_eq!(read(b"2024-02-29", text::date), Ok(civil::date(2024, 2, 29)));
        for input in [
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
            assert_eq!(read(input.as_bytes(), text::date), Err(FieldError::Date), "{input}");
        }
    }

    #[test]
    fn time_needs_an_offset() {
        let instant: Timestamp = "2024-03-08T14:30:00Z".parse().unwrap();
        for input in [
            "2024-03-08T14:30:00Z",
            "2024-03-08T09:30:00-05:00",
            "2024-03-08 14:30:00+00:00",
        ] {
            assert_eq!(read(input.as_bytes(), text::time), Ok(instant), "{input}");
        }
        for input in ["2024-03-08T14:30:00", "2024-03-08", "14:30", "1709908200"] {
            assert_eq!(read(input.as_bytes(), text::time), Err(FieldError::Time), "{input}");
        }
    }

    #[test]
    fn price_must_be_a_number_above_zero() {
        assert_eq!(read(b"0.000001", text::price).map(Price::micros), Ok(1));
        for input in ["0", "-1", "0.0"] {
            assert_eq!(
                read(input.as_bytes(), text::price),
                Err(FieldError::Price(PriceError::NotPositive)),
                "{input}"
            );
        }
        for input in ["NaN", "inf", "1,5", "$5"] {
            assert_eq!(
                read(input.as_bytes(), text::price),
                Err(FieldError::Price(PriceError::Decimal(DecimalError::NotANumber))),
                "{input}"
            );
        }
    }

    #[test]
    fn split_ratio_is_at_most_ten_thousand() {
        assert!(read(b"10000", text::ratio).is_ok());
        assert_eq!(
            read(b"10000.1", text::ratio),
            Err(FieldError::Ratio(SplitRatioError::OutOfRange))
        );
    }

    #[test]
    fn decimal_may_be_negative_but_amount_may_not() {
        assert_eq!(read(b"-1.5", text::decimal).map(Decimal::micros), Ok(-1_500_000));
        assert_eq!(read(b"0", text::amount), Ok(Decimal::ZERO));
        assert_eq!(read(b"-0.000001", text::amount), Err(FieldError::Negative));
    }

    #[test]
    fn whole_number_may_be_written_with_zero_decimals() {
        for input in ["2113300", "2113300.0", "2113300.", "2.1133e6", "+2113300"] {
            assert_eq!(read(input.as_bytes(), text::integer), Ok(2_113_300), "{input}");
        }
        assert_eq!(read(b"9223372036854775807", text::integer), Ok(i64::MAX));
        assert_eq!(read(b"-1", text::integer), Ok(-1));
        assert_eq!(read(b"0.5", text::integer), Err(FieldError::Fractional));
        assert_eq!(
            read(b"9223372036854775808", text::integer),
            Err(FieldError::Number(DecimalError::TooLarge))
        );
        for input in [".", "-", "1.0.0", "many"] {
            assert_eq!(
                read(input.as_bytes(), text::integer),
                Err(FieldError::Number(DecimalError::NotANumber)),
                "{input}"
            );
        }
    }

    #[test]
    fn count_is_between_zero_and_u32_max() {
        assert_eq!(read(b"0", text::count), Ok(0));
        assert_eq!(read(b"4294967295", text::count), Ok(u32::MAX));
        assert_eq!(
            read(b"4294967296", text::count),
            Err(FieldError::TooLarge(4_294_967_295))
        );
        assert_eq!(read(b"-1", text::count), Err(FieldError::Negative));
    }

    #[test]
    fn transaction_code_is_one_letter() {
        assert_eq!(read(b"p", text::code), Ok('P'));
        for input in ["PS", "1", "é"] {
            assert_eq!(read(input.as_bytes(), text::code), Err(FieldError::Code), "{input}");
        }
    }
}
