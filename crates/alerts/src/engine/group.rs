//! The alerts of one stock with the same kind of trigger, in the order in which they fire.
//!
//! Within one session, every price, technical, volume and fundamental condition depends only on the *price* (or the volume):
//!
//! * a percent change is a price level, computed once from the initial price;
//! * P/E is a price level, ratio × EPS; it changes with the EPS;
//! * the average with the current price as today's close is `(S + p) ÷ n`, with `S` the sum of the last `n − 1` closes. So `p`
//!   is at or above it exactly if `p × (n − 1) ≥ S`, and SMA(50) is above SMA(200) exactly if `3p > S₁₉₉ − 4·S₄₉`;
//! * the RSI rises with the price.
//!
//! A [`Group`] answers two questions: the entries that a view of the market reaches ([`Group::reached`]), and the band of prices
//! within which none of its alerts can fire ([`Group::tighten`]). All arithmetic uses integers, so there are no rounding errors.

use std::cmp::Ordering;

use jiff::civil::Date;
use market::{Decimal, History, MICROS_PER_UNIT};

use super::level_index::LevelIndex;
use crate::condition::{EpsBasis, Side, VolumeBaseline};
use crate::metrics::FundamentalFigures;

/// 100 % in millionths of a percent.
pub(super) const HUNDRED_PERCENT: i64 = 100 * MICROS_PER_UNIT;

/// The kind of a group. The meaning of an entry's key is in parentheses; `Below` stores the negated key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GroupKey {
    /// A price (the price).
    Price(Side),
    /// A change by a percentage (the price at which it is reached).
    Change(Side),
    /// A 52-week extreme (0).
    Extreme(Side),
    /// A cross of the averages (0).
    Cross(Side),
    /// A touch of the average of `period` sessions (0).
    Touch { side: Side, period: u16 },
    /// The RSI (the threshold).
    Rsi(Side),
    /// The RSI, for alerts whose side is not determined yet (0).
    RsiUndecided,
    /// The volume (the percentage).
    Volume(VolumeBaseline),
    /// Price ÷ earnings (the ratio).
    Pe { earnings: EpsBasis, side: Side },
}

/// A stock at one observation.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    /// The price.
    pub(super) price: i64,
    /// The session's volume so far; −1 if unknown.
    pub(super) volume: i64,
    /// The 52-week high before this observation.
    pub(super) high: Option<i64>,
    /// The 52-week low before this observation.
    pub(super) low: Option<i64>,
    /// The sessions completed before this one.
    pub(super) history: &'a History,
    /// The fundamentals per today's share.
    pub(super) fundamentals: &'a FundamentalFigures,
}

/// The quiet band: strictly between `lo` and `hi`, and strictly below `volume_hi`, no alert fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Band {
    pub(super) lo: i64,
    pub(super) hi: i64,
    pub(super) volume_hi: i64,
}

impl Band {
    pub(super) const WIDE: Self = Self {
        lo: i64::MIN,
        hi: i64::MAX,
        volume_hi: i64::MAX,
    };
    pub(super) const EMPTY: Self = Self {
        lo: i64::MAX,
        hi: i64::MIN,
        volume_hi: i64::MIN,
    };

    /// Returns whether no alert of the band fires at a price and a volume.
    pub(super) const fn contains(&self, price: i64, volume: i64) -> bool {
        price > self.lo && price < self.hi && volume < self.volume_hi
    }

    /// Narrows the band to what another one contains as well.
    pub(super) fn intersect(&mut self, other: &Self) {
        self.lo = self.lo.max(other.lo);
        self.hi = self.hi.min(other.hi);
        self.volume_hi = self.volume_hi.min(other.volume_hi);
    }

    fn at_or_above(&mut self, level: i64) {
        self.hi = self.hi.min(level);
    }

    fn at_or_below(&mut self, level: i64) {
        self.lo = self.lo.max(level);
    }

    fn beyond(&mut self, side: Side, level: i64) {
        match side {
            Side::Above => self.at_or_above(level),
            Side::Below => self.at_or_below(level),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) key: GroupKey,
    pub(super) index: LevelIndex,
    /// Only for touches: the side of the average on which the previous observation was, with the average of its time.
    pub(super) previous: Option<Ordering>,
    /// The band of this group alone; [`Band::EMPTY`] if it has to be computed. Within it the group is not evaluated, although the
    /// observation is outside the bands of other groups.
    pub(super) band: Band,
}

impl Group {
    pub(super) fn new(key: GroupKey) -> Self {
        Self {
            key,
            index: LevelIndex::default(),
            previous: None,
            band: Band::EMPTY,
        }
    }

