//! Rows that are left out, and why.

use std::fmt;
use std::path::PathBuf;

use jiff::civil::Date;
use market::calendar::Closure;
use market::{BarError, DecimalError, PriceError, SplitRatioError, SymbolError};

use super::lines::MAX_ROW_BYTES;

/// One row that is left out. It prints as `bars/daily.csv:17: close "0" is not above zero; …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The file, as it was opened.
    pub file: PathBuf,
    /// The line of the row; the file's first line is 1.
    pub line: u64,
    /// What is wrong with the row.
    pub reason: RowError,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.reason)
    }
}

/// The rows of a folder that are left out: all counted, the first [`Rejections::MAX_KEPT`] in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rejections {
    /// How many rows are left out.
    pub count: u64,
    /// The first of them, in the order in which they were read.
    pub first: Vec<Rejected>,
}

impl Rejections {
    /// How many rejected rows are kept in full.
    pub const MAX_KEPT: usize = 10_000;

    /// Counts a row, and keeps it if there is room.
    fn add(&mut self, rejected: impl FnOnce() -> Rejected) {
        self.count += 1;
        if self.first.len() < Self::MAX_KEPT {
            self.first.push(rejected());
        }
    }
}

type Report<'a> = Box<dyn FnMut(&Rejected) + 'a>;

/// Collects rejected rows, and reports each of them at once if a reporter is set.
#[derive(Default)]
pub(super) struct RejectionLog<'a> {
    rejections: Rejections,
    report: Option<Report<'a>>,
}

impl<'a> RejectionLog<'a> {
    /// Reports each row to `report`, also those that are only counted.
    pub(super) fn report_to(&mut self, report: impl FnMut(&Rejected) + 'a) {
        self.report = Some(Box::new(report));
    }

    pub(super) fn add(&mut self, rejected: impl FnOnce() -> Rejected) {
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

/// Why a row is left out. Each message names the mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// More or fewer fields than the header row.
    #[error("has {found} fields, but the header row has {expected}; write one field for each column")]
    FieldCount {
        /// The row's fields.
        found: usize,
        /// The header row's fields.
        expected: usize,
    },
    /// Longer than [`MAX_ROW_BYTES`].
    #[error("is longer than {MAX_ROW_BYTES} bytes; is a line break missing?")]
    TooLong,
    /// A field that begins with a quote and does not end with one before the next comma or the line's end.
    #[error("has a field that opens a quote and does not close it on its line; close it, and double quotes within it")]
    UnclosedQuote,
    /// A field that cannot be read.
    #[error("{field} {value} {problem}")]
    Field {
        /// The column's name.
        field: &'static str,
        /// What stands there.
        value: Excerpt,
        /// What is wrong with it.
        problem: Problem,
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

/// What is wrong with a field. Each message reads on from the field's name and value, and names the mend.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// Nothing where a value is needed.
    #[error("is empty; write a value")]
    Empty,
    /// No ticker.
    #[error("is no ticker: {0}")]
    Symbol(#[from] SymbolError),
    /// No date of the form `2024-03-08`.
    #[error("is no date; write it like 2024-03-08")]
    Date,
    /// No instant of RFC 3339.
    #[error("is no instant; write it like 2024-03-08T14:30:00Z or 2024-03-08T09:30:00-05:00")]
    Time,
    /// No number.
    #[error(transparent)]
    Number(#[from] DecimalError),
    /// No price.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// No split ratio.
    #[error(transparent)]
    Ratio(#[from] SplitRatioError),
    /// Decimals where a count is needed.
    #[error("is not a whole number; write it without decimals")]
    Fractional,
    /// Below zero where that means nothing.
    #[error("is below zero; write 0 or more")]
    Negative,
    /// A count beyond what is kept.
    #[error("is too large; the limit is {0}")]
    TooLarge(i64),
    /// None of the words that the column knows.
    #[error("is not known; write {0}")]
    NotOneOf(&'static str),
    /// No transaction code.
    #[error("is no transaction code; write the letter of the SEC's Form 4, such as P or S")]
    Code,
}

/// The beginning of a text from a file, fit for a terminal: in quotes, escaped, cut to a bounded length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    text: String,
    cut: bool,
}

impl Excerpt {
    /// How much of a field's value is shown, in characters.
    const VALUE_CHARS: usize = 40;
    /// How much of a header row is shown, in characters.
    const HEADER_CHARS: usize = 200;

    /// The beginning of a field's value.
    pub(crate) fn of_value(bytes: &[u8]) -> Self {
        Self::new(bytes, Self::VALUE_CHARS)
    }

    /// The beginning of a header row.
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
    fn a_rejected_row_is_reported_with_file_line_field_value_and_mend() {
        let rejected = Rejected {
            file: "bars/x.csv.gz".into(),
            line: 17,
            reason: RowError::Field {
                field: "close",
                value: Excerpt::of_value(b"0"),
                problem: Problem::Price(PriceError::NotPositive),
            },
        };
        assert_eq!(
            rejected.to_string(),
            "bars/x.csv.gz:17: close \"0\" is not above zero; a price must be at least 0.000001"
        );
    }

    #[test]
    fn a_value_of_forty_characters_is_shown_whole_and_a_longer_one_is_cut() {
        let forty = "é".repeat(40);
        assert_eq!(Excerpt::of_value(forty.as_bytes()).to_string(), format!("\"{forty}\""));
        assert_eq!(
            Excerpt::of_value(format!("{forty}x").as_bytes()).to_string(),
            format!("\"{forty}\"…")
        );
    }

    #[test]
    fn control_characters_quotes_and_broken_utf8_do_not_reach_the_terminal() {
        assert_eq!(
            Excerpt::of_value(b"\x1b[31m\"\xff").to_string(),
            "\"\\u{1b}[31m\\\"\u{fffd}\""
        );
    }

    #[test]
    fn all_rejections_are_counted_but_only_the_first_ten_thousand_are_kept() {
        let mut rejections = Rejections::default();
        for line in 1..=10_001 {
            rejections.add(|| Rejected {
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
