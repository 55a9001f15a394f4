//! The reasons as sentences for the owner of an alert.

use std::fmt;

use market::{Change, Decimal};

use super::Reason;
use crate::condition::{BuzzDirection, DeliveryTime, Earnings};

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
            Self::PriceReached { side, price, threshold } => {
                write!(f, "price {price} is at or {} {threshold}", side.pick("above", "below"))
            }
            Self::PriceChanged {
                side, price, initial, ..
            } => {
                let moved = Decimal::from_micros(Change::between(initial, price).percent.micros().abs());
                write!(
                    f,
                    "price {price} is {}% {} {initial}",
                    Short(moved),
                    side.pick("above", "below")
                )
            }
            Self::NewExtreme { side, price, previous } => {
                let (what, beyond) = side.pick(("high", "above"), ("low", "below"));
                write!(f, "price {price} is a new 52-week {what}, {beyond} {previous}")
            }
            Self::AveragesCrossed { side, sma_50, sma_200 } => {
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
            Self::RsiReached { side, rsi, threshold } => {
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
            Self::DailyReminder(DeliveryTime::MarketOpen) => f.write_str("daily reminder: the market opens"),
            Self::DailyReminder(DeliveryTime::AfterMarketClose) => f.write_str("daily reminder: the market has closed"),
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
