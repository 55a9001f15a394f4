//! The figures of a stock, computed from its own history.

use market::Price;

use crate::levels::Levels;
use crate::trend::Trend;
use crate::upcoming::UpcomingEvents;
use crate::volatility::Volatility;
use crate::{AnalysisSubject, probability};

/// The figures of a stock; the intention makes no difference to them.
///
/// As for alerts, the current price stands in for today's close. After the close the figures equal those of the last
/// session, except for the averages, which then count the last close twice.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// The number of completed sessions used.
    pub sessions: usize,
    /// The size of its moves.
    pub volatility: Volatility,
    /// The direction of its moves.
    pub trend: Trend,
    /// Wilder's RSI(14), 0–100; `None` without enough sessions, or while the stock has not moved.
    pub rsi: Option<f64>,
    /// Support and resistance around the price.
    pub levels: Levels,
    /// The highest price of the 52 weeks before today.
    pub high_52_weeks: Option<Price>,
    /// The lowest price of the 52 weeks before today.
    pub low_52_weeks: Option<Price>,
    /// The next earnings and ex-dividend dates.
    pub events: UpcomingEvents,
}

impl Analysis {
    /// Computes the figures of a subject.
    #[must_use]
    pub fn of(subject: &AnalysisSubject<'_>) -> Self {
        let (history, price) = (subject.history, subject.price);
        let volatility = Volatility::of(history);
        let extremes = history.extremes_52_weeks(market::day::day_number(subject.today()));
        Self {
            sessions: history.len(),
            volatility,
            trend: Trend::of(history, price),
            rsi: history.rsi().value_at(price.micros()),
            levels: Levels::of(history, price, &volatility),
            high_52_weeks: extremes.and_then(|(high, _)| Price::from_micros(high).ok()),
            low_52_weeks: extremes.and_then(|(_, low)| Price::from_micros(low).ok()),
            events: UpcomingEvents::of(subject),
        }
    }

    /// The probability that a random walk covers `distance` (a natural logarithm) within
    /// [`probability::HORIZON_SESSIONS`].
    #[must_use]
    pub fn touch_probability(&self, distance: f64) -> f64 {
        probability::touch_probability(distance, self.volatility.sigma_day, probability::HORIZON_SESSIONS)
    }
}
