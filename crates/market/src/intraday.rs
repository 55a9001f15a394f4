//! Intraday bars: those of parts of a session.

use jiff::civil::Date;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::calendar::{new_york, new_york_date};
use crate::{Bar, BarError, Price};

/// For how many days intraday bars are kept.
const RETENTION_DAYS: i64 = 30;

/// Returns the instant from which intraday bars are kept: a midnight in New York, so that no session is kept in part.
#[must_use]
pub fn intraday_kept_from(now: Timestamp) -> Timestamp {
    new_york(
        new_york_date(now).saturating_sub(Span::new().days(RETENTION_DAYS)),
        0,
        0,
    )
}

/// A bar of a part of a session: first, highest, lowest and last price, and the shares traded. The invariants of [`Bar`]
/// hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedIntradayBar")]
pub struct IntradayBar {
    /// The time of the bar as given by the source.
    pub time: Timestamp,
    /// First price.
    pub open: Price,
    /// Highest price.
    pub high: Price,
    /// Lowest price.
    pub low: Price,
    /// Last price.
    pub close: Price,
    /// Shares traded.
    pub volume: i64,
}

/// The members of an [`IntradayBar`] as they are read.
#[derive(Deserialize)]
struct UncheckedIntradayBar {
    time: Timestamp,
    open: Price,
    high: Price,
    low: Price,
    close: Price,
    volume: i64,
}

impl TryFrom<UncheckedIntradayBar> for IntradayBar {
    type Error = BarError;

    fn try_from(read: UncheckedIntradayBar) -> Result<Self, BarError> {
        let bar = Self {
            time: read.time,
            open: read.open,
            high: read.high,
            low: read.low,
            close: read.close,
            volume: read.volume,
        };
        // The date does not matter to the check.
        bar.with_date(new_york_date(bar.time)).checked()?;
        Ok(bar)
    }
}

impl IntradayBar {
    /// Returns the prices and the volume of `bar` as of `time`.
    #[must_use]
    pub const fn of(bar: &Bar, time: Timestamp) -> Self {
        Self {
            time,
            open: bar.open,
            high: bar.high,
            low: bar.low,
            close: bar.close,
            volume: bar.volume,
        }
    }

    /// Returns the prices and the volume as a daily bar of `date`.
    #[must_use]
    pub const fn with_date(&self, date: Date) -> Bar {
        Bar {
            date,
            open: self.open,
            high: self.high,
            low: self.low,
            close: self.close,
            volume: self.volume,
        }
    }
}
