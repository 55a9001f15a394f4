//! What a stock's history says, before anybody wants anything of it.

use market::Price;

use crate::events::Events;
use crate::levels::Levels;
use crate::trend::Trend;
use crate::volatility::Volatility;
use crate::{Subject, chance};

/// The figures of a stock.
///
/// They are taken as an alert's are: the current price stands in for today's close. After the close that is the same
/// as the last session's figures, but for the averages, in which the last close then counts twice.
#[derive(Clone, PartialEq, Debug)]
pub struct Analysis {
    /// How many completed sessions it is made of.
    pub sessions: usize,
    /// How far the stock moves.
    pub volatility: Volatility,
    /// Where it is going.
    pub trend: Trend,
    /// Wilder's RSI(14), 0–100; `None` without enough sessions, or while the stock has not moved.
    pub rsi: Option<f64>,
    /// Where it has turned.
    pub levels: Levels,
    /// The highest price of the 52 weeks before today.
    pub high_52_weeks: Option<Price>,
    /// The lowest price of the 52 weeks before today.
    pub low_52_weeks: Option<Price>,
    /// What is known to come.
    pub events: Events,
}

impl Analysis {
    /// Of a subject; the intention makes no difference.
    #[must_use]
    pub fn of(subject: &Subject<'_>) -> Self {
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
            events: Events::of(subject),
        }
    }

    /// How likely a random walk is to come so far (a logarithm) within [`chance::HORIZON_SESSIONS`].
    #[must_use]
    pub fn chance_of(&self, distance: f64) -> f64 {
        chance::of_touch(distance, self.volatility.sigma_day, chance::HORIZON_SESSIONS)
    }
}
