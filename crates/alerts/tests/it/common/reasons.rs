//! A check that the reason of a firing supports the alert's condition.

use alerts::condition::{Condition, Side};
use alerts::engine::Reason;
use market::Decimal;

/// Returns whether the figures of a reason satisfy the condition. Splits may have adjusted the prices since the condition was
/// set.
pub(crate) fn supports(condition: &Condition, reason: &Reason) -> bool {
    let reached = |side: Side, figure: Decimal, level: Decimal| side.pick(figure >= level, figure <= level);
    match (condition.clone(), reason.clone()) {
        (Condition::Price { side: wanted, .. }, Reason::PriceReached { side, price, threshold }) => {
            wanted == side && reached(side, price.decimal(), threshold.decimal())
        }
        (Condition::PriceChange { side: wanted, percent }, Reason::PriceChanged { side, price, level, .. }) => {
            let moved = reason.metric().map_or(0, Decimal::micros);
            let far_enough = side.pick(moved, -moved) >= percent.micros();
            wanted == side && far_enough && reached(side, price.decimal(), level.decimal())
        }
        (Condition::NewExtreme { side: wanted }, Reason::NewExtreme { side, price, previous }) => {
            wanted == side && side.pick(price > previous, price < previous)
        }
        (Condition::MaCrossover { side: wanted }, Reason::AveragesCrossed { side, sma_50, sma_200 }) => {
            wanted == side && reached(side, sma_50, sma_200)
        }
        (
            Condition::MaTouch {
                side: wanted,
                period: of,
            },
            Reason::AverageTouched {
                side,
                price,
                period,
                average,
            },
        ) => {
            // The average in the reason is rounded.
            let rounding = side.pick(1, -1);
            let price = Decimal::from_micros(price.micros() + rounding);
            (wanted, of) == (side, period) && reached(side, price, average)
        }
        (Condition::Rsi { threshold: wanted, .. }, Reason::RsiReached { side, rsi, threshold }) => {
            wanted == threshold && reached(side, rsi, threshold)
        }
        (
            Condition::VolumeChange {
                baseline: of,
                percent: wanted,
            },
            Reason::VolumeAboveAverage { baseline, percent, .. },
        ) => of == baseline && percent >= wanted,
        (
            Condition::PeRatio {
                side: wanted,
                earnings: of,
                threshold: level,
            },
            Reason::PeReached {
                side,
                earnings,
                ratio,
                threshold,
            },
        ) => (wanted, of, level) == (side, earnings, threshold) && reached(side, ratio, threshold),
        (Condition::SocialBuzz(wanted), Reason::Buzz { direction, .. }) => wanted == direction,
        (
            Condition::InsiderTransactions(watch),
            Reason::InsidersTraded {
                value_usd, insiders, ..
            },
        ) => value_usd >= watch.threshold_usd && insiders >= u32::from(watch.min_executives),
        (Condition::Reminder { .. }, Reason::Reminder)
        | (Condition::DividendPayment { .. }, Reason::DividendPaid { .. }) => true,
        (Condition::DailyReminder(wanted), Reason::DailyReminder(delivery)) => wanted == delivery,
        (Condition::EarningsAnnouncement { days_ahead }, Reason::EarningsNear { days, .. })
        | (Condition::DividendExDate { days_ahead }, Reason::ExDividendNear { days, .. }) => days <= days_ahead,
        _ => false,
    }
}
