//! The direction in which the price of one stock moves the truth of an expression.
//!
//! Within a session, with everything else fixed, most metrics rise or fall with the price. A [`SlopeRange`] bounds by how much, so
//! that the difference of two rising metrics, such as `price > sma(200)`, is found to rise too.

use market::Symbol;

use super::level::constant;
use crate::expression::ast::{ArithmeticOperator, BooleanExpression, Comparison, NumericExpression, Relation};
use crate::expression::fraction::Fraction;
use crate::expression::metric::{MacdPeriods, Metric, MetricPeriod};
use crate::expression::model::Expression;

/// The effect of a rising price of one stock on the truth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriceEffect {
    /// None.
    Constant,
    /// It is true from some price upwards.
    TrueAbove,
    /// It is true up to some price.
    TrueBelow,
    /// It is not known to be monotone.
    Unknown,
}

/// Bounds of the change of a number per dollar of the price; `None` is unbounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlopeRange {
    /// The minimum.
    pub min: Option<Fraction>,
    /// The maximum.
    pub max: Option<Fraction>,
}

/// Returns the effect of the price of a stock (`None`: the alert's own) during a session, with the volume, quotes of other
/// stocks and facts fixed.
#[must_use]
pub fn price_effect(expression: &Expression, symbol: Option<Symbol>) -> PriceEffect {
    effect(expression.condition(), symbol)
}

fn effect(condition: &BooleanExpression, symbol: Option<Symbol>) -> PriceEffect {
    match condition {
        BooleanExpression::Comparison(comparison) => match comparison {
            Comparison::Relation(left, relation, right) => relation_effect(left, *relation, right, symbol),
            Comparison::Between { value, low, high } => {
                let above = relation_effect(value, Relation::AtLeast, low, symbol);
                above.with(relation_effect(value, Relation::AtMost, high, symbol))
            }
            Comparison::Crosses(..) => PriceEffect::Unknown,
        },
        BooleanExpression::Not(inner) => match effect(inner, symbol) {
            PriceEffect::TrueAbove => PriceEffect::TrueBelow,
            PriceEffect::TrueBelow => PriceEffect::TrueAbove,
            other => other,
        },
        BooleanExpression::And(left, right) | BooleanExpression::Or(left, right) => {
            effect(left, symbol).with(effect(right, symbol))
        }
    }
}

fn relation_effect(
    left: &NumericExpression,
    relation: Relation,
    right: &NumericExpression,
    symbol: Option<Symbol>,
) -> PriceEffect {
    let difference = price_slope(left, symbol).subtract(&price_slope(right, symbol));
    match (difference.is_at_least_zero(), difference.is_at_most_zero()) {
        (true, true) => PriceEffect::Constant,
        (false, false) => PriceEffect::Unknown,
        (is_rising, _) if is_rising == relation.is_upward() => PriceEffect::TrueAbove,
        _ => PriceEffect::TrueBelow,
    }
}

/// Returns the bounds of the change of a number per dollar of the price of a stock.
#[must_use]
pub fn price_slope(number: &NumericExpression, symbol: Option<Symbol>) -> SlopeRange {
    slope(number, symbol, metric_slope)
}

/// Returns the bounds of the change of a number per dollar of the price of a stock, while the price stays between the lowest and
/// the highest one so far, of the session and since the alert was armed.
#[must_use]
pub fn price_slope_within_range(number: &NumericExpression, symbol: Option<Symbol>) -> SlopeRange {
    slope(number, symbol, |metric| match metric {
        Metric::SessionHigh | Metric::SessionLow | Metric::HighSinceArmed | Metric::LowSinceArmed | Metric::Atr(_) => {
            SlopeRange::ZERO
        }
        other => metric_slope(other),
    })
}

