//! What both sides write drafts with.

use alerts::ConditionKind;
use alerts::condition::Side;
use market::{Decimal, Price};
use serde_json::{Map, Number, Value, json};

use crate::gate::Draft;
use crate::levels::Level;
use crate::rationale::{self, distance, money};
use crate::{Analysis, Role, Subject, tick, trend};

/// Nearer levels are a day's noise: in average true ranges.
const NEAREST_RANGES: f64 = 0.5;
/// Farther levels are hardly reached within the horizon: in its standard deviations, 13 of 100 cases.
const FARTHEST_FIRST: f64 = 1.5;
/// The same for the second level: 3 of 100 cases.
const FARTHEST_SECOND: f64 = 2.2;
/// Where a first level is put when there is none: 45 of 100 cases.
const FIRST_SIGMAS: f64 = 0.75;
/// Where a second level is put when there is none: 21 of 100 cases.
const SECOND_SIGMAS: f64 = 1.25;
/// How far the second level is beyond the first, in average true ranges.
const BETWEEN_RANGES: f64 = 1.0;
/// By how much a level has to be passed to count as broken, in average true ranges.
pub(super) const BEYOND_RANGES: f64 = 0.25;

/// The subject and its figures.
#[derive(Clone, Copy)]
pub(super) struct Desk<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) analysis: &'a Analysis,
}

/// A price to wait for, and why it is that one.
pub(super) struct Aim {
    pub(super) price: Price,
    /// A sentence.
    pub(super) because: String,
    /// Whether the price has turned there before.
    pub(super) is_turning_point: bool,
}

impl Desk<'_> {
    /// The average true range as a logarithm.
    pub(super) fn range(&self) -> f64 {
        self.analysis.volatility.range_day
    }

    fn sigma(&self) -> f64 {
        self.analysis.volatility.sigma_horizon()
    }

    /// The level on `side` that is strongest, weighed by the chance that it is reached, between two distances.
    pub(super) fn level(&self, side: Side, nearest: f64, farthest: f64) -> Option<&Level> {
        let levels = side.pick(&self.analysis.levels.resistances, &self.analysis.levels.supports);
        let away = |level: &Level| self.subject.distance(level.price).abs();
        let weight = |level: &Level| level.strength * self.analysis.chance_of(away(level));
        levels
            .iter()
            .filter(|level| (nearest..=farthest).contains(&away(level)))
            .max_by(|a, b| weight(a).total_cmp(&weight(b)))
    }

    /// The quoted price that is a logarithm away from `from` on `side`, strictly beyond it.
    pub(super) fn away(&self, from: Price, side: Side, log: f64) -> Option<Price> {
        let dollars = from.as_f64() * side.pick(log, -log).exp();
        tick::beyond(from, side, dollars)
    }

    /// The first price to wait for on `side`: a level, or a distance by volatility.
    pub(super) fn first(&self, side: Side) -> Option<Aim> {
        let nearest = NEAREST_RANGES * self.range();
        match self.level(side, nearest, FARTHEST_FIRST * self.sigma()) {
            Some(level) => Some(self.at_level(level)),
            None => self.by_volatility(side, FIRST_SIGMAS * self.sigma()),
        }
    }

    /// A price to wait for beyond the first.
    pub(super) fn second(&self, side: Side, first: Price) -> Option<Aim> {
        let nearest = self.subject.distance(first).abs() + BETWEEN_RANGES * self.range();
        match self.level(side, nearest, FARTHEST_SECOND * self.sigma()) {
            Some(level) => Some(self.at_level(level)),
            None => self
                .by_volatility(side, nearest.max(SECOND_SIGMAS * self.sigma()))
                .filter(|aim| side.pick(aim.price > first, aim.price < first)),
        }
    }

    fn at_level(&self, level: &Level) -> Aim {
        Aim {
            price: level.price,
            because: rationale::level(self.subject, level),
            is_turning_point: true,
        }
    }

    pub(super) fn by_volatility(&self, side: Side, log: f64) -> Option<Aim> {
        let price = self.away(self.subject.price, side, log)?;
        let (name, symbol) = (side.pick("above", "below"), self.subject.symbol);
        Some(Aim {
            price,
            because: format!(
                "{symbol} has no known turning point at a fitting distance {name} the price, so this level comes from its \
                 volatility alone."
            ),
            is_turning_point: false,
        })
    }

    /// An alert on a price. `use_of_it` reads on from the reason.
    pub(super) fn on_price(&self, role: Role, side: Side, aim: &Aim, use_of_it: &str) -> Draft {
        Draft {
            role,
            kind: side.pick(ConditionKind::PriceAbove, ConditionKind::PriceBelow),
            threshold: number(aim.price.decimal()),
            parameters: Map::new(),
            rationale: format!(
                "{} {} {use_of_it}",
                aim.because,
                distance(self.subject, self.analysis, aim.price)
            ),
        }
    }

    /// An alert without a threshold.
    pub(super) fn plain(&self, role: Role, kind: ConditionKind, rationale: String) -> Draft {
        Draft {
            role,
            kind,
            threshold: None,
            parameters: Map::new(),
            rationale,
        }
    }

    /// An alert on the RSI.
    pub(super) fn on_rsi(&self, side: Side, threshold: u8, rationale: String) -> Draft {
        Draft {
            role: Role::Momentum,
            kind: ConditionKind::RsiLimit,
            threshold: Some(threshold.into()),
            parameters: Map::from_iter([("direction".to_owned(), json!(side.pick("above", "below")))]),
            rationale,
        }
    }

    /// An alert for when the price falls to the average of `period` sessions; only if it is farther above than noise.
    pub(super) fn on_fall_to_average(&self, period: u16, use_of_it: &str) -> Option<Draft> {
        let trend = &self.analysis.trend;
        let average = if period == trend::FAST {
            trend.sma_fast?
        } else {
            trend.sma_slow?
        };
        let above = (self.subject.price.as_f64() / average).ln();
        (above >= NEAREST_RANGES * self.range()).then(|| Draft {
            role: Role::TrendSign,
            kind: ConditionKind::MaTouchBelow,
            threshold: Some(period.into()),
            parameters: Map::new(),
            rationale: format!("{}. {use_of_it}", rationale::average(self.subject, period, average)),
        })
    }

    /// An alert on the price that the owner named, if it is on `side`.
    pub(super) fn on_own_target(&self, side: Side, use_of_it: &str) -> Option<Draft> {
        let target = self.subject.target_price?;
        let is_ahead = side.pick(target > self.subject.price, target < self.subject.price);
        let aim = Aim {
            price: target,
            because: format!("{} is the price you named yourself.", money(target)),
            is_turning_point: false,
        };
        is_ahead.then(|| self.on_price(Role::OwnTarget, side, &aim, use_of_it))
    }
}

/// A number as a request has it; `None` for what JSON has no number for, which no decimal is.
pub(super) fn number(decimal: Decimal) -> Option<Value> {
    match decimal.as_whole() {
        Some(whole) => Some(whole.into()),
        None => Number::from_f64(decimal.as_f64()).map(Value::Number),
    }
}
