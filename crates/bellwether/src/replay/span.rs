//! Which days are replayed.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use market::calendar::{new_york, new_york_date};
use sources::folder::MarketData;

/// The first and last day of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
}

/// Why there is nothing to replay.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// The folder has neither bars nor facts.
    #[error("the data folder has nothing to replay; put daily bars into bars/*.csv, or give both --from and --to")]
    NoData,
    /// The folder has data, but not for the days asked for.
    #[error(
        "the data covers {from} to {to}, which has no day in common with the days asked for; change --from or --to"
    )]
    Elsewhere {
        /// The first day there is data for.
        from: Date,
        /// The last day there is data for.
        to: Date,
    },
}

impl Span {
    /// The days from the first bar (or, without any bars, the first fact) to the last one. `from` may begin later, and
    /// `to` may end earlier or later: reminders and payments need no bars.
    ///
    /// # Errors
    /// [`SpanError`] if no day is left.
    pub fn of(data: &MarketData, from: Option<Date>, to: Option<Date>) -> Result<Self, SpanError> {
        let covered = Self::around(bar_dates(data)).or_else(|| Self::around(fact_dates(data)));
        let asked = from.zip(to).map(|(from, to)| Self { from, to });
        let covered = covered.or(asked).ok_or(SpanError::NoData)?;
        let span = Self {
            from: from.map_or(covered.from, |from| from.max(covered.from)),
            to: to.unwrap_or(covered.to),
        };
        if span.from > span.to {
            return Err(SpanError::Elsewhere {
                from: covered.from,
                to: covered.to,
            });
        }
        Ok(span)
    }

    /// The first instant of the first day in New York.
    #[must_use]
    pub fn start(&self) -> Timestamp {
        new_york(self.from, 0, 0)
    }

    /// The last instant before the first day.
    #[must_use]
    pub fn eve(&self) -> Timestamp {
        let start = self.start();
        start.saturating_sub(SignedDuration::from_nanos(1)).unwrap_or(start)
    }

    /// The last instant of the last day in New York, to the minute.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        new_york(self.to, 23, 59)
    }

    /// Whether a day is replayed.
    #[must_use]
    pub fn contains(&self, date: Date) -> bool {
        (self.from..=self.to).contains(&date)
    }

    fn around(dates: impl Iterator<Item = Date>) -> Option<Self> {
        dates.fold(None, |span: Option<Self>, date| {
            let span = span.unwrap_or(Self { from: date, to: date });
            Some(Self {
                from: span.from.min(date),
                to: span.to.max(date),
            })
        })
    }
}

/// The first and last date of each symbol's bars.
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