/// Returns the bounds of the change of a number per share of the volume of a stock's session.
#[must_use]
pub fn volume_slope(number: &NumericExpression, symbol: Option<Symbol>) -> SlopeRange {
    slope(number, symbol, |metric| match metric {
        Metric::Volume => SlopeRange::new(Some(Fraction::from_whole(1)), Some(Fraction::from_whole(1))),
        Metric::RelativeVolume(_) => SlopeRange::new(Some(Fraction::ZERO), None),
        Metric::Vwap => SlopeRange::UNKNOWN,
        _ => SlopeRange::ZERO,
    })
}

/// Returns the bounds of the change of a number, from those of each metric of a stock.
fn slope(number: &NumericExpression, symbol: Option<Symbol>, of_metric: fn(Metric) -> SlopeRange) -> SlopeRange {
    match number {
        NumericExpression::Constant(_) => SlopeRange::ZERO,
        NumericExpression::Metric(metric) if metric.symbol == symbol => of_metric(metric.metric),
        NumericExpression::Metric(_) => SlopeRange::ZERO,
        NumericExpression::Negated(inner) => slope(inner, symbol, of_metric).times(&Fraction::from_whole(-1)),
        NumericExpression::Arithmetic(left, operator, right) => {
            let (first, second) = (slope(left, symbol, of_metric), slope(right, symbol, of_metric));
            if first == SlopeRange::ZERO && second == SlopeRange::ZERO {
                return SlopeRange::ZERO;
            }
            match operator {
                ArithmeticOperator::Add => first.add(&second),
                ArithmeticOperator::Subtract => first.subtract(&second),
                ArithmeticOperator::Multiply => match (constant(left), constant(right)) {
                    (Some(factor), _) => second.times(&factor),
                    (_, Some(factor)) => first.times(&factor),
                    _ => SlopeRange::UNKNOWN,
                },
                ArithmeticOperator::Divide => {
                    let factor = constant(right).and_then(|divisor| Fraction::from_whole(1).divide(&divisor));
                    factor.map_or(SlopeRange::UNKNOWN, |factor| first.times(&factor))
                }
            }
        }
    }
}

fn metric_slope(metric: Metric) -> SlopeRange {
    let exactly = |fraction: Fraction| SlopeRange::new(Some(fraction.clone()), Some(fraction));
    let zero = || Some(Fraction::ZERO);
    match metric {
        Metric::Price => exactly(Fraction::from_whole(1)),
        Metric::SessionHigh | Metric::SessionLow | Metric::HighSinceArmed | Metric::LowSinceArmed => {
            SlopeRange::new(zero(), Some(Fraction::from_whole(1)))
        }
        Metric::Sma(n) => exactly(ratio(1, n.get())),
        Metric::Ema(n) => newest_weight(n),
        Metric::Macd(periods) => macd_slope(periods),
        Metric::MacdSignal(periods) => {
            let (macd, weight) = (macd_slope(periods), newest_weight(periods.signal));
            if !macd.is_at_least_zero() {
                return SlopeRange::UNKNOWN;
            }
            let product = |left: Option<Fraction>, right: Option<Fraction>| Some(left?.multiply(&right?));
            SlopeRange::new(product(macd.min, weight.min), product(macd.max, weight.max))
        }
        Metric::StandardDeviation(n) => SlopeRange::symmetric(deviation_slope(n)),
        Metric::BollingerUpper(band) | Metric::BollingerLower(band) => {
            let deviation = deviation_slope(band.period).multiply(&band.width.get().into());
            exactly(ratio(1, band.period.get())).add(&SlopeRange::symmetric(deviation))
        }
        // A dollar changes today's range by at most a dollar.
        Metric::Atr(n) => SlopeRange::symmetric(ratio(1, n.get())),
        Metric::Rsi(_) | Metric::ChangePct(_) | Metric::Pe | Metric::ForwardPe => SlopeRange::new(zero(), None),
        Metric::Drawdown(_) => SlopeRange::new(None, zero()),
        Metric::Vwap => SlopeRange::UNKNOWN,
        Metric::Open
        | Metric::PrevClose
        | Metric::Volume
        | Metric::Bid
        | Metric::Ask
        | Metric::GapPct
        | Metric::High(_)
        | Metric::Low(_)
        | Metric::High52Weeks
        | Metric::Low52Weeks
        | Metric::AverageVolume(_)
        | Metric::RelativeVolume(_)
        | Metric::Eps
        | Metric::MarketCap
        | Metric::DividendYield
        | Metric::Mentions
        | Metric::MentionsRatio
        | Metric::InsiderBuys(_)
        | Metric::InsiderSells(_)
        | Metric::DaysToEarnings
        | Metric::DaysToExDividend
        | Metric::DaysToPayment => SlopeRange::ZERO,
    }
}

