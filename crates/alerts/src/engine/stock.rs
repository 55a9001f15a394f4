//! One stock: its history, its session, and the alerts that wait for its price or volume.
//!
//! The engine's inner loop sees only a [`HotLine`]: one cache line with the *quiet band* of the stock. Whoever leaves the band
//! comes here, where every group is judged exactly and the band is drawn anew. The band may be narrower than it has to be
//! (after an alert was deleted, say); that costs a visit and changes nothing.

use jiff::civil::Date;
use jiff::{Timestamp, civil};
use market::day::day_number;
use market::{Bar, History, Price, SplitRatio};

use super::decision::{Decision, Reason, Verdict};
use super::event::{Quote, SessionSoFar};
use super::facts::Facts;
use super::group::{Band, Eps, Group, GroupKey, View, average, averages, compare_with_average_of};
use super::level_index::Slot;
use super::registry::{Placement, Registry};
use crate::condition::{Condition, RsiDirection, Side};

/// No session.
pub(super) const NO_DAY: i32 = i32::MIN;

/// What the inner loop needs of a stock, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct HotLine {
    /// See [`Band`].
    pub(super) lo: i64,
    pub(super) hi: i64,
    pub(super) volume_hi: i64,
    /// The last observed price; 0 before the first one.
    pub(super) last: i64,
    /// The extremes and the volume of the session so far.
    pub(super) high: i64,
    pub(super) low: i64,
    pub(super) volume: i64,
    /// The session that `high`, `low` and `volume` are of; [`NO_DAY`] when none is going on.
    pub(super) day: i32,
    /// When `last` was observed, in seconds since 1970.
    pub(super) seen_s: u32,
}

impl HotLine {
    pub(super) const NEW: Self = Self {
        lo: i64::MAX,
        hi: i64::MIN,
        volume_hi: i64::MIN,
        last: 0,
        high: i64::MIN,
        low: i64::MAX,
        volume: -1,
        day: NO_DAY,
        seen_s: 0,
    };

    /// Takes the observation in if nothing can happen at it. The whole product's speed is in these few comparisons.
    #[inline]
    pub(super) fn stays_quiet(&mut self, quote: &Quote, day: i32, now_s: u32) -> bool {
        let quiet = self.day == day
            && quote.price > self.lo
            && quote.price < self.hi
            && quote.volume < self.volume_hi;
        if quiet {
            self.last = quote.price;
            self.high = self.high.max(quote.price);
            self.low = self.low.min(quote.price);
            self.volume = self.volume.max(quote.volume);
            self.seen_s = now_s;
        }
        quiet
    }

    /// When the last price was observed, to the second.
    pub(super) fn last_at(&self) -> Timestamp {
        Timestamp::from_second(i64::from(self.seen_s)).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn set_band(&mut self, band: Band) {
        (self.lo, self.hi, self.volume_hi) = (band.lo, band.hi, band.volume_hi);
    }

    /// The next observation is looked at closely, whatever it is.
    pub(super) fn unsettle(&mut self) {
        self.set_band(Band::EMPTY);
    }
}

/// Seconds since 1970; outside 1970–2106 the nearest there is.
pub(super) fn seconds(at: Timestamp) -> u32 {
    u32::try_from(at.as_second()).unwrap_or(if at.as_second() < 0 { 0 } else { u32::MAX })
}

/// The session that is going on.
#[derive(Clone, Copy, Debug)]
struct Session {
    date: Date,
    open: Price,
    /// The extremes of the 52 weeks before it.
    high_before: Option<i64>,
    low_before: Option<i64>,
}

#[derive(Clone, Debug)]
pub(super) struct Stock {
    pub(super) history: History,
    pub(super) eps: Eps,
    pub(super) groups: Vec<Group>,
    pub(super) facts: Option<Box<Facts>>,
    session: Option<Session>,
    /// The day of the last observation.
    last_date: Option<Date>,
    /// Whether it is on the engine's list of stocks to judge again.
    pub(super) is_unsettled: bool,
}

impl Stock {
    pub(super) fn new() -> Self {
        Self {
            history: History::default(),
            eps: Eps::default(),
            groups: Vec::new(),
            facts: None,
            session: None,
            last_date: None,
            is_unsettled: false,
        }
    }

    /// The last observed price.
    pub(super) fn last_price(hot: &HotLine) -> Option<Price> {
        Price::from_micros(hot.last).ok()
    }

