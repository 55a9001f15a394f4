//! An expression in the shares of another day.
//!
//! A price per share and a number of shares change with a split, and so do the constants that they are compared with: after 4:1,
//! `price < 180` is `price < 45`. A constant has no unit, so the unit is that of the metrics beside it. Where a comparison mixes
//! units, as `price > rsi(14)` does, the metrics are converted instead: `price * 4 > rsi(14)`.

use market::{Decimal, Symbol};

use super::ast::{ArithmeticOperator, BooleanExpression, Comparison, Constant, MetricReference, NumericExpression};
use super::metric::MetricUnit;
use super::{Expression, Fraction};

impl Expression {
    /// Returns the expression in new shares. `new_shares` returns the number of new shares for one of a stock's shares that the
    /// expression is written in, where `None` is the alert's own stock; `None` if they are the same. Constants are rounded to six
    /// decimals. `None` if the expression would be too long.
    #[must_use]
    pub fn in_new_shares(&self, new_shares: &dyn Fn(Option<Symbol>) -> Option<Fraction>) -> Option<Self> {
        let conversion = Conversion { new_shares };
        Self::new(conversion.condition(self.condition())).ok()
    }
}

/// By which factor a number in old shares is larger than the same number in new shares.
#[derive(Clone, PartialEq, Debug)]
enum Scale {
    /// A number without metrics, whose unit is that of the number beside it.
    Any,
    Factor(Fraction),
}

struct Conversion<'a> {
    new_shares: &'a dyn Fn(Option<Symbol>) -> Option<Fraction>,
}

