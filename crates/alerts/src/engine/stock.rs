//! A stock: its history, its session and the groups of its alerts. Their evaluation is in [`super::observe`].

use jiff::civil::Date;
use market::day::day_number;
use market::{Bar, History, Price, SplitRatio};

use super::event::{ExtendedPrice, ObservedSession, QuoteDetails};
use super::facts::Facts;
use super::group::Group;
use super::hot_line::{HotLine, NO_DAY, seconds};
use super::rules::RuleIndex;
use crate::metrics::FundamentalFigures;

/// The running session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    pub(super) date: Date,
    open: Price,
    /// The extremes of the 52 weeks before the session.
    pub(super) high_before: Option<i64>,
    pub(super) low_before: Option<i64>,
}

/// The newest details of quotes of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionDetails {
    /// The day of the session.
    pub(super) day: i32,
    pub(super) bid: Option<Price>,
    pub(super) ask: Option<Price>,
    pub(super) vwap: Option<Price>,
}

#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub(super) history: History,
    pub(super) fundamentals: FundamentalFigures,
    /// The splits that the prices contain already, with their first days in new shares.
    pub(super) splits: Vec<(Date, SplitRatio)>,
    pub(super) groups: Vec<Group>,
    pub(super) rules: RuleIndex,
    /// The lowest and the highest price of the session before the last observation that was fully evaluated.
    range_before: Option<(i64, i64)>,
    pub(super) facts: Option<Box<Facts>>,
    pub(super) session: Option<Session>,
    pub(super) details: Option<SessionDetails>,
    /// The newest price in extended hours since the last observed session.
    pub(super) extended: Option<ExtendedPrice>,
    /// The last session whose bar is made of the observations, unless a bar of it was delivered later.
    pub(super) observed_bar: Option<Date>,
    /// Date and open of the last session that is completed by a bar. Its observed extremes stay in the hot line until the next
    /// session.
    completed: Option<(Date, Price)>,
    /// The day of the last observation.
    pub(super) last_date: Option<Date>,
    /// The time of the observation of the session before the one that was last fully evaluated, in seconds; `None` if that was the
    /// first one.
    pub(super) previous_at_s: Option<u32>,
    /// Whether the stock is on the engine's list of stocks to evaluate again.
    pub(super) is_unsettled: bool,
}

impl Session {
    /// Returns the first price.
    pub(super) const fn open(self) -> Price {
        self.open
    }
}

impl Stock {
    pub(super) fn new() -> Self {
        Self {
            history: History::default(),
            fundamentals: FundamentalFigures::default(),
            splits: Vec::new(),
            groups: Vec::new(),
            rules: RuleIndex::default(),
            range_before: None,
            facts: None,
            session: None,
            details: None,
            extended: None,
            observed_bar: None,
            completed: None,
            last_date: None,
            previous_at_s: None,
            is_unsettled: false,
        }
    }

    /// Returns the newest details of the quotes of the running session.
    pub(super) fn details(&self, hot: &HotLine) -> Option<SessionDetails> {
        self.details.filter(|details| details.day == hot.day)
    }

    /// Takes over the details of a quote of the session of a day. A quote without bid and ask says nothing about them, nor does one
    /// without a volume-weighted average price about that.
    pub(super) fn set_details(&mut self, day: i32, new: &QuoteDetails) {
        let known = self.details.filter(|known| known.day == day);
        let (bid, ask) = match (new.bid, new.ask) {
            (None, None) => known.map_or((None, None), |known| (known.bid, known.ask)),
            both => both,
        };
        let vwap = new.vwap.or_else(|| known?.vwap);
        self.details = Some(SessionDetails { day, bid, ask, vwap });
    }

    /// Remembers the range of the session before an observation.
    pub(super) fn remember_range(&mut self, hot: &HotLine) {
        self.range_before = (hot.low <= hot.high).then_some((hot.low, hot.high));
    }

