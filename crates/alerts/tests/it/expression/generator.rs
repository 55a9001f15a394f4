//! Generated expressions.

use alerts::expression::Expression;
use alerts::expression::ast::{
    ArithmeticOperator, BooleanExpression, Comparison, Constant, CrossingDirection, MetricReference, NumericExpression,
    Relation,
};
use alerts::expression::metric::{
    BandWidth, BollingerBand, ChangeBase, METRICS, MacdPeriods, Metric, MetricPeriod, MetricSignature,
};
use market::Decimal;
use proptest::prelude::*;
use proptest::sample::select;

/// Symbols that are also keywords, need quotes or contain a dot.
const SYMBOLS: [&str; 7] = ["AAPL", "BRK.B", "BF-B", "3M", "NOT", "ITS", "AND"];

fn period() -> impl Strategy<Value = MetricPeriod> {
    (1_u16..=400).prop_map(|number| MetricPeriod::new(number).unwrap())
}

fn metric() -> impl Strategy<Value = Metric> {
    let bases = prop_oneof![
        select(vec![
            ChangeBase::OfAlert,
            ChangeBase::Creation,
            ChangeBase::PrevClose,
            ChangeBase::Open
        ]),
        period().prop_map(ChangeBase::Sessions),
    ];
    let width = (1_i64..=10_000_000).prop_map(|micros| BandWidth::new(Decimal::from_micros(micros)).unwrap());
    (select(METRICS), period(), period(), period(), bases, width).prop_map(|(spec, n, slow, signal, base, width)| {
        match spec.signature {
            MetricSignature::Plain(metric) => metric,
            MetricSignature::Period(_, build) => build(n),
            MetricSignature::Base(build) => build(base),
            MetricSignature::Macd(build) => build(macd_periods(n, slow, signal)),
            MetricSignature::Bollinger(build) => build(BollingerBand { period: n, width }),
        }
    })
}

/// Returns the periods of a MACD whose fast average is the faster one.
fn macd_periods(one: MetricPeriod, other: MetricPeriod, signal: MetricPeriod) -> MacdPeriods {
    let fast = MetricPeriod::new(one.min(other).get().min(MetricPeriod::MAX - 1)).unwrap();
    let slow = MetricPeriod::new(one.max(other).get().max(fast.get() + 1)).unwrap();
    MacdPeriods { fast, slow, signal }
}

fn reference() -> impl Strategy<Value = NumericExpression> {
    let symbol = prop_oneof![3 => Just(None), 2 => select(&SYMBOLS[..]).prop_map(|text| text.parse().ok())];
    (symbol, metric()).prop_map(|(symbol, metric)| NumericExpression::Metric(MetricReference { symbol, metric }))
}

/// Generates constants, most of them small so that ties are frequent.
fn constant(max_micros: i64) -> impl Strategy<Value = NumericExpression> {
    let micros = prop_oneof![
        3 => select(vec![0, 1, 500_000, 1_000_000, 2_000_000, 3_000_000, 180_000_000]),
        1 => 0..=max_micros,
    ];
    micros.prop_map(|micros| NumericExpression::Constant(Constant::new(Decimal::from_micros(micros)).unwrap()))
}

fn number(max_micros: i64) -> impl Strategy<Value = NumericExpression> {
    prop_oneof![2 => reference(), 1 => constant(max_micros)].prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|inner| NumericExpression::Negated(Box::new(inner))),
            4 => (inner.clone(), select(&ArithmeticOperator::ALL[..]), inner).prop_map(|(left, operator, right)| {
                NumericExpression::Arithmetic(Box::new(left), operator, Box::new(right))
            }),
        ]
    })
}

fn comparison(max_micros: i64) -> impl Strategy<Value = BooleanExpression> {
    // Comparisons that people write begin with a metric.
    let left = || prop_oneof![reference(), number(max_micros)];
    let right = || number(max_micros);
    let price = || {
        NumericExpression::Metric(MetricReference {
            symbol: None,
            metric: Metric::Price,
        })
    };
    prop_oneof![
        (right(), select(&Relation::ALL[..])).prop_map(move |(right, relation)| Comparison::Relation(
            price(),
            relation,
            right
        )),
        (left(), select(&Relation::ALL[..]), right())
            .prop_map(|(left, relation, right)| Comparison::Relation(left, relation, right)),
        (left(), right(), right()).prop_map(|(value, low, high)| Comparison::Between { value, low, high }),
        (left(), select(&CrossingDirection::ALL[..]), right())
            .prop_map(|(left, direction, right)| Comparison::Crosses(left, direction, right)),
    ]
    .prop_map(BooleanExpression::Comparison)
}

/// Generates expressions within the limits. `max_micros` is the maximum of a constant.
pub(crate) fn expression(max_micros: i64) -> impl Strategy<Value = Expression> {
    let conditions = comparison(max_micros).prop_recursive(4, 12, 2, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|inner| BooleanExpression::Not(Box::new(inner))),
            2 => (inner.clone(), inner.clone())
                .prop_map(|(left, right)| BooleanExpression::And(Box::new(left), Box::new(right))),
            2 => (inner.clone(), inner)
                .prop_map(|(left, right)| BooleanExpression::Or(Box::new(left), Box::new(right))),
        ]
    });
    conditions.prop_filter_map("beyond a limit", |condition| Expression::new(condition).ok())
}