impl Conversion<'_> {
    fn condition(&self, condition: &BooleanExpression) -> BooleanExpression {
        let boxed = |part: &BooleanExpression| Box::new(self.condition(part));
        match condition {
            BooleanExpression::Comparison(comparison) => BooleanExpression::Comparison(self.comparison(comparison)),
            BooleanExpression::Not(part) => BooleanExpression::Not(boxed(part)),
            BooleanExpression::And(left, right) => BooleanExpression::And(boxed(left), boxed(right)),
            BooleanExpression::Or(left, right) => BooleanExpression::Or(boxed(left), boxed(right)),
        }
    }

    fn comparison(&self, comparison: &Comparison) -> Comparison {
        let scale = comparison
            .operands()
            .into_iter()
            .try_fold(Scale::Any, |scale, number| common(scale, self.scale(number)?));
        let convert = |number: &NumericExpression| match &scale {
            Some(Scale::Factor(factor)) => self.scaled(number, factor),
            Some(Scale::Any) => Some(number.clone()),
            None => None,
        };
        comparison
            .try_map(&convert)
            .or_else(|| comparison.try_map(&|number| self.with_converted_metrics(number)))
            .unwrap_or_else(|| comparison.clone())
    }

    fn factor_of(&self, metric: MetricReference) -> Option<Fraction> {
        let shares = (self.new_shares)(metric.symbol)?;
        match metric.metric.spec().unit {
            MetricUnit::UsdPerShare => Some(shares),
            MetricUnit::Shares => Fraction::from_whole(1).divide(&shares),
            _ => None,
        }
    }

    /// Returns the scale of a number; `None` if it adds numbers of different scales.
    fn scale(&self, number: &NumericExpression) -> Option<Scale> {
        let one = || Fraction::from_whole(1);
        match number {
            NumericExpression::Constant(_) => Some(Scale::Any),
            NumericExpression::Metric(metric) => Some(Scale::Factor(self.factor_of(*metric).unwrap_or_else(one))),
            NumericExpression::Negated(part) => self.scale(part),
            NumericExpression::Arithmetic(left, operator, right) => {
                let (left, right) = (self.scale(left)?, self.scale(right)?);
                match (operator, left, right) {
                    (ArithmeticOperator::Add | ArithmeticOperator::Subtract, left, right) => common(left, right),
                    (ArithmeticOperator::Multiply, Scale::Factor(left), Scale::Factor(right)) => {
                        Some(Scale::Factor(left.multiply(&right)))
                    }
                    (ArithmeticOperator::Divide, left, Scale::Factor(right)) => {
                        let left = if let Scale::Factor(left) = left { left } else { one() };
                        left.divide(&right).map(Scale::Factor)
                    }
                    (ArithmeticOperator::Multiply, Scale::Any, scale)
                    | (ArithmeticOperator::Multiply | ArithmeticOperator::Divide, scale, Scale::Any) => Some(scale),
                }
            }
        }
    }

    /// Returns a number in new shares, given the factor of its scale; `None` if a constant is too small to be divided by it.
    fn scaled(&self, number: &NumericExpression, factor: &Fraction) -> Option<NumericExpression> {
        let arithmetic =
            |left, operator, right| NumericExpression::Arithmetic(Box::new(left), operator, Box::new(right));
        match number {
            NumericExpression::Metric(_) => Some(number.clone()),
            NumericExpression::Constant(constant) => {
                let number = Fraction::from(constant.get()).divide(factor)?;
                let rounded = rounded(&number).filter(|rounded| (*rounded == Decimal::ZERO) == number.is_zero())?;
                Constant::new(rounded).map(NumericExpression::Constant)
            }
            NumericExpression::Negated(part) => Some(NumericExpression::Negated(Box::new(self.scaled(part, factor)?))),
            NumericExpression::Arithmetic(
                left,
                operator @ (ArithmeticOperator::Add | ArithmeticOperator::Subtract),
                right,
            ) => Some(arithmetic(
                self.scaled(left, factor)?,
                *operator,
                self.scaled(right, factor)?,
            )),
            // A factor without a unit stays, and the other one is converted; without any unit, the left one is.
            NumericExpression::Arithmetic(left, operator, right) => {
                let (left_scale, right_scale) = (self.scale(left)?, self.scale(right)?);
                let convert = |part: &NumericExpression, scale: &Scale| match scale {
                    Scale::Factor(own) => self.scaled(part, own),
                    Scale::Any => Some(part.clone()),
                };
                let left = match right_scale {
                    Scale::Any if left_scale == Scale::Any => self.scaled(left, factor)?,
                    _ => convert(left, &left_scale)?,
                };
                Some(arithmetic(left, *operator, convert(right, &right_scale)?))
            }
        }
    }

    /// Returns a number with each metric converted to the old shares, in which the number is written.
    fn with_converted_metrics(&self, number: &NumericExpression) -> Option<NumericExpression> {
        match number {
            NumericExpression::Constant(_) => Some(number.clone()),
            NumericExpression::Negated(part) => {
                let part = self.with_converted_metrics(part)?;
                Some(NumericExpression::Negated(Box::new(part)))
            }
            NumericExpression::Arithmetic(left, operator, right) => Some(NumericExpression::Arithmetic(
                Box::new(self.with_converted_metrics(left)?),
                *operator,
                Box::new(self.with_converted_metrics(right)?),
            )),
            NumericExpression::Metric(metric) => {
                let shares = (self.new_shares)(metric.symbol);
                let Some(shares) = shares.filter(|_| self.factor_of(*metric).is_some()) else {
                    return Some(number.clone());
                };
                let operator = match metric.metric.spec().unit {
                    MetricUnit::Shares => ArithmeticOperator::Divide,
                    _ => ArithmeticOperator::Multiply,
                };
                let shares = NumericExpression::Constant(Constant::new(rounded(&shares)?)?);
                Some(NumericExpression::Arithmetic(
                    Box::new(number.clone()),
                    operator,
                    Box::new(shares),
                ))
            }
        }
    }
}

/// Returns the scale of two numbers of one unit; `None` if their units differ.
fn common(left: Scale, right: Scale) -> Option<Scale> {
    match (left, right) {
        (Scale::Any, scale) | (scale, Scale::Any) => Some(scale),
        (Scale::Factor(left), Scale::Factor(right)) => (left == right).then_some(Scale::Factor(left)),
    }
}

/// Returns a number rounded to six decimals, halves up.
fn rounded(number: &Fraction) -> Option<Decimal> {
    let half = Fraction::new(1, 2_000_000)?;
    number.add(&half).floor_to_micros()
}

#[cfg(test)]
mod tests {
    use super::super::metric::Metric;
    use super::super::{Crossings, EvaluationTime, MetricValue, MetricValues, Truth, evaluate};
    use super::*;