    /// Returns the 52-week high and low before the last observation, or with it; those of the completed sessions if no session is
    /// running.
    pub(super) fn extremes(&self, hot: &HotLine, today: Date, with_last: bool) -> (Option<i64>, Option<i64>) {
        let Some(session) = self.session.filter(|_| hot.day != NO_DAY) else {
            let extremes = self.history.extremes_52_weeks(day_number(today));
            return extremes.map_or((None, None), |(high, low)| (Some(high), Some(low)));
        };
        let range = if with_last {
            Some((hot.low.min(hot.last), hot.high.max(hot.last)))
        } else {
            self.range_before
        };
        let Some((lowest, highest)) = range else {
            return (session.high_before, session.low_before);
        };
        let low = session.low_before.map_or(lowest, |low| low.min(lowest));
        (session.high_before.max(Some(highest)), Some(low))
    }

    /// Returns the 52-week high and low of the sessions before the running one, or of all completed sessions.
    pub(super) fn extremes_before_session(&self, today: Date) -> (Option<Price>, Option<Price>) {
        let day = self.session.map_or(today, |session| session.date);
        let extremes = self.history.extremes_52_weeks(day_number(day));
        let price = |micros: i64| Price::from_micros(micros).ok();
        extremes.map_or((None, None), |(high, low)| (price(high), price(low)))
    }

    /// Returns the last observed price.
    pub(super) fn last_price(hot: &HotLine) -> Option<Price> {
        Price::from_micros(hot.last).ok()
    }

    /// Returns whether the session of `date`, or a later one, was completed by a bar.
    pub(super) fn is_completed(&self, date: Date) -> bool {
        self.history.last().is_some_and(|last| last.date >= date)
    }

    pub(super) fn begin_session(&mut self, hot: &mut HotLine, date: Date, day: i32, open: Price) {
        self.end_session(hot);
        self.forget_extended_price(date);
        self.session = Some(Session {
            date,
            open,
            high_before: self.history.high_52_weeks(day),
            low_before: self.history.low_52_weeks(day),
        });
        (hot.day, hot.high, hot.low, hot.volume) = (day, i64::MIN, i64::MAX, -1);
        hot.unsettle();
        self.rules.mark_all_due();
    }

    /// Creates a bar from the observations if no bar was delivered for the session.
    pub(super) fn end_session(&mut self, hot: &mut HotLine) {
        let Some(session) = self.session.take() else {
            return;
        };
        self.completed = Some((session.date, session.open));
        hot.day = NO_DAY;
        hot.unsettle();
        self.record_observed(hot, session.date, session.open);
    }

    /// Records a completed session as the bar of its observations.
    pub(super) fn record_observed(&mut self, hot: &HotLine, date: Date, open: Price) {
        let price = |micros| Price::from_micros(micros).unwrap_or(open);
        let bar = Bar {
            date,
            open,
            high: price(hot.high),
            low: price(hot.low),
            close: price(hot.last),
            volume: hot.volume.max(0),
        };
        self.observed_bar = Some(date);
        // The bar is as new as every other bar, otherwise the session would be completed; so it cannot be too old.
        let _ = self.history.record(bar);
    }

    /// Records a completed session.
    pub(super) fn record(&mut self, hot: &mut HotLine, bar: Bar) -> Result<(), market::history::BarTooOldError> {
        match self.session {
            Some(session) if session.date == bar.date => {
                self.completed = Some((session.date, session.open));
                self.session = None;
                hot.day = NO_DAY;
            }
            Some(session) if session.date < bar.date => self.end_session(hot),
            _ => {}
        }
        hot.unsettle();
        self.history.record(bar)?;
        self.observed_bar = self.observed_bar.filter(|date| *date != bar.date);
        self.forget_extended_price(bar.date);
        if self.last_date.is_some_and(|last| bar.date < last) {
            self.update_previous_sides(hot);
        }
        if let Some(session) = &mut self.session {
            session.high_before = self.history.high_52_weeks(hot.day);
            session.low_before = self.history.low_52_weeks(hot.day);
        }
        Ok(())
    }

    /// Compares the last observation again with the averages of its time, after earlier bars changed.
    fn update_previous_sides(&mut self, hot: &HotLine) {
        for at in 0..self.groups.len() {
            self.groups[at].previous = self.previous_side(hot, self.groups[at].key);
        }
    }

