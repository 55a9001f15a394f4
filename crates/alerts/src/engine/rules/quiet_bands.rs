//! The quiet bands of a rule: the prices and volumes of each of its stocks between which its truth cannot change.
//!
//! Most comparisons are monotone in the price of one stock: if a comparison has the same order at two prices, it has it between
//! them. So its band is found by evaluating it at other prices, and no metric needs a formula of its own. A comparison that is not
//! known to be monotone, or that has metrics of two stocks, is evaluated at every change.
//!
//! The bands of the whole expression certify its present truth, not that of every comparison: `a and b` stays false while `a`
//! does. Every `crosses` is watched besides, because its previous order must be known.

use std::cell::Cell;
use std::cmp::Ordering;

use market::Symbol;
use market::price::{MAX_PRICE_MICROS, MAX_VOLUME};

use super::search::{Sample, farthest};
use crate::engine::group::Band;
use crate::expression::ast::{BooleanExpression, Comparison, MetricReference, NumericExpression, Relation};
use crate::expression::shape::{MetricInputs, price_slope, price_slope_within_range, volume_slope};
use crate::expression::{Expression, MetricValue, MetricValues, Truth, compare_numbers, number_value};

/// The last observation of a stock of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StockPosition {
    /// The stock; `None` is the alert's own.
    pub(super) symbol: Option<Symbol>,
    /// The price in millionths.
    pub(super) price: i64,
    /// The volume of the session; −1 if unknown.
    pub(super) volume: i64,
    /// The lowest price of the session, and since the alert was armed, whichever is higher.
    pub(super) low: i64,
    /// The highest price of the session, and since the alert was armed, whichever is lower.
    pub(super) high: i64,
}

/// The values of metrics after the last observations, which can be asked for another price or volume.
pub(super) trait ValuesElsewhere {
    /// Returns the value of a metric if the stock at `index` had another price and volume; `None` if it has none.
    fn value(&self, metric: MetricReference, elsewhere: Option<(usize, i64, i64)>) -> Option<MetricValue>;
}

/// The values with one stock at another price and volume.
struct Elsewhere<'a, V> {
    values: &'a V,
    place: Option<(usize, i64, i64)>,
}

impl<V: ValuesElsewhere> MetricValues for Elsewhere<'_, V> {
    fn value(&self, metric: MetricReference) -> Option<MetricValue> {
        self.values.value(metric, self.place)
    }

    fn is_observed(&self, _: Option<Symbol>) -> bool {
        false
    }
}

/// A truth, with the bands of the stocks in which it is certain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CertainTruth {
    /// The truth while no stock has a new observation outside its band.
    pub(super) truth: Truth,
    /// The band of each stock, in the order of the positions.
    pub(super) bands: Vec<Band>,
}

/// Returns the truth of an expression after an observation and the bands in which it stays, as does the order of the metric and the
/// level of `rearm`; and the number of comparisons at other prices that it took. `lasting` says of each `crosses` whether it still
/// counts as true.
pub(super) fn quiet_bands(
    expression: &Expression,
    rearm: Option<(&NumericExpression, &NumericExpression)>,
    positions: &[StockPosition],
    values: &impl ValuesElsewhere,
    lasting: &[bool],
) -> (CertainTruth, u32) {
    let mut search = BandSearch {
        positions,
        values,
        lasting,
        next_crossing: 0,
        crossings: vec![Band::WIDE; positions.len()],
        comparisons: Cell::new(0),
    };
    let CertainTruth { truth, bands } = search.condition(expression.condition());
    let mut bands = intersection(&bands, &search.crossings);
    if let Some((metric, level)) = rearm {
        bands = intersection(&bands, &search.bands_of_order(metric, level));
    }
    (CertainTruth { truth, bands }, search.comparisons.get())
}

struct BandSearch<'a, V> {
    positions: &'a [StockPosition],
    values: &'a V,
    lasting: &'a [bool],
    next_crossing: usize,
    /// The bands in which every `crosses` keeps its order.
    crossings: Vec<Band>,
    /// The number of comparisons at other prices and volumes.
    comparisons: Cell<u32>,
}

