//! The bounds of numbers in expressions, by the definitions of their metrics.

use market::price::{MAX_PRICE_MICROS, MAX_VOLUME};

use crate::expression::ast::{ArithmeticOperator, NumericExpression, Relation};
use crate::expression::fraction::Fraction;
use crate::expression::metric::{Exactness, Metric};

/// The part of a number by which an approximate metric must miss a level that may also be reached exactly.
const TIE: (i128, i128) = (1, 100_000_000);

/// The minimum and the maximum of a number, both included; `None` is unbounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    min: Option<Fraction>,
    max: Option<Fraction>,
    /// Whether a metric is approximate, so that two sides that nearly are equal count as equal.
    is_approximate: bool,
}

impl Bounds {
    const UNBOUNDED: Self = Self {
        min: None,
        max: None,
        is_approximate: false,
    };

    /// Returns the bounds of a number.
    pub(super) fn of(number: &NumericExpression) -> Self {
        match number {
            NumericExpression::Constant(constant) => {
                let value = Fraction::from(constant.get());
                Self {
                    min: Some(value.clone()),
                    max: Some(value),
                    is_approximate: false,
                }
            }
            NumericExpression::Metric(metric) => Self::of_metric(metric.metric),
            NumericExpression::Negated(inner) => Self::of(inner).negated(),
            NumericExpression::Arithmetic(left, operator, right) => {
                let (left, right) = (Self::of(left), Self::of(right));
                let is_approximate = left.is_approximate || right.is_approximate;
                let bounds = match operator {
                    ArithmeticOperator::Add => left.plus(&right),
                    ArithmeticOperator::Subtract => left.plus(&right.negated()),
                    ArithmeticOperator::Multiply => left.times(&right),
                    ArithmeticOperator::Divide => {
                        match right.constant().and_then(|by| Fraction::from_whole(1).divide(by)) {
                            Some(factor) => left.times(&Self::exactly(factor)),
                            None => Self::UNBOUNDED,
                        }
                    }
                };
                Self {
                    is_approximate,
                    ..bounds
                }
            }
        }
    }

    fn of_metric(metric: Metric) -> Self {
        let micros = |micros| Some(Fraction::from_micros(micros));
        let whole = |number| Some(Fraction::from_whole(number));
        let (min, max) = match metric {
            Metric::Price
            | Metric::Open
            | Metric::SessionHigh
            | Metric::SessionLow
            | Metric::PrevClose
            | Metric::Vwap
            | Metric::Bid
            | Metric::Ask
            | Metric::High(_)
            | Metric::Low(_)
            | Metric::High52Weeks
            | Metric::Low52Weeks
            | Metric::HighSinceArmed
            | Metric::LowSinceArmed
            | Metric::Sma(_) => (micros(1), micros(MAX_PRICE_MICROS)),
            Metric::Ema(_)
            | Metric::StandardDeviation(_)
            | Metric::Atr(_)
            | Metric::BollingerUpper(_)
            | Metric::AverageVolume(_)
            | Metric::RelativeVolume(_)
            | Metric::Mentions
            | Metric::MentionsRatio
            | Metric::InsiderBuys(_)
            | Metric::InsiderSells(_)
            | Metric::DaysToEarnings
            | Metric::DaysToExDividend
            | Metric::DaysToPayment
            | Metric::Pe
            | Metric::ForwardPe => (whole(0), None),
            Metric::Volume => (whole(0), whole(MAX_VOLUME)),
            Metric::Rsi(_) => (whole(0), whole(100)),
            // An ask can be above the highest price.
            Metric::Drawdown(_) => (None, whole(100)),
            Metric::ChangePct(_) | Metric::GapPct => (whole(-100), None),
            Metric::Macd(_)
            | Metric::MacdSignal(_)
            | Metric::BollingerLower(_)
            | Metric::Eps
            | Metric::MarketCap
            | Metric::DividendYield => (None, None),
        };
        Self {
            min,
            max,
            is_approximate: metric.spec().exactness == Exactness::Approximate,
        }
    }

    fn exactly(value: Fraction) -> Self {
        Self {
            min: Some(value.clone()),
            max: Some(value),
            is_approximate: false,
        }
    }

    /// Returns the bounds of a number that a metric is compared with.
    pub(super) fn beside(metric: Metric, number: &NumericExpression) -> Self {
        let bounds = Self::of(number);
        Self {
            is_approximate: bounds.is_approximate || metric.spec().exactness == Exactness::Approximate,
            ..bounds
        }
    }