    /// Restores the observed part of a session after a restart.
    pub(super) fn resume(&mut self, hot: &mut HotLine, so_far: &ObservedSession) {
        let day = day_number(so_far.date);
        // A later session was observed by this process alone, and is observed again.
        if self.session.is_some_and(|session| session.date > so_far.date) {
            self.session = None;
            hot.day = NO_DAY;
        }
        if !self.is_completed(so_far.date) {
            // Earlier data of the same session is replaced. The session has not ended, so it creates no bar.
            self.session = self.session.filter(|session| session.date != so_far.date);
            self.begin_session(hot, so_far.date, day, so_far.open);
        } else if self.session.is_none() {
            self.completed = Some((so_far.date, so_far.open));
        }
        if self.session.is_none_or(|session| session.date == so_far.date) {
            (hot.high, hot.low) = (so_far.high.micros(), so_far.low.micros());
            hot.volume = so_far.volume.unwrap_or(-1);
        }
        hot.last = so_far.last.micros();
        self.details = Some(SessionDetails {
            day,
            bid: so_far.bid,
            ask: so_far.ask,
            vwap: so_far.vwap,
        });
        // The range before the last observation is not stored. With it, a restart makes no new extreme.
        self.remember_range(hot);
        hot.unsettle();
        self.last_date = Some(so_far.date);
        hot.observed_at_s = seconds(so_far.last_at);
        self.resume_before_extended_hours(hot, so_far);
        self.update_previous_sides(hot);
    }

    /// Returns the data to be stored for [`Stock::resume`].
    pub(super) fn observed_session(&self, hot: &HotLine) -> Option<ObservedSession> {
        let last = Self::last_price(hot)?;
        let price = |micros| Price::from_micros(micros).unwrap_or(last);
        let date = self.last_date?;
        let running = self.session.map(|session| (session.date, session.open));
        let known = running.or(self.completed).filter(|(of, _)| *of == date);
        let (open, high, low, volume) = match known {
            Some((_, open)) => (open, price(hot.high), price(hot.low), hot.volume),
            None => (last, last, last, -1),
        };
        let details = self.details(hot);
        Some(ObservedSession {
            date,
            open,
            high,
            low,
            last,
            volume: (volume >= 0).then_some(volume),
            last_at: hot.last_at(),
            bid: details.and_then(|details| details.bid),
            ask: details.and_then(|details| details.ask),
            vwap: details.and_then(|details| details.vwap),
        })
    }

    /// Adjusts prices, volumes and earnings for a split. The engine adjusts the alerts.
    pub(super) fn split(&mut self, hot: &mut HotLine, ratio: SplitRatio) {
        self.history.apply_split(ratio);
        let per_share = |micros: i64| ratio.divide(micros).max(1);
        for price in [&mut hot.last, &mut hot.high, &mut hot.low] {
            if (1..i64::MAX).contains(price) {
                *price = per_share(*price);
            }
        }
        self.range_before = self.range_before.map(|(low, high)| (per_share(low), per_share(high)));
        hot.volume = if hot.volume < 0 {
            -1
        } else {
            ratio.multiply(hot.volume).min(market::price::MAX_VOLUME)
        };
        hot.unsettle();
        self.fundamentals = self.fundamentals.after_split(ratio);
        if let Some(details) = &mut self.details {
            for price in [&mut details.bid, &mut details.ask, &mut details.vwap] {
                *price = price.map(|price| price.after_split(ratio));
            }
        }
        if let Some((_, open)) = &mut self.completed {
            *open = open.after_split(ratio);
        }
        self.extended = self.extended.map(|newest| newest.after_split(ratio));
        if let Some(session) = &mut self.session {
            session.open = session.open.after_split(ratio);
            session.high_before = session.high_before.map(per_share);
            session.low_before = session.low_before.map(per_share);
        }
    }

    /// Returns the current RSI: with the last observation during a session, otherwise of the completed sessions.
    pub(super) fn current_rsi(&self, hot: &HotLine) -> Option<i64> {
        if hot.day != NO_DAY {
            return self.history.rsi().micros_at(hot.last);
        }
        // The last close as provisional price would be counted twice.
        let completed = self.history.rsi().value()?;
        market::Decimal::from_f64(completed).ok().map(market::Decimal::micros)
    }
}
