//! Whether a condition holds already.
//!
//! An alert whose condition holds when it is created fires at once, which tells its owner nothing. So whatever the
//! analyst proposes is first asked here. It is judged as the engine would judge an observation of the current price,
//! in integers; the tests compare it with the engine.

use alerts::Condition;
use alerts::condition::{RsiDirection, Side, VolumeBaseline};
use market::History;
use market::day::day_number;

use crate::Subject;
use crate::events::Events;

/// How a condition stands at present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It does not hold, and can come to.
    Waiting,
    /// It holds, or the crossing it waits for has happened.
    Fulfilled,
    /// It cannot be judged: too little history, no date known, or nothing that this room looks at.
    Blind,
}

impl Standing {
    /// Of `condition` at the subject's current price.
    #[must_use]
    pub fn of(condition: &Condition, subject: &Subject<'_>) -> Self {
        let (price, history) = (subject.price.micros(), subject.history);
        let reached = match *condition {
            Condition::Price { side, threshold } => {
                let threshold = threshold.micros();
                Some(side.pick(price >= threshold, price <= threshold))
            }
            // The percentage counts from the price at which the alert is created: the current one.
            Condition::PriceChange { .. } => Some(false),
            Condition::NewExtreme { side } => {
                let extremes = history.extremes_52_weeks(day_number(subject.today()));
                extremes.map(|(high, low)| side.pick(price > high, price < low))
            }
            Condition::MaCrossover { side } => has_crossed(side, price, history),
            Condition::MaTouch { side, period } => history.sum_of_closes(usize::from(period) - 1).map(|sum| {
                let scaled = price * (i64::from(period) - 1);
                side.pick(scaled >= sum, scaled <= sum)
            }),
            Condition::Rsi { direction, threshold } => history.rsi().micros_at(price).map(|rsi| match direction {
                RsiDirection::Above => rsi >= threshold.micros(),
                RsiDirection::Below => rsi <= threshold.micros(),
                RsiDirection::Both => rsi == threshold.micros(),
            }),
            Condition::VolumeChange { baseline, percent } => {
                volume_reached(baseline, percent.micros(), subject.session_volume.unwrap_or(0), history)
            }
            Condition::EarningsAnnouncement { days_ahead } => {
                Events::of(subject).earnings.map(|ahead| ahead.days <= days_ahead)
            }
            Condition::DividendExDate { days_ahead } => {
                Events::of(subject).ex_dividend.map(|ahead| ahead.days <= days_ahead)
            }
            Condition::Reminder { at } => Some(at <= subject.context.now),
            Condition::DailyReminder(_)
            | Condition::PeRatio { .. }
            | Condition::SocialBuzz(_)
            | Condition::InsiderTransactions(_)
            | Condition::DividendPayment { .. } => None,
        };
        match reached {
            Some(true) => Self::Fulfilled,
            Some(false) => Self::Waiting,
            None => Self::Blind,
        }
    }
}

/// Whether the average of 50 sessions is on `side` of that of 200, now or at the last completed session: a cross that
/// has happened comes again only after one the other way.
fn has_crossed(side: Side, price: i64, history: &History) -> Option<bool> {
    let (last_50, last_200) = (history.sum_of_closes(50)?, history.sum_of_closes(200)?);
    let (now_50, now_200) = (history.sum_of_closes(49)? + price, history.sum_of_closes(199)? + price);
    let beyond = |fast: i64, slow: i64| side.pick(4 * fast > slow, 4 * fast < slow);
    Some(beyond(last_50, last_200) || beyond(now_50, now_200))
}

/// Whether `volume` is `percent_micros` millionths of a percent above its average.
fn volume_reached(baseline: VolumeBaseline, percent_micros: i64, volume: i64, history: &History) -> Option<bool> {
    const HUNDRED_PERCENT: i128 = 100_000_000;
    let sessions = baseline.sessions();
    let sum = history.sum_of_volumes(usize::from(sessions)).filter(|&sum| sum > 0)?;
    let so_far = i128::from(volume) * i128::from(sessions) * HUNDRED_PERCENT;
    Some(so_far >= i128::from(sum) * (HUNDRED_PERCENT + i128::from(percent_micros)))
}
