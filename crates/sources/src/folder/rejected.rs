//! Rejected rows and the reasons for their rejection.

use std::fmt;
use std::path::PathBuf;

use jiff::civil::Date;
use market::calendar::Closure;
use market::{BarError, DecimalError, PriceError, SplitRatioError, SymbolError};

use super::lines::MAX_ROW_BYTES;

/// A row that was left out. It is displayed as `bars/daily.csv:17: close "0" is not above zero; …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRow {
    /// The file, as it was opened.
    pub file: PathBuf,
    /// The line number; the file's first line is 1.
    pub line: u64,
    /// The reason.
    pub reason: RowError,
}

impl fmt::Display for RejectedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.reason)
    }
}

/// The rejected rows of a folder. All are counted, the first [`Rejections::MAX_KEPT`] are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejections {
    /// The number of rejected rows.
    pub count: u64,
    /// The first rejected rows, in the order in which they were read.
    pub first: Vec<RejectedRow>,
}

impl Rejections {
    /// The maximum number of rejected rows that are kept.
    pub const MAX_KEPT: usize = 10_000;

    /// Counts a row, and keeps it below the maximum.
    fn add(&mut self, rejected: impl FnOnce() -> RejectedRow) {
        self.count += 1;
        if self.first.len() < Self::MAX_KEPT {
            self.first.push(rejected());
        }
    }
}

type Report<'a> = Box<dyn FnMut(&RejectedRow) + 'a>;

/// Collects rejected rows, and reports each of them at once if a reporter is set.
#[derive(Default)]
pub(super) struct RejectionLog<'a> {
    rejections: Rejections,
    report: Option<Report<'a>>,
}

impl<'a> RejectionLog<'a> {
    /// Reports each row to `report`, including those that are only counted.
    pub(super) fn report_to(&mut self, report: impl FnMut(&RejectedRow) + 'a) {
        self.report = Some(Box::new(report));
    }

    pub(super) fn add(&mut self, rejected: impl FnOnce() -> RejectedRow) {
        let Some(report) = &mut self.report else {
            return self.rejections.add(rejected);
        };
        let row = rejected();
        report(&row);
        self.rejections.add(|| row);
    }

    pub(super) fn into_rejections(self) -> Rejections {
        self.rejections
    }
}

impl fmt::Debug for RejectionLog<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rejections.fmt(f)
    }
}

/// The reason why a row is rejected. Each message names the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// More or fewer fields than the header row.
    #[error("has {found} fields, but the header row has {expected}; write one field for each column")]
    FieldCount {
        /// The number of fields of the row.
        found: usize,
        /// The number of fields of the header row.
        expected: usize,
    },
    /// A row longer than [`MAX_ROW_BYTES`].
    #[error("is longer than {MAX_ROW_BYTES} bytes; is a line break missing?")]
    TooLong,
    /// A field that begins with a quote and does not end with one before the next comma or the line's end.
    #[error("has a field that opens a quote and does not close it on its line; close it, and double quotes within it")]
    UnclosedQuote,
    /// A field that cannot be parsed.
    #[error("{field} {value} {problem}")]
    Field {
        /// The column's name.
        field: &'static str,
        /// The value.
        value: Excerpt,
        /// The problem.
        problem: FieldError,
    },
    /// A bar that contradicts itself.
    #[error(transparent)]
    Bar(#[from] BarError),
    /// A bar on a day on which the exchange was closed.
    #[error("there was no session on {date}, closed for {closure}; remove the row or correct its date")]
    Closed {
        /// The day, in New York.
        date: Date,
        /// Why the exchange was closed.
        closure: Closure,
    },
}

/// The problem of a field. Each message continues the field's name and value, and names the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// An empty field that is required.
    #[error("is empty; write a value")]
    Empty,
    /// An invalid ticker.
    #[error("is not a ticker: {0}")]
    Symbol(#[from] SymbolError),
    /// A date that does not have the form `2024-03-08`.
    #[error("is not a date; write it like 2024-03-08")]
    Date,
    /// A time that is not in RFC 3339 format.
    #[error("is not a time; write it like 2024-03-08T14:30:00Z or 2024-03-08T09:30:00-05:00")]
    Time,
    /// An invalid number.
    #[error(transparent)]
    Number(#[from] DecimalError),
    /// An invalid price.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// An invalid split ratio.
    #[error(transparent)]
    Ratio(#[from] SplitRatioError),
    /// Decimals where a whole number is required.
    #[error("is not a whole number; write it without decimals")]
    Fractional,
    /// A negative number where it has no meaning.
    #[error("is below zero; write 0 or more")]
    Negative,
    /// A number above the limit.
    #[error("is too large; the limit is {0}")]
    TooLarge(i64),
    /// A word that is not one of the column's values.
    #[error("is not known; write {0}")]
    NotOneOf(&'static str),
    /// An invalid transaction code.
    #[error("is not a transaction code; write the letter of the SEC's Form 4, such as P or S")]
    Code,
}

/// The beginning of a text from a file, safe for a terminal: quoted, escaped and cut to a bounded length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    text: String,
    cut: bool,
}

impl Excerpt {
    /// The maximum length of a field's value, in characters.
    const VALUE_CHARS: usize = 40;
    /// The maximum length of a header row, in characters.
    const HEADER_CHARS: usize = 200;

    /// Returns the beginning of a field's value.
    pub(crate) fn of_value(bytes: &[u8]) -> Self {
        Self::new(bytes, Self::VALUE_CHARS)
    }

    /// Returns the beginning of a header row.
    pub(super) fn of_header(bytes: &[u8]) -> Self {
        Self::new(bytes, Self::HEADER_CHARS)
    }

    fn new(bytes: &[u8], chars: usize) -> Self {
        let whole = String::from_utf8_lossy(bytes);
        let text: String = whole.chars().take(chars).collect();
        let cut = text.len() < whole.len();
        Self { text, cut }
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.text, if self.cut { "…" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_row_names_file_line_field_value_and_fix() {
        let rejected = RejectedRow {
            file: "bars/x.csv.gz".into(),
            line: 17,
            reason: RowError::Field {
                field: "close",
                value: Excerpt::of_value(b"0"),
                problem: FieldError::Price(PriceError::NotPositive),
            },
        };
        assert_eq!(
            rejected.to_string(),
            "bars/x.csv.gz:17: close \"0\" is not above zero; a price must be at least 0.000001"
        );
    }

    #[test]
    fn values_are_cut_after_forty_characters() {
        let forty = "é".repeat(40);
        assert_eq!(Excerpt::of_value(forty.as_bytes()).to_string(), format!("\"{forty}\""));
        assert_eq!(
            Excerpt::of_value(format!("{forty}x").as_bytes()).to_string(),
            format!("\"{forty}\"…")
        );
    }

    #[test]
    fn control_characters_quotes_and_invalid_utf8_are_escaped() {
        assert_eq!(
            Excerpt::of_value(b"\x1b[31m\"\xff").to_string(),
            "\"\\u{1b}[31m\\\"\u{fffd}\""
        );
    }

    #[test]
    fn first_ten_thousand_rejections_are_kept() {
        let mut rejections = Rejections::default();
        for line in 1..=10_001 {
            rejections.add(|| RejectedRow {
                file: "splits.csv".into(),
                line,
                reason: RowError::TooLong,
            });
        }
        assert_eq!(rejections.count, 10_001);
        assert_eq!(rejections.first.len(), 10_000);
        assert_eq!(rejections.first.last().map(|row| row.line), Some(10_000));
    }
}