impl<V: ValuesElsewhere> BandSearch<'_, V> {
    fn condition(&mut self, condition: &BooleanExpression) -> CertainTruth {
        match condition {
            BooleanExpression::Comparison(comparison) => self.comparison(comparison),
            BooleanExpression::Not(inner) => {
                let inner = self.condition(inner);
                CertainTruth {
                    truth: !inner.truth,
                    bands: inner.bands,
                }
            }
            BooleanExpression::And(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                combined(left, right, Truth::False, Truth::and)
            }
            BooleanExpression::Or(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                combined(left, right, Truth::True, Truth::or)
            }
        }
    }

    fn comparison(&mut self, comparison: &Comparison) -> CertainTruth {
        match comparison {
            Comparison::Relation(left, relation, right) => self.relation(left, *relation, right),
            Comparison::Between { value, low, high } => {
                let above = self.relation(value, Relation::AtLeast, low);
                let below = self.relation(value, Relation::AtMost, high);
                combined(above, below, Truth::False, Truth::and)
            }
            Comparison::Crosses(left, _, right) => {
                let bands = self.bands_of_order(left, right);
                self.crossings = intersection(&self.crossings, &bands);
                let counts = self.lasting.get(self.next_crossing).copied().unwrap_or(false);
                self.next_crossing += 1;
                CertainTruth {
                    truth: Truth::from(counts),
                    bands: vec![Band::WIDE; self.positions.len()],
                }
            }
        }
    }

    fn relation(&self, left: &NumericExpression, relation: Relation, right: &NumericExpression) -> CertainTruth {
        CertainTruth {
            truth: Truth::from(self.order(left, right).map(|order| relation.holds(order))),
            bands: self.bands_of_order(left, right),
        }
    }

    fn order(&self, left: &NumericExpression, right: &NumericExpression) -> Option<Ordering> {
        let values = Elsewhere {
            values: self.values,
            place: None,
        };
        compare_numbers(left, right, &values)
    }

    /// Compares two numbers with a stock at another price and volume.
    fn sample(
        &self,
        (left, right): (&NumericExpression, &NumericExpression),
        order: Option<Ordering>,
        place: (usize, i64, i64),
    ) -> Sample {
        self.comparisons.set(self.comparisons.get() + 1);
        let values = Elsewhere {
            values: self.values,
            place: Some(place),
        };
        let both = number_value(left, &values).zip(number_value(right, &values));
        Sample {
            is_same: both.as_ref().and_then(|(left, right)| left.compare(right)) == order,
            difference: both.map(|(left, right)| left.as_f64() - right.as_f64()),
        }
    }

    /// Returns the bands in which two numbers keep their order.
    fn bands_of_order(&self, left: &NumericExpression, right: &NumericExpression) -> Vec<Band> {
        let mut bands = vec![Band::WIDE; self.positions.len()];
        let inputs: Vec<_> = self.positions.iter().map(|at| inputs(left, right, at.symbol)).collect();
        let mut moving = (0..inputs.len()).filter(|&stock| inputs[stock].any());
        match (moving.next(), moving.next()) {
            (None, _) => {}
            (Some(stock), None) => bands[stock] = self.band(left, right, stock, inputs[stock]),
            (Some(_), Some(_)) => {
                for (band, inputs) in bands.iter_mut().zip(inputs) {
                    if inputs.any() {
                        *band = Band::EMPTY;
                    }
                }
            }
        }
        bands
    }

    /// Returns the band of one stock in which two numbers keep their order.
    fn band(&self, left: &NumericExpression, right: &NumericExpression, stock: usize, inputs: MetricInputs) -> Band {
        let at = &self.positions[stock];
        if inputs.every_observation || (inputs.volume && (inputs.price || inputs.range)) {
            return Band::EMPTY;
        }
        let mut band = Band::WIDE;
        let order = self.order(left, right);
        let sample = |price, volume| self.sample((left, right), order, (stock, price, volume));
        if inputs.volume {
            let slope = volume_slope(left, at.symbol).subtract(&volume_slope(right, at.symbol));
            band.volume_hi = match at.volume {
                ..0 => 0,
                volume if slope.is_monotone() => {
                    farthest(volume, MAX_VOLUME, |volume| sample(at.price, volume)).saturating_add(1)
                }
                volume => volume.saturating_add(1),
            };
            return band;
        }
        let (lowest, highest) = if inputs.range {
            (at.low, at.high)
        } else {
            (1, MAX_PRICE_MICROS)
        };
        if inputs.range {
            (band.lo, band.hi) = (lowest.saturating_sub(1), highest.saturating_add(1));
        }
        if !inputs.price {
            return band;
        }
        let slope = if inputs.range {
            price_slope_within_range
        } else {
            price_slope
        };
        if !slope(left, at.symbol).subtract(&slope(right, at.symbol)).is_monotone() {
            (band.lo, band.hi) = (at.price - 1, at.price + 1);
            return band;
        }
        let at_price = |price| sample(price, at.volume);
        if lowest < at.price {
            let low = farthest(at.price, lowest, at_price);
            if low > lowest || inputs.range {
                band.lo = low - 1;
            }
        }
        if highest > at.price {
            let high = farthest(at.price, highest, at_price);
            if high < highest || inputs.range {
                band.hi = high + 1;
            }
        }
        band
    }
}

/// Returns the inputs of two numbers from one stock.
fn inputs(left: &NumericExpression, right: &NumericExpression, symbol: Option<Symbol>) -> MetricInputs {
    let mut inputs = MetricInputs::default();
    for number in [left, right] {
        number.for_each_metric(&mut |metric| {
            if metric.symbol == symbol {
                inputs = inputs.with(MetricInputs::of(metric.metric));
            }
        });
    }
    inputs
}

/// Combines the parts of `and` and `or`. A part with the `deciding` truth decides alone.
fn combined(
    left: CertainTruth,
    right: CertainTruth,
    deciding: Truth,
    combine: fn(Truth, Truth) -> Truth,
) -> CertainTruth {
    let truth = combine(left.truth, right.truth);
    let bands = match (left.truth == deciding, right.truth == deciding) {
        (true, true) => wider(left.bands, right.bands),
        (true, false) => left.bands,
        (false, true) => right.bands,
        (false, false) => intersection(&left.bands, &right.bands),
    };
    CertainTruth { truth, bands }
}

fn intersection(left: &[Band], right: &[Band]) -> Vec<Band> {
    let both = left.iter().zip(right);
    both.map(|(left, right)| Band {
        lo: left.lo.max(right.lo),
        hi: left.hi.min(right.hi),
        volume_hi: left.volume_hi.min(right.volume_hi),
    })
    .collect()
}

/// Returns the bands that are left less often: those whose narrowest one is wider.
fn wider(left: Vec<Band>, right: Vec<Band>) -> Vec<Band> {
    let narrowest = |bands: &[Band]| {
        let widths = bands.iter().map(|band| {
            let prices = band.hi.saturating_sub(band.lo);
            (prices, band.volume_hi)
        });
        widths.min()
    };
    if narrowest(&left) >= narrowest(&right) {
        left
    } else {
        right
    }
}
