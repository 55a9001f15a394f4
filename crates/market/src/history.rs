//! The price history of one stock's completed sessions.
//!
//! A [`History`] keeps the last [`KEPT_SESSIONS`] bars and updates everything that conditions need with them: sums of
//! recent closes and volumes, the RSI, and the 52-week extremes. The RSI's smoothing reaches back to the very first
//! bar, so its state just before the oldest kept bar is kept, too. From it everything can be recomputed if a bar is
//! corrected.

use std::collections::VecDeque;

use jiff::civil::Date;

use crate::bar::Bar;
use crate::day::day_number;
use crate::indicators::{Extreme, Moments, RollingExtreme, Rsi, WindowSum};
use crate::split::SplitRatio;
use crate::tracked::{MAX_TRACKED, SessionIndicator, TrackedIndicators};

/// The maximum number of kept bars: enough for the longest average (400 sessions) and, on a market that never closes,
/// for 364 days.
pub const KEPT_SESSIONS: usize = 420;

/// The number of calendar days in 52 weeks; the day exactly 364 days ago still counts.
pub const DAYS_OF_52_WEEKS: i32 = 364;

/// The completed sessions of one stock, oldest first, and their indicators.
#[derive(Clone, PartialEq, Debug)]
pub struct History {
    bars: VecDeque<Bar>,
    /// The RSI before the oldest kept bar.
    rsi_before: Rsi,
    rsi: Rsi,
    highs: RollingExtreme,
    lows: RollingExtreme,
    closes: Vec<WindowSum>,
    volumes: Vec<WindowSum>,
    tracked: TrackedIndicators,
}

/// The effect of recording a bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordOutcome {
    /// It is the newest bar.
    Appended,
    /// It replaced the bar of the same day.
    Replaced,
    /// It filled a gap between kept bars.
    Inserted,
}

/// A bar that is older than all kept bars.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the bar of {date} is older than all kept bars (since {kept_since}); load the history again, oldest bar first")]
pub struct BarTooOldError {
    /// The bar's date.
    pub date: Date,
    /// The oldest kept date.
    pub kept_since: Date,
}

impl Default for History {
    fn default() -> Self {
        Self {
            bars: VecDeque::new(),
            rsi_before: Rsi::default(),
            rsi: Rsi::default(),
            highs: RollingExtreme::new(Extreme::High),
            lows: RollingExtreme::new(Extreme::Low),
            closes: Vec::new(),
            volumes: Vec::new(),
            tracked: TrackedIndicators::default(),
        }
    }
}

impl History {
    /// The kept bars, oldest first.
    pub fn bars(&self) -> impl DoubleEndedIterator<Item = &Bar> + ExactSizeIterator {
        self.bars.iter()
    }

