//! Checks whether a condition already holds.
//!
//! An alert whose condition holds at its creation fires at once and tells its owner nothing. Every proposal is
//! checked here first. The check evaluates the current price as the engine would evaluate an observation, in
//! integers; the tests compare it with the engine.

use alerts::Condition;
use alerts::condition::{RsiDirection, Side, VolumeBaseline};
use market::History;
use market::day::day_number;

use crate::AnalysisSubject;
use crate::upcoming::UpcomingEvents;

/// The state of a condition at the current price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConditionState {
    /// The condition does not hold and can become true.
    Pending,
    /// The condition holds, or the crossing has already happened.
    Fulfilled,
    /// The condition cannot be evaluated: too little history, no known date, or a kind that this crate does not
    /// support.
    Unknown,
}

impl ConditionState {
    /// Evaluates `condition` at the subject's current price.
    #[must_use]
    pub fn of(condition: &Condition, subject: &AnalysisSubject<'_>) -> Self {
        let (price, history) = (subject.price.micros(), subject.history);
        let reached = match *condition {
            Condition::Price { side, threshold } => {
                let threshold = threshold.micros();
                Some(side.pick(price >= threshold, price <= threshold))
            }
            // The percentage counts from the price at creation, which is the current one.
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
            Condition::EarningsAnnouncement { days_ahead } => UpcomingEvents::of(subject)
                .earnings
                .map(|ahead| ahead.days <= days_ahead),
            Condition::DividendExDate { days_ahead } => UpcomingEvents::of(subject)
                .ex_dividend
                .map(|ahead| ahead.days <= days_ahead),
            Condition::Reminder { at } => Some(at <= subject.context.now),
            Condition::DailyReminder(_)
            | Condition::PeRatio { .. }
            | Condition::SocialBuzz(_)
            | Condition::InsiderTransactions(_)
            | Condition::DividendPayment { .. }
            | Condition::Expression(_) => None,
        };
        match reached {
            Some(true) => Self::Fulfilled,
            Some(false) => Self::Pending,
            None => Self::Unknown,
        }
    }
}

/// Whether the 50-session average is on `side` of the 200-session average, now or at the last completed session. A
/// crossing that has happened can repeat only after one in the other direction.
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
