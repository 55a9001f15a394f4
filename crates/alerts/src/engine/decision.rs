//! What the engine says, and why.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use market::{Decimal, Price};

use crate::alert::{AlertId, Revision};
use crate::condition::{BuzzDirection, DeliveryTime, Earnings, Side, VolumeBaseline};

/// Something to be done about one alert.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// The alert.
    pub alert: AlertId,
    /// The revision of it that was judged: whoever commits the decision compares it.
    pub revision: Revision,
    /// The instant it is about: of the observation, or the one that was waited for.
    pub at: Timestamp,
    /// What is to be done.
    pub verdict: Verdict,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Verdict {
    /// Tell the owner. The engine has stopped judging the alert, unless it recurs every day.
    Fire {
        /// The stock's price as far as it is known.
        price: Option<Price>,
        /// Why.
        reason: Reason,
    },
    /// A split moved what the alert compares with; its next revision is judged from now on.
    Adjust {
        /// The new threshold, if it is a price.
        threshold: Option<Price>,
        /// The new initial price, if there is one.
        initial_price: Option<Price>,
    },
}

/// Why an alert fired. Its text is a sentence for the owner.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reason {
    /// The price is at or beyond the threshold.
    PriceReached {
        /// Which way.
        side: Side,
        /// The price that was seen.
        price: Price,
        /// The threshold.
        threshold: Price,
    },
    /// The price has moved by the percentage.
    PriceChanged {
        /// Up or down.
        side: Side,
        /// The price that was seen.
        price: Price,
        /// From where the change counts.
        initial: Price,
        /// The price at which the percentage was reached.
        level: Price,
    },
    /// The price is beyond the extreme of 52 weeks.
    NewExtreme {
        /// High or low.
        side: Side,
        /// The price that was seen.
        price: Price,
        /// The extreme of before.
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
    /// The price came to its moving average.
    AverageTouched {
        /// From below (`Above`) or from above (`Below`).
        side: Side,
        /// The price that was seen.
        price: Price,
        /// The average's sessions.
        period: u16,
        /// The average now.
        average: Decimal,
    },
    /// The RSI is at or beyond the threshold.
    RsiReached {
        /// Which way.
        side: Side,
        /// The RSI now.
        rsi: Decimal,
        /// The threshold.
        threshold: Decimal,
    },
    /// The volume is far enough above its average.
    VolumeAboveAverage {
        /// The average.
        baseline: VolumeBaseline,
        /// The session's volume so far.
        volume: i64,
        /// By how many percent it is above the average.
        percent: Decimal,
    },
    /// Price ÷ earnings is at or beyond the threshold.
    PeReached {
        /// Which way.
        side: Side,
        /// Trailing or forward.
        earnings: Earnings,
        /// The ratio now.
        ratio: Decimal,
        /// The threshold.
        threshold: Decimal,
    },
    /// Discussion rose sharply or faded.
    Buzz {
        /// Which.
        direction: BuzzDirection,
        /// Mentions in the last 24 hours.
        mentions: i64,
        /// Mentions a day over the seven days before.
        usual: Decimal,
    },
    /// Insiders traded for at least the threshold.
    InsidersTraded {
        /// What their trades are worth together, in US dollars.
        value_usd: Decimal,
        /// How many of them there were.
        insiders: u32,
        /// Over how many days.
        window_days: u16,
    },
    /// The reminder's instant has come.
    Reminder,
    /// It is time for the daily reminder.
    DailyReminder(DeliveryTime),
    /// Earnings are near.
    EarningsNear {
        /// When.
        date: Date,
        /// How many calendar days ahead.
        days: u16,
    },
    /// An ex-dividend date is near.
    ExDividendNear {
        /// When.
        date: Date,
        /// How many calendar days ahead.
        days: u16,
        /// US dollars a share.
        amount: Option<Decimal>,
    },
    /// A dividend is paid today.
    DividendPaid {
        /// US dollars a share.
        amount: Option<Decimal>,
        /// US dollars for the user's shares.
        expected: Option<Decimal>,
    },
}

impl Reason {
    /// The measured number that was judged; `None` for what only waits for an instant.
    ///
    /// A price for price conditions, percent for changes of price and volume, points for the RSI, the 50-day average for its
    /// crossing, the average for a touch, the ratio for P/E, mentions, US dollars, or days ahead.
    #[must_use]
    pub fn metric(&self) -> Option<Decimal> {
        match *self {
            Self::PriceReached { price, .. } | Self::NewExtreme { price, .. } => {
                Some(price.decimal())
            }
            Self::PriceChanged { price, initial, .. } => Some(percent_change(price, initial)),
            Self::AveragesCrossed { sma_50, .. } => Some(sma_50),
            Self::AverageTouched { average, .. } => Some(average),
            Self::RsiReached { rsi, .. } => Some(rsi),
            Self::VolumeAboveAverage { percent, .. } => Some(percent),
            Self::PeReached { ratio, .. } => Some(ratio),
            Self::Buzz { mentions, .. } => Decimal::from_units(mentions),
            Self::InsidersTraded { value_usd, .. } => Some(value_usd),
            Self::EarningsNear { days, .. } | Self::ExDividendNear { days, .. } => {
                Decimal::from_units(i64::from(days))
            }
            Self::DividendPaid { amount, .. } => amount,
            Self::Reminder | Self::DailyReminder(_) => None,
        }
    }
}

