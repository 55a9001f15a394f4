//! The parts of an observation that metrics depend on.

use crate::expression::ast::NumericExpression;
use crate::expression::metric::Metric;

/// The parts of an observation that a metric depends on. All are false for a metric that depends on completed sessions or facts
/// alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MetricInputs {
    /// The price.
    pub price: bool,
    /// The volume of the session.
    pub volume: bool,
    /// The lowest and the highest price so far, of the session or since the alert was armed.
    pub range: bool,
    /// Parts that can change with every observation, such as the bid.
    pub every_observation: bool,
}

impl MetricInputs {
    /// Returns the inputs of a metric.
    #[must_use]
    pub const fn of(metric: Metric) -> Self {
        let none = Self {
            price: false,
            volume: false,
            range: false,
            every_observation: false,
        };
        match metric {
            Metric::Price
            | Metric::ChangePct(_)
            | Metric::Sma(_)
            | Metric::Ema(_)
            | Metric::Rsi(_)
            | Metric::Macd(_)
            | Metric::MacdSignal(_)
            | Metric::BollingerUpper(_)
            | Metric::BollingerLower(_)
            | Metric::StandardDeviation(_)
            | Metric::Pe
            | Metric::ForwardPe => Self { price: true, ..none },
            Metric::SessionHigh
            | Metric::SessionLow
            | Metric::High52Weeks
            | Metric::Low52Weeks
            | Metric::HighSinceArmed
            | Metric::LowSinceArmed
            | Metric::Atr(_) => Self { range: true, ..none },
            Metric::Drawdown(_) => Self {
                price: true,
                range: true,
                ..none
            },
            Metric::Volume | Metric::RelativeVolume(_) => Self { volume: true, ..none },
            Metric::Vwap | Metric::Bid | Metric::Ask => Self {
                every_observation: true,
                ..none
            },
            Metric::Open
            | Metric::PrevClose
            | Metric::GapPct
            | Metric::High(_)
            | Metric::Low(_)
            | Metric::AverageVolume(_)
            | Metric::Eps
            | Metric::MarketCap
            | Metric::DividendYield
            | Metric::Mentions
            | Metric::MentionsRatio
            | Metric::InsiderBuys(_)
            | Metric::InsiderSells(_)
            | Metric::DaysToEarnings
            | Metric::DaysToExDividend
            | Metric::DaysToPayment => none,
        }
    }

    /// Returns the inputs of the metrics of a number.
    #[must_use]
    pub fn of_number(number: &NumericExpression) -> Self {
        let mut inputs = Self::default();
        number.for_each_metric(&mut |metric| inputs = inputs.with(Self::of(metric.metric)));
        inputs
    }

    /// Returns the inputs of either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            price: self.price || other.price,
            volume: self.volume || other.volume,
            range: self.range || other.range,
            every_observation: self.every_observation || other.every_observation,
        }
    }

    /// Returns whether an observation changes the metric.
    #[must_use]
    pub const fn any(self) -> bool {
        self.price || self.volume || self.range || self.every_observation
    }
}