    /// Judges an observation that left the quiet band. Answers whether its session was completed already.
    pub(super) fn observe(
        &mut self,
        hot: &mut HotLine,
        quote: &Quote,
        (date, day): (Date, i32),
        now: Timestamp,
        registry: &mut Registry,
        out: &mut Vec<Decision>,
    ) -> bool {
        if hot.day != day {
            let over = hot.day > day || self.history.last().is_some_and(|last| last.date >= date);
            let Some(open) = Price::from_micros(quote.price).ok().filter(|_| !over) else {
                return false;
            };
            self.begin_session(hot, date, day, open);
        }
        hot.volume = hot.volume.max(quote.volume);
        hot.last = quote.price;
        self.last_date = Some(date);
        hot.seen_s = seconds(now);
        self.judge(hot, false, now, registry, out);
        hot.high = hot.high.max(quote.price);
        hot.low = hot.low.min(quote.price);
        self.settle(hot);
        true
    }

    /// Judges what was armed or became known since the last observation of the session `day` by that observation.
    pub(super) fn judge_again(
        &mut self,
        hot: &mut HotLine,
        day: i32,
        now: Timestamp,
        registry: &mut Registry,
        out: &mut Vec<Decision>,
    ) {
        if hot.day == day && self.session.is_some() {
            self.judge(hot, true, now, registry, out);
            self.settle(hot);
        }
    }

    fn begin_session(&mut self, hot: &mut HotLine, date: Date, day: i32, open: Price) {
        self.end_session(hot);
        self.session = Some(Session {
            date,
            open,
            high_before: self.history.high_52_weeks(day),
            low_before: self.history.low_52_weeks(day),
        });
        (hot.day, hot.high, hot.low, hot.volume) = (day, i64::MIN, i64::MAX, -1);
    }

    /// Makes a bar of what was observed, if no bar was delivered for the session.
    fn end_session(&mut self, hot: &mut HotLine) {
        let Some(session) = self.session.take() else {
            return;
        };
        hot.day = NO_DAY;
        hot.unsettle();
        let price = |micros| Price::from_micros(micros).unwrap_or(session.open);
        let bar = Bar {
            date: session.date,
            open: session.open,
            high: price(hot.high),
            low: price(hot.low),
            close: price(hot.last),
            volume: hot.volume.max(0),
        };
        // It is newer than every bar, or the session would have been completed; so it cannot be too old.
        let _ = self.history.record(bar);
    }

    /// Takes in a completed session.
    pub(super) fn record(
        &mut self,
        hot: &mut HotLine,
        bar: Bar,
    ) -> Result<(), market::history::TooOld> {
        match self.session {
            Some(session) if session.date == bar.date => {
                self.session = None;
                hot.day = NO_DAY;
            }
            Some(session) if session.date < bar.date => self.end_session(hot),
            _ => {}
        }
        hot.unsettle();
        self.history.record(bar)?;
        if let Some(session) = &mut self.session {
            session.high_before = self.history.high_52_weeks(hot.day);
            session.low_before = self.history.low_52_weeks(hot.day);
        }
        Ok(())
    }

    /// Takes in what was observed of a session before a restart.
    pub(super) fn resume(&mut self, hot: &mut HotLine, so_far: &SessionSoFar) {
        let day = day_number(so_far.date);
        let completed = self
            .history
            .last()
            .is_some_and(|last| last.date >= so_far.date);
        if !completed {
            self.begin_session(hot, so_far.date, day, so_far.open);
            (hot.high, hot.low) = (so_far.high.micros(), so_far.low.micros());
            hot.volume = so_far.volume.unwrap_or(-1);
        }
        hot.last = so_far.last.micros();
        hot.unsettle();
        self.last_date = Some(so_far.date);
        hot.seen_s = seconds(so_far.last_at);
        for at in 0..self.groups.len() {
            self.groups[at].previous = self.previous_side(hot, self.groups[at].key);
        }
    }

    /// What is to be kept for [`Stock::resume`].
    pub(super) fn session_so_far(&self, hot: &HotLine) -> Option<SessionSoFar> {
        let last = Self::last_price(hot)?;
        let price = |micros| Price::from_micros(micros).unwrap_or(last);
        let date = self.last_date?;
        let (open, high, low, volume) = match self.session {
            Some(session) => (session.open, price(hot.high), price(hot.low), hot.volume),
            None => (last, last, last, -1),
        };
        Some(SessionSoFar {
            date,
            open,
            high,
            low,
            last,
            volume: u64::try_from(volume).ok().map(|_| volume),
            last_at: hot.last_at(),
        })
    }

    /// Moves prices, volumes and earnings into the shares of after a split. The alerts are the engine's concern.
    pub(super) fn split(&mut self, hot: &mut HotLine, ratio: SplitRatio) {
        self.history.split(ratio);
        let per_share = |micros: i64| ratio.divide(micros).max(1);
        for price in [&mut hot.last, &mut hot.high, &mut hot.low] {
            if (1..i64::MAX).contains(price) {
                *price = per_share(*price);
            }
        }
        hot.volume = if hot.volume < 0 {
            -1
        } else {
            ratio.multiply(hot.volume).min(market::price::MAX_VOLUME)
        };
        hot.unsettle();
        self.eps.trailing = self.eps.trailing.map(|eps| ratio.divide(eps));
        self.eps.forward = self.eps.forward.map(|eps| ratio.divide(eps));
        if let Some(session) = &mut self.session {
            session.open = session.open.after_split(ratio);
            session.high_before = session.high_before.map(per_share);
            session.low_before = session.low_before.map(per_share);
        }
        if let Some(facts) = &mut self.facts {
            facts.split(ratio);
        }
    }

