//! The definitions of the price, technical, volume and fundamental conditions.

use std::cmp::Ordering;

use alerts::condition::{EpsBasis, Side, VolumeBaseline};
use jiff::ToSpan;
use market::{Bar, Decimal, Price};

use super::record::View;

const HUNDRED_PERCENT: i128 = 100_000_000;

/// Returns whether the figure reaches the level. Levels are inclusive.
pub(crate) fn at_or_beyond(side: Side, figure: i64, level: i64) -> bool {
    match side {
        Side::Above => figure >= level,
        Side::Below => figure <= level,
    }
}

/// Returns whether the price has moved by the percentage from the initial price, without a division.
pub(crate) fn has_changed(view: &View<'_>, side: Side, initial: Price, percent: Decimal) -> bool {
    let (price, initial, percent) = (
        i128::from(view.price),
        i128::from(initial.micros()),
        i128::from(percent.micros()),
    );
    match side {
        Side::Above => price * HUNDRED_PERCENT >= initial * (HUNDRED_PERCENT + percent),
        Side::Below => price * HUNDRED_PERCENT <= initial * (HUNDRED_PERCENT - percent),
    }
}

/// Returns whether the price is strictly beyond every price of the 364 days before, including earlier observations of today.
pub(crate) fn is_new_extreme(view: &View<'_>, side: Side) -> bool {
    let first = view.today - 364.days();
    let window = || view.bars.iter().filter(|bar| bar.date >= first);
    let today = || view.earlier_today.iter().copied();
    match side {
        Side::Above => window()
            .map(|bar| bar.high.micros())
            .chain(today())
            .max()
            .is_some_and(|highest| view.price > highest),
        Side::Below => window()
            .map(|bar| bar.low.micros())
            .chain(today())
            .min()
            .is_some_and(|lowest| view.price < lowest),
    }
}

/// An average as a sum and a count, so that it is exact.
#[derive(Clone, Copy)]
struct Average {
    sum: i128,
    count: i128,
}

impl Average {
    /// Returns the average of the last `period` closes; `None` if there are fewer.
    fn of_closes(bars: &[Bar], period: usize) -> Option<Self> {
        let first = bars.len().checked_sub(period)?;
        let sum = bars[first..].iter().map(|bar| i128::from(bar.close.micros())).sum();
        Some(Self {
            sum,
            count: i128::try_from(period).expect("small"),
        })
    }

    /// Returns the average with `price` as today's close.
    fn with_today(bars: &[Bar], price: i64, period: usize) -> Option<Self> {
        let before = Self::of_closes(bars, period - 1)?;
        Some(Self {
            sum: before.sum + i128::from(price),
            count: before.count + 1,
        })
    }

    fn compare(self, other: Self) -> Ordering {
        (self.sum * other.count).cmp(&(other.sum * self.count))
    }

    /// Compares a price with the average.
    fn of_price(self, price: i64) -> Ordering {
        (i128::from(price) * self.count).cmp(&self.sum)
    }
}

/// Returns whether SMA(50) is strictly beyond SMA(200) now, and was not at the last completed session.
pub(crate) fn has_crossed(view: &View<'_>, side: Side) -> bool {
    let beyond = match side {
        Side::Above => Ordering::Greater,
        Side::Below => Ordering::Less,
    };
    let before = Average::of_closes(view.bars, 50).zip(Average::of_closes(view.bars, 200));
    let now = Average::with_today(view.bars, view.price, 50).zip(Average::with_today(view.bars, view.price, 200));
    before
        .zip(now)
        .is_some_and(|((fast_before, slow_before), (fast, slow))| {
            fast.compare(slow) == beyond && fast_before.compare(slow_before) != beyond
        })
}

/// Returns whether the previous observation was strictly on one side of the average of its time, and this one is not on that
/// side of the current average.
pub(crate) fn touches(view: &View<'_>, side: Side, period: u16) -> bool {
    let from = match side {
        Side::Above => Ordering::Less,
        Side::Below => Ordering::Greater,
    };
    let place = |bars: &[Bar], price| {
        Average::with_today(bars, price, usize::from(period)).map(|average| average.of_price(price))
    };
    let previous = view.previous.and_then(|(price, bars)| place(bars, price));
    let now = place(view.bars, view.price);
    previous
        .zip(now)
        .is_some_and(|(previous, now)| previous == from && now != from)
}

/// Returns the RSI with the price as today's close, in millionths of a point.
pub(crate) fn rsi(view: &View<'_>) -> Option<i64> {
    wilder_rsi(view.bars.iter().map(|bar| bar.close.micros()).chain([view.price]))
}

/// Returns Wilder's RSI(14) of a series of closes from its first one, in millionths of a point. The first average gain and loss
/// are means of 14 changes, then `(13 × average + today's) ÷ 14`. `None` before the 15th close and without any movement.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the RSI is a float by definition"
)]
pub(crate) fn wilder_rsi(closes: impl Iterator<Item = i64>) -> Option<i64> {
    let closes: Vec<i64> = closes.collect();
    let changes: Vec<(f64, f64)> = closes
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .map(|change| (change.max(0) as f64, (-change).max(0) as f64))
        .collect();
    let (first, rest) = changes.split_at_checked(14)?;
    let mut gain = first.iter().map(|change| change.0).sum::<f64>() / 14.0;
    let mut loss = first.iter().map(|change| change.1).sum::<f64>() / 14.0;
    for change in rest {
        gain = (gain * 13.0 + change.0) / 14.0;
        loss = (loss * 13.0 + change.1) / 14.0;
    }
    (gain + loss > 0.0).then(|| (100.0 * gain / (gain + loss) * 1e6).round() as i64)
}

/// Returns whether the session's volume so far exceeds the average of the completed sessions by the percentage.
pub(crate) fn has_volume(view: &View<'_>, baseline: VolumeBaseline, percent: Decimal) -> bool {
    let sessions = match baseline {
        VolumeBaseline::Ma20 => 20,
        VolumeBaseline::Ma50 => 50,
        VolumeBaseline::Ma100 => 100,
    };
    let (Some(volume), Some(first)) = (view.volume, view.bars.len().checked_sub(sessions)) else {
        return false;
    };
    let sum: i128 = view.bars[first..].iter().map(|bar| i128::from(bar.volume)).sum();
    let count = i128::try_from(sessions).expect("small");
    sum > 0 && i128::from(volume) * count * HUNDRED_PERCENT >= sum * (HUNDRED_PERCENT + i128::from(percent.micros()))
}

/// Returns whether price ÷ earnings is at or beyond the ratio. Without positive earnings there is no ratio.
pub(crate) fn pe_is_beyond(view: &View<'_>, side: Side, earnings: EpsBasis, ratio: Decimal) -> bool {
    let eps = match earnings {
        EpsBasis::Trailing => view.eps[0],
        EpsBasis::Forward => view.eps[1],
    };
    let Some(eps) = eps.filter(|eps| eps.micros() > 0) else {
        return false;
    };
    let price = i128::from(view.price) * 1_000_000;
    let level = i128::from(ratio.micros()) * i128::from(eps.micros());
    match side {
        Side::Above => price >= level,
        Side::Below => price <= level,
    }
}