    /// Returns the highest key that `view` reaches; `None` if it reaches none or cannot be evaluated.
    pub(super) fn reached(&self, view: &View<'_>) -> Option<i64> {
        let all_if = |condition: bool| condition.then_some(0);
        match self.key {
            GroupKey::Price(side) | GroupKey::Change(side) => Some(side.key(view.price)),
            GroupKey::Extreme(Side::Above) => all_if(view.price > view.high?),
            GroupKey::Extreme(Side::Below) => all_if(view.price < view.low?),
            GroupKey::Cross(side) => all_if(beyond_cross(side, view.price, cross_level(side, view.history)?)),
            GroupKey::Touch { side, period } => {
                let now = compare_with_average(view.price, period, view.history)?;
                let from = side.pick(Ordering::Less, Ordering::Greater);
                all_if(self.previous == Some(from) && now != from)
            }
            GroupKey::Rsi(side) => view.history.rsi().micros_at(view.price).map(|rsi| side.key(rsi)),
            GroupKey::RsiUndecided => None,
            GroupKey::Volume(baseline) => percent_above_average(view, baseline),
            GroupKey::Pe { earnings, side } => {
                let eps = view.fundamentals.positive_eps(earnings)?;
                let scaled = i128::from(view.price) * i128::from(MICROS_PER_UNIT);
                // Thresholds are whole millionths, so both comparisons are exact.
                Some(side.key(match side {
                    Side::Above => div_floor(scaled, eps.into()),
                    Side::Below => div_ceil(scaled, eps.into()),
                }))
            }
        }
    }

    /// Narrows `band` so that inside it no alert of this group fires as long as the view's history does not change.
    pub(super) fn tighten(&self, view: &View<'_>, band: &mut Band) {
        let Some(first) = self.index.first() else {
            return;
        };
        match self.key {
            GroupKey::Price(side) | GroupKey::Change(side) => band.beyond(side, side.key(first)),
            GroupKey::Extreme(Side::Above) => band.at_or_above(view.high.map_or(i64::MAX, |high| high + 1)),
            GroupKey::Extreme(Side::Below) => band.at_or_below(view.low.map_or(i64::MIN, |low| low - 1)),
            GroupKey::Cross(side) => {
                if let Some(level) = cross_level(side, view.history) {
                    band.beyond(side, first_beyond_cross(side, level));
                }
            }
            GroupKey::Touch { side, period } => self.tighten_touch(side, period, view.history, band),
            GroupKey::Rsi(side) => {
                let threshold = Some(side.key(first));
                let (above, below) = side.pick((threshold, None), (None, threshold));
                let (lo, hi) = view.history.rsi().quiet_band(above, below);
                band.at_or_above(hi);
                band.at_or_below(lo);
            }
            GroupKey::RsiUndecided => {
                if view.history.rsi().closes_missing() == 0 {
                    *band = Band::EMPTY;
                }
            }
            GroupKey::Volume(baseline) => {
                if let Some(sum) = volume_sum(view.history, baseline) {
                    let scale = i128::from(baseline.sessions()) * i128::from(HUNDRED_PERCENT);
                    let scaled = i128::from(sum) * (i128::from(HUNDRED_PERCENT) + i128::from(first));
                    band.volume_hi = band.volume_hi.min(div_ceil(scaled, scale));
                }
            }
            GroupKey::Pe { earnings, side } => {
                if let Some(eps) = view.fundamentals.positive_eps(earnings) {
                    let scaled = i128::from(side.key(first)) * i128::from(eps);
                    match side {
                        Side::Above => band.at_or_above(div_ceil(scaled, MICROS_PER_UNIT.into())),
                        Side::Below => band.at_or_below(div_floor(scaled, MICROS_PER_UNIT.into())),
                    }
                }
            }
        }
    }

    /// A touch waits until the price reaches the average, or first until it is on the side from which it must come.
    fn tighten_touch(&self, side: Side, period: u16, history: &History, band: &mut Band) {
        let Some(sum) = history.sum_of_closes(usize::from(period) - 1) else {
            return;
        };
        let (sum, sessions) = (i128::from(sum), i128::from(period) - 1);
        let (floor, ceiling) = (div_floor(sum, sessions), div_ceil(sum, sessions));
        match (side, self.previous) {
            (Side::Above, Some(Ordering::Less)) => band.at_or_above(ceiling),
            (Side::Above, _) => band.at_or_below(ceiling - 1),
            (Side::Below, Some(Ordering::Greater)) => band.at_or_below(floor),
            (Side::Below, _) => band.at_or_above(floor + 1),
        }
    }

