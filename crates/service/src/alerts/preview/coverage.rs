//! The days of a preview for which bars of all stocks are stored.

use std::collections::BTreeSet;

use jiff::civil::Date;
use market::{Bar, Calendar, Symbol};
use sources::folder::MarketData;

use super::resolution::{Resolution, intraday_sessions};

/// The maximum number of reported gaps.
pub const MAX_GAPS: usize = 100;

/// The days of a preview.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HistoryCoverage {
    /// The first and the last day; `None` if a stock has no bars in the period.
    pub days: Option<(Date, Date)>,
    /// The sessions in between without a bar, the first [`MAX_GAPS`].
    pub gaps: Vec<Gap>,
    /// The sessions in between that are played in intraday bars.
    pub intraday: BTreeSet<Date>,
    /// How finely the days are played.
    pub resolution: Resolution,
}

/// Consecutive sessions without a bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// The stock.
    pub symbol: Symbol,
    /// The first session.
    pub from: Date,
    /// The last session.
    pub to: Date,
}

impl HistoryCoverage {
    /// Returns the days from `from` to `to` on which bars of all stocks are stored.
    #[must_use]
    pub fn of(data: &MarketData, symbols: &[Symbol], from: Date, to: Date, calendar: &Calendar) -> Self {
        let mut days = Some((from, to));
        let bars_of = |symbol: Symbol| -> &[Bar] {
            let bars = data.bars.get(&symbol).map_or(&[][..], |bars| &bars.daily);
            let start = bars.partition_point(|bar| bar.date < from);
            let end = bars.partition_point(|bar| bar.date <= to);
            bars.get(start..end).unwrap_or_default()
        };
        for &symbol in symbols {
            let bars = bars_of(symbol);
            let own = bars
                .first()
                .zip(bars.last())
                .map(|(first, last)| (first.date, last.date));
            days = days
                .zip(own)
                .map(|(all, own)| (all.0.max(own.0), all.1.min(own.1)))
                .filter(|(first, last)| first <= last);
        }
        let Some((first, last)) = days else {
            return Self::default();
        };
        let mut gaps: Vec<Gap> = Vec::new();
        for &symbol in symbols {
            let mut bars = bars_of(symbol).iter().map(|bar| bar.date).peekable();
            let mut open: Option<Gap> = None;
            for session in calendar.sessions(first, last) {
                while bars.next_if(|&date| date < session.date).is_some() {}
                if bars.peek() == Some(&session.date) {
                    gaps.extend(open.take());
                } else {
                    let gap = open.get_or_insert(Gap {
                        symbol,
                        from: session.date,
                        to: session.date,
                    });
                    gap.to = session.date;
                }
            }
            gaps.extend(open);
        }
        gaps.truncate(MAX_GAPS);
        let mut intraday = intraday_sessions(data, symbols);
        intraday.retain(|date| (first..=last).contains(date));
        let sessions = symbols.iter().map(|&symbol| bars_of(symbol));
        let sessions = sessions.map(|bars| bars.iter().filter(|bar| (first..=last).contains(&bar.date)).count());
        let resolution = Resolution::of(intraday.len(), sessions.max().unwrap_or_default());
        Self {
            days,
            gaps,
            intraday,
            resolution,
        }
    }

    /// Returns the days on which bars of at least one stock of an alert over many are stored. The sessions on which one has none are
    /// its gaps.
    #[must_use]
    pub fn of_many(stocks: Vec<(Symbol, Self)>, calendar: &Calendar) -> Self {
        let days = stocks.iter().filter_map(|(_, own)| own.days);
        let Some((first, last)) = days.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1))) else {
            return Self::default();
        };
        let played = || stocks.iter().map(|(_, own)| own).filter(|own| own.days.is_some());
        let intraday = played().flat_map(|own| own.intraday.iter().copied()).collect();
        let resolutions = || played().map(|own| own.resolution);
        let resolution = resolutions().reduce(|one, other| if one == other { one } else { Resolution::Mixed });
        let mut gaps = Vec::new();
        for (symbol, own) in stocks {
            let missing = |from, to| {
                let mut sessions = calendar.sessions(from, to).map(|session| session.date);
                let from = sessions.next()?;
                let to = sessions.last().unwrap_or(from);
                Some(Gap { symbol, from, to })
            };
            match own.days {
                Some((own_first, own_last)) => {
                    gaps.extend(own_first.yesterday().ok().and_then(|end| missing(first, end)));
                    gaps.extend(own.gaps);
                    gaps.extend(own_last.tomorrow().ok().and_then(|start| missing(start, last)));
                }
                None => gaps.extend(missing(first, last)),
            }
        }
        gaps.truncate(MAX_GAPS);
        Self {
            days: Some((first, last)),
            gaps,
            intraday,
            resolution: resolution.unwrap_or_default(),
        }
    }

    /// Returns a number of firings per year of 365.25 days; `None` without covered days.
    #[must_use]
    pub fn per_year(&self, count: usize) -> Option<f64> {
        let (first, last) = self.days?;
        let days = first.until(last).ok()?.get_days() + 1;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Some(f64::from(count) * 365.25 / f64::from(days))
    }
}