    /// Values in new shares, of which `shares` are one old share, and in old shares if `is_old`.
    struct Values {
        price: i64,
        volume: i64,
        is_old: bool,
        shares: Fraction,
    }

    impl MetricValues for Values {
        fn value(&self, metric: MetricReference) -> Option<MetricValue> {
            let is_other = metric.symbol.is_some();
            let scale = |value: Fraction, factor: &Fraction| match self.is_old && !is_other {
                true => value.multiply(factor),
                false => value,
            };
            let inverse = Fraction::from_whole(1).divide(&self.shares)?;
            Some(MetricValue::Exact(match metric.metric {
                Metric::Price | Metric::High(_) => scale(Fraction::from_whole(self.price), &self.shares),
                Metric::Volume => scale(Fraction::from_whole(self.volume), &inverse),
                _ => Fraction::from_whole(30),
            }))
        }

        fn is_observed(&self, _: Option<Symbol>) -> bool {
            true
        }
    }

    fn converted(text: &str, shares: &Fraction) -> Expression {
        let expression: Expression = text.parse().unwrap();
        expression
            .in_new_shares(&|symbol| symbol.is_none().then(|| shares.clone()))
            .unwrap()
    }

    #[test]
    fn constants_follow_the_unit_of_the_metrics_beside_them() {
        let four = Fraction::from_whole(4);
        for (old, new) in [
            ("price < 180", "price < 45"),
            ("not 180 >= price", "not 45 >= price"),
            ("volume > 1000", "volume > 4000"),
            ("price between 100 and 2 * 90", "price between 25 and 0.5 * 90"),
            ("price crosses above high(20) + 2", "price crosses above high(20) + 0.5"),
            ("price > 1.05 * high(20)", "price > 1.05 * high(20)"),
            ("price * volume > 1000000", "price * volume > 1000000"),
            ("(price - 8) / 2 < -(8 - price)", "(price - 2) / 2 < -(2 - price)"),
            ("100 / price > 2", "100 / price > 8"),
            ("rsi(14) < 30 or SPY.price > 400", "rsi(14) < 30 or SPY.price > 400"),
            ("price > rsi(14)", "price * 4 > rsi(14)"),
            ("price + volume > SPY.price", "price * 4 + volume / 4 > SPY.price"),
            ("price > 0.000001", "price * 4 > 0.000001"),
        ] {
            let expected: Expression = new.parse().unwrap();
            assert_eq!(converted(old, &four).to_string(), expected.to_string(), "{old}");
        }
        // The ratio of 1:3 as it is stored.
        let third = Fraction::from(Decimal::from_micros(333_333));
        assert_eq!(converted("price < 10", &third).to_string(), "price < 30.00003");
        assert_eq!(
            converted("price < 10", &Fraction::from_whole(3)).to_string(),
            "price < 3.333333"
        );
    }

    #[test]
    fn truth_is_the_same_in_old_and_new_shares() {
        for text in [
            "price < 180",
            "volume * 3 > price - 2",
            "price between 2 * high(20) - 100 and 120",
            "100 / price > volume",
            "price * volume / 7 > 500 and price + 4 > rsi(14)",
            "price / volume < SPY.price",
            "-(price - 60) * 2 <= 4 / (2 + 3) * price",
        ] {
            for (price, volume) in [(44, 100), (45, 101), (46, 1), (1, 9), (30, 30), (8, 7), (200, 3)] {
                let shares = Fraction::from_whole(4);
                let new = converted(text, &shares);
                let truth = |expression: &Expression, is_old| {
                    let values = Values {
                        price,
                        volume,
                        is_old,
                        shares: shares.clone(),
                    };
                    let now = jiff::Timestamp::UNIX_EPOCH;
                    let time = EvaluationTime {
                        now,
                        session_close: now,
                    };
                    evaluate(expression, &values, time, &mut Crossings::default()).now
                };
                let in_old: Truth = truth(&text.parse().unwrap(), true);
                assert_eq!(in_old, truth(&new, false), "{text}: {new} at {price}, {volume}");
            }
        }
    }
}
