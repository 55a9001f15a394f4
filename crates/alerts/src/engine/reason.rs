//! The reasons of firings.

mod insiders;
mod text;

pub use insiders::InsiderNames;

use jiff::civil::Date;
use market::{Decimal, Price, PriceChange};

use super::group::{Group, GroupKey, View, average, averages};
use super::level_index::Slot;
use super::registry::Registry;
use crate::condition::{BuzzDirection, DeliveryTime, EpsBasis, InsiderDirection, Side, VolumeBaseline};

/// The reason for which an alert fired. Its text is a sentence for the owner. It is small, because a million alerts may fire at once.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The price is at or beyond the threshold.
    PriceReached {
        /// The side.
        side: Side,
        /// The observed price.
        price: Price,
        /// The threshold.
        threshold: Price,
    },
    /// The price has moved by the percentage.
    PriceChanged {
        /// Up or down.
        side: Side,
        /// The observed price.
        price: Price,
        /// The base of the change.
        initial: Price,
        /// The price at which the percentage was reached.
        level: Price,
    },
    /// The price is beyond the extreme of 52 weeks.
    NewExtreme {
        /// High or low.
        side: Side,
        /// The observed price.
        price: Price,
        /// The previous extreme.
        previous: Price,
    },
    /// The 50-day average crossed the 200-day average.
    AveragesCrossed {
        /// Golden or death.
        side: Side,
        /// The 50-day average now.
        sma_50: Decimal,
        /// The 200-day average now.
        sma_200: Decimal,
    },
    /// The price reached its moving average.
    AverageTouched {
        /// From below (`Above`) or from above (`Below`).
        side: Side,
        /// The observed price.
        price: Price,
        /// The number of sessions in the average.
        period: u16,
        /// The average now.
        average: Decimal,
    },
    /// The RSI is at or beyond the threshold.
    RsiReached {
        /// The side.
        side: Side,
        /// The RSI now.
        rsi: Decimal,
        /// The threshold.
        threshold: Decimal,
    },
    /// The volume exceeds its average by the percentage.
    VolumeAboveAverage {
        /// The average.
        baseline: VolumeBaseline,
        /// The session's volume so far.
        volume: i64,
        /// The percentage above the average.
        percent: Decimal,
    },
    /// Price ÷ earnings is at or beyond the threshold.
    PeReached {
        /// The side.
        side: Side,
        /// Trailing or forward earnings.
        earnings: EpsBasis,
        /// The ratio now.
        ratio: Decimal,
        /// The threshold.
        threshold: Decimal,
    },
    /// Discussion on social media rose sharply or faded.
    Buzz {
        /// The direction.
        direction: BuzzDirection,
        /// The mentions in the last 24 hours.
        mentions: i64,
        /// The mean mentions per day over the seven days before.
        usual: Decimal,
    },
    /// Insiders traded for at least the threshold.
    InsidersTraded {
        /// The total value of the trades, in US dollars.
        value_usd: Decimal,
        /// The number of insiders.
        insiders: u32,
        /// The window in days.
        window_days: u16,
        /// Whether they bought, sold or did both.
        traded: InsiderDirection,
        /// Their names.
        names: Box<InsiderNames>,
    },
    /// The reminder's instant has come.
    Reminder,
    /// A daily reminder is due.
    DailyReminder(DeliveryTime),
    /// Earnings are near.
    EarningsNear {
        /// The date.
        date: Date,
        /// The number of calendar days ahead.
        days: u16,
    },
    /// An ex-dividend date is near.
    ExDividendNear {
        /// The date.
        date: Date,
        /// The number of calendar days ahead.
        days: u16,
        /// The amount in US dollars per share.
        amount: Option<Decimal>,
    },
    /// A dividend is paid today.
    DividendPaid {
        /// The amount in US dollars per share.
        amount: Option<Decimal>,
        /// The amount in US dollars for the user's shares.
        expected: Option<Decimal>,
    },
}

impl Reason {
    /// Returns the evaluated number; `None` for alerts that only wait for an instant.
    ///
    /// It is a price for price conditions, a percentage for changes of price and volume, points for the RSI, the 50-day average
    /// for a cross, the average for a touch, the ratio for P/E, the mentions, US dollars, or days ahead.
    #[must_use]
    pub fn metric(&self) -> Option<Decimal> {
        match *self {
            Self::PriceReached { price, .. } | Self::NewExtreme { price, .. } => Some(price.decimal()),
            Self::PriceChanged { price, initial, .. } => Some(PriceChange::between(initial, price).percent),
            Self::AveragesCrossed { sma_50, .. } => Some(sma_50),
            Self::AverageTouched { average, .. } => Some(average),
            Self::RsiReached { rsi, .. } => Some(rsi),
            Self::VolumeAboveAverage { percent, .. } => Some(percent),
            Self::PeReached { ratio, .. } => Some(ratio),
            Self::Buzz { mentions, .. } => Decimal::from_units(mentions),
            Self::InsidersTraded { value_usd, .. } => Some(value_usd),
            Self::EarningsNear { days, .. } | Self::ExDividendNear { days, .. } => Decimal::from_units(i64::from(days)),
            Self::DividendPaid { amount, .. } => amount,
            Self::Reminder | Self::DailyReminder(_) => None,
        }
    }
}

/// Returns the reason for which an entry of a group fires.
#[inline]
pub(super) fn reason_for(key: GroupKey, level: i64, view: &View<'_>, registry: &Registry, slot: Slot) -> Reason {
    let at =
        |micros: i64| Price::from_micros(micros.clamp(1, market::price::MAX_PRICE_MICROS)).unwrap_or(smallest_price());
    let price = at(view.price);
    match key {
        GroupKey::Price(side) => Reason::PriceReached {
            side,
            price,
            threshold: at(side.key(level)),
        },
        GroupKey::Change(side) => {
            let initial = registry.alert(slot).initial_price.unwrap_or(price);
            Reason::PriceChanged {
                side,
                price,
                initial,
                level: at(side.key(level)),
            }
        }
        GroupKey::Extreme(side) => {
            let previous = side.pick(view.high, view.low).map_or(price, at);
            Reason::NewExtreme { side, price, previous }
        }
        GroupKey::Cross(side) => {
            let (sma_50, sma_200) = averages(view.price, view.history).unwrap_or_default();
            Reason::AveragesCrossed { side, sma_50, sma_200 }
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
            let rsi = Decimal::from_micros(view.history.rsi().micros_at(view.price).unwrap_or_default());
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
            let ratio = Group::new(key).reached(view).map_or(0, |reached| side.key(reached));
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
