//! The data of a stock.

use alerts::engine::{Dividend, InsiderTrade};
use jiff::Timestamp;
use jiff::civil::Date;
use market::{Bar, Decimal, Price, SplitRatio};

use super::dates::MentionCounts;
use super::figures;

/// A recorded observation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observation {
    /// The date of its session.
    pub(crate) date: Date,
    pub(crate) at: Timestamp,
    pub(crate) price: i64,
    /// The session's volume so far, if the observation has one.
    pub(crate) volume: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Completed sessions, oldest first.
    pub(crate) bars: Vec<Bar>,
    pub(crate) observations: Vec<Observation>,
    /// Trailing and forward earnings per share.
    pub(crate) eps: [Option<Decimal>; 2],
    pub(crate) earnings: Vec<Date>,
    pub(crate) dividends: Vec<Dividend>,
    pub(crate) trades: Vec<InsiderTrade>,
    pub(crate) mentions: MentionCounts,
}

/// A stock at its last observation.
pub(crate) struct View<'a> {
    pub(crate) today: Date,
    pub(crate) price: i64,
    /// The session's volume so far.
    pub(crate) volume: Option<i64>,
    /// The sessions completed before today.
    pub(crate) bars: &'a [Bar],
    /// Today's observations before this one.
    pub(crate) earlier_today: Vec<i64>,
    /// The observation before this one, with the sessions completed before its own day.
    pub(crate) previous: Option<(i64, &'a [Bar])>,
    pub(crate) eps: [Option<Decimal>; 2],
}

impl Record {
    /// Returns whether a bar has completed the session of `date`, or a later one.
    pub(crate) fn is_completed(&self, date: Date) -> bool {
        self.bars.last().is_some_and(|last| last.date >= date)
    }

    pub(crate) fn bars_before(&self, date: Date) -> &[Bar] {
        let count = self.bars.partition_point(|bar| bar.date < date);
        &self.bars[..count]
    }

    /// Adds a bar. It replaces an earlier bar of the same day.
    pub(crate) fn put_bar(&mut self, bar: Bar) {
        self.bars.retain(|other| other.date != bar.date);
        self.bars.push(bar);
        self.bars.sort_by_key(|bar| bar.date);
    }

    /// Makes bars of the observations for every session before `date` that no bar completed.
    pub(crate) fn make_bars_before(&mut self, date: Date) -> Vec<Bar> {
        let mut made = Vec::new();
        let mut dates: Vec<_> = self
            .observations
            .iter()
            .rev()
            .map(|seen| seen.date)
            .take_while(|&day| !self.is_completed(day))
            .collect();
        dates.retain(|&day| day < date);
        dates.sort_unstable();
        dates.dedup();
        for day in dates {
            let seen: Vec<_> = self.observations.iter().filter(|seen| seen.date == day).collect();
            let price = |micros: Option<i64>| Price::from_micros(micros.expect("an observation")).expect("a price");
            let prices = || seen.iter().map(|seen| seen.price);
            let bar = Bar {
                date: day,
                open: price(prices().next()),
                high: price(prices().max()),
                low: price(prices().min()),
                close: price(prices().next_back()),
                volume: seen.iter().filter_map(|seen| seen.volume).max().unwrap_or(0),
            };
            self.put_bar(bar);
            made.push(bar);
        }
        made
    }

    pub(crate) fn view(&self) -> Option<View<'_>> {
        let (last, before) = self.observations.split_last()?;
        let earlier: Vec<_> = before.iter().rev().take_while(|seen| seen.date == last.date).collect();
        let volumes = earlier.iter().filter_map(|seen| seen.volume).chain(last.volume);
        Some(View {
            today: last.date,
            price: last.price,
            // The total volume of a session never decreases.
            volume: volumes.max(),
            bars: self.bars_before(last.date),
            earlier_today: earlier.iter().map(|seen| seen.price).collect(),
            previous: before.last().map(|seen| (seen.price, self.bars_before(seen.date))),
            eps: self.eps,
        })
    }

    /// Returns the current RSI: with the last observation of the running session, otherwise of the completed sessions.
    pub(crate) fn current_rsi(&self) -> Option<i64> {
        let going_on = self.observations.last().filter(|last| !self.is_completed(last.date));
        let provisional = going_on.map(|last| last.price);
        figures::wilder_rsi(self.bars.iter().map(|bar| bar.close.micros()).chain(provisional))
    }

    pub(crate) fn split(&mut self, ratio: SplitRatio) {
        for bar in &mut self.bars {
            for price in [&mut bar.open, &mut bar.high, &mut bar.low, &mut bar.close] {
                *price = price_after_split(*price, ratio);
            }
            bar.volume = times(bar.volume, ratio);
        }
        for seen in &mut self.observations {
            seen.price = divided(seen.price, ratio).max(1);
            seen.volume = seen.volume.map(|volume| times(volume, ratio));
        }
        self.eps = self
            .eps
            .map(|eps| eps.map(|eps| Decimal::from_micros(divided(eps.micros(), ratio))));
    }
}

pub(crate) fn price_after_split(price: Price, ratio: SplitRatio) -> Price {
    Price::from_micros(divided(price.micros(), ratio).max(1)).expect("a price")
}

/// Returns `micros ÷ ratio` to the nearest millionth, halves away from zero.
fn divided(micros: i64, ratio: SplitRatio) -> i64 {
    nearest(i128::from(micros) * 1_000_000, i128::from(ratio.micros()))
}

fn times(shares: i64, ratio: SplitRatio) -> i64 {
    nearest(i128::from(shares) * i128::from(ratio.micros()), 1_000_000)
}

fn nearest(numerator: i128, denominator: i128) -> i64 {
    let magnitude = (2 * numerator.abs() + denominator) / (2 * denominator);
    i64::try_from(numerator.signum() * magnitude).expect("within range")
}