/// By how many percent `price` is above `initial`, rounded towards zero to a millionth.
fn percent_change(price: Price, initial: Price) -> Decimal {
    let change =
        i128::from(price.micros() - initial.micros()) * 100_000_000 / i128::from(initial.micros());
    Decimal::from_micros(i64::try_from(change).unwrap_or(i64::MAX))
}

/// A number with at most two decimals, for reading.
struct Short(Decimal);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.micros();
        let rounded = (micros.saturating_add(micros.signum() * 5_000)) / 10_000 * 10_000;
        Decimal::from_micros(rounded).fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::PriceReached {
                side,
                price,
                threshold,
            } => {
                write!(
                    f,
                    "price {price} is at or {} {threshold}",
                    side.pick("above", "below")
                )
            }
            Self::PriceChanged {
                side,
                price,
                initial,
                ..
            } => {
                let moved = Decimal::from_micros(percent_change(price, initial).micros().abs());
                write!(
                    f,
                    "price {price} is {}% {} {initial}",
                    Short(moved),
                    side.pick("above", "below")
                )
            }
            Self::NewExtreme {
                side,
                price,
                previous,
            } => {
                let (what, beyond) = side.pick(("high", "above"), ("low", "below"));
                write!(
                    f,
                    "price {price} is a new 52-week {what}, {beyond} {previous}"
                )
            }
            Self::AveragesCrossed {
                side,
                sma_50,
                sma_200,
            } => {
                let (what, beyond) = side.pick(("golden", "above"), ("death", "below"));
                write!(
                    f,
                    "{what} cross: the 50-day average {} is {beyond} the 200-day average {}",
                    Short(sma_50),
                    Short(sma_200)
                )
            }
            Self::AverageTouched {
                side,
                price,
                period,
                average,
            } => {
                let from = side.pick("below", "above");
                write!(
                    f,
                    "price {price} touched the {period}-day average {} from {from}",
                    Short(average)
                )
            }
            Self::RsiReached {
                side,
                rsi,
                threshold,
            } => {
                write!(
                    f,
                    "RSI {} is at or {} {threshold}",
                    Short(rsi),
                    side.pick("above", "below")
                )
            }
            Self::VolumeAboveAverage {
                baseline,
                volume,
                percent,
            } => {
                write!(
                    f,
                    "volume {volume} is {}% above its {}-session average",
                    Short(percent),
                    baseline.sessions()
                )
            }
            Self::PeReached {
                side,
                earnings,
                ratio,
                threshold,
            } => {
                let which = match earnings {
                    Earnings::Trailing => "P/E",
                    Earnings::Forward => "forward P/E",
                };
                write!(
                    f,
                    "{which} {} is at or {} {threshold}",
                    Short(ratio),
                    side.pick("above", "below")
                )
            }
            Self::Buzz {
                direction,
                mentions,
                usual,
            } => {
                let what = match direction {
                    BuzzDirection::Rising => "rose sharply",
                    BuzzDirection::Falling => "faded",
                };
                write!(
                    f,
                    "discussion {what}: {mentions} mentions in 24 hours, usually {} a day",
                    Short(usual)
                )
            }
            Self::InsidersTraded {
                value_usd,
                insiders,
                window_days,
            } => {
                let people = if insiders == 1 { "insider" } else { "insiders" };
                write!(
                    f,
                    "{insiders} {people} traded for {} USD within {window_days} days",
                    Short(value_usd)
                )
            }
            Self::Reminder => f.write_str("the reminder's time has come"),
            Self::DailyReminder(DeliveryTime::MarketOpen) => {
                f.write_str("daily reminder: the market opens")
            }
            Self::DailyReminder(DeliveryTime::AfterMarketClose) => {
                f.write_str("daily reminder: the market has closed")
            }
            Self::EarningsNear { date, days } => {
                write!(f, "earnings are expected on {date}, {}", Ahead(days))
            }
            Self::ExDividendNear { date, days, amount } => {
                write!(f, "ex-dividend date {date}, {}", Ahead(days))?;
                amount.map_or(Ok(()), |amount| write!(f, ", {amount} USD a share"))
            }
            Self::DividendPaid { amount, expected } => {
                f.write_str("a dividend is paid today")?;
                amount.map_or(Ok(()), |amount| write!(f, ", {amount} USD a share"))?;
                expected.map_or(Ok(()), |expected| {
                    write!(f, ", {} USD for your shares", Short(expected))
                })
            }
        }
    }
}

/// A number of days ahead, in words.
struct Ahead(u16);

impl fmt::Display for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("today"),
            1 => f.write_str("tomorrow"),
            days => write!(f, "in {days} days"),
        }
    }
}

/// Why an event, or a part of it, was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotTaken {
    /// Observations count only while the regular session is open.
    #[error("the market is closed")]
    MarketClosed,
    /// A bar of a session that has not ended, or a day that is none.
    #[error("{date} is no completed session")]
    NoCompletedSession {
        /// The bar's date.
        date: Date,
    },
    /// A bar from before everything that is kept.
    #[error(transparent)]
    TooOld(#[from] market::history::TooOld),
    /// The session of the observations was completed by a bar, or a later one has begun.
    #[error("{count} observations came after their session was completed")]
    SessionCompleted {
        /// How many.
        count: u32,
    },
    /// No alert of that id is armed.
    #[error("no such alert is armed")]
    NotArmed,
}