    /// Stores the evaluated observation as the previous one.
    pub(super) fn remember(&mut self, view: &View<'_>) {
        if let GroupKey::Touch { period, .. } = self.key {
            self.previous = compare_with_average(view.price, period, view.history);
        }
    }
}

impl Side {
    /// Returns a key that is reached from below, whatever the side.
    pub(super) const fn key(self, level: i64) -> i64 {
        self.pick(level, -level)
    }
}

/// Compares `price` with the average of `period` sessions in which it stands in for today's close.
fn compare_with_average(price: i64, period: u16, history: &History) -> Option<Ordering> {
    let sum = history.sum_of_closes(usize::from(period) - 1)?;
    Some((price * (i64::from(period) - 1)).cmp(&sum))
}

/// Compares an observation of an earlier day: sessions from `date` on do not count.
pub(super) fn compare_with_average_of(date: Date, price: i64, period: u16, history: &History) -> Option<Ordering> {
    let len = usize::from(period) - 1;
    let mut closes = history
        .bars()
        .rev()
        .skip_while(|bar| bar.date >= date)
        .map(|bar| bar.close.micros());
    let (count, sum) = closes
        .by_ref()
        .take(len)
        .fold((0, 0), |(count, sum), close| (count + 1, sum + close));
    (count == len).then(|| (price * (i64::from(period) - 1)).cmp(&sum))
}

/// Returns three times the price at which SMA(50) equals SMA(200) today. Returns `None` if the averages were already on that
/// side at the last completed session, or if the history is too short.
fn cross_level(side: Side, history: &History) -> Option<i64> {
    let (last_50, last_200) = (history.sum_of_closes(50)?, history.sum_of_closes(200)?);
    let before = (4 * last_50).cmp(&last_200);
    if before == side.pick(Ordering::Greater, Ordering::Less) {
        return None;
    }
    Some(history.sum_of_closes(199)? - 4 * history.sum_of_closes(49)?)
}

/// Returns whether the averages have crossed with `price` as today's close; `None` if the history is too short.
pub(super) fn has_crossed(side: Side, price: i64, history: &History) -> Option<bool> {
    history.sum_of_closes(200)?;
    Some(cross_level(side, history).is_some_and(|level| beyond_cross(side, price, level)))
}

/// Narrows `band` to the prices at which the averages have crossed as at `price`.
pub(super) fn tighten_to_cross(side: Side, price: i64, history: &History, band: &mut Band) {
    let Some(level) = cross_level(side, history) else {
        return;
    };
    let first_beyond = first_beyond_cross(side, level);
    match (side, beyond_cross(side, price, level)) {
        (Side::Above, false) => band.at_or_above(first_beyond),
        (Side::Above, true) => band.at_or_below(first_beyond - 1),
        (Side::Below, false) => band.at_or_below(first_beyond),
        (Side::Below, true) => band.at_or_above(first_beyond + 1),
    }
}

/// Returns the first price at which the averages have crossed.
fn first_beyond_cross(side: Side, level: i64) -> i64 {
    let level = i128::from(level);
    side.pick(div_floor(level, 3) + 1, div_ceil(level, 3) - 1)
}

fn beyond_cross(side: Side, price: i64, level: i64) -> bool {
    match side {
        Side::Above => 3 * price > level,
        Side::Below => 3 * price < level,
    }
}

/// Returns the total volume of the averaged sessions; `None` if there are too few, or all without volume.
pub(super) fn volume_sum(history: &History, baseline: VolumeBaseline) -> Option<i64> {
    history
        .sum_of_volumes(usize::from(baseline.sessions()))
        .filter(|&sum| sum > 0)
}

/// Returns the millionths of a percent by which the volume exceeds its average, rounded down.
fn percent_above_average(view: &View<'_>, baseline: VolumeBaseline) -> Option<i64> {
    if view.volume < 0 {
        return None;
    }
    let sum = volume_sum(view.history, baseline)?;
    let scaled = i128::from(view.volume) * i128::from(baseline.sessions()) * i128::from(HUNDRED_PERCENT);
    Some(div_floor(scaled, sum.into()).saturating_sub(HUNDRED_PERCENT))
}

/// Returns `numerator ÷ denominator` (> 0), rounded down and saturating.
fn div_floor(numerator: i128, denominator: i128) -> i64 {
    let whole = numerator.div_euclid(denominator);
    i64::try_from(whole).unwrap_or(if whole > 0 { i64::MAX } else { i64::MIN })
}

/// Returns `numerator ÷ denominator` (> 0), rounded up and saturating.
fn div_ceil(numerator: i128, denominator: i128) -> i64 {
    div_floor(numerator + denominator - 1, denominator)
}

/// Returns the averages of 50 and 200 sessions with `price` as today's close, rounded to a millionth.
pub(super) fn averages(price: i64, history: &History) -> Option<(Decimal, Decimal)> {
    Some((average(50, price, history)?, average(200, price, history)?))
}

/// Returns the average of `period` sessions with `price` as today's close, rounded to a millionth.
pub(super) fn average(period: u16, price: i64, history: &History) -> Option<Decimal> {
    let sum = history.sum_of_closes(usize::from(period) - 1)? + price;
    let period = i64::from(period);
    Some(Decimal::from_micros((sum + period / 2) / period))
}