    /// Returns the only value.
    fn constant(&self) -> Option<&Fraction> {
        self.min.as_ref().filter(|min| self.max.as_ref() == Some(min))
    }

    /// Returns whether the number is always 0.
    pub(super) fn is_zero(&self) -> bool {
        self.constant() == Some(&Fraction::ZERO)
    }

    fn negated(&self) -> Self {
        Self {
            min: self.max.as_ref().map(Fraction::negate),
            max: self.min.as_ref().map(Fraction::negate),
            is_approximate: self.is_approximate,
        }
    }

    fn plus(&self, other: &Self) -> Self {
        let sum = |one: &Option<Fraction>, other: &Option<Fraction>| Some(one.as_ref()?.add(other.as_ref()?));
        Self {
            min: sum(&self.min, &other.min),
            max: sum(&self.max, &other.max),
            is_approximate: false,
        }
    }

    /// Returns the bounds of a product; unbounded unless one factor is constant.
    fn times(&self, other: &Self) -> Self {
        let (factor, varying) = match (self.constant(), other.constant()) {
            (Some(factor), _) => (factor, other),
            (None, Some(factor)) => (factor, self),
            (None, None) => return Self::UNBOUNDED,
        };
        let scaled = |end: &Option<Fraction>| end.as_ref().map(|end| end.multiply(factor));
        let (one, other) = (scaled(&varying.min), scaled(&varying.max));
        let (min, max) = match factor.cmp(&Fraction::ZERO) {
            std::cmp::Ordering::Less => (other, one),
            std::cmp::Ordering::Equal => return Self::exactly(Fraction::ZERO),
            std::cmp::Ordering::Greater => (one, other),
        };
        Self {
            min,
            max,
            is_approximate: false,
        }
    }

    /// Returns whether a relation to a number within other bounds is possible.
    pub(super) fn can_be(&self, relation: Relation, other: &Self) -> bool {
        let (lower, upper, is_strict) = match relation {
            Relation::Below => (self, other, true),
            Relation::AtMost => (self, other, false),
            Relation::Above => (other, self, true),
            Relation::AtLeast => (other, self, false),
        };
        let (Some(least), Some(most)) = (&lower.min, &upper.max) else {
            return true;
        };
        if is_strict {
            return least < most;
        }
        let is_approximate = lower.is_approximate || upper.is_approximate;
        least <= most || (is_approximate && is_nearly(least, most))
    }

    /// Returns whether a number can be beyond this bound, as a lower one, and beyond an upper one, by their relations.
    pub(super) fn leaves_room_below(&self, upper: &Self, lower_relation: Relation, upper_relation: Relation) -> bool {
        let is_strict = lower_relation == Relation::Above || upper_relation == Relation::Below;
        self.can_be(if is_strict { Relation::Below } else { Relation::AtMost }, upper)
    }
}

/// Returns whether a difference is so small that approximate numbers may count as equal.
fn is_nearly(one: &Fraction, other: &Fraction) -> bool {
    let (one_abs, other_abs) = (absolute(one), absolute(other));
    let tie = Fraction::new(TIE.0, TIE.1).unwrap_or(Fraction::ZERO);
    absolute(&one.subtract(other)) <= one_abs.max(other_abs).multiply(&tie)
}

fn absolute(number: &Fraction) -> Fraction {
    number.clone().max(number.negate())
}

/// An end of bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BoundsEnd {
    Min,
    Max,
}

impl Bounds {
    /// Returns the bounds as text; with large ones only the `end` that matters.
    pub(super) fn text(&self, end: Option<BoundsEnd>) -> String {
        if let Some(value) = self.constant() {
            return value.as_f64().to_string();
        }
        let is_small = |end: &Option<Fraction>| {
            end.as_ref()
                .is_some_and(|end| absolute(end) < Fraction::from_whole(1_000_000))
        };
        let is_small = is_small(&self.min) && is_small(&self.max);
        match (&self.min, &self.max, end.filter(|_| !is_small)) {
            (Some(min), Some(max), None) => format!("from {} to {}", min.as_f64(), max.as_f64()),
            (Some(min), _, Some(BoundsEnd::Min)) | (Some(min), None, _) => format!("at least {}", min.as_f64()),
            (_, Some(max), _) => format!("at most {}", max.as_f64()),
            (None, None, _) => "any number".to_owned(),
        }
    }
}
