//! The reasons as sentences for the owner of an alert.

use std::fmt;

use market::display::{Percent, Usd};
use market::{Decimal, Price, PriceChange};

use super::Reason;
use crate::condition::{BuzzDirection, DeliveryTime, EpsBasis, InsiderDirection};

/// A number with at most two decimals, for display.
struct Short(Decimal);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.micros();
        let rounded = (micros.saturating_add(micros.signum() * 5_000)) / 10_000 * 10_000;
        Decimal::from_micros(rounded).fmt(f)
    }
}

const fn dollars(price: Price) -> Usd {
    Usd(price.decimal())
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "price")
    }
}

impl Reason {
    /// Writes the reason, with the name of the price that was judged.
    pub(in crate::engine) fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        match *self {
            Self::PriceReached { side, price, threshold } => {
                let (price, threshold) = (dollars(price), dollars(threshold));
                write!(f, "{name} {price} is at or {side} {threshold}")
            }
            Self::PriceChanged {
                side, price, initial, ..
            } => {
                let moved = Decimal::from_micros(PriceChange::between(initial, price).percent.micros().abs());
                write!(
                    f,
                    "{name} {} is {}% {side} {}",
                    dollars(price),
                    Percent(moved),
                    dollars(initial)
                )
            }
            Self::NewExtreme { side, price, previous } => {
                let what = side.pick("high", "low");
                let (price, previous) = (dollars(price), dollars(previous));
                write!(f, "{name} {price} is a new 52-week {what}, {side} {previous}")
            }
            Self::AveragesCrossed { side, sma_50, sma_200 } => {
                let what = side.pick("golden", "death");
                write!(
                    f,
                    "{what} cross: the 50-day average {} is {side} the 200-day average {}",
                    Usd(sma_50),
                    Usd(sma_200)
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
                    "{name} {} touched the {period}-day average {} from {from}",
                    dollars(price),
                    Usd(average)
                )
            }
            Self::RsiReached { side, rsi, threshold } => {
                write!(f, "RSI {} is at or {side} {threshold}", Short(rsi))
            }
            Self::VolumeAboveAverage {
                baseline,
                volume,
                percent,
            } => {
                write!(
                    f,
                    "volume {volume} is {}% above its {}-session average",
                    Percent(percent),
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
                    EpsBasis::Trailing => "P/E",
                    EpsBasis::Forward => "forward P/E",
                };
                write!(f, "{which} {} is at or {side} {threshold}", Short(ratio))
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
                traded,
                ref names,
            } => {
                let people = if insiders == 1 { "insider" } else { "insiders" };
                let traded = match traded {
                    InsiderDirection::Buy => "bought",
                    InsiderDirection::Sell => "sold",
                    InsiderDirection::Both => "bought and sold",
                };
                let days = if window_days == 1 { "day" } else { "days" };
                write!(
                    f,
                    "{insiders} {people} {traded} for {} USD within {window_days} {days}: {}",
                    Usd(value_usd),
                    names.as_str()
                )
            }
            Self::Reminder => f.write_str("the reminder's time has come"),
            Self::DailyReminder(DeliveryTime::MarketOpen) => f.write_str("daily reminder: the market opens"),
            Self::DailyReminder(DeliveryTime::AfterMarketClose) => f.write_str("daily reminder: the market has closed"),
            Self::EarningsNear { date, days } => {
                write!(f, "earnings are expected on {date}, {}", Ahead(days))
            }
            Self::ExDividendNear { date, days, amount } => {
                write!(f, "ex-dividend date {date}, {}", Ahead(days))?;
                amount.map_or(Ok(()), |amount| write!(f, ", {} USD a share", Usd(amount)))
            }
            Self::DividendPaid { amount, expected } => {
                f.write_str("a dividend is paid today")?;
                amount.map_or(Ok(()), |amount| write!(f, ", {} USD a share", Usd(amount)))?;
                expected.map_or(Ok(()), |expected| write!(f, ", {} USD for your shares", Usd(expected)))
            }
        }
    }
}

/// A number of days ahead in words.
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
