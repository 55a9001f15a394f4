//! The conditions of the API as expressions, and back.

use market::{Decimal, Price};

use super::ast::{
    ArithmeticOperator, BooleanExpression, Comparison, Constant, CrossingDirection, MetricReference, NumericExpression,
    Relation,
};
use super::metric::{Metric, MetricPeriod};
use super::model::Expression;
use crate::condition::{Condition, EpsBasis, InsiderCriteria, InsiderDirection, RsiDirection, Side, VolumeBaseline};
use crate::options::PercentBase;

const ONE_MICROS: i64 = 1_000_000;
const HUNDRED_MICROS: i64 = 100 * ONE_MICROS;

/// Returns a condition as an expression; `None` if it is no comparison.
#[must_use]
pub fn from_condition(condition: &Condition) -> Option<Expression> {
    from_condition_with_base(condition, PercentBase::Creation)
}

/// Returns a condition as an expression in which a price change is measured from `base`; `None` if it is no comparison.
#[must_use]
pub fn from_condition_with_base(condition: &Condition, base: PercentBase) -> Option<Expression> {
    let comparison = match *condition {
        Condition::Price { side, threshold } => level(Metric::Price, inclusive(side), threshold.decimal())?,
        Condition::PriceChange { side, percent } => {
            let percent = NumericExpression::Constant(Constant::new(percent)?);
            let percent = match side {
                Side::Above => percent,
                Side::Below => NumericExpression::Negated(Box::new(percent)),
            };
            Comparison::Relation(own(Metric::ChangePct(base.in_expressions())), inclusive(side), percent)
        }
        Condition::NewExtreme { side } => {
            let extreme = own(side.pick(Metric::High52Weeks, Metric::Low52Weeks));
            Comparison::Relation(own(Metric::Price), side.pick(Relation::Above, Relation::Below), extreme)
        }
        Condition::MaTouch { side, period } => {
            let direction = side.pick(CrossingDirection::Above, CrossingDirection::Below);
            let average = own(Metric::Sma(MetricPeriod::new(period)?));
            Comparison::Crosses(own(Metric::Price), direction, average)
        }
        Condition::Rsi { direction, threshold } => {
            let relation = match direction {
                RsiDirection::Above => Relation::AtLeast,
                RsiDirection::Below => Relation::AtMost,
                // The side depends on the RSI at activation.
                RsiDirection::Both => return None,
            };
            level(Metric::Rsi(MetricPeriod::new(14)?), relation, threshold)?
        }
        Condition::VolumeChange { baseline, percent } => volume_change(baseline, percent)?,
        Condition::PeRatio {
            side,
            earnings,
            threshold,
        } => {
            let ratio = match earnings {
                EpsBasis::Trailing => Metric::Pe,
                EpsBasis::Forward => Metric::ForwardPe,
            };
            level(ratio, inclusive(side), threshold)?
        }
        Condition::InsiderTransactions(criteria) => insider_trades(criteria)?,
        Condition::EarningsAnnouncement { days_ahead } => days(Metric::DaysToEarnings, days_ahead)?,
        Condition::DividendExDate { days_ahead } => days(Metric::DaysToExDividend, days_ahead)?,
        Condition::DividendPayment { .. } => days(Metric::DaysToPayment, 0)?,
        Condition::Expression(ref condition) => return Some(condition.expression.clone()),
        // The cross of the averages compares with the last completed session, the others with their own thresholds and clocks.
        Condition::MaCrossover { .. }
        | Condition::SocialBuzz(_)
        | Condition::Reminder { .. }
        | Condition::DailyReminder(_) => return None,
    };
    Expression::new(BooleanExpression::Comparison(comparison)).ok()
}

/// Returns the condition that means exactly the same as an expression about the alert's own symbol; `None` if there is none.
///
/// A new 52-week extreme does not mean the same as its comparison, which also holds without a new observation. Nor does
/// `rsi_limit`, which rounds the RSI.
#[must_use]
pub fn to_condition(expression: &Expression) -> Option<Condition> {
    let BooleanExpression::Comparison(comparison) = expression.condition() else {
        return None;
    };
    let comparison = match comparison.clone() {
        Comparison::Relation(left, relation, right) if left.is_constant() => {
            Comparison::Relation(right, relation.mirrored(), left)
        }
        other => other,
    };
    let condition = candidate(&comparison)?;
    let threshold = condition.kind().spec().request.threshold;
    let is_in_range = match (threshold, condition.threshold()) {
        (Some(threshold), Some(number)) => threshold.range.contains(number),
        _ => true,
    };
    let same = from_condition(&condition)?;
    (is_in_range && *same.condition() == BooleanExpression::Comparison(comparison)).then_some(condition)
}