    /// The number of kept bars.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bars.len()
    }

    /// Whether there are no bars.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }

    /// The newest bar.
    #[must_use]
    pub fn last(&self) -> Option<&Bar> {
        self.bars.back()
    }

    /// The RSI of the completed sessions.
    #[must_use]
    pub const fn rsi(&self) -> &Rsi {
        &self.rsi
    }

    /// Records a bar of any day: appends it, or inserts it and recomputes everything.
    ///
    /// # Errors
    /// [`BarTooOldError`] if the bar is older than all kept bars and older ones were already dropped.
    pub fn record(&mut self, bar: Bar) -> Result<RecordOutcome, BarTooOldError> {
        if self.last().is_none_or(|last| last.date < bar.date) {
            self.append(bar);
            return Ok(RecordOutcome::Appended);
        }
        let recorded = match self.bars.binary_search_by_key(&bar.date, |kept| kept.date) {
            Ok(at) => {
                self.bars[at] = bar;
                RecordOutcome::Replaced
            }
            Err(0) if self.bars.len() >= KEPT_SESSIONS => {
                return Err(BarTooOldError {
                    date: bar.date,
                    kept_since: self.bars[0].date,
                });
            }
            Err(at) => {
                self.bars.insert(at, bar);
                RecordOutcome::Inserted
            }
        };
        self.recompute();
        Ok(recorded)
    }

    /// Returns the history as it was before `date`, without the sessions of that day and later ones.
    #[must_use]
    pub fn before(&self, date: Date) -> Self {
        let mut before = self.clone();
        before.bars.retain(|bar| bar.date < date);
        // The extremes may have dropped days that count again as of that date.
        before.recompute();
        before
    }

    /// Converts everything to shares after a split.
    pub fn apply_split(&mut self, ratio: SplitRatio) {
        for bar in &mut self.bars {
            *bar = bar.after_split(ratio);
        }
        let rsi = self.rsi.after_split(ratio);
        self.rsi_before = self.rsi_before.after_split(ratio);
        self.recompute();
        self.rsi = rsi;
    }

    /// Returns the highest high of the 52 weeks before `today`, which itself does not count.
    pub fn high_52_weeks(&mut self, today: i32) -> Option<i64> {
        self.highs.since(today - DAYS_OF_52_WEEKS)
    }

    /// Returns the lowest low of the 52 weeks before `today`, which itself does not count.
    pub fn low_52_weeks(&mut self, today: i32) -> Option<i64> {
        self.lows.since(today - DAYS_OF_52_WEEKS)
    }

    /// Returns the highest high and the lowest low of the completed sessions of the 52 weeks up to `today`, for
    /// display. Days that [`Self::high_52_weeks`] has dropped do not count.
    #[must_use]
    pub fn extremes_52_weeks(&self, today: i32) -> Option<(i64, i64)> {
        let from = today - DAYS_OF_52_WEEKS;
        self.highs.peek_since(from).zip(self.lows.peek_since(from))
    }

    /// Maintains the sum of the last `len` closes from now on. Beyond 64 of them, each use computes the sum.
    pub fn track_closes(&mut self, len: usize) {
        track(&mut self.closes, len, self.bars.iter().map(|bar| bar.close.micros()));
    }

    /// Maintains the sum of the last `len` volumes from now on. Beyond 64 of them, each use computes the sum.
    pub fn track_volumes(&mut self, len: usize) {
        track(&mut self.volumes, len, self.bars.iter().map(|bar| bar.volume));
    }

    /// Keeps the state of an indicator, given as that of an empty series, from now on: it is computed once for each session.
    pub fn track_indicator<S: SessionIndicator>(&mut self, empty: S) {
        self.tracked.track(empty);
    }

    /// Returns an indicator, given as that of an empty series, after the kept sessions.
    #[must_use]
    pub fn indicator<S: SessionIndicator>(&self, empty: S) -> S {
        self.tracked.state(empty, &self.bars)
    }

    /// Keeps what [`moments_with`](Self::moments_with) needs from now on.
    pub fn track_deviation(&mut self, period: u32) {
        self.tracked.track_deviation(period);
    }

    /// Returns the mean and the standard deviation of the last `period` closes, with a price as today's close; `None` if there are
    /// fewer.
    #[must_use]
    pub fn moments_with(&self, period: u32, price_micros: i64) -> Option<Moments> {
        self.tracked.moments(period, price_micros, &self.bars)
    }

    /// The sum of the last `len` closes in millionths; `None` if there are fewer.
    #[must_use]
    pub fn sum_of_closes(&self, len: usize) -> Option<i64> {
        self.sum(len, &self.closes, |bar| bar.close.micros())
    }

    /// The sum of the last `len` volumes in shares; `None` if there are fewer.
    #[must_use]
    pub fn sum_of_volumes(&self, len: usize) -> Option<i64> {
        self.sum(len, &self.volumes, |bar| bar.volume)
    }

    fn sum(&self, len: usize, tracked: &[WindowSum], value: impl Fn(&Bar) -> i64) -> Option<i64> {
        if self.bars.len() < len {
            return None;
        }
        match tracked.iter().find(|window| window.len() == len) {
            Some(window) => Some(window.sum()),
            None => Some(WindowSum::new(len, self.bars.iter().map(value)).sum()),
        }
    }

    /// The average of `period` closes in dollars if today closed at `price_micros`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for display and statistics")]
    pub fn sma_at(&self, period: usize, price_micros: i64) -> Option<f64> {
        let sum = self.sum_of_closes(period.checked_sub(1)?)? + price_micros;
        Some(sum as f64 / period as f64 / 1e6)
    }

    /// The close `back` sessions before the last completed one (0 is the last), in millionths.
    #[must_use]
    pub fn close_back(&self, back: usize) -> Option<i64> {
        let at = self.bars.len().checked_sub(back + 1)?;
        Some(self.bars[at].close.micros())
    }

    fn append(&mut self, bar: Bar) {
        self.tracked.forget();
        let close = bar.close.micros();
        let bars = &self.bars;
        let leaving = |window: &WindowSum| bars.get(bars.len().checked_sub(window.len())?);
        for window in &mut self.closes {
            window.push(close, leaving(window).map(|bar| bar.close.micros()));
        }
        for window in &mut self.volumes {
            window.push(bar.volume, leaving(window).map(|bar| bar.volume));
        }
        let day = day_number(bar.date);
        self.highs.push(day, bar.high.micros());
        self.lows.push(day, bar.low.micros());
        self.rsi.push(close);
        if self.bars.len() == KEPT_SESSIONS
            && let Some(oldest) = self.bars.pop_front()
        {
            self.rsi_before.push(oldest.close.micros());
        }
        self.bars.push_back(bar);
    }

    /// Recomputes everything from the kept bars and the RSI before them.
    fn recompute(&mut self) {
        self.tracked.forget();
        self.rsi = self.rsi_before;
        self.highs = RollingExtreme::new(Extreme::High);
        self.lows = RollingExtreme::new(Extreme::Low);
        for bar in &self.bars {
            let day = day_number(bar.date);
            self.rsi.push(bar.close.micros());
            self.highs.push(day, bar.high.micros());
            self.lows.push(day, bar.low.micros());
        }
        for window in &mut self.closes {
            *window = WindowSum::new(window.len(), self.bars.iter().map(|bar| bar.close.micros()));
        }
        for window in &mut self.volumes {
            *window = WindowSum::new(window.len(), self.bars.iter().map(|bar| bar.volume));
        }
        while self.bars.len() > KEPT_SESSIONS {
            if let Some(oldest) = self.bars.pop_front() {
                self.rsi_before.push(oldest.close.micros());
            }
        }
    }
}

fn track(windows: &mut Vec<WindowSum>, len: usize, values: impl DoubleEndedIterator<Item = i64>) {
    if windows.len() < MAX_TRACKED && !windows.iter().any(|window| window.len() == len) {
        windows.push(WindowSum::new(len, values));
    }
}

#[cfg(test)]
mod tests;