    /// Puts an alert into its group and makes the quiet band fit.
    pub(super) fn insert(&mut self, hot: &mut HotLine, key: GroupKey, level: i64, slot: Slot) {
        let at = self
            .groups
            .iter()
            .position(|group| group.key == key)
            .unwrap_or_else(|| {
                self.track(key);
                let previous = self.previous_side(hot, key);
                self.groups.push(Group {
                    previous,
                    ..Group::new(key)
                });
                self.groups.len() - 1
            });
        self.groups[at].index.insert(level, slot);
        if hot.day != NO_DAY {
            let mut band = Band {
                lo: hot.lo,
                hi: hot.hi,
                volume_hi: hot.volume_hi,
            };
            self.groups[at].tighten(&self.view(hot, true), &mut band);
            hot.set_band(band);
        }
    }

    pub(super) fn remove(&mut self, key: GroupKey, level: i64, slot: Slot) {
        if let Some(at) = self.groups.iter().position(|group| group.key == key) {
            self.groups[at].index.remove(level, slot);
            if self.groups[at].index.is_empty() {
                self.groups.swap_remove(at);
            }
        }
    }

    /// Keeps the sums at hand that the group asks for at every observation.
    fn track(&mut self, key: GroupKey) {
        match key {
            GroupKey::Cross(_) => [49, 50, 199, 200]
                .into_iter()
                .for_each(|len| self.history.track_closes(len)),
            GroupKey::Touch { period, .. } => self.history.track_closes(usize::from(period) - 1),
            GroupKey::Volume(baseline) => {
                self.history.track_volumes(usize::from(baseline.sessions()))
            }
            _ => {}
        }
    }

    /// Where the last observation was, compared with the average of its own moment.
    fn previous_side(&self, hot: &HotLine, key: GroupKey) -> Option<std::cmp::Ordering> {
        let GroupKey::Touch { period, .. } = key else {
            return None;
        };
        if hot.last == 0 {
            return None;
        }
        compare_with_average_of(self.last_date?, hot.last, period, &self.history)
    }

    /// The market as it is at the last observation; `after` it, it counts for the extremes itself.
    pub(super) fn view(&self, hot: &HotLine, after: bool) -> View<'_> {
        let (mut high, mut low) = self.session.map_or((None, None), |session| {
            (session.high_before, session.low_before)
        });
        if hot.high >= hot.low {
            high = high.max(Some(hot.high));
            low = Some(low.map_or(hot.low, |low| low.min(hot.low)));
        }
        if after && hot.day != NO_DAY {
            high = high.max(Some(hot.last));
            low = Some(low.map_or(hot.last, |low| low.min(hot.last)));
        }
        View {
            price: hot.last,
            volume: hot.volume,
            high,
            low,
            history: &self.history,
            eps: self.eps,
        }
    }

    fn settle(&self, hot: &mut HotLine) {
        let mut band = Band::WIDE;
        let view = self.view(hot, true);
        for group in &self.groups {
            group.tighten(&view, &mut band);
        }
        hot.set_band(band);
    }

    /// Judges every group. An observation that is judged `again` cannot touch or set an extreme: it is not a new one.
    fn judge(
        &mut self,
        hot: &mut HotLine,
        again: bool,
        now: Timestamp,
        registry: &mut Registry,
        out: &mut Vec<Decision>,
    ) {
        let mut groups = std::mem::take(&mut self.groups);
        let view = self.view(hot, false);
        let price = Self::last_price(hot);
        let mut undecided = None;
        for group in &mut groups {
            let key = group.key;
            if key == GroupKey::RsiUndecided {
                undecided = self.history.rsi().micros_at(hot.last);
            }
            if again && matches!(key, GroupKey::Touch { .. } | GroupKey::Extreme(_)) {
                continue;
            }
            if let Some(reached) = group.reached(&view) {
                group.index.drain_through(reached, |level, slot| {
                    let reason = reason(key, level, &view, registry, slot);
                    let (alert, revision) = registry.retire(slot);
                    out.push(Decision {
                        alert,
                        revision,
                        at: now,
                        verdict: Verdict::Fire { price, reason },
                    });
                });
            }
            if !again {
                group.remember(&view);
            }
        }
        groups.retain(|group| !group.index.is_empty());
        self.groups = groups;
        if let Some(rsi) = undecided {
            self.decide_rsi_sides(hot, rsi, registry);
        }
    }