/// Returns the only condition that can mean the same as a comparison.
fn candidate(comparison: &Comparison) -> Option<Condition> {
    let (left, relation, right) = match comparison {
        Comparison::Relation(left, relation, right) => (left, relation, right),
        Comparison::Crosses(_, direction, NumericExpression::Metric(average)) => {
            let Metric::Sma(period) = average.metric else {
                return None;
            };
            let side = match direction {
                CrossingDirection::Above => Side::Above,
                CrossingDirection::Below => Side::Below,
                CrossingDirection::Either => return None,
            };
            return Some(Condition::MaTouch {
                side,
                period: period.get(),
            });
        }
        _ => return None,
    };
    let side = if relation.is_upward() { Side::Above } else { Side::Below };
    let number = match right {
        NumericExpression::Constant(constant) => constant.get(),
        NumericExpression::Negated(inner) => match **inner {
            NumericExpression::Constant(constant) => constant.get(),
            _ => return None,
        },
        _ => return None,
    };
    let insiders = |direction, period: MetricPeriod| {
        Condition::InsiderTransactions(InsiderCriteria {
            threshold_usd: number,
            direction,
            min_executives: 1,
            window_days: period.get(),
            open_market_only: true,
        })
    };
    let days_ahead = || u16::try_from(number.as_whole()?).ok();
    let metric = match left {
        NumericExpression::Metric(reference) => reference.metric,
        NumericExpression::Arithmetic(first, ..) => match &**first {
            NumericExpression::Metric(reference) => {
                let Metric::InsiderBuys(period) = reference.metric else {
                    return None;
                };
                return within_a_year(period).then(|| insiders(InsiderDirection::Both, period));
            }
            NumericExpression::Constant(_) => {
                let percent = Decimal::from_micros(number.micros().checked_sub(HUNDRED_MICROS)?);
                return Some(Condition::VolumeChange {
                    baseline: baseline_of(left)?,
                    percent,
                });
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(match metric {
        Metric::Price => Condition::Price {
            side,
            threshold: Price::try_from(number).ok()?,
        },
        Metric::ChangePct(_) => Condition::PriceChange { side, percent: number },
        Metric::Pe => Condition::PeRatio {
            side,
            earnings: EpsBasis::Trailing,
            threshold: number,
        },
        Metric::ForwardPe => Condition::PeRatio {
            side,
            earnings: EpsBasis::Forward,
            threshold: number,
        },
        Metric::RelativeVolume(_) => {
            let percent = number.micros().checked_sub(ONE_MICROS)?.checked_mul(100)?;
            Condition::VolumeChange {
                baseline: baseline_of(left)?,
                percent: Decimal::from_micros(percent),
            }
        }
        Metric::InsiderBuys(period) if within_a_year(period) => insiders(InsiderDirection::Buy, period),
        Metric::InsiderSells(period) if within_a_year(period) => insiders(InsiderDirection::Sell, period),
        Metric::DaysToEarnings => Condition::EarningsAnnouncement {
            days_ahead: days_ahead()?,
        },
        Metric::DaysToExDividend => Condition::DividendExDate {
            days_ahead: days_ahead()?,
        },
        Metric::DaysToPayment => Condition::DividendPayment { shares: None },
        _ => return None,
    })
}

/// Returns whether the API allows a window of this many days.
const fn within_a_year(period: MetricPeriod) -> bool {
    period.get() <= 365
}

/// Returns the average of the only relative volume in a number.
fn baseline_of(number: &NumericExpression) -> Option<VolumeBaseline> {
    let mut baseline = None;
    number.for_each_metric(&mut |reference| {
        if let Metric::RelativeVolume(period) = reference.metric {
            let all = [VolumeBaseline::Ma20, VolumeBaseline::Ma50, VolumeBaseline::Ma100];
            baseline = all.into_iter().find(|baseline| baseline.sessions() == period.get());
        }
    });
    baseline
}

const fn inclusive(side: Side) -> Relation {
    side.pick(Relation::AtLeast, Relation::AtMost)
}

const fn own(metric: Metric) -> NumericExpression {
    NumericExpression::Metric(MetricReference { symbol: None, metric })
}

fn level(metric: Metric, relation: Relation, number: Decimal) -> Option<Comparison> {
    Some(Comparison::Relation(
        own(metric),
        relation,
        NumericExpression::Constant(Constant::new(number)?),
    ))
}

fn days(metric: Metric, days_ahead: u16) -> Option<Comparison> {
    level(metric, Relation::AtMost, Decimal::from_units(days_ahead.into())?)
}

/// Returns `rvol(n) >= 1 + percent ÷ 100`, or the hundredfold if this has more than six decimals.
fn volume_change(baseline: VolumeBaseline, percent: Decimal) -> Option<Comparison> {
    let ratio = Metric::RelativeVolume(MetricPeriod::new(baseline.sessions())?);
    if percent.micros() % 100 == 0 {
        let number = ONE_MICROS.checked_add(percent.micros() / 100)?;
        return level(ratio, Relation::AtLeast, Decimal::from_micros(number));
    }
    let hundred = NumericExpression::Constant(Constant::new(Decimal::from_micros(HUNDRED_MICROS))?);
    let number = Constant::new(Decimal::from_micros(percent.micros().checked_add(HUNDRED_MICROS)?))?;
    let scaled = NumericExpression::Arithmetic(Box::new(hundred), ArithmeticOperator::Multiply, Box::new(own(ratio)));
    Some(Comparison::Relation(
        scaled,
        Relation::AtLeast,
        NumericExpression::Constant(number),
    ))
}

fn insider_trades(criteria: InsiderCriteria) -> Option<Comparison> {
    if criteria.min_executives != 1 || !criteria.open_market_only {
        return None;
    }
    let period = MetricPeriod::new(criteria.window_days)?;
    let (buys, sells) = (own(Metric::InsiderBuys(period)), own(Metric::InsiderSells(period)));
    let total = match criteria.direction {
        InsiderDirection::Buy => buys,
        InsiderDirection::Sell => sells,
        InsiderDirection::Both => {
            NumericExpression::Arithmetic(Box::new(buys), ArithmeticOperator::Add, Box::new(sells))
        }
    };
    let threshold = Constant::new(criteria.threshold_usd)?;
    Some(Comparison::Relation(
        total,
        Relation::AtLeast,
        NumericExpression::Constant(threshold),
    ))
}
