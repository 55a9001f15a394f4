//! The period of a replay.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::calendar::{new_york, new_york_date};
use sources::folder::MarketData;

/// The first and last day of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayPeriod {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
}

/// The reasons why there is nothing to replay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The folder has neither bars nor facts.
    #[error("the data folder has nothing to replay; put daily bars into bars/*.csv, or give both --from and --to")]
    NoData,
    /// The folder has data, but not for the requested days.
    #[error(
        "the data covers {from} to {to}, which has no day in common with the requested days; change --from or --to"
    )]
    NoOverlap {
        /// The first day with data.
        from: Date,
        /// The last day with data.
        to: Date,
    },
}

impl ReplayPeriod {
    /// Returns the days from the first to the last bar (or fact, if there are no bars). `from` can make the period
    /// shorter. `to` can make it shorter or longer, because reminders and payments need no bars.
    ///
    /// # Errors
    /// [`PeriodError`] if no day is left.
    pub fn of(data: &MarketData, from: Option<Date>, to: Option<Date>) -> Result<Self, PeriodError> {
        let covered = Self::covering(bar_dates(data)).or_else(|| Self::covering(fact_dates(data)));
        let requested = from.zip(to).map(|(from, to)| Self { from, to });
        let covered = covered.or(requested).ok_or(PeriodError::NoData)?;
        let period = Self {
            from: from.map_or(covered.from, |from| from.max(covered.from)),
            to: to.unwrap_or(covered.to),
        };
        if period.from > period.to {
            return Err(PeriodError::NoOverlap {
                from: covered.from,
                to: covered.to,
            });
        }
        Ok(period)
    }

    /// Returns the first instant of the first day in New York.
    #[must_use]
    pub fn start(&self) -> Timestamp {
        new_york(self.from, 0, 0)
    }

    /// Returns the last instant before the first day.
    #[must_use]
    pub fn just_before_start(&self) -> Timestamp {
        let start = self.start();
        start.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(start)
    }

    /// Returns the last minute of the last day in New York.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        new_york(self.to, 23, 59)
    }

    /// Returns whether a day is replayed.
    #[must_use]
    pub fn contains(&self, date: Date) -> bool {
        (self.from..=self.to).contains(&date)
    }

    fn covering(dates: impl Iterator<Item = Date>) -> Option<Self> {
        dates.fold(None, |period: Option<Self>, date| {
            let period = period.unwrap_or(Self { from: date, to: date });
            Some(Self {
                from: period.from.min(date),
                to: period.to.max(date),
            })
        })
    }
}

/// Returns the first and last date of each symbol's bars.
fn bar_dates(data: &MarketData) -> impl Iterator<Item = Date> {
    data.bars.values().flat_map(|bars| {
        let daily = [bars.daily.first(), bars.daily.last()]
            .into_iter()
            .flatten()
            .map(|bar| bar.date);
        let intraday = [bars.intraday.first(), bars.intraday.last()].into_iter().flatten();
        daily.chain(intraday.map(|bar| new_york_date(bar.time)))
    })
}

fn fact_dates(data: &MarketData) -> impl Iterator<Item = Date> {
    let mentions = data.mentions.iter().map(|row| new_york_date(row.time));
    let insiders = data.insiders.iter().map(|row| row.filed_on);
    let fundamentals = data.fundamentals.iter().map(|row| row.as_of);
    let earnings = data.earnings.iter().map(|row| row.date);
    let dividends = data.dividends.iter().map(|row| row.ex_date);
    mentions
        .chain(insiders)
        .chain(fundamentals)
        .chain(earnings)
        .chain(dividends)
}
