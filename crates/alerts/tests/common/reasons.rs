//! What an alert says when it fires must bear it out.

use alerts::condition::{Condition, Side};
use alerts::engine::Reason;
use market::Decimal;

/// Whether the figures of a reason make the condition true. The prices of a condition may have been moved by splits since.
pub(crate) fn bears_out(condition: &Condition, reason: &Reason) -> bool {
    let reached = |side: Side, figure: Decimal, level: Decimal| side.pick(figure >= level, figure <= level);
    match (*condition, *reason) {
        (Condition::Price { side: asked, .. }, Reason::PriceReached { side, price, threshold }) => {
            asked == side && reached(side, price.decimal(), threshold.decimal())
        }
        (Condition::PriceChange { side: asked, percent }, Reason::PriceChanged { side, price, level, .. }) => {
            let moved = reason.metric().map_or(0, Decimal::micros);
            let far_enough = side.pick(moved, -moved) >= percent.micros();
            asked == side && far_enough && reached(side, price.decimal(), level.decimal())
        }
        (Condition::NewExtreme { side: asked }, Reason::NewExtreme { side, price, previous }) => {
            asked == side && side.pick(price > previous, price < previous)
        }
        (Condition::MaCrossover { side: asked }, Reason::AveragesCrossed { side, sma_50, sma_200 }) => {
            asked == side && reached(side, sma_50, sma_200)
        }
        (
            Condition::MaTouch {
                side: asked,
                period: of,
            },
            Reason::AverageTouched {
                side,
                price,
                period,
                average,
            },
        ) => {
            // The average that is shown is rounded.
            let rounding = side.pick(1, -1);
            let price = Decimal::from_micros(price.micros() + rounding);
            (asked, of) == (side, period) && reached(side, price, average)
        }
        (Condition::Rsi { threshold: asked, .. }, Reason::RsiReached { side, rsi, threshold }) => {
            asked == threshold && reached(side, rsi, threshold)
        }
        (
            Condition::VolumeChange {
                baseline: of,
                percent: asked,
            },
            Reason::VolumeAboveAverage { baseline, percent, .. },
        ) => of == baseline && percent >= asked,
        (
            Condition::PeRatio {
                side: asked,
                earnings: of,
                threshold: level,
            },
            Reason::PeReached {
                side,
                earnings,
                ratio,
                threshold,
            },
        ) => (asked, of, level) == (side, earnings, threshold) && reached(side, ratio, threshold),
        (Condition::SocialBuzz(asked), Reason::Buzz { direction, .. }) => asked == direction,
        (
            Condition::InsiderTransactions(watch),
            Reason::InsidersTraded {
                value_usd, insiders, ..
            },
        ) => value_usd >= watch.threshold_usd && insiders >= u32::from(watch.min_executives),
        (Condition::Reminder { .. }, Reason::Reminder)
        | (Condition::DividendPayment { .. }, Reason::DividendPaid { .. }) => true,
        (Condition::DailyReminder(asked), Reason::DailyReminder(delivery)) => asked == delivery,
        (Condition::EarningsAnnouncement { days_ahead }, Reason::EarningsNear { days, .. })
        | (Condition::DividendExDate { days_ahead }, Reason::ExDividendNear { days, .. }) => days <= days_ahead,
        _ => false,
    }
}