fn ratio(numerator: u32, denominator: u16) -> Fraction {
    // A period is at least 1.
    Fraction::new(numerator.into(), denominator.into()).unwrap_or(Fraction::ZERO)
}

/// Returns the weight of the newest close in an exponential average: 2 ÷ (n + 1), and 1 ÷ n where the average begins.
fn newest_weight(period: MetricPeriod) -> SlopeRange {
    SlopeRange::new(Some(ratio(1, period.get())), Some(ratio(2, period.get() + 1)))
}

fn macd_slope(periods: MacdPeriods) -> SlopeRange {
    newest_weight(periods.fast).add(&newest_weight(periods.slow).times(&Fraction::from_whole(-1)))
}

/// Returns a bound of the change of the standard deviation per dollar of one of `n` closes: √(n − 1) ÷ n, rounded up.
fn deviation_slope(period: MetricPeriod) -> Fraction {
    const SCALE: u32 = 1_000;
    let n = u32::from(period.get());
    let root = ((n - 1) * SCALE * SCALE).isqrt() + 1;
    ratio(root, period.get())
        .divide(&Fraction::from_whole(SCALE.into()))
        .unwrap_or(Fraction::ZERO)
}

impl PriceEffect {
    /// Returns the effect on two conditions combined with `and` or `or`.
    const fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, effect) | (effect, Self::Constant) => effect,
            (Self::TrueAbove, Self::TrueAbove) => Self::TrueAbove,
            (Self::TrueBelow, Self::TrueBelow) => Self::TrueBelow,
            _ => Self::Unknown,
        }
    }
}

impl SlopeRange {
    const ZERO: Self = Self {
        min: Some(Fraction::ZERO),
        max: Some(Fraction::ZERO),
    };
    const UNKNOWN: Self = Self { min: None, max: None };

    const fn new(min: Option<Fraction>, max: Option<Fraction>) -> Self {
        Self { min, max }
    }

    fn symmetric(bound: Fraction) -> Self {
        Self::new(Some(bound.negate()), Some(bound))
    }

    fn add(&self, other: &Self) -> Self {
        let sum = |left: &Option<Fraction>, right: &Option<Fraction>| Some(left.as_ref()?.add(right.as_ref()?));
        Self::new(sum(&self.min, &other.min), sum(&self.max, &other.max))
    }

    /// Returns the bounds of the difference of two numbers with these bounds.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Self {
        self.add(&other.times(&Fraction::from_whole(-1)))
    }

    /// Returns whether the number never falls, or never rises.
    #[must_use]
    pub fn is_monotone(&self) -> bool {
        self.is_at_least_zero() || self.is_at_most_zero()
    }

    fn times(&self, factor: &Fraction) -> Self {
        if factor.is_zero() {
            return Self::ZERO;
        }
        let scaled = |bound: &Option<Fraction>| bound.as_ref().map(|bound| bound.multiply(factor));
        let (min, max) = (scaled(&self.min), scaled(&self.max));
        if *factor > Fraction::ZERO {
            Self::new(min, max)
        } else {
            Self::new(max, min)
        }
    }

    fn is_at_least_zero(&self) -> bool {
        self.min.as_ref().is_some_and(|min| *min >= Fraction::ZERO)
    }

    fn is_at_most_zero(&self) -> bool {
        self.max.as_ref().is_some_and(|max| *max <= Fraction::ZERO)
    }
}