    /// The RSI has a value for the first time: alerts for "the other side" now know which one that is.
    fn decide_rsi_sides(&mut self, hot: &mut HotLine, rsi: i64, registry: &mut Registry) {
        let Some(at) = self
            .groups
            .iter()
            .position(|group| group.key == GroupKey::RsiUndecided)
        else {
            return;
        };
        for (_, slot) in self.groups.swap_remove(at).index.iter() {
            let Condition::Rsi { threshold, .. } = registry.watch(slot).condition else {
                continue;
            };
            let (key, level) = rsi_key(RsiDirection::Both, threshold.micros(), Some(rsi));
            registry.watch_mut(slot).placement = Placement::Level(key, level);
            self.insert(hot, key, level, slot);
        }
    }

    /// The RSI as it is now: with the last observation of the session that is going on, else of the completed sessions.
    pub(super) fn rsi_now(&self, hot: &HotLine) -> Option<i64> {
        let last = if hot.day == NO_DAY {
            self.history.last()?.close.micros()
        } else {
            hot.last
        };
        if hot.day == NO_DAY {
            return self
                .history
                .rsi()
                .value()
                .and_then(|value| market::Decimal::from_f64(value).ok())
                .map(|rsi| rsi.micros());
        }
        self.history.rsi().micros_at(last)
    }

    /// The date of the session that is going on.
    pub(super) fn session_date(&self) -> Option<civil::Date> {
        self.session.map(|session| session.date)
    }
}

/// The group and key of an RSI alert, by what the RSI is when it is armed.
pub(super) fn rsi_key(
    direction: RsiDirection,
    threshold: i64,
    now: Option<i64>,
) -> (GroupKey, i64) {
    let side = match (direction, now) {
        (RsiDirection::Above, _) => Side::Above,
        (RsiDirection::Below, _) => Side::Below,
        (RsiDirection::Both, None) => return (GroupKey::RsiUndecided, 0),
        (RsiDirection::Both, Some(rsi)) => {
            if rsi >= threshold {
                Side::Below
            } else {
                Side::Above
            }
        }
    };
    (GroupKey::Rsi(side), side.key(threshold))
}

/// Why an entry of a group fires.
#[inline]
fn reason(key: GroupKey, level: i64, view: &View<'_>, registry: &Registry, slot: Slot) -> Reason {
    use market::Decimal;
    let price_of =
        |micros: i64| Price::from_micros(micros.clamp(1, market::price::MAX_PRICE_MICROS));
    let at = |micros: i64| price_of(micros).unwrap_or(smallest_price());
    let price = at(view.price);
    match key {
        GroupKey::Price(side) => Reason::PriceReached {
            side,
            price,
            threshold: at(side.key(level)),
        },
        GroupKey::Change(side) => {
            let initial = registry.watch(slot).initial_price.unwrap_or(price);
            Reason::PriceChanged {
                side,
                price,
                initial,
                level: at(side.key(level)),
            }
        }
        GroupKey::Extreme(side) => {
            let previous = side.pick(view.high, view.low).map_or(price, at);
            Reason::NewExtreme {
                side,
                price,
                previous,
            }
        }
        GroupKey::Cross(side) => {
            let (sma_50, sma_200) = averages(view.price, view.history).unwrap_or_default();
            Reason::AveragesCrossed {
                side,
                sma_50,
                sma_200,
            }
        }
        GroupKey::Touch { side, period } => {
            let average = average(period, view.price, view.history).unwrap_or_default();
            Reason::AverageTouched {
                side,
                price,
                period,
                average,
            }
        }
        GroupKey::Rsi(side) => {
            let rsi =
                Decimal::from_micros(view.history.rsi().micros_at(view.price).unwrap_or_default());
            Reason::RsiReached {
                side,
                rsi,
                threshold: Decimal::from_micros(side.key(level)),
            }
        }
        GroupKey::RsiUndecided => Reason::RsiReached {
            side: Side::Above,
            rsi: Decimal::ZERO,
            threshold: Decimal::ZERO,
        },
        GroupKey::Volume(baseline) => {
            let percent = Group::new(key)
                .reached(view)
                .map_or(Decimal::ZERO, Decimal::from_micros);
            Reason::VolumeAboveAverage {
                baseline,
                volume: view.volume,
                percent,
            }
        }
        GroupKey::Pe { earnings, side } => {
            let ratio = Group::new(key)
                .reached(view)
                .map_or(0, |reached| side.key(reached));
            let threshold = Decimal::from_micros(side.key(level));
            Reason::PeReached {
                side,
                earnings,
                ratio: Decimal::from_micros(ratio),
                threshold,
            }
        }
    }
}

const fn smallest_price() -> Price {
    match Price::from_micros(1) {
        Ok(price) => price,
        Err(_) => unreachable!(),
    }
}
